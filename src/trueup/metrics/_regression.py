"""ECCE of real-valued predictions, with the noise of the outcomes estimated from the outcomes themselves."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from trueup.errors import TableError
from trueup.metrics._brownian import brownian_range_survival
from trueup.metrics._checks import FloatArray, check_outcomes
from trueup.metrics._ecce import in_sigmas
from trueup.metrics._ties import Ties, find_ties, range_of_sums

# Residuals that are all the same differ by this much, of the largest, through rounding alone.
_ROUNDING = 8 * float(np.finfo(np.float64).eps)


def regression_ecce(y_true: ArrayLike, y_pred: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    """Largest error of the mean of any interval of predictions, times the interval's share of all rows.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,)
        Outcomes, which may be any finite numbers, and predictions of their mean.
    sample_weight : array-like of shape (n,), optional
        Weights of at least 0; by default every row weighs the same.

    Returns
    -------
    float
        The ECCE, at least 0, in the unit of the outcomes. Noise alone makes it positive: judge it with
        `regression_ecce_sigma` or `regression_ecce_pvalue`.

    Notes
    -----
    The same path as in `ecce`: rows in order of prediction, ``S_k = Σ_{i ≤ k} w_i (y_i - f_i)``, and
    ``(max S_k - min S_k) / Σ w`` over the k at the last row of each distinct prediction.

    Examples
    --------
    Four rows, of which the upper two are predicted too low by 3 each:

    >>> from trueup.metrics import regression_ecce
    >>> regression_ecce([10, 12, 23, 25], [11, 11, 20, 22])
    1.5
    """
    residuals = _weighted_residuals(y_true, y_pred, sample_weight)
    return residuals.in_units(residuals.range)


def regression_ecce_standard_error(
    y_true: ArrayLike, y_pred: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Standard deviation of the mean error, estimated: the sigma of `regression_ecce_sigma`.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,)
        Outcomes, which may be any finite numbers, and predictions of their mean.
    sample_weight : array-like of shape (n,), optional
        Weights of at least 0; by default every row weighs the same.

    Returns
    -------
    float
        The sigma, at least 0, in the unit of the outcomes.

    Notes
    -----
    Probabilities say how much labels vary; predictions of a mean don't. What is needed is the variance of
    ``Σ a_i``, where ``a_i = w_i (y_i - f_i)`` in order of prediction. If rows are independent and
    ``E[a_i] = 0``, then ``½ (a_i - a_{i+1})²`` is on average the mean of the variances of the two, whatever
    these are. An error that changes slowly with the prediction cancels in it if the weights are alike, which in
    ``a_i²`` it would not. The estimate is

    ``V = n / (n - 1) · ½ Σ_{i < n} (a_i - a_{i+1})²``, and ``sigma = √V / Σ w``

    (von Neumann, Kent, Bellinson and Hart, "The mean square successive difference", 1941). Its mean is the
    variance if the first and last row vary as much as rows do on average; the two count half, which is off
    by no more than their share of the whole.

    Rows of one prediction have no order. V is the average over all orders they could have: with m rows, mean
    ā and squares ``Q = Σ (a - ā)²`` in each tie, the pairs inside it give Q on average, and the pair between
    it and the next, ``½ (Q/m + Q'/m' + (ā - ā')²)``. So
    ``V = n / (n - 1) · (Σ Q + ½ Σ (Q/m + Q'/m' + (ā - ā')²))``. If all predictions are the same, this is
    n times the sample variance.

    At least two rows of weight above 0 are needed. Each row is one observation, whatever its weight.

    Examples
    --------
    Residuals 1, -1, -1, 1: V is 4/3 · ½ · (4 + 0 + 4), and sigma is √(16/3) / 4.

    >>> from trueup.metrics import regression_ecce_standard_error
    >>> round(regression_ecce_standard_error([11, 19, 29, 41], [10, 20, 30, 40]), 4)
    0.5774
    """
    residuals = _weighted_residuals(y_true, y_pred, sample_weight)
    return residuals.in_units(residuals.sigma)


