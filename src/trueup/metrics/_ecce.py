"""ECCE, the estimated cumulative calibration error, with its standard error and p-value."""

import math

import numpy as np
from numpy.typing import ArrayLike

from trueup.metrics._brownian import brownian_range_survival
from trueup.metrics._checks import FloatArray, Observations, check_observations
from trueup.metrics._ties import find_ties, range_of_sums


def ecce(y_true: ArrayLike, y_prob: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    """Largest calibration error of any interval of scores, as a share of all rows (ECCE).

    Parameters
    ----------
    y_true, y_prob, sample_weight : array-like of shape (n,)
        Labels, 0 and 1 or soft ones between; probabilities of the positive class; and weights of at least 0, if any.

    Returns
    -------
    float
        The ECCE, in [0, 1]. Noise alone makes it positive: judge it with `ecce_sigma` or `ecce_pvalue`.

    Notes
    -----
    With rows in order of score, ``S_0 = 0`` and ``S_k = Σ_{i ≤ k} w_i (y_i - p_i)``, the ECCE is
    ``(max S_k - min S_k) / Σ w``. Only the k at the last row of each distinct score count: an interval of scores
    can't split a tie, so the order of tied rows doesn't matter. There are no bins to choose. It is the ECCE-R of
    Arrieta-Ibarra, Gujral, Tannen, Tygert and Xu, "Metrics of calibration for probabilistic predictions" (JMLR, 2022).

    Examples
    --------
    For the upper two of these four rows, 1.2 positives are predicted and 2 observed:

    >>> from trueup.metrics import ecce
    >>> round(ecce([0, 0, 1, 1], [0.1, 0.1, 0.6, 0.6]), 4)
    0.2
    """
    return _ecce(check_observations(y_true, y_prob, sample_weight))


def ecce_standard_error(y_true: ArrayLike, y_prob: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    """Standard deviation of the mean error if the scores are true: the sigma of `ecce_sigma`.

    Parameters
    ----------
    y_true, y_prob, sample_weight : array-like of shape (n,)
        Labels, on which sigma doesn't depend; probabilities of the positive class; and weights of at least 0, if any.

    Returns
    -------
    float
        The sigma, in [0, 0.5]; 0 when every score is 0 or 1.

    Notes
    -----
    ``sqrt(Σ w² p (1 - p)) / Σ w``, for labels drawn independently from Bernoulli(p). Soft labels vary less, so for
    them sigma is an upper bound.

    Examples
    --------
    >>> from trueup.metrics import ecce_standard_error
    >>> ecce_standard_error([0, 0, 1, 1], [0.5, 0.5, 0.5, 0.5])
    0.25
    """
    return standard_error(check_observations(y_true, y_prob, sample_weight))


def ecce_sigma(y_true: ArrayLike, y_prob: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    """ECCE in units of what noise gives (its standard error), comparable between data sets of any size.

    Parameters
    ----------
    y_true, y_prob, sample_weight : array-like of shape (n,)
        Labels, 0 and 1 or soft ones between; probabilities of the positive class; and weights of at least 0, if any.

    Returns
    -------
    float
        `ecce` divided by `ecce_standard_error`. If every score is 0 or 1, there is no noise: then 0 if every label
        agrees, else infinity.

    Notes
    -----
    For many rows with true scores this is distributed as the range of a standard Brownian motion on [0, 1]: 1.6 on
    average, and above 2.5 one time in twenty.

    Examples
    --------
    >>> from trueup.metrics import ecce_sigma
    >>> ecce_sigma([0, 0, 1, 1], [0.5, 0.5, 0.5, 0.5])
    0.0
    >>> ecce_sigma([1, 1, 1, 1], [0.5, 0.5, 0.5, 0.5])
    2.0
    """
    rows = check_observations(y_true, y_prob, sample_weight)
    return in_sigmas(_ecce(rows), standard_error(rows))


def ecce_pvalue(y_true: ArrayLike, y_prob: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    """Chance that true scores would show an ECCE at least as large as this one.

    Parameters
    ----------
    y_true, y_prob, sample_weight : array-like of shape (n,)
        Labels, 0 and 1 or soft ones between; probabilities of the positive class; and weights of at least 0, if any.

    Returns
    -------
    float
        The p-value, in [0, 1].

    Notes
    -----
    ``1 - F(ecce_sigma)``, with F the distribution of the range of a standard Brownian motion on [0, 1],
    ``F(x) = Σ_{k ≥ 0} (8 / x² + 2 / ((k + ½)² π²)) exp(-2 (k + ½)² π² / x²)`` (Feller, "The asymptotic
    distribution of the range of sums of independent random variables", 1951). It is a limit: it needs many rows of
    similar weight, and more than a few expected positives and negatives, for one lucky row with a score of 0.001 is
    32 sigmas. A path of few steps misses the extremes between them, so the p-value is a little too large: at a
    significance of 5 %, true scores are rejected in 4 % of cases with 300 rows and in 5 % with 20,000. Ties and soft
    labels push it the same way.

    Examples
    --------
    >>> from trueup.metrics import ecce_pvalue
    >>> ecce_pvalue([0, 0, 1, 1], [0.5, 0.5, 0.5, 0.5])
    1.0
    >>> round(ecce_pvalue([1, 1, 1, 1], [0.5, 0.5, 0.5, 0.5]), 4)
    0.1815
    """
    return brownian_range_survival(ecce_sigma(y_true, y_prob, sample_weight=sample_weight))


def in_sigmas(error: float, sigma: float) -> float:
    """An error in units of its standard error; if there is no noise, any error is infinite."""
    if sigma > 0:
        return error / sigma
    return math.inf if error > 0 else 0.0


def _ecce(rows: Observations) -> float:
    _, steps, totals = steps_of_scores(rows)
    return min(1.0, range_of_sums(steps) / float(totals.sum()))


def steps_of_scores(rows: Observations) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The distinct scores, the sum of weighted errors at each, and the weight of each."""
    ties = find_ties(rows.scores)
    # Per tie, positives minus p times rows: for labels 0 and 1 and integer weights both sums are exact, and
    # the result is the same to the last bit in whatever order the rows came.
    positives, totals = ties.sums(rows.weights * rows.labels), ties.sums(rows.weights)
    return ties.scores, positives - ties.scores * totals, totals


def standard_error(rows: Observations) -> float:
    """The standard deviation of the mean error, if the scores are true."""
    variance = np.sum(rows.weights**2 * rows.scores * (1 - rows.scores))
    return math.sqrt(variance) / float(rows.weights.sum())
