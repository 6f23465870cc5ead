"""ECE, the expected calibration error over bins of scores."""

import math
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueup._runtime import check_whole
from trueup.errors import ParameterError
from trueup.metrics._checks import FloatArray, Observations, check_observations
from trueup.metrics._ties import find_ties

Binning: TypeAlias = Literal["width", "mass"]

# If a score lies exactly on the border of two bins of equal mass, rounding must not decide.
_BORDER = 1e-9


def expected_calibration_error(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    n_bins: int = 10,
    binning: Binning = "width",
    debiased: bool = False,
) -> float:
    """Mean distance between predicted and observed, over bins of scores (ECE).

    Parameters
    ----------
    y_true, y_prob, sample_weight : array-like of shape (n,)
        Labels, 0 and 1 or soft ones between; probabilities of the positive class; and weights of at least 0, if any.
    n_bins : int
        How many bins.
    binning : {"width", "mass"}
        Bins of equal width, or of equal weight as far as ties allow.
    debiased : bool
        Whether to subtract an estimate of what noise alone adds.

    Returns
    -------
    float
        The ECE, in [0, 1].

    Notes
    -----
    ``Σ_b |Σ_{i in b} w_i (y_i - p_i)| / Σ w``: the weighted mean score of each bin against its weighted mean label
    (Naeini, Cooper and Hauskrecht, "Obtaining well calibrated probabilities using Bayesian binning", AAAI 2015).
    Errors of opposite sign inside a bin cancel.

    Bins of equal width are ``(k / n_bins, (k + 1) / n_bins]``: a score on a border belongs to the lower bin, as in
    Guo, Pleiss, Sun and Weinberger, "On calibration of modern neural networks" (ICML 2017), and in scikit-learn's
    ``calibration_curve``; torchmetrics puts it into the upper one. Bins of equal mass split the rows, in order of
    score, into `n_bins` parts of equal weight, and all rows of one score go where the middle of their weight falls.
    Rows of equal score stay together, so the order of rows doesn't matter, and equal rows can be merged into one.

    Noise makes the ECE of true scores positive, more so if bins have few rows, and no estimate of an absolute value
    is unbiased. The debiased ECE is that of Kumar, Liang and Ma, "Verified uncertainty calibration" (NeurIPS 2019).
    The noise of a bin's error ``d_b`` is taken as normal, with variance
    ``s_b² = Σ_{i in b} w_i² (y_i - p_i)² / (Σ_{i in b} w_i)²``, and what it would add to an error of that size,
    ``E|d_b + s_b Z| - |d_b|``, is subtracted; for the mean we take, instead of random draws, the formula of the folded
    normal distribution, ``E|d + s Z| = s √(2/π) exp(-d² / 2s²) + |d| erf(|d| / s√2)``. A sum below 0 becomes 0. In a
    bin whose scores are true this removes 41 % of the mean error; in one that is wrong by half of ``s_b`` or more, it
    leaves the mean within 0.1 ``s_b`` of the truth. Each row is one observation, whatever its weight, so here merging
    rows matters. To ask whether there is an error at all, use `ecce_pvalue`.

    Examples
    --------
    In the lower of two bins, 0.2 is predicted and 0.5 observed; in the upper, 0.8 and 1:

    >>> from trueup.metrics import expected_calibration_error
    >>> round(expected_calibration_error([0, 1, 1, 1], [0.2, 0.2, 0.8, 0.8], n_bins=2), 4)
    0.25
    """
    check_whole("n_bins", n_bins, 1)
    _check_binning(binning)
    rows = check_observations(y_true, y_prob, sample_weight)
    bins = _bins_of_width(rows, n_bins) if binning == "width" else bins_of_mass(rows, n_bins)
    errors = rows.weights * (rows.labels - rows.scores)
    sums = np.abs(np.bincount(bins, errors))
    if debiased:
        sums -= _added_by_noise(sums, np.sqrt(np.bincount(bins, errors**2)))
    return min(1.0, max(0.0, float(sums.sum() / rows.weights.sum())))


def _check_binning(binning: str) -> None:
    if binning not in get_args(Binning):
        raise ParameterError(f"binning must be one of {', '.join(map(repr, get_args(Binning)))}, got {binning!r}.")


def _bins_of_width(rows: Observations, n_bins: int) -> NDArray[np.intp]:
    # k / n_bins is rounded as the user's 0.3 is, so that a score of 0.3 lies on the border and not beside it.
    return np.searchsorted(np.arange(1, n_bins) / n_bins, rows.scores, side="left")


def bins_of_mass(rows: Observations, n_bins: int) -> NDArray[np.intp]:
    """The bin of each row; bins weigh the same as far as ties allow."""
    ties = find_ties(rows.scores)
    totals = ties.sums(rows.weights)
    middles = (np.cumsum(totals) - totals / 2) / totals.sum()
    bins = np.clip(np.floor(middles * n_bins + _BORDER), 0, n_bins - 1).astype(np.intp)
    return ties.of_rows(bins)


def _added_by_noise(sizes: FloatArray, sigmas: FloatArray) -> FloatArray:
    """What normal noise of mean 0 adds to the mean absolute value of numbers of these sizes."""
    noisy = sigmas > 0
    size, sigma = sizes[noisy], sigmas[noisy]
    distances = size / (sigma * math.sqrt(2))
    added = np.zeros(len(sizes))
    # |d| erf(x) - |d| = -|d| erfc(x): the difference keeps its digits where it is small.
    tails = np.array([math.erfc(distance) for distance in distances])
    added[noisy] = sigma * math.sqrt(2 / math.pi) * np.exp(-(distances**2)) - size * tails
    return added
