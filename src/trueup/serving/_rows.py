"""What the rows of a request must look like for a model, and rows that do, ready to score."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

import numpy as np
import numpy.typing as npt

from trueup._data import listed, read_table
from trueup._features import FeatureCodes
from trueup._model import CalibrationModel, Feature, ValueKind
from trueup._scoring import Calibrator, Observed, observe_rows, observe_table
from trueup.errors import ColumnError, DataError, ModelFileError, ScoreError
from trueup.serving._problems import Problem

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["SMALL", "ArrowBatch", "JsonBatch", "RowBatch", "RowPlan", "check_servable"]

Floats = npt.NDArray[np.float64]
SMALL = 64  # rows that are scored one by one, at once; with more, a table is quicker
_SCORE_COLUMN = "score"  # unless the model knows another
_SHOWN, _LONGEST_NAME = 20, 100

# What a column of a kind may hold in JSON, and what that is called.
_SCALARS: frozenset[type] = frozenset({str, int, float, bool, type(None)})
_JSON_TYPES: Mapping[ValueKind, tuple[frozenset[type], str]] = {
    ValueKind.NUMBER: (frozenset({int, float, type(None)}), "a number"),
    ValueKind.STRING: (frozenset({str, type(None)}), "a string"),
    ValueKind.BOOLEAN: (frozenset({bool, type(None)}), "true or false"),
    ValueKind.DATE: (frozenset({str, type(None)}), "a date as YYYY-MM-DD"),
    ValueKind.DATETIME: (frozenset({str, type(None)}), "a time as YYYY-MM-DDTHH:MM:SS"),
    ValueKind.EMPTY: (_SCALARS, "a string, a number or a boolean"),
}
_JSON_NAMES = {
    str: "a string", int: "a number", float: "a number", bool: "a boolean", list: "a list", dict: "an object",
}  # fmt: skip


@dataclass(frozen=True)
class RowPlan:
    """The columns of a request, and what they may hold."""

    columns: tuple[str, ...]  # that must be there, in the order of the model
    types: Mapping[str, tuple[frozenset[type], str]]  # that JSON may hold in a column, and what they are called
    times: Mapping[str, Callable[[str], Any]]  # what reads the columns of dates and times, which come as text
    known: frozenset[str]  # all columns that may be there
    score_column: str  # unless the request names another
    base_rate: float | None  # the score of every row, for a model that takes none
    strict: bool  # whether other columns are refused

    @classmethod
    def of(cls, model: CalibrationModel, *, strict: bool = True) -> RowPlan:
        """The plan of a model."""
        spec = model.features
        kinds = {feature.name: feature.kind for feature in spec.features}
        readers = {ValueKind.DATE: dt.date.fromisoformat, ValueKind.DATETIME: _read_time}
        score_column = spec.score_column or _SCORE_COLUMN
        return cls(
            columns=tuple(spec.names),
            types={
                name: _mixed_types(spec[name]) if kind is ValueKind.MIXED else _JSON_TYPES[kind]
                for name, kind in kinds.items()
            },
            times={name: readers[kind] for name, kind in kinds.items() if kind in readers},
            known=frozenset({*spec.names, *spec.columns, score_column}),
            score_column=score_column,
            base_rate=model.base_rate,
            strict=strict,
        )

    def score_name(self, asked: str | None) -> str:
        """The column of scores, checked not to be a feature as well."""
        name = asked or self.score_column
        if name in self.types:
            raise Problem(
                "bad-score",
                f"The column {name!r} is a feature of the model, so the scores can't be in it. Name their column "
                "with ?score_column=, or send them beside the rows.",
            )
        return name

    def check_names(self, names: Collection[str], score_name: str, *, row: int | None = None) -> None:
        """Refuse names that lack a column of the model, or have one too many."""
        where = "The table" if row is None else f"Row {row:,}"
        at = {} if row is None else {"row": row}
        absent = [name for name in self.columns if name not in names]
        strange = [name[:_LONGEST_NAME] for name in names if name not in self.known and name != score_name]
        if absent:
            instead = f" It has {listed(strange, _SHOWN)}, which the model does not know." if strange else ""
            raise Problem(
                "missing-columns",
                f"{where} lacks {len(absent)} of {len(self.columns)} columns: {listed(absent, _SHOWN)}.{instead}",
                columns=absent[:_SHOWN],
                **at,
            )
        if strange and self.strict:
            counted = f"{len(strange)} columns" if len(strange) > 1 else "a column"
            raise Problem(
                "unknown-columns",
                f"{where} has {counted} that the model does not know: {listed(strange, _SHOWN)}.",
                columns=strange[:_SHOWN],
                **at,
            )

    def refuse_type(self, row: int, column: str, value: Any) -> NoReturn:
        """Say that a value is of the wrong type, without saying what it is."""
        expected, found = self.types[column][1], _JSON_NAMES.get(type(value), type(value).__name__)
        if column in self.times and isinstance(value, str):
            found = "a string that is not one"
        raise Problem(
            "wrong-type",
            f"Row {row:,}, column {column!r}: expected {expected} or null, got {found}.",
            row=row,
            column=column,
        )

    def check_types(self, columns: Mapping[str, list[Any]]) -> None:
        """Refuse the first value that is not what its column holds: large and small requests alike."""
        for name, values in columns.items():
            allowed = self.types[name][0]
            if name not in self.times and not set(map(type, values)) <= allowed:
                row = next(place for place, value in enumerate(values) if type(value) not in allowed)
                self.refuse_type(row, name, values[row])

    def with_times(self, rows: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
        """The rows with dates and times in place of their texts."""
        return [self._with_times(place, row) for place, row in enumerate(rows)] if self.times else rows

    def _with_times(self, place: int, row: Mapping[str, Any]) -> dict[str, Any]:
        values = dict(row)
        for name, reader in self.times.items():
            if (text := values[name]) is not None:
                try:
                    values[name] = reader(text)
                except (AttributeError, TypeError, ValueError, OverflowError):
                    self.refuse_type(place, name, text)
        return values


def _mixed_types(feature: Feature) -> tuple[frozenset[type], str]:
    """What JSON may hold in a column that held several kinds of values at fit, or one that JSON does not have."""
    kinds = FeatureCodes(feature).kinds or ()
    held = [
        _JSON_TYPES[kind] for kind in (ValueKind.STRING, ValueKind.NUMBER, ValueKind.BOOLEAN) if kind.value in kinds
    ]
    if not held:
        return frozenset({type(None)}), f"{' and '.join(sorted(kinds))} (only Arrow can send them)"
    return frozenset().union(*(types for types, _ in held)), " or ".join(words for _, words in held)


def check_servable(calibrator: Calibrator) -> None:
    """Refuse a model whose names no answer could hold, or that no plan can be made for."""
    model = calibrator.model
    RowPlan.of(model)
    for text in (*model.features.columns, *model.summary.versions, *model.summary.versions.values()):
        if any("\ud800" <= letter <= "\udfff" for letter in text):  # halves of pairs: JSON can write them, UTF-8 can't
            raise ModelFileError(f"The model can't be served: {text[:100]!r} is not Unicode text. Rename the column.")


def _read_time(text: str) -> dt.datetime:
    return dt.datetime.fromisoformat(f"{text[:-1]}+00:00" if text.endswith("Z") else text)


@dataclass(frozen=True, eq=False)
class JsonBatch:
    """Rows from JSON whose names have been checked, and their base scores, NaN where missing."""

    scores: Floats
    rows: Sequence[Mapping[str, Any]]

    def score(self, calibrator: Calibrator, plan: RowPlan) -> Observed:
        """The probabilities; a `Problem` if a value can't be used."""
        rows = plan.with_times(self.rows)
        try:
            if len(rows) <= SMALL:  # which looks at the type of each value itself
                return observe_rows(calibrator, rows, self.scores)
            columns = {name: [row[name] for row in rows] for name in plan.columns}
            plan.check_types(columns)
            return _observed(calibrator, columns, self.scores)
        except DataError as error:
            plan.check_types({name: [row[name] for row in self.rows] for name in plan.columns})
            raise _problem_of(error) from error


