"""The model file: a zip of one JSON manifest and plain arrays, written whole or not at all.

Nothing in it is executable and nothing is compressed: what is stored is what is read, so a small file can't
unfold into a large one. `read_model` checks the container, the checksums and every field; that the trees are
trees is checked where they are compiled, in `trueup._scoring`.

Whatever later formats look like, they keep a stored ``manifest.json`` with its ``format`` number, so that an
old reader can say that it is too old.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import math
import os
import re
import stat
import struct
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from trueup._model._manifest import FORMAT, ParityRows, array_types, arrays_of, manifest_from_model, model_from_manifest
from trueup._model._model import CalibrationModel
from trueup._runtime import atomic_path
from trueup.errors import ModelFileError

MAX_FILE_BYTES = 2**30
MAX_MANIFEST_BYTES = 2**26  # some five million categories
_MAX_LIST_BYTES = 2**16  # of the zip's list of parts, and of the checksums: a few hundred bytes each
# Memory that loading takes at most for each byte of a part, as measured. A short category is a Python object several
# times over; a constant tree has 12 bytes in the file and 150 in the kernel and on the way there.
_MEMORY_PER_MANIFEST_BYTE = 32
_MEMORY_PER_ARRAY_BYTE = 12
_MANIFEST = "manifest.json"
_CHECKSUMS = "checksums.json"
_LONG_AGO = (1980, 1, 1, 0, 0, 0)  # the same model is the same bytes, whenever it is written
_UNIX = 3  # ... and wherever

# Of the end of a zip: its signature, disks, parts, size and offset of their list, length of the comment.
_END_OF_ZIP = struct.Struct("<4s4H2LH")
_ZIP64_LOCATOR = 20

# NumPy's own reader evaluates the header as a Python literal. We need one kind of header only.
_NPY_MAGIC = b"\x93NUMPY\x01\x00"
_NPY_HEADER = re.compile(rb"\{'descr': '([<|][iuf][0-9])', 'fortran_order': False, 'shape': \(([0-9]{1,10}),\), \} *\n")

# What Python, zipfile and json raise on bytes that are not what they should be. Running out of memory is not
# among them: nothing here asks for more than the file's size allows.
_STUMBLES = (
    ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RuntimeError, OSError, EOFError,
    struct.error, zipfile.BadZipFile,
)  # fmt: skip


def write_model(model: CalibrationModel, parity: ParityRows, path: str | os.PathLike[str]) -> None:
    """Write a model file atomically, with rows that a reader checks itself against.

    A model that `read_model` would refuse is a `ModelFileError`, and nothing is written.
    """
    try:
        entries = _entries_of(model, parity)
        _model_from(_read_json(entries[_MANIFEST]), entries)  # better an error now than a file that won't load
    except _STUMBLES as error:
        raise ModelFileError(f"The model can't be saved: {_reason(error)}") from error
    with atomic_path(path) as temporary, zipfile.ZipFile(temporary, "w", zipfile.ZIP_STORED) as archive:
        for name, content in entries.items():
            entry = zipfile.ZipInfo(name, _LONG_AGO)
            entry.create_system = _UNIX
            entry.external_attr = (stat.S_IFREG | 0o644) << 16
            archive.writestr(entry, content)


def read_model(path: str | os.PathLike[str]) -> tuple[CalibrationModel, ParityRows]:
    """Read a model file and the rows to check its scoring against, trusting nothing in it.

    What is not a model file, is damaged or is of a newer format is a `ModelFileError`; a file that is not there or
    can't be opened is an `OSError`.
    """
    with _open_file(path) as file:
        return _read_from(file, path, os.fstat(file.fileno()).st_size)


def read_model_bytes(content: bytes, name: str | os.PathLike[str]) -> tuple[CalibrationModel, ParityRows]:
    """Read a model file whose bytes are in memory, as `read_model` does; messages call it `name`."""
    return _read_from(io.BytesIO(content), name, len(content))


def read_file_bytes(path: str | os.PathLike[str], *, max_memory: int | None = None) -> bytes:
    """Read all bytes of a model file for `read_model_bytes`, which checks them.

    Raises a `ModelFileError`, before anything of size is read, if it is a pipe, a device or a folder, if it is
    too large, or if loading a file with parts of the sizes that it declares could take more than `max_memory` bytes.
    """
    with _open_file(path) as file:
        try:
            if max_memory is not None:
                with _open_zip(file, os.fstat(file.fileno()).st_size) as archive:
                    _check_memory(archive.infolist(), max_memory)
                file.seek(0)
            content = file.read(MAX_FILE_BYTES + 1)
            _check_size("it", len(content), MAX_FILE_BYTES)
        except _STUMBLES as error:
            raise _unusable(path, _reason(error)) from error
    return content


def _check_memory(parts: Sequence[zipfile.ZipInfo], limit: int) -> None:
    """Refuse a file for what it declares: nothing is compressed, so the sizes of its parts say what they will take."""
    manifest = sum(part.file_size for part in parts if part.filename == _MANIFEST)
    arrays = sum(part.file_size for part in parts) - manifest
    needed = _MEMORY_PER_MANIFEST_BYTE * manifest + _MEMORY_PER_ARRAY_BYTE * arrays
    if needed > limit:
        mebibyte = 2**20
        raise ValueError(
            f"loading it could take {needed / mebibyte:,.0f} MiB of memory, and {limit / mebibyte:,.0f} MiB is the "
            "limit. Raise max_memory (in the shell: --max-model-memory)."
        )


def _read_from(file: BinaryIO, name: str | os.PathLike[str], size: int) -> tuple[CalibrationModel, ParityRows]:
    try:
        return _model_from(*_read_entries(file, size))
    except _STUMBLES as error:
        raise _unusable(name, _reason(error)) from error


@contextlib.contextmanager
def _open_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    _check_is_file(path, os.stat(path))
    with open(path, "rb", opener=_open_at_once) as file:
        _check_is_file(path, os.fstat(file.fileno()))  # it may have become another thing in between
        yield file


def _check_is_file(path: str | os.PathLike[str], status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):  # a pipe may have no writer, and a device has no end
        raise _unusable(path, "it is not a file.")


def _open_at_once(path: str, flags: int) -> int:
    """Open without waiting for somebody at the other end, if it is a pipe after all."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _unusable(path: str | os.PathLike[str], reason: str) -> ModelFileError:
    return ModelFileError(f"{os.fspath(path)!r} can't be used as a trueup model: {reason}")


