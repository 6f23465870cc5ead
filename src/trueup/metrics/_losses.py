"""Proper scores of probabilities, and how well they rank."""

import numpy as np
from numpy.typing import ArrayLike

from trueup import _native
from trueup.errors import LabelError
from trueup.metrics._checks import FloatArray, Observations, check_observations


def log_loss(y_true: ArrayLike, y_prob: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    """Weighted mean of the negative log likelihood; lower is better.

    Parameters
    ----------
    y_true, y_prob, sample_weight : array-like of shape (n,)
        Labels, 0 and 1 or soft ones between; probabilities of the positive class; and weights of at least 0, if any.

    Returns
    -------
    float
        The loss, in nats per row.

    Notes
    -----
    ``-Σ w (y log p + (1 - y) log(1 - p)) / Σ w``. Scores of 0 and 1 count as the nearest floats, 2.2e-308 and
    1 − 1.1e-16, as they do in a fit: a wrong one costs 708 or 37 nats instead of infinitely many. scikit-learn's
    ``log_loss`` is the same but for clipping at 2.2e-16 and 1 − 2.2e-16.

    Examples
    --------
    >>> from trueup.metrics import log_loss
    >>> round(log_loss([1, 0], [0.5, 0.5]), 4)
    0.6931
    """
    rows = check_observations(y_true, y_prob, sample_weight)
    clipped = clipped_scores(rows.scores)
    losses = -(rows.labels * np.log(clipped) + (1 - rows.labels) * np.log1p(-clipped))
    return _weighted_mean(losses, rows.weights)


def clipped_scores(scores: FloatArray) -> FloatArray:
    """Scores as the log loss and a fit take them: 0 and 1 become the nearest floats that have a logarithm."""
    return np.clip(scores, _native.LOWEST_SCORE, _native.HIGHEST_SCORE)


def brier_score(y_true: ArrayLike, y_prob: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    """Weighted mean of the squared difference between label and score; lower is better.

    Parameters
    ----------
    y_true, y_prob, sample_weight : array-like of shape (n,)
        Labels, 0 and 1 or soft ones between; probabilities of the positive class; and weights of at least 0, if any.

    Returns
    -------
    float
        The score in [0, 1]: ``Σ w (y - p)² / Σ w``, for soft labels too.

    Examples
    --------
    >>> from trueup.metrics import brier_score
    >>> brier_score([1, 0], [0.5, 0.5])
    0.25
    """
    rows = check_observations(y_true, y_prob, sample_weight)
    return _weighted_mean((rows.labels - rows.scores) ** 2, rows.weights)


def average_precision(y_true: ArrayLike, y_prob: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    """Area under the curve of precision against recall (PRAUC); higher is better.

    Parameters
    ----------
    y_true, y_prob, sample_weight : array-like of shape (n,)
        Labels, 0 and 1 or soft, not all 0; probabilities of the positive class; and weights of at least 0, if any.

    Returns
    -------
    float
        The area, in [0, 1]. Scores that rank at random get the share of positives.

    Notes
    -----
    scikit-learn's ``average_precision_score``, where a soft label y counts as a positive row of weight ``w y`` and
    a negative row of weight ``w (1 - y)``.

    Examples
    --------
    >>> from trueup.metrics import average_precision
    >>> round(average_precision([1, 0, 1], [0.9, 0.8, 0.7]), 4)
    0.8333
    """
    from sklearn.metrics import average_precision_score

    rows = _with_hard_labels(check_observations(y_true, y_prob, sample_weight))
    _check_class_present(rows, 1)
    return float(average_precision_score(rows.labels, rows.scores, sample_weight=rows.weights))


def roc_auc(y_true: ArrayLike, y_prob: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    """Area under the ROC curve; higher is better.

    Parameters
    ----------
    y_true, y_prob, sample_weight : array-like of shape (n,)
        Labels, 0 and 1 or soft, of both classes; probabilities of the positive class; weights of at least 0, if any.

    Returns
    -------
    float
        The area, in [0, 1]: how often a positive row scores above a negative one, ties counting half.

    Notes
    -----
    scikit-learn's ``roc_auc_score``, where soft labels count as they do in `average_precision`.

    Examples
    --------
    >>> from trueup.metrics import roc_auc
    >>> roc_auc([1, 0, 1], [0.9, 0.8, 0.7])
    0.5
    """
    from sklearn.metrics import roc_auc_score

    rows = _with_hard_labels(check_observations(y_true, y_prob, sample_weight))
    _check_class_present(rows, 0)
    _check_class_present(rows, 1)
    return float(roc_auc_score(rows.labels, rows.scores, sample_weight=rows.weights))


def _weighted_mean(values: FloatArray, weights: FloatArray) -> float:
    return float(np.sum(weights * values) / np.sum(weights))


def _with_hard_labels(rows: Observations) -> Observations:
    """Split every row with a soft label into a positive and a negative row that share its weight."""
    if np.isin(rows.labels, (0, 1)).all():
        return rows
    return Observations(
        labels=np.repeat([1.0, 0.0], len(rows.labels)),
        scores=np.tile(rows.scores, 2),
        weights=np.concatenate((rows.weights * rows.labels, rows.weights * (1 - rows.labels))),
    )


def _check_class_present(rows: Observations, label: int) -> None:
    if not np.any(rows.weights[rows.labels == label] > 0):
        raise LabelError(
            f"y_true: no row with a weight above 0 has label {label}, so this metric has no value. "
            "Pass rows of both classes, or use log_loss or brier_score."
        )
