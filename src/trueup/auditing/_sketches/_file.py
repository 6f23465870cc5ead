"""A sketch as one Arrow file: one row per segment, with its bins in lists; the spec is in the schema's metadata.

Nothing is compressed, and cells and bins are in order, so that equal sketches are equal bytes. Reading trusts nothing:
anything that `write_sketch` could not have written is a `SketchFileError`.
"""

from __future__ import annotations

import hashlib
import os
import stat
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from trueup._data import field_at, follow, scalar_of, unpack_at
from trueup._runtime import atomic_path
from trueup.auditing._sketches._sketch import Sketch
from trueup.auditing._sketches._spec import LIMIT, SketchSpec
from trueup.auditing._sketches._spec_text import spec_from_text, spec_to_text
from trueup.auditing._sketches._sums import LANES, Sums
from trueup.errors import SketchFileError

if TYPE_CHECKING:
    import pyarrow as pa

FORMAT = 1
MAX_FILE_BYTES = 2**33
MAX_SPEC_BYTES = 2**26
_KEY, _SPEC, _CHECKSUM = b"trueup.sketch", b"trueup.spec", b"trueup.sha256"
_MAGIC = b"ARROW1\0\0"
# Fields of the flatbuffers that Arrow's messages begin with, by number: of a message, a schema and a batch.
_VERSION, _HEADER, _CUSTOM_METADATA, _FIELDS_OF_SCHEMA, _COMPRESSION = 0, 2, 4, 1, 3
_VERSION_5 = 4
_MOST_FIELDS = 100
_LISTS = ("bin", "rises", "falls")
# What Python, NumPy and pyarrow, whose errors are ValueErrors, OSErrors and the like, raise on bytes that are not what
# they should be. A length that no file of this size can have may also ask for memory that there isn't.
_STUMBLES = (
    ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RuntimeError, NotImplementedError, OSError,
    EOFError, MemoryError,
)  # fmt: skip


def write_sketch(sketch: Sketch, path: str | os.PathLike[str]) -> None:
    """Write a sketch, whole or not at all."""
    import pyarrow as pa

    batch = _batch_of(sketch)
    with atomic_path(path) as temporary, pa.ipc.new_file(str(temporary), batch.schema) as writer:
        writer.write_batch(batch)


def load_sketch(path: str | os.PathLike[str]) -> Sketch:
    """Return the sketch that a file holds, with everything in it checked.

    Parameters
    ----------
    path : path-like
        The file, as `Sketch.save` writes it.

    Returns
    -------
    Sketch
        The sketch.

    Raises
    ------
    SketchFileError
        If the file is not a sketch, is damaged, or is of a newer format.
    OSError
        If there is no such file, or it can't be opened.

    Examples
    --------
    A week is its days, added up:

    >>> import tempfile, pathlib
    >>> from trueup.auditing import SketchSpec, load_sketch, merge_sketches, make_sketch
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> spec = SketchSpec.learn(scores=[0.1, 0.5, 0.9])
    >>> for day in range(7):
    ...     make_sketch(None, [0, 1, 1], [0.1, 0.5, 0.9], spec).save(folder / f"day-{day}.arrow")
    >>> merge_sketches(load_sketch(file) for file in sorted(folder.glob("day-*.arrow")))
    Sketch(21 rows, 1 segments)
    """
    status = os.stat(path)
    if not stat.S_ISREG(status.st_mode):  # opening a pipe would wait for ever, and a device has no end
        raise _unusable(path, "it is not a file.")
    if status.st_size > MAX_FILE_BYTES:
        raise _unusable(path, f"it has {status.st_size:,} bytes, and {MAX_FILE_BYTES:,} is the limit.")
    with open(path, "rb") as file:
        content = file.read()
    try:
        return _sketch_from(content)
    except _STUMBLES as error:
        reason = str(error) or type(error).__name__
        raise _unusable(path, reason if len(reason) <= 300 else f"{reason[:300]} ...") from error


def _unusable(path: str | os.PathLike[str], reason: str) -> SketchFileError:
    return SketchFileError(f"{os.fspath(path)!r} can't be used as a sketch: {reason}")


def _schema(spec: bytes = b"", checksum: str = "") -> pa.Schema:
    import pyarrow as pa

    whole = [pa.field(name, pa.int32(), nullable=False) for name in ("combination", "cell")]
    lanes = [pa.field(name, pa.int64(), nullable=False) for name in LANES]
    lists = [
        pa.field(name, pa.list_(pa.field("item", kind, nullable=False)), nullable=False)
        for name, kind in zip(_LISTS, (pa.uint16(), pa.int64(), pa.int64()), strict=True)
    ]
    metadata = {_KEY: str(FORMAT).encode(), _SPEC: spec, _CHECKSUM: checksum.encode()}
    return pa.schema([*whole, *lanes, *lists], metadata=metadata)


