"""What a segment is: conditions on columns, the rows that meet them, and words that a person reads."""

from __future__ import annotations

import datetime as dt
import json
import math
import re
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from trueup.errors import ColumnError, ParameterError
from trueup.features import FeatureCodes
from trueup.model import Feature, ValueKind
from trueup.table import Column, kind_of, listed, plain, read_table

__all__ = ["Condition", "Interval", "Missing", "OneOf", "Segment", "Word"]

KEYWORDS = frozenset({"and", "in", "is", "missing", "not", "or"})
_BARE_NAME = re.compile(r"[^\W\d]\w*")
_BARE_VALUE = re.compile(r"-?[\w.+/%:@-]+")
_SHOWN_VALUES = 8

BoolArray: TypeAlias = npt.NDArray[np.bool_]


class Word(str):
    """A value as it stood in a text: what it means depends on the column that it is compared with."""

    __slots__ = ()


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

    def __str__(self) -> str:
        return self._words() + (" or missing" if self.or_missing else "")

    def _words(self) -> str:
        name = _name(self.column)
        if len(self.values) == 1:
            return f"{name} {'≠' if self.excluded else '='} {_value(self.values[0])}"
        shown = [_value(value) for value in self.values[:_SHOWN_VALUES]]
        if len(self.values) > _SHOWN_VALUES:
            shown.append(f"… {len(self.values) - _SHOWN_VALUES:,} more")
        return f"{name} {'not in' if self.excluded else 'in'} {{{', '.join(shown)}}}"

    def _holds(self, column: Column) -> BoolArray:
        """Which rows of the column meet the condition."""
        if column.kind is ValueKind.EMPTY:
            return np.full(len(column), self.or_missing)
        values = tuple(dict.fromkeys(_meant(value, column) for value in self.values))
        feature = Feature(column.name, column.kind, values)
        inside: BoolArray = ~np.isnan(FeatureCodes(feature).encode(column)) ^ self.excluded
        if self.or_missing == self.excluded:
            return inside  # what is missing is among the values that are not the named ones
        missing = _is_missing(column)
        return inside | missing if self.or_missing else inside & ~missing


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

    def __str__(self) -> str:
        return self._words() + (" or missing" if self.or_missing else "")

    def _words(self) -> str:
        name = _name(self.column)
        if self.low is None:
            return f"{name} {'≤' if self.includes_high else '<'} {_value(self.high)}"
        if self.high is None:
            return f"{name} {'≥' if self.includes_low else '>'} {_value(self.low)}"
        low, high = ("≤" if included else "<" for included in (self.includes_low, self.includes_high))
        return f"{_value(self.low)} {low} {name} {high} {_value(self.high)}"

    def _holds(self, column: Column) -> BoolArray:
        """Which rows of the column meet the condition."""
        numbers = column.floats()
        missing: BoolArray = np.isnan(numbers)
        inside = ~missing
        if self.low is not None:
            inside &= numbers >= self.low if self.includes_low else numbers > self.low
        if self.high is not None:
            inside &= numbers <= self.high if self.includes_high else numbers < self.high
        return inside | missing if self.or_missing else inside


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
        return f"{_name(self.column)} is {'not ' if self.excluded else ''}missing"

    def _holds(self, column: Column) -> BoolArray:
        """Which rows of the column meet the condition."""
        missing = _is_missing(column)
        return ~missing if self.excluded else missing


Condition: TypeAlias = OneOf | Interval | Missing


@dataclass(frozen=True)
class Segment:
    """Rows that meet all of some conditions; without conditions, all rows, or a group that has a name only.

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
            raise ParameterError(f"The group {self.name!r} was given as a mask: it has no conditions to look up.")
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


def _as_dict(condition: Condition) -> dict[str, Any]:
    facts = dict(vars(condition)) if hasattr(condition, "__dict__") else {}
    if isinstance(condition, OneOf):
        facts["values"] = [_in_json(value) for value in condition.values]
    if isinstance(condition, Missing):
        facts["missing"] = not facts.pop("excluded")
    return facts


def _in_json(value: Any) -> Any:
    if isinstance(value, (bool, int, str)) or (isinstance(value, float) and math.isfinite(value)):
        return value
    return str(value)


def _name(column: str) -> str:
    if _BARE_NAME.fullmatch(column) and column.lower() not in KEYWORDS:
        return column
    return "`" + column.replace("`", "``") + "`"


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return repr(value).removesuffix(".0") if abs(value) < 1e16 else f"{value:g}"
    text = str(value)
    if _BARE_VALUE.fullmatch(text):
        return text
    return json.dumps(text, ensure_ascii=False)


def _is_missing(column: Column) -> BoolArray:
    if column.codes is not None:
        absent = _is_missing(column.dictionary)
        return column.by_code(absent, True).astype(bool)
    values = column.values
    if column.kind is ValueKind.EMPTY:
        return np.ones(len(column), dtype=bool)
    if not isinstance(values, np.ndarray):
        return _nulls(values)
    if values.dtype == object:
        return np.fromiter((value is None for value in values), bool, len(values))
    if values.dtype.kind == "M":
        return np.isnat(values)
    return np.isnan(values) if values.dtype.kind == "f" else np.zeros(len(values), dtype=bool)


def _nulls(values: Any) -> BoolArray:
    """Which values of an Arrow array are missing."""
    import pyarrow.compute as pc

    from trueup.table import arrow_to_numpy

    return arrow_to_numpy(pc.cast(pc.is_null(values), "uint8")).astype(bool)


def _meant(value: Any, column: Column) -> Any:
    """A condition's value as a column of this kind holds it."""
    try:
        meant = _from_word(value, column.kind) if isinstance(value, Word) else plain(column.name, value)
    except ValueError:
        meant = value
    if column.kind is not ValueKind.MIXED and kind_of(type(meant)) is not column.kind:
        raise ColumnError(
            f"Column {column.name!r} holds {column.kind.value}, and a condition compares it with {str(value)!r}."
        )
    return meant


def _from_word(word: Word, kind: ValueKind) -> Any:
    text = str(word)
    if kind is ValueKind.NUMBER:
        number = float(text)
        return plain("", int(text) if re.fullmatch(r"[+-]?\d+", text) else number)
    if kind is ValueKind.BOOLEAN and text.lower() in ("true", "false"):
        return text.lower() == "true"
    if kind is ValueKind.DATE:
        return dt.date.fromisoformat(text)
    if kind is ValueKind.DATETIME:
        return dt.datetime.fromisoformat(text)
    return text
