"""What is evaluated: a table, and which of its columns, or which arrays beside it, are what."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from trueup._data import (
    CalibrationTable,
    Column,
    Labels,
    listed,
    part_of,
    read_labels,
    read_scores,
    read_table,
    read_weights,
)
from trueup.errors import ColumnError, DataError, LabelError, ParameterError, ScoreError, WeightError

__all__ = ["EvaluationInput", "read_input"]

BoolArray: TypeAlias = npt.NDArray[np.bool_]
Floats: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class EvaluationInput:
    """All rows, checked.

    Attributes
    ----------
    given : table
        The table as the user gave it.
    table : CalibrationTable
        The same, read.
    names : mapping of str to str
        The columns that have a role, by role.
    features : tuple of str
        The columns that segments are made of: those that were named, or all that have no other role.
    labels : Labels
        What happened.
    scores : array of float64
        What the base model promised.
    weights : array of float64 or None
        What rows count.
    time, group, cluster : Column or None
        When rows are from, which of them stay together, and which are not independent of each other.
    """

    given: Any
    table: CalibrationTable
    names: Mapping[str, str]
    features: tuple[str, ...]
    labels: Labels
    scores: Floats
    weights: Floats | None
    time: Column | None
    group: Column | None
    cluster: Column | None

    @property
    def counts(self) -> BoolArray:
        """The rows that have a weight."""
        return np.ones(self.table.n_rows, dtype=bool) if self.weights is None else self.weights > 0

    @property
    def pos_label(self) -> Any:
        """What `pos_label=` must say for the same positive class."""
        return None if self.labels.positive_column else self.labels.classes[1]

    @property
    def restricts(self) -> list[str] | None:
        """What `features=` must say: None if all columns that are passed on are features."""
        if self.table.named:  # what is no feature is not passed on
            return None
        return None if len(self.features) == len(self.table.names) else list(self.features)

    def what(self, role: str) -> str:
        """What messages call a role: the column, or the argument."""
        return f"Column {self.names[role]!r}" if role in self.names else role

    def features_of(self, rows: BoolArray | None, *more: str) -> Any:
        """The features of some rows, and more columns."""
        columns = [*self.features, *more] if self.table.named else None
        return part_of(self.given, rows, columns)

    def label_values(self, rows: BoolArray | None = None) -> npt.NDArray[Any]:
        """Labels of some rows, as the user gave them."""
        values = self.labels.values if rows is None else self.labels.values[rows]
        if self.labels.soft:
            return values
        return np.array(self.labels.classes)[values.astype(np.intp)]

    def weights_of(self, rows: BoolArray) -> Floats | None:
        """The weights of some rows."""
        return None if self.weights is None else self.weights[rows]


def read_input(
    X: Any,
    *,
    y: Any,
    scores: Any,
    sample_weight: Any,
    time: Any,
    group: Any,
    cluster: Any,
    features: Sequence[str] | None,
    pos_label: Any = None,
) -> EvaluationInput:
    """Find the columns that have a role, and check all values."""
    table = read_table(X)
    if table.n_rows == 0:
        raise DataError("X has no rows. Pass at least some hundreds.")
    if scores is None:
        raise ScoreError("scores is None. Pass the base model's probabilities, or the name of their column.")
    given = {"y": y, "scores": scores, "sample_weight": sample_weight, "time": time, "group": group, "cluster": cluster}
    names = {role: value for role, value in given.items() if isinstance(value, str)}
    for role, name in names.items():
        _check_there(name, table, role)
    _check_apart(names)
    columns = {role: _column(table, value) for role, value in given.items()}
    labels = _labels(columns["y"], table.n_rows, names.get("y"), pos_label)
    return EvaluationInput(
        given=X,
        table=table,
        names=names,
        features=_features(table, names, features),
        labels=labels,
        scores=_scores(columns["scores"], table.n_rows, names.get("scores"), labels.positive_column),
        weights=_weights(columns["sample_weight"], table.n_rows, names.get("sample_weight")),
        **{role: _as_column(table, role, columns[role]) for role in ("time", "group", "cluster")},
    )


def _check_there(name: str, table: CalibrationTable, role: str) -> None:
    if name not in table:
        lowered = {column.lower(): column for column in table.names}
        close = difflib.get_close_matches(name.lower(), lowered, n=1)
        meant = f" Did you mean {lowered[close[0]]!r}?" if close else ""
        raise ColumnError(f"{role}: X has no column {name!r}.{meant} Its columns are {listed(table.names, 30)}.")


def _check_apart(names: Mapping[str, str]) -> None:
    """Refuse one column in two roles; only a group may be the cluster, and the time may be either."""
    seen: dict[str, str] = {}
    for role, name in names.items():
        other = seen.setdefault(name, role)
        if other != role and {other, role} & {"y", "scores", "sample_weight"}:
            raise ParameterError(f"{other} and {role} both name the column {name!r}. They must differ.")


def _column(table: CalibrationTable, value: Any) -> Any:
    return table.column(value) if isinstance(value, str) else value


def _as_column(table: CalibrationTable, role: str, value: Any) -> Column | None:
    if value is None or isinstance(value, Column):
        return value
    column = read_table({role: value}).column(role)
    if len(column) != table.n_rows:
        raise DataError(f"{role} has {len(column):,} rows, but X has {table.n_rows:,}. They must be the same rows.")
    return column


def _features(table: CalibrationTable, names: Mapping[str, str], features: Sequence[str] | None) -> tuple[str, ...]:
    taken = {name: role for role, name in names.items()}
    if features is None:
        chosen = tuple(name for name in table.names if name not in taken)
        if not chosen:
            raise ParameterError("X has no columns left to be features: all of them have another role.")
        return chosen
    for name in features:
        _check_there(name, table, "features")
        # A time, a group or a cluster may be a feature if it is asked for; what is to be learned may not.
        if taken.get(name) in ("y", "scores", "sample_weight"):
            raise ParameterError(f"features names {name!r}, which is the column of {taken[name]}. Leave it out.")
    if not features:
        raise ParameterError("features is empty. Name at least one column, or pass None for all.")
    return tuple(dict.fromkeys(features))


def _labels(values: Any, n_rows: int, name: str | None, pos_label: Any) -> Labels:
    try:
        return read_labels(values, n_rows, pos_label=pos_label)
    except LabelError as error:
        raise LabelError(f"The labels, column {name!r}: {error}" if name else str(error)) from error


def _scores(values: Any, n_rows: int, name: str | None, positive: int) -> Floats:
    return read_scores(values, n_rows, name=f"Column {name!r}" if name else "scores", positive=positive)


def _weights(values: Any, n_rows: int, name: str | None) -> Floats | None:
    try:
        return read_weights(values, n_rows)
    except WeightError as error:
        raise WeightError(f"The weights, column {name!r}: {error}" if name else str(error)) from error
