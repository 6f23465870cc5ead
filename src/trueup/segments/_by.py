"""Segments by the values of a few columns, as a person asks for them: every value, unless there are too many."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from trueup._data import CalibrationTable, Column
from trueup._features import chosen_columns
from trueup._model import ValueKind
from trueup.errors import DataWarning, ParameterError, callers_level
from trueup.segments._grid import DEFAULT_VALUES

__all__ = ["MOST_VALUES", "chosen_cuts"]

MOST_VALUES = 100  # that are told apart
MOST_NUMBERS = 20  # a column with more different numbers than this is cut
_RANGES = 5  # into so many


def chosen_cuts(
    table: CalibrationTable,
    *,
    by: Sequence[str] | None,
    features: Sequence[str] | None,
    categorical_features: str | Iterable[str | int],
    max_values: int | Mapping[str, int] | None,
) -> dict[str, Any]:
    """Which columns segments are made of, which are categorical, and how many values of each are told apart."""
    if by is None:
        values = DEFAULT_VALUES if max_values is None else max_values
        return {"features": features, "categorical_features": categorical_features, "max_values": values}
    if features is not None:
        raise ParameterError("by and features both name the columns that segments are made of: pass one of them.")
    if isinstance(by, str):
        raise ParameterError(f"by must be a list of names, got the string {by!r}. Use [{by!r}].")
    if not by:
        raise ParameterError("by is empty. Name at least one column.")
    chosen = chosen_columns(table, by, categorical_features)
    columns = {name: table.column(name) for name, _ in chosen}
    # Each day is a value of its own: whoever asks for segments by a date wants that.
    categorical = [
        name for name, named in chosen if named or columns[name].kind in (ValueKind.DATE, ValueKind.DATETIME)
    ]
    values = _values_told_apart(columns.values(), categorical) if max_values is None else max_values
    return {"features": by, "categorical_features": categorical or "from_dtype", "max_values": values}


def _values_told_apart(columns: Iterable[Column], categorical: Collection[str]) -> dict[str, int]:
    """How many values tell all categories of a column apart, or all its numbers if they are few, up to a limit."""
    told = {}
    for column in columns:
        n = _n_distinct(column)
        is_number = column.kind is ValueKind.NUMBER and not column.has_categorical_type
        if is_number and column.name not in categorical and n > MOST_NUMBERS:
            told[column.name] = _RANGES
            continue
        told[column.name] = min(max(n, 2), MOST_VALUES)
        if n > MOST_VALUES:
            warnings.warn(
                f"by: column {column.name!r} has {n:,} values. The {MOST_VALUES - 1} most frequent are tested one by "
                "one, the others as one.",
                DataWarning,
                stacklevel=callers_level(),
            )
    return told


def _n_distinct(column: Column) -> int:
    """How many values there are, missing not counted; numbers without making Python objects of them."""
    if column.codes is None and column.kind is ValueKind.NUMBER and column.values.dtype != object:
        numbers = column.floats()
        return len(np.unique(numbers[~np.isnan(numbers)]))
    return len(column.distinct())
