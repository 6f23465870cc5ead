"""Labels, scores and weights in; checked arrays out, without rows of weight 0."""

from __future__ import annotations

from typing import Any

import numpy as np

from trueup._data import read_labels, read_scores, read_weights
from trueup.errors import DataError, LabelError, ScoreError, TableError, WeightError
from trueup.metrics._checks import FloatArray, Observations


def read_rows(y_true: Any, y_prob: Any, sample_weight: Any) -> Observations:
    """Check labels, scores and weights; unlike elsewhere, labels 0 and 1 may all be of one class."""
    n = _length(y_true, "y_true", LabelError)
    _check_same_length(n, y_prob, "y_prob", ScoreError)
    labels, scores = _labels(y_true, n), read_scores(y_prob, n, name="y_prob")
    weights = _weights(sample_weight, n, "y_true")
    counted = weights > 0
    if counted.all():
        return Observations(labels, scores, weights)
    return Observations(labels[counted], scores[counted], weights[counted])


def counted_scores(y_prob: Any, sample_weight: Any) -> tuple[FloatArray, FloatArray]:
    """Scores and their weights, all above 0."""
    n = _length(y_prob, "y_prob", ScoreError)
    scores, weights = read_scores(y_prob, n, name="y_prob"), _weights(sample_weight, n, "y_prob")
    return scores[weights > 0], weights[weights > 0]


def _labels(y: Any, n: int) -> FloatArray:
    # A segment may be all of one class, and then only numbers say which class that is.
    if not isinstance(y, np.ma.MaskedArray):
        array = np.asarray(y)
        if array.ndim == 1 and array.dtype.kind in "biuf" and array.min() >= 0 and array.max() <= 1:
            return array.astype(np.float64)
    return read_labels(y, n).values


def _weights(sample_weight: Any, n: int, beside: str) -> FloatArray:
    if sample_weight is None:
        return np.ones(n)
    _check_same_length(n, sample_weight, "sample_weight", WeightError, beside)
    weights = read_weights(sample_weight, n)
    assert weights is not None
    return weights


def _length(values: Any, name: str, error: type[DataError]) -> int:
    try:
        n = len(values)
    except TypeError:
        raise error(f"{name} is a {type(values).__name__}; pass a one-dimensional array.") from None
    if n == 0:
        raise TableError(f"{name} has no rows. Pass at least one.")
    return n


def _check_same_length(n: int, values: Any, name: str, error: type[DataError], beside: str = "y_true") -> None:
    found = _length(values, name, error)
    if found != n:
        raise TableError(f"{beside} has {n:,} rows and {name} has {found:,}. Pass one value per row in both.")
