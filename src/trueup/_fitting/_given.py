"""What users pass to a fit in memory, checked: the rows, and those of an `eval_set`."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import column_or_1d

from trueup._data import CalibrationTable, Labels, read_labels, read_scores, read_table, read_weights
from trueup.errors import DataError, LabelError, ParameterError, ScoreError

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class FitRows:
    """The rows of a fit. A row of weight 0 must make no difference."""

    table: CalibrationTable  # all rows, as are `given` and `base`
    given: Labels
    base: Floats  # the base scores
    base_rate: float | None  # the score of every row if none were given
    kept: npt.NDArray[np.bool_] | None  # which rows have a positive weight; None for all
    labels: Floats  # of the rows that are kept, as are `scores` and `weights`
    scores: Floats
    weights: Floats | None


def read_fit_rows(
    X: Any,
    y: Any,
    scores: Any,
    sample_weight: Any,
    *,
    pos_label: Any = None,
    score_column: str | None = None,
    like: FitRows | None = None,
) -> FitRows:
    """Check what was passed to a fit. With `like`, these rows validate that fit, and have its classes and base rate."""
    table = read_table(X)
    if table.n_rows == 0:
        raise DataError("X has no rows: found array with 0 sample(s), and at least one is needed.")
    if getattr(y, "ndim", 1) == 2 and not hasattr(y, "columns"):
        y = column_or_1d(y, warn=True)  # as scikit-learn's own classifiers do
    weights = read_weights(sample_weight, table.n_rows)
    known = {"pos_label": pos_label} if like is None else {"like": like.given}
    labels = read_labels(y, table.n_rows, **known)
    base_rate = None
    if scores is not None:
        base = read_scores(scores, table.n_rows, positive=labels.positive_column)
    elif score_column is not None:
        base = read_scores(table.column(score_column), table.n_rows, name=f"Column {score_column!r}")
    elif like is not None and like.base_rate is None:
        raise ScoreError("scores are missing. The fit has scores, so eval_set needs them too: pass (X, y, scores).")
    else:
        base_rate = float(np.average(labels.values, weights=weights)) if like is None else like.base_rate
        base = np.full(table.n_rows, base_rate)
    if weights is None or weights.all():
        return FitRows(table, labels, base, base_rate, None, labels.values, base, weights)
    kept = weights > 0
    own = labels.values[kept]
    if like is None and not labels.soft and own.min() == own.max():
        raise LabelError("y holds one class only among the rows with a positive weight. There is nothing to calibrate.")
    return FitRows(table, labels, base, base_rate, kept, own, base[kept], weights[kept])


def read_eval_rows(
    eval_set: Any, like: FitRows, *more: str, score_column: str | None = None
) -> tuple[FitRows, tuple[Any, ...]]:
    """The rows of an `eval_set`, and what `more` names after its weights."""
    names = ("X", "y", "scores", "sample_weight", *more)
    if not isinstance(eval_set, tuple) or not 2 <= len(eval_set) <= len(names):
        forms = [f"({', '.join(names[:n])})" for n in range(2, len(names) + 1)]
        raise ParameterError(f"eval_set must be a tuple {', '.join(forms[:-1])} or {forms[-1]}.")
    given: list[Any] = [*eval_set, *[None] * (len(names) - len(eval_set))]
    X, y, scores, sample_weight, *others = given
    with naming_eval_set():
        return read_fit_rows(X, y, scores, sample_weight, score_column=score_column, like=like), tuple(others)


@contextlib.contextmanager
def naming_eval_set() -> Iterator[None]:
    """Say in errors that they are about the `eval_set`."""
    try:
        yield
    except (DataError, ParameterError) as error:
        raise type(error)(f"eval_set: {error}") from error