def _batch_of(sketch: Sketch) -> pa.RecordBatch:
    import pyarrow as pa

    sums, spec = sketch.sums, spec_to_text(sketch.spec)
    schema = _schema(spec, _checksum(spec, sums))
    if len(sums.bin) >= 2**31:
        raise SketchFileError(f"The sketch has {len(sums.bin):,} bins, more than an Arrow list can hold.")
    offsets = pa.array(sums.offsets.astype(np.int32))
    places = [pa.array(sums.combination), pa.array(sums.cell)]
    lanes = [pa.array(np.ascontiguousarray(sums.lane(name))) for name in LANES]
    lists = [
        pa.ListArray.from_arrays(offsets, pa.array(getattr(sums, name)), type=schema.field(name).type)
        for name in _LISTS
    ]
    return pa.RecordBatch.from_arrays([*places, *lanes, *lists], schema=schema)


def _checksum(spec: bytes, sums: Sums) -> str:
    digest = hashlib.sha256(spec)
    for array in (sums.combination, sums.cell, sums.lanes, sums.offsets, sums.bin, sums.rises, sums.falls):
        digest.update(np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False).tobytes())
    return digest.hexdigest()


def _sketch_from(content: bytes) -> Sketch:
    import pyarrow as pa

    if not content.startswith(_MAGIC) or not content.endswith(_MAGIC[:6]):
        raise ValueError("it is not an Arrow file, or is cut off. Copy or save the file again.")
    # Not by way of the file's footer, whose addresses may lead to other messages than those that are checked here.
    messages = pa.ipc.MessageReader.open_stream(pa.py_buffer(content).slice(len(_MAGIC)))
    declared = messages.read_next_message()
    _check_fields(declared.metadata.to_pybytes())
    schema = pa.ipc.read_schema(declared)
    metadata = schema.metadata or {}
    _check_format(metadata.get(_KEY))
    if not schema.equals(_schema(), check_metadata=False):
        raise ValueError("its columns are not those of a sketch.")
    text = metadata[_SPEC]
    if len(text) > MAX_SPEC_BYTES:
        raise ValueError(f"its spec has {len(text):,} bytes, and {MAX_SPEC_BYTES:,} is the limit.")
    body = messages.read_next_message()
    _check_plain(body)
    batch = pa.ipc.read_record_batch(body, schema)
    batch.validate(full=True)
    sums = _sums_from(batch)
    if _checksum(text, sums).encode() != metadata[_CHECKSUM]:
        raise ValueError("it is damaged (its checksum differs). Copy or save the file again.")
    spec = spec_from_text(text)
    _check_cells(sums, spec)
    _check_bins(sums, spec)
    return Sketch(spec, sums)


def _check_fields(metadata: bytes) -> None:
    """Refuse a schema with far more in it than its bytes: thousands of fields may share one long text."""
    schema = _header(metadata)
    at = field_at(metadata, schema, _FIELDS_OF_SCHEMA)
    n_fields = 0 if at is None else unpack_at("<I", metadata, follow(metadata, at))[0]
    if n_fields > _MOST_FIELDS:
        raise ValueError("it is an Arrow file, but not a sketch.")


def _check_plain(body: pa.Message) -> None:
    """Refuse anything but one uncompressed batch: a compressed buffer unfolds to whatever size it states."""
    metadata = body.metadata.to_pybytes()
    is_batch = body.type == "record batch" and scalar_of("<h", metadata, follow(metadata, 0), _VERSION) == _VERSION_5
    # In metadata before version 5, compression may hide in what is custom.
    custom = field_at(metadata, follow(metadata, 0), _CUSTOM_METADATA)
    if not is_batch or custom is not None or field_at(metadata, _header(metadata), _COMPRESSION) is not None:
        raise ValueError("it is compressed or holds other messages, which a sketch never does.")


def _header(metadata: bytes) -> int:
    at = field_at(metadata, follow(metadata, 0), _HEADER)
    if at is None:
        raise ValueError("a message has no header.")
    return follow(metadata, at)


def _check_format(number: bytes | None) -> None:
    if number is None or not number.isdigit() or len(number) > 9:
        raise ValueError("it is an Arrow file, but not a sketch.")
    if int(number) > FORMAT:
        raise ValueError(f"it is of format {int(number)}, and {FORMAT} is the newest known here. Upgrade trueup.")
    if int(number) < 1:
        raise ValueError("it has no format number.")


