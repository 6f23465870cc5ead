"""The rows of a request, read and checked, ready to score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from trueup._scoring import Calibrator, Observed, observe_rows, observe_table
from trueup.errors import ColumnError, DataError, ScoreError
from trueup.serving._plan import RowPlan
from trueup.serving._problems import Problem

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["SMALL", "ArrowBatch", "Batch", "JsonBatch"]

SMALL = 64  # rows that are scored one by one, at once; with more, a table in a thread is quicker

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Batch:
    """Rows and their base scores.

    Attributes
    ----------
    scores : float64 array
        The base scores, NaN where missing.
    """

    scores: Floats

    def score(self, calibrator: Calibrator, plan: RowPlan) -> Observed:
        """The probabilities; a `Problem` if a value can't be used."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class JsonBatch(Batch):
    """Rows from JSON.

    Attributes
    ----------
    rows : sequence of mappings
        The values by column; their names have been checked.
    """

    rows: Sequence[Mapping[str, Any]]

    def score(self, calibrator: Calibrator, plan: RowPlan) -> Observed:
        """The probabilities; a `Problem` if a value can't be used."""
        rows = _with_times(self.rows, plan) if plan.times else self.rows
        try:
            if len(rows) <= SMALL and isinstance(
                calibrator, Calibrator
            ):  # which looks at the type of each value itself
                return observe_rows(calibrator, rows, self.scores)
            columns = {name: [row[name] for row in rows] for name in plan.columns}
            _check_types(columns, plan)
            return observe_table(calibrator, _table_of(columns, len(rows)), self.scores)
        except DataError as error:
            _check_types({name: [row[name] for row in self.rows] for name in plan.columns}, plan)
            raise _problem_of(error) from error


@dataclass(frozen=True, eq=False)
class ArrowBatch(Batch):
    """Rows from an Arrow stream.

    Attributes
    ----------
    table : pyarrow.Table
        The columns of the model.
    """

    table: pa.Table

    def score(self, calibrator: Calibrator, plan: RowPlan) -> Observed:
        """The probabilities; a `Problem` if a column can't be used."""
        from trueup._data import read_table

        try:
            columns = {name: self.table.column(name) for name in plan.columns}
            if not columns:
                return observe_table(calibrator, _table_of({}, len(self.scores)), self.scores)
            return observe_table(calibrator, read_table(columns), self.scores)
        except DataError as error:
            if error.__cause__ is not None:
                self._check_readable(plan)
            raise _problem_of(error) from error

    def _check_readable(self, plan: RowPlan) -> None:
        """Name the first column that Arrow can't convert, without Arrow's words: they may tell a value."""
        from trueup._data import read_table

        for name in plan.columns:
            column = self.table.column(name)
            try:
                read_table({name: column}).column(name).objects()
            except DataError:
                said = f"Column {name!r} of Arrow type {column.type} has values that can't be read."
                raise Problem("wrong-type", said, column=name) from None


def _table_of(columns: dict[str, list[Any]], n_rows: int) -> Any:
    from trueup._data import read_table

    return read_table(columns or {"": [None] * n_rows})


def _check_types(columns: Mapping[str, list[Any]], plan: RowPlan) -> None:
    """Refuse the first value that is not what its column holds: large and small requests alike."""
    for name, values in columns.items():
        allowed = plan.types[name][0]
        if name in plan.times:
            continue
        if not set(map(type, values)) <= allowed:
            row = next(place for place, value in enumerate(values) if type(value) not in allowed)
            plan.refuse_type(row, name, values[row])


def _with_times(rows: Sequence[Mapping[str, Any]], plan: RowPlan) -> list[dict[str, Any]]:
    """The rows with dates and times in place of their texts."""
    read = []
    for place, row in enumerate(rows):
        values = dict(row)
        for name, reader in plan.times.items():
            text = values[name]
            if text is not None:
                try:
                    values[name] = reader(text)
                except (AttributeError, TypeError, ValueError, OverflowError):
                    plan.refuse_type(place, name, text)
        read.append(values)
    return read


def _problem_of(error: DataError) -> Problem:
    kind = "bad-score" if isinstance(error, ScoreError) else "wrong-type"
    if not isinstance(error, (ScoreError, ColumnError)):
        kind = "wrong-shape"
    return Problem(kind, str(error))
