"""The same column of train and test as one array of numbers."""

from __future__ import annotations

import datetime as dt
import enum
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from trueup._data import Column, read_table
from trueup._features import FeatureCodes, learn_column
from trueup._model import Feature, ValueKind
from trueup.evaluation._diagnosis._row_set import Floats

__all__ = ["JoinedColumn", "KindsDifferError", "Measure", "join_columns", "joined_amounts"]

_TIMES = (ValueKind.DATE, ValueKind.DATETIME)
_LARGEST = 1e150  # squares of these, and sums of the squares, are still floats
_EPOCH = dt.datetime(1970, 1, 1)


class Measure(enum.Enum):
    """What the numbers of a column mean."""

    AMOUNT = "amount"
    TIME = "time"
    CATEGORY = "category"


class KindsDifferError(Exception):
    """A column holds one kind of value in train and another in test."""

    def __init__(self, train: ValueKind, test: ValueKind) -> None:
        super().__init__(f"{train.value} in train, {test.value} in test")
        self.train, self.test = train, test


@dataclass(frozen=True, eq=False)
class JoinedColumn:
    """A column of all rows: those of train first, then those of test."""

    name: str
    measure: Measure  # whether the numbers are amounts, microseconds, or codes of categories
    values: Floats  # one number per row, NaN where missing
    n_train: int  # how many of the rows are train's
    categories: Sequence[Any] = ()  # what the codes stand for: an Arrow array or a list

    @property
    def train(self) -> Floats:
        """The numbers of train."""
        return self.values[: self.n_train]

    @property
    def test(self) -> Floats:
        """The numbers of test."""
        return self.values[self.n_train :]

    def of_rows(self, rows: npt.NDArray[np.int64], n_train: int) -> JoinedColumn:
        """The same column with those rows only, of which the first so many are train's."""
        return replace(self, values=self.values[rows], n_train=n_train)

    def value(self, number: float) -> Any:
        """What a number stands for: a category, a time, or itself."""
        if self.measure is Measure.CATEGORY:
            category = self.categories[int(number)]
            return category.as_py() if hasattr(category, "as_py") else category
        if self.measure is Measure.TIME:
            moment = _EPOCH + dt.timedelta(microseconds=int(number))
            return moment.date() if moment.time() == dt.time() else moment
        return number


def join_columns(train: Column, test: Column | None, named_categorical: bool) -> JoinedColumn:
    """One column of two tables as numbers that mean the same in both."""
    columns = [train] if test is None else [train, test]
    kinds = {column.kind for column in columns} - {ValueKind.EMPTY}
    with_values = [column for column in columns if column.kind is not ValueKind.EMPTY]
    is_categorical = named_categorical or any(column.has_categorical_type for column in with_values)
    if test is not None and _clash(kinds, is_categorical):
        raise KindsDifferError(train.kind, test.kind)
    if not kinds:
        empty = np.full(sum(map(len, columns)), np.nan)
        return JoinedColumn(train.name, Measure.CATEGORY, empty, len(train))
    if is_categorical:
        codes, categories = _codes(columns, kinds)
        return JoinedColumn(train.name, Measure.CATEGORY, codes, len(train), categories)
    measure = Measure.TIME if kinds <= set(_TIMES) else Measure.AMOUNT
    number = _microseconds if measure is Measure.TIME else _amounts
    return JoinedColumn(train.name, measure, np.concatenate([number(column) for column in columns]), len(train))


def joined_amounts(name: str, train: Floats, test: Floats) -> JoinedColumn:
    """A column of numbers that stand in no table."""
    values = np.clip(np.concatenate([train, test]), -_LARGEST, _LARGEST)
    return JoinedColumn(name, Measure.AMOUNT, values, len(train))


def _clash(kinds: set[ValueKind], is_categorical: bool) -> bool:
    """Whether no value of the one could be equal to a value of the other."""
    if len(kinds) < 2 or (ValueKind.MIXED in kinds and is_categorical):
        return False
    return not kinds <= set(_TIMES) and not (is_categorical and kinds == {ValueKind.NUMBER, ValueKind.BOOLEAN})


def _amounts(column: Column) -> Floats:
    return np.clip(column.floats(), -_LARGEST, _LARGEST)


def _microseconds(column: Column) -> Floats:
    if column.kind is ValueKind.EMPTY:
        return np.full(len(column), np.nan)
    times: npt.NDArray[Any] = np.asarray(column.values)
    return np.where(np.isnat(times), np.nan, times.astype("datetime64[us]").astype(np.int64).astype(np.float64))


def _codes(columns: list[Column], kinds: set[ValueKind]) -> tuple[Floats, Sequence[Any]]:
    """The codes of all rows, and what they stand for."""
    if all(column.codes is None and not isinstance(column.values, np.ndarray) for column in columns):
        return _arrow_codes([column.values for column in columns])
    categories: set[Any] = set()
    for column in columns:
        categories.update(learn_column(column, True).categories or ())
    kind = next(iter(kinds)) if len(kinds) == 1 else ValueKind.MIXED
    try:
        in_order = sorted(categories)
    except TypeError:  # of several types
        in_order = sorted(categories, key=lambda value: (type(value).__name__, str(value)))
    encoder = FeatureCodes(Feature(columns[0].name, kind, tuple(in_order)))
    return np.concatenate([encoder.encode(column) for column in columns]), in_order


def _arrow_codes(arrays: list[Any]) -> tuple[Floats, Sequence[Any]]:
    """The same for strings in Arrow arrays, which need not become Python's."""
    import pyarrow as pa

    chunks = [chunk.cast(pa.large_string()) for array in arrays for chunk in getattr(array, "chunks", [array])]
    whole = pa.chunked_array(chunks, pa.large_string()).dictionary_encode()
    column = read_table({"codes": whole}).column("codes")
    assert column.codes is not None
    codes = column.codes.astype(np.float64)
    codes[column.codes < 0] = np.nan
    return codes, column.values