def regression_ecce_sigma(y_true: ArrayLike, y_pred: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    """ECCE of predictions in units of its standard error: comparable between data sets of any size and unit.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,)
        Outcomes, which may be any finite numbers, and predictions of their mean.
    sample_weight : array-like of shape (n,), optional
        Weights of at least 0; by default every row weighs the same.

    Returns
    -------
    float
        `regression_ecce` divided by `regression_ecce_standard_error`. Where all weighted residuals are the
        same, there is no noise: 0 if they are 0, else infinity.

    Notes
    -----
    On many rows with true predictions this is the range of a standard Brownian motion on [0, 1]: 1.6 on
    average, above 2.5 one time in twenty.

    Examples
    --------
    Residuals 1, 3, 1, 3: the sums rise to 8, and V is 4/3 · ½ · 12 = 8.

    >>> from trueup.metrics import regression_ecce_sigma
    >>> round(regression_ecce_sigma([11, 23, 31, 43], [10, 20, 30, 40]), 4)
    2.8284
    """
    residuals = _weighted_residuals(y_true, y_pred, sample_weight)
    return in_sigmas(residuals.range, residuals.sigma)


def regression_ecce_pvalue(y_true: ArrayLike, y_pred: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    """Chance that true predictions show an ECCE at least as large as this one.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,)
        Outcomes, which may be any finite numbers, and predictions of their mean.
    sample_weight : array-like of shape (n,), optional
        Weights of at least 0; by default every row weighs the same.

    Returns
    -------
    float
        The p-value, in [0, 1].

    Notes
    -----
    ``1 - F(regression_ecce_sigma)`` with the F of `ecce_pvalue`. It is a limit for many independent rows of
    which none dominates: not for a handful of rows, nor for outcomes with tails so heavy that a few of them
    make up the variance.

    Examples
    --------
    >>> from trueup.metrics import regression_ecce_pvalue
    >>> round(regression_ecce_pvalue([11, 23, 31, 43], [10, 20, 30, 40]), 4)
    0.0187
    """
    return brownian_range_survival(regression_ecce_sigma(y_true, y_pred, sample_weight=sample_weight))


@dataclass(frozen=True, eq=False)
class _Residuals:
    """Weighted residuals of the rows of weight above 0, divided by two to the power of `exponent`.

    The largest lies in [0.5, 1) before weighting, so that squares of outcomes of any size can't overflow or vanish.
    """

    weighted: FloatArray
    total_weight: float
    ties: Ties
    exponent: int

    @property
    def range(self) -> float:
        """The highest minus the lowest running sum, in order of prediction."""
        return range_of_sums(self.ties.sums(self.weighted))

    def in_units(self, total: float) -> float:
        """A sum of weighted residuals as a mean in the unit of the outcomes; infinite if no float64 can hold it."""
        try:
            return math.ldexp(total / self.total_weight, self.exponent)
        except OverflowError:
            return math.inf

    @property
    def sigma(self) -> float:
        """The standard deviation of their sum, from the differences of neighbours."""
        n_rows = len(self.weighted)
        if n_rows < 2:
            raise TableError(
                "y_true and y_pred have 1 row of weight above 0, and how much outcomes vary can't be told from one. "
                "Pass at least 2 rows, or use regression_ecce."
            )
        means = self.ties.sums(self.weighted) / self.ties.counts
        squares = self.ties.sums((self.weighted - self.ties.of_rows(means)) ** 2)
        # The mean over a tie of the squared distance from its mean: what its row next to another tie has.
        own = squares / self.ties.counts
        between = 0.5 * np.sum(own[:-1] + own[1:] + np.diff(means) ** 2)
        variance = n_rows / (n_rows - 1) * float(squares.sum() + between)
        return math.sqrt(variance) if variance > n_rows * _ROUNDING**2 else 0.0


def _weighted_residuals(y_true: ArrayLike, y_pred: ArrayLike, sample_weight: ArrayLike | None) -> _Residuals:
    rows = check_outcomes(y_true, y_pred, sample_weight)
    # A row of weight 0 between two others would come between them in the differences.
    counted = rows.weights > 0
    weights, predictions = rows.weights[counted], rows.scores[counted]
    # Halves, because the difference of two large numbers can be too large for a float64.
    halves = rows.labels[counted] / 2 - predictions / 2
    _, exponent = np.frexp(np.abs(halves).max())
    weighted = weights * np.ldexp(halves, -exponent)
    return _Residuals(weighted, float(weights.sum()), find_ties(predictions), int(exponent) + 1)
