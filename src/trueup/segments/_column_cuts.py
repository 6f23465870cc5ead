"""How a column is split into parts: learned once, applied to any later rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from trueup._data import CalibrationTable, Column
from trueup._features import FeatureCodes, chosen_columns, holds_missing, learn_column
from trueup._model import Feature, ValueKind
from trueup.errors import ColumnError, ParameterError
from trueup.segments._conditions import Condition, Interval, Missing, OneOf, Segment
from trueup.segments._grid import DEFAULT_VALUES, values_of
from trueup.segments._partitions import MAX_PARTS, Partition, cut_column

ByteArray: TypeAlias = npt.NDArray[np.uint8]
BoolArray: TypeAlias = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class ColumnCut:
    """The parts of a column, as learned from some rows, with a place for any other value and for missing ones."""

    column: str
    kind: ValueKind
    is_categorical: bool  # whether values are categories; else they are compared as numbers
    # The parts, except the one for missing values. A value belongs to the last condition that it meets, or to the first
    # if it meets none.
    conditions: tuple[Condition, ...]
    n_seen: int  # how many parts, missing values among them, had rows when the cut was learned

    def __post_init__(self) -> None:
        if not 1 <= len(self.conditions) < MAX_PARTS:
            raise ParameterError(f"Column {self.column!r} must have 1 to {MAX_PARTS - 1} parts besides the missing.")
        if any(condition.column != self.column for condition in self.conditions):
            raise ParameterError(f"A part of column {self.column!r} is about another column.")
        if self.is_categorical:
            self._codes_of_categories  # noqa: B018 (raises where categories are not of the column's kind)
        elif self.kind is not ValueKind.NUMBER or not all(_is_numeric(condition) for condition in self.conditions):
            raise ParameterError(f"Column {self.column!r} is numerical: its parts must be numbers.")

    @property
    def parts(self) -> tuple[Segment, ...]:
        """The segment of each code."""
        return tuple(Segment((condition,)) for condition in (*self.conditions, Missing(self.column)))

    def codes(self, column: Column) -> ByteArray:
        """The part that each row is in."""
        return self._codes_by_category(column) if self.is_categorical else self._codes_by_number(column)

    @cached_property
    def _codes_of_categories(self) -> tuple[FeatureCodes, ByteArray, int]:
        """An encoder of the categories that have a part, the part of each, and the part of all others."""
        rest = 0
        categories: dict[Any, int] = {}
        for code, condition in enumerate(self.conditions):
            if not isinstance(condition, OneOf):
                raise ParameterError(f"Column {self.column!r} is categorical: its parts must be values.")
            if condition.excluded:
                rest = code
            else:
                categories.update(dict.fromkeys(condition.values, code))
        feature = Feature(self.column, self.kind, tuple(categories))
        return FeatureCodes(feature), np.fromiter(categories.values(), np.uint8, len(categories)), rest

    def _codes_by_category(self, column: Column) -> ByteArray:
        known, part_of, rest = self._codes_of_categories
        places = known.encode_some(column)
        unknown = np.isnan(places)
        places[unknown] = len(part_of)
        codes: ByteArray = np.append(part_of, np.uint8(rest))[places.astype(np.int64)]
        if unknown.any():
            codes[unknown & holds_missing(column)] = len(self.conditions)
        return codes

    def _codes_by_number(self, column: Column) -> ByteArray:
        if column.kind not in (ValueKind.NUMBER, ValueKind.EMPTY):
            raise ColumnError(
                f"Column {self.column!r} holds {column.kind.value}, but was cut as numbers. Convert it to numbers, or "
                "learn its parts again."
            )
        numbers = column.floats()
        codes = np.zeros(len(numbers), dtype=np.uint8)
        for code, condition in enumerate(self.conditions):
            if code:  # all rows start in the first
                codes[_holds(condition, numbers)] = code
        codes[np.isnan(numbers)] = len(self.conditions)
        return codes


def learn_cuts(
    table: CalibrationTable,
    *,
    features: Sequence[str] | None = None,
    categorical_features: str | Iterable[str | int] = "from_dtype",
    max_values: int | Mapping[str, int] = DEFAULT_VALUES,
    rows: BoolArray | None = None,
) -> tuple[ColumnCut, ...]:
    """How an audit of these rows splits the columns, without those that have only one part."""
    cuts = []
    for name, named in chosen_columns(table, features, categorical_features):
        column = table.column(name) if rows is None else table.column(name).of_rows(rows)
        feature = learn_column(column, named)
        partition = cut_column(column, feature, values_of(name, max_values, table, MAX_PARTS - 3))
        if partition is not None:
            cuts.append(_frozen(partition, feature))
    return tuple(cuts)


def _frozen(partition: Partition, feature: Feature) -> ColumnCut:
    """A partition of some rows, with a place for any other value."""
    conditions = [part.conditions[0] for part in partition.parts]
    seen = [one for one in conditions if not (isinstance(one, Missing) and not one.excluded)]
    rest = _rest_of(feature.name, seen)
    # A value that meets no condition goes to the first part, so the rest comes first.
    in_order = seen if rest is None else [rest, *seen]
    return ColumnCut(feature.name, feature.kind, feature.is_categorical, tuple(in_order), len(conditions))


def _rest_of(name: str, conditions: Sequence[Condition]) -> Condition | None:
    """A condition for values that meet none of these; None if every value meets one."""
    if any(isinstance(one, (OneOf, Missing)) and one.excluded for one in conditions):
        return None
    open_below = [one for one in conditions if isinstance(one, Interval) and one.low is None]
    open_above = [one for one in conditions if isinstance(one, Interval) and one.high is None]
    if open_below and open_above:
        return None
    if open_below:  # a column cut around a value above which nothing was seen
        return Interval(name, low=open_below[0].high)
    if open_above:
        return Interval(name, high=open_above[0].low, includes_high=False)
    return OneOf(name, tuple(value for one in conditions for value in _values(one)), excluded=True)


def _values(condition: Condition) -> tuple[Any, ...]:
    return condition.values if isinstance(condition, OneOf) else (getattr(condition, "low", None),)


def _is_numeric(condition: Condition) -> bool:
    return not isinstance(condition, OneOf) or all(type(value) in (int, float) for value in condition.values)


def _holds(condition: Condition, numbers: npt.NDArray[np.float64]) -> BoolArray:
    """Which numbers meet a condition; missing ones don't matter."""
    if isinstance(condition, Missing):
        return np.isnan(numbers) ^ condition.excluded
    if isinstance(condition, OneOf):
        return np.isin(numbers, np.array(condition.values, dtype=np.float64)) ^ condition.excluded
    inside = np.ones(len(numbers), dtype=bool)
    if condition.low is not None:
        inside &= numbers >= condition.low if condition.includes_low else numbers > condition.low
    if condition.high is not None:
        inside &= numbers <= condition.high if condition.includes_high else numbers < condition.high
    return inside
