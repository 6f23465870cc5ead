"""ECCE of real-valued predictions, with the noise estimated from the outcomes themselves."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from trueup.errors import TableError
from trueup.metrics._brownian import brownian_range_survival
from trueup.metrics._checks import FloatArray, check_outcomes
from trueup.metrics._ecce import in_sigmas
from trueup.metrics._ties import Ties, find_ties, range_of_sums

# Rounding alone makes equal residuals differ by this share of the largest.
_ROUNDING = 8 * float(np.finfo(np.float64).eps)


def regression_ecce(y_true: ArrayLike, y_pred: ArrayLike, *, sample_weight: ArrayLike | None = None) -> float:
    """Largest sum of errors over any interval of predictions, per row of all rows (ECCE).

    Parameters
    ----------
    y_true, y_pred, sample_weight : array-like of shape (n,)
        Outcomes, which are any finite numbers; predictions of their mean; and weights of at least 0, if any.

    Returns
    -------
    float
        The ECCE, at least 0, in the unit of the outcomes. Noise alone makes it positive: judge it with
        `regression_ecce_sigma` or `regression_ecce_pvalue`.

    Notes
    -----
    As in `ecce`: with rows in order of prediction and ``S_k = Σ_{i ≤ k} w_i (y_i - f_i)``, it is
    ``(max S_k - min S_k) / Σ w`` over the k at the last row of each distinct prediction.

    Examples
    --------
    The predictions of the upper two of these four rows are too low by 3 each:

    >>> from trueup.metrics import regression_ecce
    >>> regression_ecce([10, 12, 23, 25], [11, 11, 20, 22])
    1.5
    """
    residuals = _weighted_residuals(y_true, y_pred, sample_weight)
    return residuals.in_units(residuals.range)


def regression_ecce_standard_error(
    y_true: ArrayLike, y_pred: ArrayLike, *, sample_weight: ArrayLike | None = None
) -> float:
    """Estimated standard deviation of the mean error: the sigma of `regression_ecce_sigma`.

    Parameters
    ----------
    y_true, y_pred, sample_weight : array-like of shape (n,)
        Outcomes, which are any finite numbers; predictions of their mean; and weights of at least 0, if any.

    Returns
    -------
    float
        The sigma, at least 0, in the unit of the outcomes.

    Notes
    -----
    Probabilities say how much labels vary; predictions of a mean don't, so the variance of ``Σ a_i`` is estimated
    from ``a_i = w_i (y_i - f_i)`` in order of prediction. If rows are independent and ``E[a_i] = 0``, the mean of
    ``½ (a_i - a_{i+1})²`` is the average of their two variances. An error that changes slowly with the prediction
    cancels in these differences if weights are similar, and would not in ``a_i²``. The estimate is

    ``V = n / (n - 1) · ½ Σ_{i < n} (a_i - a_{i+1})²``, and ``sigma = √V / Σ w``

    (von Neumann, Kent, Bellinson and Hart, "The mean square successive difference", 1941). The first and last row
    count half in it, so it is unbiased if those two vary as much as the others do on average.

    Rows of equal prediction have no order, so V is the average over all their orders. A tie of m rows with mean ā
    and ``Q = Σ (a - ā)²`` gives Q by the pairs inside it, and ``½ (Q/m + Q'/m' + (ā - ā')²)`` by the pair between it
    and the next: ``V = n / (n - 1) · (Σ Q + ½ Σ (Q/m + Q'/m' + (ā - ā')²))``. If all predictions are equal, that is
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
    """ECCE of predictions in units of what noise gives, comparable between data sets of any size and unit.

    Parameters
    ----------
    y_true, y_pred, sample_weight : array-like of shape (n,)
        Outcomes, which are any finite numbers; predictions of their mean; and weights of at least 0, if any.

    Returns
    -------
    float
        `regression_ecce` divided by `regression_ecce_standard_error`. If all weighted residuals are equal, there is
        no noise: then 0 if they are 0, else infinity.

    Notes
    -----
    For many rows with true predictions it is distributed as `ecce_sigma` is for true scores.

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
    """Chance that true predictions would show an ECCE at least as large as this one.

    Parameters
    ----------
    y_true, y_pred, sample_weight : array-like of shape (n,)
        Outcomes, which are any finite numbers; predictions of their mean; and weights of at least 0, if any.

    Returns
    -------
    float
        The p-value, in [0, 1].

    Notes
    -----
    ``1 - F(regression_ecce_sigma)``, with the F of `ecce_pvalue`. It is a limit for many independent rows of which
    none dominates. Don't use it for a handful of rows, or if a few outcomes make up most of the variance.

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
