"""The Brier score in two parts: what recalibration would remove, and what would remain."""

import numpy as np
from numpy.typing import ArrayLike

from trueup.metrics._checks import Observations, check_observations
from trueup.metrics._ties import find_ties


def brier_calibration(y_true: ArrayLike, y_prob: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    """Part of the Brier score that the best monotone recalibration would remove; lower is better.

    Parameters
    ----------
    y_true, y_prob, sample_weight : array-like of shape (n,)
        Labels, 0 and 1 or soft ones between; probabilities of the positive class; and weights of at least 0, if any.

    Returns
    -------
    float
        The miscalibration, in [0, 1]: `brier_score` minus `brier_refinement`.

    Notes
    -----
    Brier(p) − Brier(q), where q is the weighted isotonic regression of the labels on the scores p, with rows of
    equal score taken together: the miscalibration (MCB) of Dimitriadis, Gneiting and Jordan, "Stable reliability
    diagrams for probabilistic classifiers" (PNAS, 2021). It is 0 only if every score is the mean label of its rows.
    q is fitted to the very rows it is judged on, so noise alone makes it positive.

    Examples
    --------
    All rows with a score of 0.5 are positive, so the best monotone scores are 0, 1 and 1:

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
    y_true, y_prob, sample_weight : array-like of shape (n,)
        Labels, 0 and 1 or soft ones between; probabilities of the positive class; and weights of at least 0, if any.

    Returns
    -------
    float
        The refinement, in [0, 0.25]: `brier_score` minus `brier_calibration`.

    Notes
    -----
    Brier(q), with q as in `brier_calibration`; only the order of the scores matters. Dimitriadis, Gneiting and
    Jordan call it UNC − DSC: the variance of the labels, less the part of it that the scores explain.

    Examples
    --------
    Scores in the right order lose nothing; equal scores leave the variance of the labels:

    >>> from trueup.metrics import brier_refinement
    >>> brier_refinement([0, 1, 1], [0.0, 0.5, 0.5])
    0.0
    >>> brier_refinement([0, 1], [0.9, 0.9])
    0.25
    """
    _, refinement = _parts(check_observations(y_true, y_prob, sample_weight))
    return refinement


def _parts(rows: Observations) -> tuple[float, float]:
    """The calibration and the refinement, which add up to the Brier score."""
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
