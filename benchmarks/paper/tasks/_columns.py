"""Columns of Arrow tables as numbers, and numbers as categories."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from trueup._data import arrow_to_numpy

FloatArray: TypeAlias = NDArray[np.float64]
BoolArray: TypeAlias = NDArray[np.bool_]

__all__ = ["BoolArray", "FloatArray", "as_codes", "categories", "floats", "holds_text", "is_any", "texts"]


def floats(table: pa.Table, name: str, missing: float = np.nan) -> FloatArray:
    """A column of numbers, with something in place of what is missing."""
    values = arrow_to_numpy(table.column(name)).astype(np.float64)
    values[np.isnan(values)] = missing
    return values


def texts(table: pa.Table, name: str) -> pa.ChunkedArray:
    """A column of categories as plain strings."""
    return pc.cast(table.column(name), pa.string())


def is_any(table: pa.Table, name: str, *values: str) -> BoolArray:
    """Which rows hold one of these texts; a missing one holds none."""
    found = pc.fill_null(pc.is_in(texts(table, name), value_set=pa.array(list(values))), False)
    return arrow_to_numpy(pc.cast(found, pa.uint8())).astype(bool)


def categories(values: NDArray[Any]) -> pa.DictionaryArray:
    """Whole numbers as categories named by their digits; NaN is missing."""
    known = ~np.isnan(np.asarray(values, dtype=np.float64))
    distinct, codes = np.unique(values[known], return_inverse=True)
    places = np.zeros(len(values), dtype=np.int32)
    places[known] = codes
    names = [str(int(value)) if value == int(value) else str(value) for value in distinct.tolist()]
    return pa.DictionaryArray.from_arrays(pa.array(places, mask=~known), pa.array(names, pa.string()))


def as_codes(table: pa.Table, name: str, codes: Mapping[str, int] | None = None) -> FloatArray:
    """Texts as numbers: by default the place of each among the sorted texts, from 1; 0 where there is none."""
    encoded = pc.dictionary_encode(texts(table, name).combine_chunks())
    names = encoded.dictionary.to_pylist()
    if codes is None:
        codes = {text: place for place, text in enumerate(sorted(names), 1)}
    numbers = np.array([*(codes.get(text, 0) for text in names), 0], dtype=np.float64)
    return np.asarray(numbers[arrow_to_numpy(pc.fill_null(encoded.indices, len(names)))])


def holds_text(column: pa.ChunkedArray) -> bool:
    """Whether a column holds categories rather than numbers."""
    return bool(pa.types.is_string(column.type) or pa.types.is_dictionary(column.type))
