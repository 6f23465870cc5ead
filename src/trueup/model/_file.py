"""The model file: a zip of one JSON manifest and plain arrays, written whole or not at all.

Nothing in it is executable and nothing is compressed: what is stored is what is read, so a small file can't unfold into a
large one. `read_model` checks the container, the checksums and every field's type; that the trees are trees is checked
where they are compiled, in `trueup.inference`.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import stat
import zipfile
from collections.abc import Mapping
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from trueup.errors import ModelFileError
from trueup.model._atomic import atomic_path
from trueup.model._manifest import FORMAT, ParityRows, manifest_from_model, model_from_manifest
from trueup.model._model import CalibrationModel
from trueup.model._trees import ARRAY_TYPES, Trees

__all__ = ["read_model", "write_model"]

MAX_FILE_BYTES = 2**30
MAX_MANIFEST_BYTES = 2**27
_MANIFEST = "manifest.json"
_CHECKSUMS = "checksums.json"
_ARRAY_ENTRIES = {name: f"trees/{name}.npy" for name in ARRAY_TYPES}
_LONG_AGO = (1980, 1, 1, 0, 0, 0)  # the same model is the same bytes, whenever it is written


def write_model(model: CalibrationModel, parity: ParityRows, path: str | os.PathLike[str]) -> None:
    """Write a model file atomically.

    Parameters
    ----------
    model : CalibrationModel
        The model.
    parity : ParityRows
        Rows with their expected outputs, which a reader checks itself against.
    path : path-like
        Where to; by custom it ends in ``.trueup``.
    """
    trees = Trees.concatenate([fitted.trees for fitted in model.rounds])
    manifest = json.dumps(manifest_from_model(model, parity), ensure_ascii=True, allow_nan=False, indent=1)
    entries = {_MANIFEST: manifest.encode("ascii")}
    for name, array in trees.arrays().items():
        entries[_ARRAY_ENTRIES[name]] = _npy_bytes(array.astype(ARRAY_TYPES[name], copy=False))
    checksums = {name: hashlib.sha256(content).hexdigest() for name, content in entries.items()}
    entries[_CHECKSUMS] = json.dumps(checksums, indent=1).encode("ascii")
    with atomic_path(path) as temporary, zipfile.ZipFile(temporary, "w", zipfile.ZIP_STORED) as archive:
        for name, content in entries.items():
            entry = zipfile.ZipInfo(name, _LONG_AGO)
            entry.external_attr = (stat.S_IFREG | 0o644) << 16
            archive.writestr(entry, content)


def read_model(path: str | os.PathLike[str]) -> tuple[CalibrationModel, ParityRows]:
    """Read a model file, trusting nothing in it.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    CalibrationModel, ParityRows
        The model, and the rows to check the scoring of it against.

    Raises
    ------
    ModelFileError
        If the file is not a model file, is damaged, or is of a newer format.
    OSError
        If there is no such file, or it can't be opened.
    """
    fail = _failure_of(path)
    entries = _read_entries(path, fail)
    try:
        manifest = json.loads(entries[_MANIFEST].decode("ascii"), parse_constant=_no_constant)
        if not isinstance(manifest, dict) or type(manifest.get("format")) is not int:
            raise TypeError("the manifest has no format number")
        if manifest["format"] > FORMAT:
            fail.because(
                f"it is of format {manifest['format']}, and this version of trueup reads formats up to {FORMAT}. "
                "Upgrade trueup."
            )
        trees = Trees(**{name: _array(entries[entry], name) for name, entry in _ARRAY_ENTRIES.items()})
        return model_from_manifest(manifest, trees)
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, ArithmeticError, RecursionError) as error:
        fail.because(f"{error}", error)


class _failure_of:
    """Raises a `ModelFileError` that names the file."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)

    def because(self, reason: str, cause: BaseException | None = None) -> NoReturn:
        message = f"{self.path!r} can't be used as a trueup model: {reason}"
        raise ModelFileError(message) from cause


def _read_entries(path: str | os.PathLike[str], fail: _failure_of) -> Mapping[str, bytes]:
    """The contents of the zip by name, with their checksums verified."""
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size > MAX_FILE_BYTES:
            fail.because(f"it has {size:,} bytes, and a model file has at most {MAX_FILE_BYTES:,}.")
        content = file.read(MAX_FILE_BYTES + 1)
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            infos = archive.infolist()
            expected = {_MANIFEST, _CHECKSUMS, *_ARRAY_ENTRIES.values()}
            if len(infos) != len(expected) or {info.filename for info in infos} != expected:
                fail.because("its parts are not those of a model file.")
            if any(info.compress_type != zipfile.ZIP_STORED or info.flag_bits & 1 for info in infos):
                fail.because("its parts are compressed or encrypted, which those of a model file never are.")
            if sum(info.file_size for info in infos) > len(content):
                fail.because("its parts overlap or are cut off.")
            if archive.getinfo(_MANIFEST).file_size > MAX_MANIFEST_BYTES:
                fail.because(f"its manifest has more than {MAX_MANIFEST_BYTES:,} bytes.")
            entries = {info.filename: archive.read(info) for info in infos}
        checksums = json.loads(entries[_CHECKSUMS])
        for name in entries.keys() - {_CHECKSUMS}:
            if hashlib.sha256(entries[name]).hexdigest() != checksums[name]:
                fail.because(f"{name} is damaged (its checksum differs). Copy or save the file again.")
    except ModelFileError:
        raise
    except (
        zipfile.BadZipFile, EOFError, OSError, ValueError, TypeError, KeyError, IndexError,
        NotImplementedError, RuntimeError, OverflowError, AttributeError,
    ) as error:  # fmt: skip
        fail.because("it is not a zip file, or is damaged or cut off. Copy or save the file again.", error)
    return entries


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number that a manifest may hold")


def _npy_bytes(array: npt.NDArray[Any]) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.ascontiguousarray(array), version=(1, 0), allow_pickle=False)
    return buffer.getvalue()


def _array(content: bytes, name: str) -> npt.NDArray[Any]:
    """The array in a ``.npy`` file, which must be one-dimensional, of the right type, and all there."""
    stream = io.BytesIO(content)
    if np.lib.format.read_magic(stream) != (1, 0):
        raise ValueError(f"the array {name!r} is in a version of .npy that a model file doesn't use")
    shape, _, dtype = np.lib.format.read_array_header_1_0(stream)
    if dtype != ARRAY_TYPES[name] or len(shape) != 1:
        raise ValueError(f"the array {name!r} has type {dtype} and shape {shape}")
    data = content[stream.tell() :]
    if shape[0] * dtype.itemsize != len(data):
        raise ValueError(f"the array {name!r} says that it has {shape[0]} values, but {len(data)} bytes follow")
    return np.frombuffer(data, dtype=dtype)
