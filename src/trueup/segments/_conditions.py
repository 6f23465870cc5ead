"""What a segment is: conditions on columns, the rows that meet them, and words that a person reads."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from trueup._data import Column, listed, read_table
from trueup._features import holds_between, holds_missing, holds_one_of
from trueup._model import Feature, ValueKind
from trueup.errors import ColumnError, ParameterError
from trueup.segments._words import in_json, meant_by, name_in_words, value_in_words

_SHOWN_VALUES = 8

BoolArray: TypeAlias = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class OneOf:
    """The column holds one of some values, or, if excluded, a value that is none of them.

    Attributes
    ----------
    column : str
        The column's name.
    values : tuple
        The values.
    excluded : bool
        Whether the rows with other values are meant.
    or_missing : bool
        Whether rows whose value is missing are meant too.

    Examples
    --------
    >>> from trueup.segments import OneOf
    >>> str(OneOf("country", ("NO",))), str(OneOf("country", ("NO", "SE"), excluded=True))
    ('country = NO', 'country not in {NO, SE}')
    """

    column: str
    values: tuple[Any, ...]
    excluded: bool = False
    or_missing: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.values, tuple) or not self.values:
            raise ParameterError(f"OneOf needs a tuple of at least one value of {self.column!r}, got {self.values!r}.")

    def __str__(self) -> str:
        return self._words() + (" or missing" if self.or_missing else "")

    def _words(self) -> str:
        name = name_in_words(self.column)
        if len(self.values) == 1:
            return f"{name} {'≠' if self.excluded else '='} {value_in_words(self.values[0])}"
        shown = [value_in_words(value) for value in self.values[:_SHOWN_VALUES]]
        if len(self.values) > _SHOWN_VALUES:
            shown.append(f"… {len(self.values) - _SHOWN_VALUES:,} more")
        return f"{name} {'not in' if self.excluded else 'in'} {{{', '.join(shown)}}}"

    def _holds(self, column: Column) -> BoolArray:
        """Which rows of the column meet the condition."""
        return holds_one_of(column, values_in(self, column), excluded=self.excluded, or_missing=self.or_missing)


@dataclass(frozen=True)
class Interval:
    """The column holds a number between two bounds; a bound that is None is not there.

    Attributes
    ----------
    column : str
        The column's name.
    low : float or None
        The lower bound.
    high : float or None
        The upper bound.
    includes_low : bool
        Whether the lower bound itself is inside.
    includes_high : bool
        Whether the upper bound itself is inside.
    or_missing : bool
        Whether rows whose value is missing are meant too.

    Examples
    --------
    >>> from trueup.segments import Interval
    >>> str(Interval("age", 18, 25, includes_low=True, includes_high=False))
    '18 ≤ age < 25'
    """

    column: str
    low: float | None = None
    high: float | None = None
    includes_low: bool = False
    includes_high: bool = True
    or_missing: bool = False

    def __post_init__(self) -> None:
        bounds = [bound for bound in (self.low, self.high) if bound is not None]
        if not bounds or not all(_is_bound(bound) for bound in bounds):
            what = f"low={self.low!r} and high={self.high!r}"
            raise ParameterError(f"An Interval of {self.column!r} needs one or two numbers as bounds, got {what}.")

    def __str__(self) -> str:
        return self._words() + (" or missing" if self.or_missing else "")

    def _words(self) -> str:
        name = name_in_words(self.column)
        if self.low is None:
            return f"{name} {'≤' if self.includes_high else '<'} {value_in_words(self.high)}"
        if self.high is None:
            return f"{name} {'≥' if self.includes_low else '>'} {value_in_words(self.low)}"
        low, high = ("≤" if included else "<" for included in (self.includes_low, self.includes_high))
        return f"{value_in_words(self.low)} {low} {name} {high} {value_in_words(self.high)}"

    def _holds(self, column: Column) -> BoolArray:
        """Which rows of the column meet the condition."""
        return holds_between(
            column,
            self.low,
            self.high,
            includes_low=self.includes_low,
            includes_high=self.includes_high,
            or_missing=self.or_missing,
        )


@dataclass(frozen=True)
class Missing:
    """The column holds nothing, or, if excluded, anything.

    Attributes
    ----------
    column : str
        The column's name.
    excluded : bool
        Whether the rows that hold something are meant.

    Examples
    --------
    >>> from trueup.segments import Missing
    >>> str(Missing("age"))
    'age is missing'
    """

    column: str
    excluded: bool = False

    def __str__(self) -> str:
        return f"{name_in_words(self.column)} is {'not ' if self.excluded else ''}missing"

    def _holds(self, column: Column) -> BoolArray:
        """Which rows of the column meet the condition."""
        return holds_missing(column, excluded=self.excluded)


Condition: TypeAlias = OneOf | Interval | Missing


@dataclass(frozen=True)
class Segment:
    """Rows that meet all of some conditions; without conditions, all rows, or a segment that has a name only.

    Attributes
    ----------
    conditions : tuple of OneOf, Interval or Missing
        The conditions.
    name : str or None
        What to call the segment instead of its conditions.

    Examples
    --------
    >>> from trueup.segments import Interval, OneOf, Segment
    >>> segment = Segment((OneOf("country", ("NO",)), Interval("age", high=25)))
    >>> print(segment)
    country = NO and age ≤ 25
    >>> segment.mask({"country": ["NO", "NO", "SE"], "age": [20, 30, 20]})
    array([ True, False, False])
    """

    conditions: tuple[Condition, ...] = ()
    name: str | None = None

    def __str__(self) -> str:
        if self.name is not None:
            return self.name
        return " and ".join(map(str, self.conditions)) or "all rows"

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that the conditions are about, each once."""
        return tuple(dict.fromkeys(condition.column for condition in self.conditions))

    def mask(self, X: Any) -> BoolArray:
        """Return which rows of a table are in the segment.

        Parameters
        ----------
        X : table
            A pandas, polars or pyarrow table, a dict of arrays, or a two-dimensional NumPy array.

        Returns
        -------
        numpy.ndarray of bool
            True for the rows inside.

        Examples
        --------
        >>> from trueup.segments import Missing, Segment
        >>> Segment((Missing("age"),)).mask({"age": [20, None]})
        array([False,  True])
        """
        if self.name is not None and not self.conditions:
            raise ParameterError(f"The segment {self.name!r} was given as a mask: it has no conditions to look up.")
        table = read_table(X)
        absent = [name for name in self.columns if name not in table]
        if absent:
            raise ColumnError(f"{self}: X has no column {listed(absent)}. Its columns are {listed(table.names, 12)}.")
        inside = np.ones(table.n_rows, dtype=bool)
        for condition in self.conditions:
            inside &= condition._holds(table.column(condition.column))
        return inside

    def to_dict(self) -> dict[str, Any]:
        """Return the segment as plain values that JSON can hold.

        Returns
        -------
        dict
            The words, and the conditions one by one.

        Examples
        --------
        >>> from trueup.segments import Interval, Segment
        >>> Segment((Interval("age", high=25),)).to_dict()["conditions"]
        [{'column': 'age', 'low': None, 'high': 25, 'includes_low': False, 'includes_high': True, 'or_missing': False}]
        """
        return {"words": str(self), "conditions": [_as_dict(condition) for condition in self.conditions]}


def values_in(condition: OneOf, column: Column) -> Feature:
    """The values of a condition as categories of the column that they are compared with."""
    if column.kind is ValueKind.EMPTY:
        return Feature(column.name, column.kind, ())
    meant = itertools.chain.from_iterable(meant_by(value, column) for value in condition.values)
    return Feature(column.name, column.kind, tuple(dict.fromkeys(meant)))


def _as_dict(condition: Condition) -> dict[str, Any]:
    facts = dict(vars(condition)) if hasattr(condition, "__dict__") else {}
    if isinstance(condition, OneOf):
        facts["values"] = [in_json(value) for value in condition.values]
    if isinstance(condition, Interval):
        facts["low"], facts["high"] = in_json(condition.low), in_json(condition.high)
    if isinstance(condition, Missing):
        facts["missing"] = not facts.pop("excluded")
    return facts


def _is_bound(value: Any) -> bool:
    if not isinstance(value, (int, float, np.integer, np.floating)) or isinstance(value, bool):
        return False
    try:
        return not math.isnan(value)
    except OverflowError:  # an integer beyond all floats
        return False
