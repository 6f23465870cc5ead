"""The one reader of rows: a table, and what goes with its rows as arrays beside it or as columns of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from trueup._data._columns import Column
from trueup._data._frames import subtable
from trueup._data._groups import hash_column
from trueup._data._labels import Labels, read_labels
from trueup._data._table import CalibrationTable, names_from, read_table
from trueup._data._vectors import check_length, one_column, read_scores, read_weights
from trueup.errors import DataError, LabelError, ParameterError, ScoreError, TableError, WeightError

BoolArray: TypeAlias = npt.NDArray[np.bool_]
Floats: TypeAlias = npt.NDArray[np.float64]

_ERRORS = {"y": LabelError, "sample_weight": WeightError, "groups": DataError, "time": DataError}
_NO_FEATURE = ("groups", "time")  # by default; unlike labels, scores and weights they may be asked for


@dataclass(frozen=True, eq=False)
class Given:
    """What was given, found but not yet checked: whoever diagnoses rows goes on where others raise."""

    X: Any  # as the user gave it
    table: CalibrationTable | None
    n: int
    names: Mapping[str, str]  # the columns that have a role, by role
    values: Mapping[str, Any]  # an array, a Column or None, by role

    def labels(self, *, like: Labels | None = None, pos_label: Any = None) -> Labels:
        """The labels, or an error that names their column."""
        with self._naming("y", "labels"):
            return read_labels(self.values["y"], self.n, like=like, pos_label=pos_label)

    def scores(self, role: str = "scores", **how: Any) -> Floats:
        """One model's scores; `how` is handed on to `read_scores`."""
        return read_scores(self.values[role], self.n, name=self.what(role), **how)

    def weights(self) -> Floats | None:
        """The weights, if there are any."""
        with self._naming("sample_weight", "weights"):
            return read_weights(self.values["sample_weight"], self.n)

    def column(self, role: str) -> Column | None:
        """The values of a role as they are, if there are any."""
        values = self.values.get(role)
        return None if values is None else one_column(values, role, DataError)

    def features(self, features: Sequence[str | int] | None) -> list[str]:
        """The names of the features: those asked for, possibly none, or all columns that have no role."""
        if self.table is None:
            if features:
                raise ParameterError("features names columns of X, but X is None. Pass X.")
            return []
        taken = {name: role for role, name in self.names.items()}
        if features is None:
            return [name for name in self.table.names if name not in taken]
        chosen = self.columns_of("features", features)
        for name in chosen:
            if taken.get(name, "time") not in _NO_FEATURE:
                raise ParameterError(f"features names {name!r}, which is the column of {taken[name]}. Leave it out.")
        return chosen

    def columns_of(self, parameter: str, wanted: Sequence[str | int]) -> list[str]:
        """The names of columns that a parameter gives by name or by place in the table."""
        assert self.table is not None
        return list(dict.fromkeys(names_from(parameter, wanted, self.table.names)))

    def what(self, role: str) -> str:
        """What messages call a role: the column, or the argument."""
        return f"Column {self.names[role]!r}" if role in self.names else role

    @contextmanager
    def _naming(self, role: str, plural: str) -> Iterator[None]:
        try:
            yield
        except (LabelError, WeightError) as error:
            if role not in self.names:
                raise
            raise type(error)(f"The {plural}, column {self.names[role]!r}: {error}") from error


@dataclass(frozen=True, eq=False)
class Rows:
    """What was given, checked."""

    given: Given
    features: list[str]
    labels: Labels
    scores: Mapping[str, Floats]  # by role
    weights: Floats | None

    @property
    def n(self) -> int:
        """How many rows were given."""
        return self.given.n

    @cached_property
    def counted(self) -> BoolArray | None:
        """Which rows have a weight above 0; None if all do."""
        return None if self.weights is None or self.weights.all() else self.weights > 0

    @property
    def n_counted(self) -> int:
        """How many rows those are."""
        return self.n if self.counted is None else int(self.counted.sum())

    def of_counted(self, values: Any) -> Any:
        """The entries of those rows in an array of one per row, if there is one."""
        return values if values is None or self.counted is None else values[self.counted]

    @cached_property
    def groups(self) -> npt.NDArray[np.int64] | None:
        """Which group each row is in, as numbers from 0 that don't depend on the order of the rows."""
        column = self.given.column("groups")
        if column is None:
            return None
        hashes = hash_column(column, name=self.given.what("groups"))
        return np.unique(hashes, return_inverse=True)[1].reshape(-1).astype(np.int64)

    @property
    def pos_label(self) -> Any:
        """What `pos_label=` must say for the same positive class; None if that is the default."""
        return None if self.labels.positive_column else self.labels.classes[1]

    def part(self, rows: BoolArray | None, *more: str) -> Any:
        """The features of some rows, and more columns, as a table of the user's own library."""
        table = self.given.table
        return subtable(self.given.X, rows, [*self.features, *more] if table is not None and table.named else None)

    def label_values(self, rows: BoolArray | None = None) -> npt.NDArray[Any]:
        """The labels of some rows, as the user gave them."""
        values = self.labels.values if rows is None else self.labels.values[rows]
        return values if self.labels.soft else np.array(self.labels.classes)[values.astype(np.intp)]


def given_rows(X: Any, y: Any, scores: Mapping[str, Any], **more: Any) -> Given:
    """Find the columns that have a role, and refuse what doesn't belong to the same rows.

    `scores` and `more` (``sample_weight``, ``groups``, ``time``) are arrays, names of columns, or None, by role.
    """
    if y is None:
        raise LabelError("y is None. Pass one label per row, or the name of their column.")
    table = None if X is None else read_table(X)
    roles = {"y": y, **scores, **more}
    names = {role: value for role, value in roles.items() if isinstance(value, str)}
    seen: dict[str, str] = {}
    for role, name in names.items():
        if table is None:
            raise ParameterError(f"{role} names the column {name!r}, but X is None. Pass X.")
        names_from(role, [name], table.names)
        other = seen.setdefault(name, role)
        if other != role and not {other, role} <= {*_NO_FEATURE}:
            raise ParameterError(f"{other} and {role} both name the column {name!r}. They must differ.")
    if table is not None:
        roles |= {role: table.column(name) for role, name in names.items()}
    else:
        roles["y"] = one_column(y, "y", LabelError)
    n = len(roles["y"]) if table is None else table.n_rows
    if n == 0:
        raise TableError("There are no rows. Pass at least one.")
    for role, values in roles.items():
        if hasattr(values, "__len__"):
            check_length(len(values), n, role, _ERRORS.get(role, ScoreError))
    return Given(X, table, n, names, roles)


def read_rows(
    X: Any,
    y: Any,
    scores: Mapping[str, Any],
    *,
    features: Sequence[str | int] | None = None,
    pos_label: Any = None,
    **more: Any,
) -> Rows:
    """Find the columns that have a role, and check all values; `scores` are one or several models', by role."""
    for role, values in scores.items():
        if values is None:
            raise ScoreError(f"{role} is None. Pass a model's probabilities, or the name of their column.")
    given = given_rows(X, y, scores, **{"sample_weight": None, **more})
    chosen = given.features(features)
    labels = given.labels(pos_label=pos_label)
    read = {role: given.scores(role, positive=labels.positive_column) for role in scores}
    return Rows(given, chosen, labels, read, given.weights())
