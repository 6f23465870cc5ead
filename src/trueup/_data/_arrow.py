"""Arrow's bytes, read here: numbers and times from the buffers of arrays, and fields from the metadata of messages.

Arrow's own conversions, `to_numpy` and even `pyarrow.scalar`, import pandas wherever it is installed. That
costs half a second and much memory, which scoring must not pay.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import pyarrow as pa

EXACT_IN_FLOATS = 2**53


def arrow_to_numpy(array: pa.Array | pa.ChunkedArray) -> npt.NDArray[Any]:
    """The integers, floats, dates in milliseconds, timestamps or durations of an Arrow array.

    Floats have NaN and times NaT where they are missing; times with a zone are UTC. Integers stay what they are if none
    is missing; else they become floats, or objects with None if floats can't hold them.
    """
    chunks = [chunk for chunk in getattr(array, "chunks", [array]) if len(chunk)]
    if not chunks:
        return np.empty(0, _numpy_type(array.type))
    values = _values(chunks[0]) if len(chunks) == 1 else np.concatenate([_values(chunk) for chunk in chunks])
    if not array.null_count:
        return values
    missing = np.concatenate([_missing(chunk) for chunk in chunks])
    if values.dtype.kind in "iu":
        present = values[~missing]
        exact = not len(present) or (present.min() >= -EXACT_IN_FLOATS and present.max() <= EXACT_IN_FLOATS)
        values = values.astype(np.float64 if exact else object)
    else:
        values = values.copy()
    values[missing] = np.nan if values.dtype.kind == "f" else None  # None in a time is NaT
    return values


def floats_to_arrow(values: npt.NDArray[np.float64]) -> pa.Array:
    """The numbers as an Arrow array, made from buffers; NaN is null, which every format can say."""
    import pyarrow as pa

    missing = np.isnan(values)
    valid = pa.py_buffer(np.packbits(~missing, bitorder="little")) if missing.any() else None
    return pa.Array.from_buffers(pa.float64(), len(values), [valid, pa.py_buffer(np.ascontiguousarray(values))])


def _values(array: pa.Array) -> npt.NDArray[Any]:
    """What the buffer holds, which is anything where a value is missing."""
    end = array.offset + len(array)
    return np.frombuffer(array.buffers()[1], _numpy_type(array.type), end)[array.offset :]


def _missing(array: pa.Array) -> npt.NDArray[np.bool_]:
    if not array.null_count:
        return np.zeros(len(array), dtype=bool)
    end = array.offset + len(array)
    valid = np.unpackbits(np.frombuffer(array.buffers()[0], np.uint8), count=end, bitorder="little")
    return np.equal(valid[array.offset :], 0)


def _numpy_type(arrow_type: pa.DataType) -> np.dtype[Any]:
    import pyarrow.types as at

    # By its name: Arrow's own method, to_pandas_dtype, imports pandas in some versions.
    if at.is_timestamp(arrow_type):
        return np.dtype(f"datetime64[{arrow_type.unit}]")
    if at.is_duration(arrow_type):
        return np.dtype(f"timedelta64[{arrow_type.unit}]")
    name = str(arrow_type)
    return np.dtype({"halffloat": "float16", "float": "float32", "date64[ms]": "datetime64[ms]"}.get(name, name))


# Arrow believes what a message declares: a compressed buffer of a kilobyte may state that it unfolds to a terabyte. So
# what a stranger's bytes ask for is read here before Arrow reads them, with every offset of the flatbuffer checked.


def follow(message: bytes, place: int) -> int:
    """Where a table is whose offset stands at a place."""
    return int(place + unpack_at("<I", message, place)[0])


def field_at(message: bytes, table: int, number: int) -> int | None:
    """Where a field of a table stands; None if it has its default value."""
    vtable = table - unpack_at("<i", message, table)[0]
    (size,) = unpack_at("<H", message, vtable)
    entry = 4 + 2 * number
    if entry + 2 > size:
        return None
    (offset,) = unpack_at("<H", message, vtable + entry)
    return table + offset if offset else None


def scalar_of(form: str, message: bytes, table: int, number: int) -> int:
    """A number in a table; the default of all that are read here is 0."""
    at = field_at(message, table, number)
    return 0 if at is None else unpack_at(form, message, at)[0]


def unpack_at(form: str, data: bytes, place: int) -> tuple[int, ...]:
    """The numbers at a place, or a ValueError if it is outside."""
    try:
        if place >= 0:  # below, Python would count from the end
            return struct.unpack_from(form, data, place)
    except struct.error:
        pass
    raise ValueError("an offset points outside")
