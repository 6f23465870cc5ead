"""The Brier score in two parts: what recalibration would gain, and what would remain."""

import numpy as np
from numpy.typing import ArrayLike

from trueup.metrics._checks import Observations, check_observations
from trueup.metrics._ties import find_ties


def brier_calibration(y_true: ArrayLike, y_prob: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    """Part of the Brier score that the best monotone recalibration would take away; lower is better.

    Parameters
    ----------
    y_true, y_prob : array-like of shape (n,)
        Labels 0 and 1, or soft labels in [0, 1]; and probabilities of the positive class.
    sample_weight : array-like of shape (n,), optional
        Weights of at least 0; by default every row weighs the same.

    Returns
    -------
    float
        The miscalibration, in [0, 1]: `brier_score` minus `brier_refinement`.

    Notes
    -----
    Brier(p) − Brier(q), where q is the weighted isotonic regression of the labels on the scores p, the rows of
    one score taken together. It is the miscalibration (MCB) of Dimitriadis, Gneiting and Jordan, "Stable
    reliability diagrams for probabilistic classifiers" (PNAS, 2021). It is never negative, and 0 only where
    every value of p is the mean label of its rows. q is fitted to the very rows it is judged on, so that noise
    alone makes it positive.

    Examples
    --------
    Of the rows with 0.5, all are positive; the best monotone scores are 0, 1 and 1:

    >>> from trueup.metrics import brier_calibration
    >>> round(brier_calibration([0, 1, 1], [0.0, 0.5, 0.5]), 4)
    0.1667
    """
    calibration, _ = _parts(check_observations(y_true, y_prob, sample_weight))
    return calibration


def brier_refinement(y_true: ArrayLike, y_prob: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    """Part of the Brier score that the best monotone recalibration would leave; lower is better.

    Parameters
    ----------
    y_true, y_prob : array-like of shape (n,)
        Labels 0 and 1, or soft labels in [0, 1]; and probabilities of the positive class.
    sample_weight : array-like of shape (n,), optional
        Weights of at least 0; by default every row weighs the same.

    Returns
    -------
    float
        The refinement, in [0, 0.25]: `brier_score` minus `brier_calibration`.

    Notes
    -----
    Brier(q), with q as in `brier_calibration`. It depends on the order of the scores alone. In the terms of
    Dimitriadis, Gneiting and Jordan it is UNC − DSC: the variance of the labels, less the part of it that the
    scores discriminate.

    Examples
    --------
    Scores in the right order lose nothing; scores that are all the same leave the variance of the labels:

    >>> from trueup.metrics import brier_refinement
    >>> brier_refinement([0, 1, 1], [0.0, 0.5, 0.5])
    0.0
    >>> brier_refinement([0, 1], [0.9, 0.9])
    0.25
    """
    _, refinement = _parts(check_observations(y_true, y_prob, sample_weight))
    return refinement


def _parts(rows: Observations) -> tuple[float, float]:
    """The Brier score's calibration and refinement, which add up to it."""
    from sklearn.isotonic import isotonic_regression

    # A score all of whose rows weigh nothing has no mean label.
    counted = rows.weights > 0
    labels, scores, weights = rows.labels[counted], rows.scores[counted], rows.weights[counted]
    ties = find_ties(scores)
    totals = ties.sums(weights)
    recalibrated = ties.of_rows(isotonic_regression(ties.sums(weights * labels) / totals, sample_weight=totals))
    score = np.sum(weights * (labels - scores) ** 2)
    refinement = np.sum(weights * (labels - recalibrated) ** 2)
    return max(0.0, float((score - refinement) / weights.sum())), min(0.25, float(refinement / weights.sum()))