def _sums_from(batch: pa.RecordBatch) -> Sums:
    lists = [batch.column(name) for name in _LISTS]
    offsets = _numbers(lists[0].offsets)
    for column in lists:
        if not np.array_equal(_numbers(column.offsets), offsets):
            raise ValueError("the lists of a segment differ in length.")
    if offsets[0] != 0 or offsets[-1] != len(lists[0].values):
        raise ValueError("its lists don't begin and end where their values do.")
    bin_, rises, falls = (_numbers(column.values) for column in lists)
    lanes = np.stack([_numbers(batch.column(name)) for name in LANES], axis=1)
    combination, cell = (_numbers(batch.column(name)) for name in ("combination", "cell"))
    return Sums(combination, cell, lanes, offsets.astype(np.int64), bin_, rises, falls)


def _numbers(column: pa.Array) -> npt.NDArray[Any]:
    if column.null_count:
        raise ValueError("values are missing.")
    return np.array(column.to_numpy(zero_copy_only=True))


def _check_cells(sums: Sums, spec: SketchSpec) -> None:
    """Cells that the spec has, in order, whose sums can be sums of rows."""
    if not len(sums.cell):
        return
    grid = spec.grid
    sizes = np.array([len(cut.parts) for cut in spec.cuts] or [1], dtype=np.int64)
    if sums.combination.min() < 0 or sums.combination.max() >= grid.n_combinations or sums.cell.min() < 0:
        raise ValueError("a segment is not in the spec.")
    members = np.append(sizes[grid.members], 1)
    n_cells = np.multiply.reduceat(members, grid.offsets[1:-1]) if grid.n_combinations > 1 else np.zeros(0, np.int64)
    if (sums.cell >= np.concatenate([[1], n_cells])[sums.combination]).any():
        raise ValueError("a segment is not in the spec.")
    if not (np.diff(sums.keys) > 0).all():
        raise ValueError("its segments are not in order.")
    if sums.lanes.min() < 0 or sums.lanes.max() >= LIMIT or sums.lane("rows").min() < 1:
        raise ValueError("a sum is negative, too large, or of no rows.")
    first = np.flatnonzero(np.diff(sums.combination, prepend=-1))
    if len(first) != grid.n_combinations:
        raise ValueError("segments are missing.")
    # Every combination parts the same rows.
    if (np.add.reduceat(sums.lanes.astype(np.uint64), first) != sums.lanes[0].astype(np.uint64)).any():
        raise ValueError("its segments don't add up.")
    slack = 2.0 * sums.lane("rows")  # what rounding explains; as floats, for twice a damaged sum may run over
    for name in ("label", "score"):
        if (sums.lane(name) > sums.lane("weight") + slack).any():
            raise ValueError("a segment has more labels or scores than rows.")


def _check_bins(sums: Sums, spec: SketchSpec) -> None:
    """Bins that the spec has, in order, whose sums can be sums of rows and explain those of their segments."""
    if len(sums.bin):
        owner = np.repeat(np.arange(len(sums.cell)), np.diff(sums.offsets))
        depth = np.diff(spec.grid.offsets)[sums.combination]
        if (sums.bin >= np.array(spec.n_bins)[depth][owner]).any():
            raise ValueError("a bin is not in the spec.")
        if not (np.diff((owner << 16) | sums.bin) > 0).all():
            raise ValueError("its bins are not in order.")
        least, most = np.minimum(sums.rises, sums.falls).min(), np.maximum(sums.rises, sums.falls).max()
        if least < 0 or most >= LIMIT or ((sums.rises | sums.falls) == 0).any():
            raise ValueError("a bin's sum is negative, too large, or empty.")
    for values in (sums.rises, sums.falls):
        # The most that a segment's rows can rise or fall by; as floats, for damaged sums may run over.
        total = np.add.reduceat(np.append(values.astype(np.float64), 0.0), sums.offsets[:-1]) if len(sums.cell) else 0
        total = np.where(np.diff(sums.offsets) > 0, total, 0.0)
        if (total > sums.lane("weight") * (1 + 1e-9) + 2.0 * sums.lane("rows")).any():
            raise ValueError("a segment's errors are more than its rows.")
    running = np.concatenate([[0], np.cumsum(sums.rises - sums.falls)])
    if (np.diff(running[sums.offsets]) != sums.lane("label") - sums.lane("score")).any():
        raise ValueError("a segment's bins don't add up.")
