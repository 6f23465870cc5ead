"""Where the base scores of a table or a row come from, and what is wrong with them."""

from __future__ import annotations

import decimal
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from trueup._data import CalibrationTable, read_scores, read_table
from trueup._model import CalibrationModel, plain_value
from trueup.errors import MissingScoreWarning, ScoreError, callers_level

_FITTED_WITHOUT_SCORES = (
    "The model was fitted without scores, on the base rate; it can't take any now. Fit with scores=."
)


def read_base_scores(model: CalibrationModel, X: Any, scores: Any) -> tuple[CalibrationTable, npt.NDArray[np.float64]]:
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
        raise ScoreError(_FITTED_WITHOUT_SCORES)
    base = read_scores(scores, table.n_rows, name=name, missing_allowed=True, positive=model.positive_column)
    missing = np.isnan(base)
    if missing.any():
        warn_of_missing(name, int(missing.sum()), len(base), f"at row {int(np.argmax(missing)):,}")
    return table, base


def score_column_of(model: CalibrationModel, score: str | None, columns: Sequence[str]) -> str | None:
    """The column of a stream that holds the base scores; None for a model that starts from the base rate."""
    if score is not None:
        if model.base_rate is not None:
            raise ScoreError(_FITTED_WITHOUT_SCORES)
        return score
    column = model.features.score_column
    if column is not None and (column in columns or model.base_rate is None):
        return column
    if model.base_rate is None:
        raise ScoreError("The model was fitted on scores. Name the column that holds the base model's with score=.")
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
            raise ScoreError(_FITTED_WITHOUT_SCORES)
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
