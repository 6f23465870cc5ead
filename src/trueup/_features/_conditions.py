"""Which rows of a column meet a condition."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from trueup._data import Column, arrow_to_numpy
from trueup._features._codes import FeatureCodes
from trueup._model import Feature, ValueKind

__all__ = ["holds_between", "holds_missing", "holds_one_of"]

BoolArray = npt.NDArray[np.bool_]


def holds_one_of(column: Column, values: Feature, *, excluded: bool, or_missing: bool) -> BoolArray:
    """Which rows hold one of the categories of `values`, or, if excluded, something that is none of them."""
    if column.kind is ValueKind.EMPTY:
        return np.full(len(column), or_missing)
    inside: BoolArray = ~np.isnan(FeatureCodes(values).encode_some(column)) ^ excluded
    if or_missing == excluded:
        return inside  # what is missing is among the values that are not the named ones
    missing = holds_missing(column)
    return inside | missing if or_missing else inside & ~missing


def holds_between(
    column: Column,
    low: float | None,
    high: float | None,
    *,
    includes_low: bool,
    includes_high: bool,
    or_missing: bool,
) -> BoolArray:
    """Which rows hold a number between two bounds, of which one may be absent."""
    numbers = column.floats()
    missing: BoolArray = np.isnan(numbers)
    inside = ~missing
    if low is not None:
        inside &= numbers >= low if includes_low else numbers > low
    if high is not None:
        inside &= numbers <= high if includes_high else numbers < high
    return inside | missing if or_missing else inside


def holds_missing(column: Column, *, excluded: bool = False) -> BoolArray:
    """Which rows hold nothing, or, if excluded, anything."""
    missing = _is_missing(column)
    return ~missing if excluded else missing


def _is_missing(column: Column) -> BoolArray:
    if column.codes is not None:
        absent = _is_missing(column.dictionary)
        return column.by_code(absent, True).astype(bool)
    values = column.values
    if column.kind is ValueKind.EMPTY:
        return np.ones(len(column), dtype=bool)
    if not isinstance(values, np.ndarray):
        import pyarrow.compute as pc

        return arrow_to_numpy(pc.cast(pc.is_null(values), "uint8")).astype(bool)
    if values.dtype == object:
        return np.fromiter((value is None for value in values), bool, len(values))
    if values.dtype.kind == "M":
        return np.isnat(values)
    return np.isnan(values) if values.dtype.kind == "f" else np.zeros(len(values), dtype=bool)
