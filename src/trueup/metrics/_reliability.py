"""Predicted against observed, in bins of scores."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt

from trueup._runtime import check_fraction, check_whole
from trueup.metrics._binned import bins_of_mass
from trueup.metrics._checks import FloatArray, Observations
from trueup.metrics._curve_rows import read_rows
from trueup.metrics._density import ScoreDensity, density_of


@dataclass(frozen=True, eq=False)
class ReliabilityCurve:
    """Predicted and observed, a value for each bin of scores.

    Attributes
    ----------
    score : array of float64
        Predicted: the mean score.
    rate : array of float64
        Observed: the share of positives.
    low, high : array of float64
        Between which rates the true one lies, with a chance of `confidence`.
    weight : array of float64
        The weight of the rows in the bin.
    rows : array of int64
        How many rows are in it.
    lowest, highest : array of float64
        The lowest and the highest score in it.
    confidence : float
        The chance with which a band covers.
    density : ScoreDensity
        Where the scores are.

    Examples
    --------
    >>> from trueup.metrics import reliability_curve
    >>> curve = reliability_curve([0, 1, 1, 1], [0.2, 0.2, 0.8, 0.8], n_bins=2)
    >>> curve.score.tolist(), curve.rate.tolist()
    ([0.2, 0.8], [0.5, 1.0])
    """

    score: FloatArray
    rate: FloatArray
    low: FloatArray
    high: FloatArray
    weight: FloatArray
    rows: npt.NDArray[np.int64]
    lowest: FloatArray
    highest: FloatArray
    confidence: float
    density: ScoreDensity

    def __len__(self) -> int:
        return len(self.score)


def reliability_curve(
    y_true: Any, y_prob: Any, *, sample_weight: Any = None, n_bins: int = 10, confidence: float = 0.95
) -> ReliabilityCurve:
    """Predicted against observed, in bins of scores that hold the same weight.

    Parameters
    ----------
    y_true, y_prob : array-like of shape (n,)
        Labels of two classes, or soft labels in [0, 1]; and probabilities of the positive class.
    sample_weight : array-like of shape (n,), optional
        Weights of at least 0; by default every row weighs the same.
    n_bins : int, default=10
        The most bins. Rows of one score are never parted, so that there are fewer where scores repeat.
    confidence : float, default=0.95
        The chance with which each bin's band covers its true rate.

    Returns
    -------
    ReliabilityCurve
        A value for each bin, lowest scores first.

    Notes
    -----
    The bins are those of ``expected_calibration_error(..., binning="mass")``. A bin's band is Wilson's interval
    for a rate among ``(Σ w)² / Σ w²`` rows (Kish's effective number), so that it doesn't depend on the scale of
    the weights. A row counts as one observation whatever its weight: a row of weight 2 moves a point as two
    rows do, but two rows are two coin tosses, and make the band narrower. Where true rates differ within a bin, or
    labels are soft, outcomes vary less than Wilson supposes, and the band covers a little more often than asked.

    Examples
    --------
    >>> from trueup.metrics import reliability_curve
    >>> curve = reliability_curve([0, 0, 0, 1], [0.4, 0.4, 0.4, 0.4])
    >>> print(f"predicted {curve.score[0]:.2f}, observed {curve.rate[0]:.2f} ({curve.low[0]:.2f}–{curve.high[0]:.2f})")
    predicted 0.40, observed 0.25 (0.05–0.70)
    """
    return reliability_of(read_rows(y_true, y_prob, sample_weight), n_bins, confidence)


def reliability_of(rows: Observations, n_bins: int, confidence: float = 0.95) -> ReliabilityCurve:
    """The same for rows that were checked, all of weight above 0."""
    check_whole("n_bins", n_bins, 1)
    check_fraction("confidence", confidence)
    bins = bins_of_mass(rows, n_bins)
    bins = (np.cumsum(np.bincount(bins) > 0) - 1)[bins]  # some are empty where scores repeat
    weight = _sums(bins, rows.weights)
    # A mean can end a rounding error outside of what it is the mean of.
    rate = np.clip(_sums(bins, rows.weights * rows.labels) / weight, 0, 1)
    lowest, highest = np.full(len(weight), np.inf), np.full(len(weight), -np.inf)
    np.minimum.at(lowest, bins, rows.scores)
    np.maximum.at(highest, bins, rows.scores)
    score = np.clip(_sums(bins, rows.weights * rows.scores) / weight, lowest, highest)
    effective_rows = weight**2 / _sums(bins, rows.weights**2)
    low, high = wilson_interval(rate, effective_rows, confidence)
    return ReliabilityCurve(
        score=score,
        rate=rate,
        low=low,
        high=high,
        weight=weight,
        rows=np.bincount(bins).astype(np.int64),
        lowest=lowest,
        highest=highest,
        confidence=float(confidence),
        density=density_of(rows.scores, rows.weights),
    )


def wilson_interval(rate: FloatArray, n: FloatArray, confidence: float = 0.95) -> tuple[FloatArray, FloatArray]:
    """Wilson's interval for a rate among n rows; unlike the normal one it is right near 0 and 1 too."""
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    centre = (rate + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * np.sqrt(rate * (1 - rate) / n + z**2 / (4 * n**2))
    return np.clip(centre - half, 0, 1), np.clip(centre + half, 0, 1)


def _sums(bins: npt.NDArray[np.intp], values: FloatArray) -> FloatArray:
    """The sum of one value a row in each bin."""
    return np.asarray(np.bincount(bins, values), dtype=np.float64)