@dataclass(frozen=True, eq=False)
class ArrowBatch:
    """Rows from an Arrow stream: their scores, and a table with the columns of the model."""

    scores: Floats
    table: pa.Table

    def score(self, calibrator: Calibrator, plan: RowPlan) -> Observed:
        """The probabilities; a `Problem` if a column can't be used."""
        columns = {name: self.table.column(name) for name in plan.columns}
        try:
            return _observed(calibrator, columns, self.scores)
        except DataError as error:
            if error.__cause__ is not None:
                _check_readable(columns)
            raise _problem_of(error) from error


RowBatch: TypeAlias = JsonBatch | ArrowBatch


def _check_readable(columns: Mapping[str, pa.ChunkedArray]) -> None:
    """Name the first column that Arrow can't convert, without Arrow's words: they may tell a value."""
    for name, column in columns.items():
        said = f"Column {name!r} of Arrow type {column.type} has values that can't be read."
        try:
            read_table({name: column}).column(name).objects()
        except DataError:
            raise Problem("wrong-type", said, column=name) from None


def _observed(calibrator: Calibrator, columns: Mapping[str, Any], scores: Floats) -> Observed:
    return observe_table(calibrator, read_table(columns or {"": [None] * len(scores)}), scores)


def _problem_of(error: DataError) -> Problem:
    kind = "bad-score" if isinstance(error, ScoreError) else "wrong-type"
    if not isinstance(error, (ScoreError, ColumnError)):
        kind = "wrong-shape"
    return Problem(kind, str(error))