def _reason(error: Exception) -> str:
    reason = str(error) or type(error).__name__
    return reason if len(reason) <= 300 else f"{reason[:300]} ..."


def _entries_of(model: CalibrationModel, parity: ParityRows) -> dict[str, bytes]:
    """The contents of the zip by name."""
    described = manifest_from_model(model, parity)
    types = array_types(described)
    manifest = json.dumps(described, ensure_ascii=True, allow_nan=False, indent=1)
    entries = {_MANIFEST: manifest.encode("ascii")}
    for name, array in arrays_of(model).items():
        entries[f"{name}.npy"] = _npy_bytes(array.astype(types[name], copy=False))
    checksums = {name: hashlib.sha256(content).hexdigest() for name, content in entries.items()}
    entries[_CHECKSUMS] = json.dumps(checksums, indent=1).encode("ascii")
    _check_size("its manifest", len(entries[_MANIFEST]), MAX_MANIFEST_BYTES)
    _check_size("it", sum(map(len, entries.values())) + _MAX_LIST_BYTES, MAX_FILE_BYTES)
    return entries


def _model_from(manifest: dict[str, Any], entries: Mapping[str, bytes]) -> tuple[CalibrationModel, ParityRows]:
    types = array_types(manifest)
    return model_from_manifest(
        manifest, {name: _array(entries[f"{name}.npy"], name, dtype) for name, dtype in types.items()}
    )


def _read_entries(file: BinaryIO, size: int) -> tuple[dict[str, Any], dict[str, bytes]]:
    """The manifest, and the contents of all parts by name, with their checksums verified."""
    with _open_zip(file, size) as archive:
        parts = archive.infolist()
        manifest, content = _read_manifest(archive, parts)
        arrays = [f"{name}.npy" for name in array_types(manifest)]
        if sorted(part.filename for part in parts) != sorted([_MANIFEST, _CHECKSUMS, *arrays]):
            raise ValueError("its parts are not those of a model file.")
        if sum(part.file_size for part in parts) > size:
            raise ValueError("its parts overlap or are cut off.")
        # Once: of a file that is written while it is read, what was checked must be what is used.
        others = [part for part in parts if part.filename != _MANIFEST]
        entries = {_MANIFEST: content, **{part.filename: _read_part(archive, part) for part in others}}
    _check_size("its list of checksums", len(entries[_CHECKSUMS]), _MAX_LIST_BYTES)
    checksums = _read_json(entries[_CHECKSUMS])
    for name in entries.keys() - {_CHECKSUMS}:
        if hashlib.sha256(entries[name]).hexdigest() != checksums.get(name):
            raise ValueError(f"{name} is damaged (its checksum differs). Copy or save the file again.")
    return manifest, entries


