"""Where base scores come from, and what a model makes of them; how many values were missing or unseen on the way.

Whoever watches live traffic needs both counts: a rise is the first sign that the rows are no longer those of fit.
"""

from __future__ import annotations

import decimal
import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from trueup._data import CalibrationTable, read_scores, read_table
from trueup._model import CalibrationModel, plain_value
from trueup._scoring._apply import map_scores
from trueup.errors import MissingScoreWarning, ScoreError, UnseenCategoryWarning, callers_level

if TYPE_CHECKING:
    from trueup._scoring._calibrator import Calibrator

Floats = npt.NDArray[np.float64]

_TAKES_NO_SCORES = (
    "The model was fitted without scores and starts from the base rate. Leave the scores out, or fit again on scores."
)


def read_base_scores(model: CalibrationModel, X: Any, scores: Any) -> tuple[CalibrationTable, Floats]:
    """The table and its base scores: those given, a column's, or the base rate; NaN with a warning where missing."""
    table = read_table(X)
    name = "scores"
    if scores is None:
        column = model.features.score_column
        if column is not None and column in table.names:
            scores, name = table.column(column), f"Column {column!r}"
        elif model.base_rate is not None:
            return table, np.full(table.n_rows, model.base_rate)
        else:
            raise ScoreError(_fitted_on_scores(column, "s"))
    elif model.base_rate is not None:
        raise ScoreError(_TAKES_NO_SCORES)
    base = read_scores(scores, table.n_rows, name=name, missing_allowed=True, positive=model.positive_column)
    missing = np.isnan(base)
    if missing.any():
        warn_of_missing(name, int(missing.sum()), len(base), f"at row {int(np.argmax(missing)):,}")
    return table, base


def score_column_of(model: CalibrationModel, score: str | None, columns: Sequence[str]) -> str | None:
    """The column of a stream that holds the base scores; None for a model that starts from the base rate."""
    if score is not None:
        if model.base_rate is not None:
            raise ScoreError(_TAKES_NO_SCORES)
        return score
    column = model.features.score_column
    if column is not None and (column in columns or model.base_rate is None):
        return column
    if model.base_rate is None:
        raise ScoreError("The model was fitted on scores. Name the column that holds them with score=.")
    return None


def warn_of_missing(name: str, missing: int, n_rows: int, first: str) -> None:
    """Say how many scores are missing, and where the first of them is."""
    warnings.warn(
        f"{name}: {missing:,} of {n_rows:,} scores are missing (first {first}). Those rows get NaN.",
        MissingScoreWarning,
        stacklevel=callers_level(),
    )


def base_score_of_row(model: CalibrationModel, row: Mapping[str, Any], score: Any) -> Any:
    """The base score of one row, not yet checked."""
    if score is not None:
        if model.base_rate is not None:
            raise ScoreError(_TAKES_NO_SCORES)
        return score
    column = model.features.score_column
    if column is not None and column in row:
        return row[column]
    if model.base_rate is not None:
        return model.base_rate
    raise ScoreError(_fitted_on_scores(column, ""))


def checked_score(score: Any) -> float:
    """The score of one row; NaN for one that is missing, an error for one that is wrong."""
    if type(score) is float and 0.0 <= score <= 1.0:  # nearly every row's
        return score
    try:
        plain = plain_value(score)
    except (TypeError, OverflowError):
        plain = score  # no single value at all
    if plain is None:
        return float("nan")
    if isinstance(plain, (int, float, decimal.Decimal)) and not isinstance(plain, bool) and 0 <= plain <= 1:
        return float(plain)
    raise ScoreError(f"score is {score!r}; pass one probability in [0, 1].")


def _fitted_on_scores(column: str | None, plural: str) -> str:
    where = f", or add the column {column!r} that held them at fit" if column is not None else ""
    return f"The model was fitted on scores; pass the base model's as score{plural}={where}."


_SHOWN = 5  # columns of a warning


@dataclass(frozen=True, eq=False)
class Observed:
    """Probabilities, and how many values of each feature were missing or unseen."""

    probabilities: Floats
    missing: Mapping[str, int]
    unseen: Mapping[str, int]


def observe_rows(calibrator: Calibrator, rows: Sequence[Mapping[str, Any]], scores: Floats) -> Observed:
    """Score rows given as mappings, quickest for a few; the scores are probabilities, or NaN where missing."""
    spec, encode_row = calibrator.model.features, calibrator._encoder.encode_row
    probability = calibrator._forest.probability_of_one
    probabilities = map_scores(calibrator.model.score_map, scores).copy()
    missing: dict[str, int] = {}
    unseen: dict[str, int] = {}
    for place, score in enumerate(probabilities.tolist()):
        row = rows[place]
        numbers = encode_row(row)
        if calibrator.model.rounds:
            probabilities[place] = probability(numbers, score)
        for feature, number in enumerate(numbers):
            if number != number:  # noqa: PLR0124 - NaN, without a call
                name = spec.features[feature].name
                value = row[name]
                lacks = value is None or (isinstance(value, float) and math.isnan(value))
                counts = missing if lacks else unseen
                counts[name] = counts.get(name, 0) + 1
    return Observed(probabilities, missing, unseen)


def observe_table(calibrator: Calibrator, table: CalibrationTable, scores: Floats) -> Observed:
    """Score a table; the scores are probabilities, or NaN where missing."""
    if not calibrator.model.features.named:
        table = replace(table, named=False)
    return calibrator._of_table(table, scores)


def warn_of_unseen(n_rows: int, missing: Mapping[str, int], unseen: Mapping[str, int], least: int = 1) -> None:
    """Say of which features at least half of the values, and at least so many, were not there at fit.

    Some new categories are ordinary. If most are new, something else is wrong: they are spelled otherwise than at fit,
    or the rows are of other traffic.
    """
    found = {
        name: f"{count:,} of {n_rows - missing.get(name, 0):,} values"
        for name, count in unseen.items()
        if count >= least and 2 * count >= n_rows - missing.get(name, 0)
    }
    if not found:
        return
    (first, counts), *others = found.items()
    text = f"Column {first!r}: {counts} were not seen at fit and count as missing."
    text += "".join(f" Column {name!r}: {counts}." for name, counts in others[: _SHOWN - 1])
    if len(found) > _SHOWN:
        text += f" More such columns: {len(found) - _SHOWN:,}."
    warnings.warn(
        f"{text} Check that they are written as at fit; if they are new, fit again on rows that have them.",
        UnseenCategoryWarning,
        stacklevel=callers_level(),
    )
