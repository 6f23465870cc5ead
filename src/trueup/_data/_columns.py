"""One column as arrays that the rest of the package understands."""

from __future__ import annotations

import datetime as dt
import decimal
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from trueup._model import OpaqueValue, ValueKind, plain_value
from trueup.errors import ColumnError

_CATEGORICAL = (ValueKind.STRING, ValueKind.BOOLEAN, ValueKind.MIXED, ValueKind.EMPTY)

_KINDS: dict[type, ValueKind] = {
    type(None): ValueKind.EMPTY,
    str: ValueKind.STRING,
    bool: ValueKind.BOOLEAN,
    int: ValueKind.NUMBER,
    float: ValueKind.NUMBER,
    decimal.Decimal: ValueKind.NUMBER,
    dt.date: ValueKind.DATE,
    dt.datetime: ValueKind.DATETIME,
}

_UNUSUAL = {bytes: "bytes", dt.time: "times of day", dt.timedelta: "durations"}


@dataclass(frozen=True, eq=False)
class Column:
    """The values of a column.

    NUMBER: integers; or floats with NaN where missing; or objects with None where missing, if they are integers or
    decimals that floats can't hold. BOOLEAN: floats 0, 1 and NaN. DATE and DATETIME: ``datetime64`` days and
    microseconds. STRING: an Arrow array of type ``string`` or ``large_string``, or objects with None where missing.
    MIXED: objects as `plain_value` gives them. EMPTY: None in all rows.

    With codes, the column is dictionary-encoded: row i holds ``values[codes[i]]``, or nothing if that is -1.
    """

    name: str
    kind: ValueKind
    values: Any
    codes: npt.NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return len(self.values if self.codes is None else self.codes)

    @property
    def has_categorical_type(self) -> bool:
        """Whether the type makes it categorical: strings, booleans, categoricals; or nothing at all."""
        return self.kind in _CATEGORICAL or self.codes is not None

    @property
    def dictionary(self) -> Column:
        """The values that the codes stand for, or the column itself."""
        return self if self.codes is None else replace(self, codes=None)

    def by_code(self, values: npt.NDArray[Any], missing: Any) -> npt.NDArray[Any]:
        """One entry per row from `values`, one per value of the dictionary; without codes, `values` itself."""
        if self.codes is None:
            return values
        return np.append(values, missing)[self.codes]  # code -1 is the one at the end

    def of_rows(self, rows: npt.NDArray[np.bool_]) -> Column:
        """The same column with those rows only."""
        if self.codes is not None:
            return replace(self, codes=self.codes[rows])
        if isinstance(self.values, np.ndarray):
            return replace(self, values=self.values[rows])
        return replace(self, values=self.values.filter(rows))

    def distinct(self) -> set[Any]:
        """The values that are there, as `plain_value` gives them, without None."""
        values = self.values
        if self.codes is not None:
            return set(self.dictionary.objects()[np.unique(self.codes[self.codes >= 0])]) - {None}
        if not isinstance(values, np.ndarray):
            import pyarrow.compute as pc

            return set(_python_strings(self.name, pc.unique(values))) - {None}
        if values.dtype != object:
            values = replace(self, values=np.unique(values)).objects()
        return set(values) - {None}

    def floats(self) -> npt.NDArray[np.float64]:
        """The values of a column of numbers or booleans as floats, NaN where missing."""
        if self.kind is ValueKind.EMPTY:
            return np.full(len(self), np.nan)
        if self.kind not in (ValueKind.NUMBER, ValueKind.BOOLEAN):
            raise ColumnError(f"Column {self.name!r} holds {self.kind.value}. Convert them to numbers.")
        return self.by_code(np.asarray(self.values, dtype=np.float64), np.nan)

    def objects(self) -> npt.NDArray[np.object_]:
        """The values as `plain_value` gives them, None where missing."""
        values = self.values
        if not isinstance(values, np.ndarray):
            values = object_array(_python_strings(self.name, values))
        elif self.kind is ValueKind.BOOLEAN:
            values = object_array([None if math.isnan(value) else bool(value) for value in values.tolist()])
        elif self.kind is ValueKind.NUMBER and values.dtype != object:
            values = object_array([plain_value(value) for value in values.tolist()])
        elif values.dtype != object:  # dates and times
            values = values.astype(object)
        return self.by_code(values, None)


def kind_of(plain_type: type) -> ValueKind:
    """The kind of a column whose plain values are all of that type."""
    return _KINDS.get(plain_type, ValueKind.MIXED)


def kind_in_words(value: Any) -> str:
    """What a plain value is, more closely than its `ValueKind` tells: bytes and UUIDs are both of unusual types."""
    if isinstance(value, OpaqueValue):
        return f"values of type {value.type_name}"
    return _UNUSUAL.get(type(value)) or kind_of(type(value)).value


def plain(name: str, value: Any) -> Any:
    """The plain value of a column's value, or a `ColumnError` that names the column."""
    try:
        return plain_value(value)
    except Exception as error:  # the value's own methods are called, and they may raise anything
        if isinstance(value, complex):
            what = f"Complex data not supported: column {name!r} holds complex numbers. Pass real ones."
            raise ColumnError(what) from error
        raise ColumnError(
            f"Column {name!r} holds a value of type {type(value).__name__} that can be neither a number nor "
            f"a category: {error}. Drop the column, leave it out with features=, or turn it into numbers or "
            "strings."
        ) from error


def object_array(values: Sequence[Any]) -> npt.NDArray[np.object_]:
    """An array of the values as they are: `numpy.array` would unpack the sequences among them."""
    return np.fromiter(values, dtype=object, count=len(values))


def _python_strings(name: str, values: Any) -> list[str | None]:
    try:
        return list(values.to_pylist())
    except UnicodeDecodeError as error:
        raise ColumnError(
            f"Column {name!r} holds text that is not UTF-8 ({error}). Decode it, or drop the column."
        ) from error