@contextlib.contextmanager
def _open_zip(file: BinaryIO, size: int) -> Iterator[zipfile.ZipFile]:
    _check_size("it", size, MAX_FILE_BYTES)
    _check_end(file, size)
    try:
        with zipfile.ZipFile(file) as archive:
            yield archive
    except (zipfile.BadZipFile, struct.error, EOFError, OSError) as error:
        raise ValueError("it is damaged or cut off. Copy or save the file again.") from error


def _check_size(what: str, size: int, limit: int) -> None:
    if size > limit:
        raise ValueError(f"{what} has {size:,} bytes, and {limit:,} is the limit.")


def _check_end(file: BinaryIO, size: int) -> None:
    """Refuse what is not a zip of ours before `zipfile` reads a list of parts that may be millions long."""
    file.seek(max(0, size - _END_OF_ZIP.size - _ZIP64_LOCATOR))
    tail = file.read(_END_OF_ZIP.size + _ZIP64_LOCATOR)
    end = tail[_ZIP64_LOCATOR:]
    if len(end) != _END_OF_ZIP.size or not end.startswith(b"PK\x05\x06"):
        raise ValueError("it is not a model file, or is cut off. Copy or save the file again.")
    *_, list_size, list_offset, _ = _END_OF_ZIP.unpack(end)
    is_zip64 = tail.startswith(b"PK\x06\x07")
    if is_zip64 or list_size > _MAX_LIST_BYTES or list_offset + list_size + len(end) != size:
        raise ValueError("its list of parts is not that of a model file.")


def _read_manifest(archive: zipfile.ZipFile, parts: Sequence[zipfile.ZipInfo]) -> tuple[dict[str, Any], bytes]:
    """The manifest and its text, read before all else: a newer format may have other parts than those that we know."""
    manifests = [part for part in parts if part.filename == _MANIFEST]
    if len(manifests) != 1:
        raise ValueError("its parts are not those of a model file.")
    _check_size("its manifest", manifests[0].file_size, MAX_MANIFEST_BYTES)
    content = _read_part(archive, manifests[0])
    manifest = _read_json(content)
    number = manifest.get("format")
    if type(number) is not int or number < 1:
        raise ValueError("its manifest has no format number.")
    if number > FORMAT:
        raise ValueError(f"it is of format {number}, and {FORMAT} is the newest known here. Upgrade trueup.")
    return manifest, content


def _read_part(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> bytes:
    is_stored = part.compress_type == zipfile.ZIP_STORED and part.compress_size == part.file_size
    if not is_stored or part.flag_bits & 1:
        raise ValueError("its parts are compressed or encrypted, which those of a model file never are.")
    return archive.read(part)


def _read_json(content: bytes) -> dict[str, Any]:
    """A JSON object without NaN, infinities, or two fields of the same name."""
    text = content.decode("ascii")
    found = json.loads(text, parse_constant=_finite, parse_float=_finite, object_pairs_hook=_without_doubles)
    if type(found) is not dict:
        raise TypeError("its manifest is not a JSON object")
    return found


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"its manifest holds {text[:20]}, which is not a finite number")
    return number


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("its manifest has a field twice")
    return found


def _npy_bytes(array: npt.NDArray[Any]) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.ascontiguousarray(array), version=(1, 0), allow_pickle=False)
    return buffer.getvalue()


def _array(content: bytes, name: str, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """The array in a ``.npy`` file, which must be one-dimensional, of the right type, and all there."""
    start = 10 + int.from_bytes(content[8:10], "little")
    header = _NPY_HEADER.fullmatch(content[10:start])
    if not content.startswith(_NPY_MAGIC) or header is None or header[1] != dtype.str.encode():
        raise ValueError(f"the array {name!r} is not a one-dimensional array of type {dtype}")
    data = content[start:]
    if int(header[2]) * dtype.itemsize != len(data):
        raise ValueError(f"the array {name!r} has another length than its header says")
    return np.frombuffer(data, dtype=dtype)
