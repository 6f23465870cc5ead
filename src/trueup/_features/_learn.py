"""Learning what the columns of a table hold."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from trueup._data import CalibrationTable, Column, names_from
from trueup._model import Feature, FeatureSpec, OpaqueValue, ValueKind
from trueup.errors import ColumnError, ParameterError, TableError

_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+>")
_MAX_BITS = 1024  # what a float can hold; Python refuses to write very long integers as text


def learn_features(
    table: CalibrationTable,
    *,
    features: Sequence[str] | None = None,
    categorical_features: str | Iterable[str | int] = "from_dtype",
    score_column: str | None = None,
    rows: npt.NDArray[np.bool_] | None = None,
) -> FeatureSpec:
    """What the columns of a table hold, and the categories of those that are categorical.

    `categorical_features` names columns that are categorical besides those whose type makes them so. `score_column`
    holds the base scores and is never a feature. Only the categories in `rows` count.
    """
    if not table.names:
        raise TableError(
            f"Found array with 0 feature(s) (shape=({table.n_rows}, 0)) while a minimum of 1 is required. "
            "Pass a table with at least one column."
        )
    if score_column is not None:
        names_from("score_column", [score_column], table.names)
    chosen = [name for name in table.names if name != score_column] if features is None else features
    if score_column in names_from("features", chosen, table.names):
        raise ParameterError(
            f"score_column {score_column!r} can't be one of the features too. Take it out of features=."
        )
    learned = learn_columns(table, chosen, categorical_features=categorical_features, rows=rows)
    return FeatureSpec(table.names, tuple(feature for _, feature in learned), table.named, score_column)


def learn_columns(
    table: CalibrationTable,
    features: Sequence[str] | None = None,
    *,
    categorical_features: str | Iterable[str | int] = "from_dtype",
    rows: npt.NDArray[np.bool_] | None = None,
) -> Iterator[tuple[Column, Feature]]:
    """Each column with what was learned of it, one at a time: a large table need not be held twice.

    The parameters are those of `learn_features`; columns come without the rows that don't count.
    """
    for name, named in chosen_columns(table, features, categorical_features):
        column = table.column(name)
        if rows is not None:
            column = column.of_rows(rows)
        yield column, learn_column(column, named)


def chosen_columns(
    table: CalibrationTable,
    features: Sequence[str] | None = None,
    categorical_features: str | Iterable[str | int] = "from_dtype",
) -> list[tuple[str, bool]]:
    """The names of the features, and whether each was named as categorical."""
    chosen = table.names if features is None else names_from("features", features, table.names)
    if len(set(chosen)) < len(chosen):
        raise ParameterError("features names a column twice.")
    named: Iterable[str] = ()
    if not isinstance(categorical_features, str):
        named = set(names_from("categorical_features", categorical_features, table.names))
    elif categorical_features != "from_dtype":
        raise ParameterError(
            f'categorical_features must be "from_dtype" or a list of names, got {categorical_features!r}. Use '
            f"[{categorical_features!r}] to name one column."
        )
    return [(name, name in named) for name in chosen]


def learn_column(column: Column, named_categorical: bool) -> Feature:
    """What a column holds, and its categories if it is categorical."""
    learner = FeatureLearner(column.name, named_categorical)
    learner.add(column)
    return learner.feature()


class FeatureLearner:
    """What a column holds, learned from a batch of it at a time; what was learned of other batches can be added."""

    def __init__(self, name: str, named_categorical: bool) -> None:
        self.name, self._named = name, named_categorical
        self._kind, self._categorical = ValueKind.EMPTY, named_categorical
        self._distinct: set[Any] = set()

    @property
    def may_hold_numbers(self) -> bool:
        """Whether all that came so far are numbers that are not categories, or nothing at all."""
        return not self._categorical and self._kind in (ValueKind.NUMBER, ValueKind.EMPTY)

    def add(self, column: Column) -> None:
        """Learn from a batch of the column."""
        categorical = self._named or (column.has_categorical_type and column.kind is not ValueKind.EMPTY)
        if not categorical and column.kind not in (ValueKind.NUMBER, ValueKind.EMPTY):
            raise _not_a_number(column.name, column.kind.value)
        distinct: set[Any] = set()
        if categorical:
            distinct = column.distinct()
            if column.kind is ValueKind.MIXED:  # True is 1, and which of them came first must not matter
                distinct = {int(value) if isinstance(value, bool) else value for value in distinct}
            self._check(distinct - self._distinct, column)
        self._join(column.kind, categorical, distinct)

    def merge(self, other: FeatureLearner) -> None:
        """Add what was learned of other batches."""
        self._join(other._kind, other._categorical, other._distinct)

    def feature(self) -> Feature:
        """What all batches together hold."""
        if self.may_hold_numbers and self._kind is ValueKind.NUMBER:
            return Feature(self.name, ValueKind.NUMBER)
        try:
            categories = sorted(self._distinct)
        except TypeError:  # of several types: numbers can't be sorted among strings
            categories = sorted(self._distinct, key=lambda value: (type(value).__name__, str(value)))
        return Feature(self.name, self._kind, tuple(categories))

    def _join(self, kind: ValueKind, categorical: bool, distinct: set[Any]) -> None:
        if kind is ValueKind.EMPTY:
            return
        if self._kind is ValueKind.EMPTY:
            self._kind, self._categorical = kind, categorical
        elif kind is not self._kind or categorical is not self._categorical:
            here, before = (
                f"{what.value}{', as categories' if of_categories else ''}"
                for what, of_categories in ((kind, categorical), (self._kind, self._categorical))
            )
            raise ColumnError(
                f"Column {self.name!r} holds {here}, but in rows before it held {before}. Convert one of them; numbers "
                "that are categories must be named in categorical_features=."
            )
        self._distinct |= distinct

    def _check(self, distinct: set[Any], column: Column) -> None:
        types = set(map(type, distinct))
        if types and types <= {dt.timedelta, dt.time} and not self._named and column.codes is None:
            raise _not_a_number(column.name, "durations or times of day")
        _check_categories(distinct, types, column)


def _not_a_number(name: str, what: str) -> ColumnError:
    return ColumnError(
        f"Column {name!r} holds {what}. Name it in categorical_features= if each is a category, turn it into "
        "a number (an hour, an age), or leave it out with features=."
    )


def _check_categories(distinct: set[Any], types: set[type], column: Column) -> None:
    """Refuse categories that another process or a file could not know again."""
    if column.kind in (ValueKind.DATE, ValueKind.DATETIME) and int in types:
        raise ColumnError(
            f"Column {column.name!r} holds {column.kind.value} outside the years 1 to 9999. Drop those rows."
        )
    for value in distinct:
        if isinstance(value, OpaqueValue) and _ADDRESS.search(value.text):
            raise ColumnError(
                f"Column {column.name!r} holds objects of type {value.type_name} whose text is an address in "
                "memory. Turn them into strings or numbers."
            )
        if isinstance(value, int) and value.bit_length() > _MAX_BITS:
            raise ColumnError(
                f"Column {column.name!r} holds integers of more than {_MAX_BITS:,} bits. Turn them into strings."
            )
