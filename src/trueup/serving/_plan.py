"""What the rows of a request must look like for a model."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

from trueup._data import listed
from trueup._features import FeatureCodes
from trueup._model import CalibrationModel, Feature, ValueKind
from trueup._scoring import Calibrator
from trueup.errors import ModelFileError
from trueup.serving._problems import Problem

__all__ = ["RowPlan", "check_servable"]

DEFAULT_SCORE_COLUMN = "score"
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


@dataclass(frozen=True)
class RowPlan:
    """The columns of a request, and what they may hold.

    Attributes
    ----------
    columns : tuple of str
        The columns that must be there, in the order of the model.
    types : mapping of str to (frozenset of types, str)
        The types that JSON may hold in a column, and what they are called.
    times : mapping of str to callable
        The columns of dates and times, which come as text, and what reads them.
    known : frozenset of str
        All columns that may be there.
    score_column : str
        Where the score is, unless the request says otherwise.
    base_rate : float or None
        The score of every row, for a model that takes none.
    strict : bool
        Whether other columns are refused.
    """

    columns: tuple[str, ...]
    types: Mapping[str, tuple[frozenset[type], str]]
    times: Mapping[str, Callable[[str], Any]]
    known: frozenset[str]
    score_column: str
    base_rate: float | None
    strict: bool

    @classmethod
    def of(cls, model: CalibrationModel, *, strict: bool = True) -> RowPlan:
        """The plan of a model."""
        spec = model.features
        columns = spec.names
        kinds = {feature.name: feature.kind for feature in spec.features}
        readers = {ValueKind.DATE: dt.date.fromisoformat, ValueKind.DATETIME: _read_time}
        score_column = spec.score_column or DEFAULT_SCORE_COLUMN
        return cls(
            columns=tuple(columns),
            types={
                name: _mixed_types(spec[name]) if kind is ValueKind.MIXED else _JSON_TYPES[kind]
                for name, kind in kinds.items()
            },
            times={name: readers[kind] for name, kind in kinds.items() if kind in readers},
            known=frozenset({*columns, *spec.columns, score_column}),
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
            found = "a text that is none"
        raise Problem(
            "wrong-type",
            f"Row {row:,}, column {column!r}: {expected} or null is expected, but there is {found}.",
            row=row,
            column=column,
        )


_JSON_NAMES = {
    str: "a string",
    int: "a number",
    float: "a number",
    bool: "a boolean",
    list: "a list",
    dict: "an object",
}


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
    told = [*model.features.columns, *model.summary.versions, *model.summary.versions.values()]
    strange = [text for text in told if not _is_unicode(text)]
    if strange:  # no answer, no metric and no problem could name it
        raise ModelFileError(f"The model can't be served: {strange[0][:100]!r} is not Unicode text. Rename the column.")


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:  # half of a pair, which JSON can write but UTF-8 can't
        return False
    return True


def _read_time(text: str) -> dt.datetime:
    return dt.datetime.fromisoformat(f"{text[:-1]}+00:00" if text.endswith("Z") else text)
