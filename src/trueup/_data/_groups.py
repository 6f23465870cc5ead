"""Numbers of 64 bits that stand for the values of a column, the same in every process, file and version."""

from __future__ import annotations

import datetime as dt
import hashlib
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from trueup._data._columns import Column
from trueup._data._readers import column_from_any
from trueup._model import encode_value
from trueup.errors import DataError

Hashes: TypeAlias = npt.NDArray[np.uint64]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FNV_BASIS, _FNV_PRIME = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)


def hash_column(values: Any, *, name: str = "groups") -> Hashes:
    """A number per row that depends on the row's value alone, scattered evenly; a missing value is an error.

    Equal values have equal numbers, whether integers come in 32 bits, in 64 or as floats, and strings plain or from a
    dictionary.
    """
    column = values if isinstance(values, Column) else column_from_any(name, values)
    if column.codes is not None:
        return _of_dictionary(column, name)
    if not isinstance(column.values, np.ndarray):
        return _of_strings(column.values, name)
    if column.values.dtype.kind in "iufM":
        return _of_numbers(column, name)
    objects = column.objects()
    missing = np.fromiter((value is None for value in objects), bool, len(objects))
    if missing.any():
        raise _missing(name, missing)
    return _of_objects(objects)


def mix_hashes(hashes: Hashes, seed: int = 0) -> Hashes:
    """Other numbers, one to one, for another seed."""
    with np.errstate(over="ignore"):
        bits = hashes + np.uint64((seed + 1) % 2**64) * _GOLDEN
        for shift, factor in ((33, 0xFF51AFD7ED558CCD), (33, 0xC4CEB9FE1A85EC53)):
            bits ^= bits >> np.uint64(shift)
            bits *= np.uint64(factor)
    bits ^= bits >> np.uint64(33)
    return bits


def _of_dictionary(column: Column, name: str) -> Hashes:
    """Of the values that codes stand for; what else is in the dictionary is no matter, nothing at all among it."""
    assert column.codes is not None
    used = np.unique(column.codes)
    if (used < 0).any():
        raise _missing(name, column.codes < 0)
    there = np.zeros(len(column.values), dtype=bool)
    there[used] = True
    values = column.dictionary.of_rows(there)
    try:
        return hash_column(values, name=name)[np.searchsorted(used, column.codes)]
    except DataError:
        nothing = used[[value is None for value in values.objects()]]
        raise _missing(name, np.isin(column.codes, nothing)) from None


def _of_numbers(column: Column, name: str) -> Hashes:
    values = column.values
    missing = np.isnat(values) if values.dtype.kind == "M" else np.isnan(values)
    if missing.any():
        raise _missing(name, missing)
    return mix_hashes(_bits_of(values))


def _bits_of(values: npt.NDArray[Any]) -> Hashes:
    """Sixty-four bits a number, the same for the same number of any type."""
    if values.dtype.kind == "M":
        values = values.astype("datetime64[us]").astype(np.int64)
    if values.dtype.kind != "f":
        return values.astype(np.int64 if values.dtype.kind == "i" else np.uint64).view(np.uint64)
    values = values.astype(np.float64)
    bits = values.view(np.uint64) ^ _GOLDEN
    whole = values == np.floor(values)
    for there, integers in (
        (whole & (np.abs(values) < 2.0**63), np.int64),
        (whole & (values >= 2.0**63) & (values < 2.0**64), np.uint64),
    ):
        bits[there] = values[there].astype(integers).view(np.uint64)
    return bits


def _of_strings(values: Any, name: str) -> Hashes:
    """Of Arrow's strings, from their bytes."""
    import pyarrow as pa

    if values.null_count:
        raise _missing(name, np.array([value is None for value in values.to_pylist()]))
    found = []
    for chunk in getattr(values, "chunks", [values]):
        if not len(chunk):
            continue
        large = pa.types.is_large_string(chunk.type)
        _, offsets, data = chunk.buffers()
        ends = np.frombuffer(offsets, np.int64 if large else np.int32)[chunk.offset : chunk.offset + len(chunk) + 1]
        found.append(_fnv(ends.astype(np.int64), np.frombuffer(data or b"", np.uint8)))
    return np.concatenate(found) if found else np.empty(0, np.uint64)


def _fnv(ends: npt.NDArray[np.int64], data: npt.NDArray[np.uint8]) -> Hashes:
    """Fowler, Noll and Vo's hash of each string, scattered: a byte of all strings at a time."""
    starts, lengths = ends[:-1], np.diff(ends)
    hashes = np.full(len(starts), _FNV_BASIS)
    rows, place = np.flatnonzero(lengths), 0
    with np.errstate(over="ignore"):
        while len(rows):
            hashes[rows] = (hashes[rows] ^ data[starts[rows] + place]) * _FNV_PRIME
            place += 1
            rows = rows[lengths[rows] > place]
    return mix_hashes(hashes)


def _of_objects(objects: npt.NDArray[np.object_]) -> Hashes:
    """Of values of any types, none of which is missing: each as it would be in a column of its own type."""
    hashes = np.empty(len(objects), np.uint64)
    types = np.fromiter(map(type, objects), object, len(objects))
    for plain_type in set(types):
        rows = np.flatnonzero(types == plain_type)
        values = objects[rows].tolist()
        if plain_type is str:
            texts = [value.encode("utf-8", "surrogatepass") for value in values]
            ends = np.cumsum([0, *map(len, texts)], dtype=np.int64)
            hashes[rows] = _fnv(ends, np.frombuffer(b"".join(texts), np.uint8))
        elif plain_type in (bool, float):
            hashes[rows] = mix_hashes(_bits_of(np.array(values, dtype=np.float64)))
        elif plain_type in (dt.date, dt.datetime):
            hashes[rows] = mix_hashes(_bits_of(np.array(values, dtype="datetime64[us]")))
        else:
            hashes[rows] = np.fromiter(map(_of_object, values), np.uint64, len(values))
    return hashes


def _of_object(value: Any) -> int:
    if isinstance(value, int) and -(2**63) <= value < 2**64:
        return int(mix_hashes(np.array([value % 2**64], np.uint64))[0])
    text = repr(encode_value(value)).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little")


def _missing(name: str, missing: npt.NDArray[np.bool_]) -> DataError:
    n, first = int(missing.sum()), int(missing.argmax())
    return DataError(
        f"{name}: {n:,} of {len(missing):,} rows belong to no group (first at row {first:,}). Give each of them a "
        "group of its own, or drop those rows."
    )
