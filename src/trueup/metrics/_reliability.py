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
    """Predicted and observed in each bin of scores.

    Attributes
    ----------
    score, rate : array of float64
        Predicted and observed: the mean score and the share of positives.
    low, high : array of float64
        The band that covers the true rate, with a chance of `confidence`.
    weight, rows : array
        The weight of the rows in the bin, and how many there are.
    lowest, highest : array of float64
        The lowest and the highest score in it.
    confidence : float
        The chance that a band covers the true rate.
    density : ScoreDensity
        How the scores are distributed.

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
    """Predicted against observed, in bins of scores that weigh the same.

    Parameters
    ----------
    y_true, y_prob, sample_weight : array-like of shape (n,)
        Labels of two classes, or soft ones; probabilities of the positive class; and weights of at least 0, if any.
    n_bins : int, default=10
        The most bins. Rows of equal score stay together, so there are fewer bins if scores repeat.
    confidence : float, default=0.95
        The chance that a bin's band covers its true rate.

    Returns
    -------
    ReliabilityCurve
        A value for each bin, lowest scores first.

    Notes
    -----
    The bins are those of ``expected_calibration_error(..., binning="mass")``. A bin's band is Wilson's interval for a
    rate among ``(Σ w)² / Σ w²`` rows (Kish's effective number). The scale of the weights doesn't matter, and each row
    is one observation: a row of weight 2 moves a point as two rows do, but only two rows make the band narrower. If
    true rates differ within a bin, or labels are soft, the band covers a little more often than asked.

    Examples
    --------
    >>> from trueup.metrics import reliability_curve
    >>> curve = reliability_curve([0, 0, 0, 1], [0.4, 0.4, 0.4, 0.4])
    >>> print(f"predicted {curve.score[0]:.2f}, observed {curve.rate[0]:.2f} ({curve.low[0]:.2f}–{curve.high[0]:.2f})")
    predicted 0.40, observed 0.25 (0.05–0.70)
    """
    return reliability_of(read_rows(y_true, y_prob, sample_weight), n_bins, confidence)


def reliability_of(rows: Observations, n_bins: int, confidence: float = 0.95) -> ReliabilityCurve:
    """Compute a `reliability_curve` from rows that were checked, all of weight above 0."""
    check_whole("n_bins", n_bins, 1)
    check_fraction("confidence", confidence)
    bins = bins_of_mass(rows, n_bins)
    bins = (np.cumsum(np.bincount(bins) > 0) - 1)[bins]  # some are empty where scores repeat
    weight = _sums(bins, rows.weights)
    # Rounding can put a mean just outside the range of its values.
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
    """Wilson's interval for a rate among n rows, which unlike the normal one also holds near 0 and 1."""
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    centre = (rate + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * np.sqrt(rate * (1 - rate) / n + z**2 / (4 * n**2))
    return np.clip(centre - half, 0, 1), np.clip(centre + half, 0, 1)


def _sums(bins: npt.NDArray[np.intp], values: FloatArray) -> FloatArray:
    """Sum one value per row in each bin."""
    return np.asarray(np.bincount(bins, values), dtype=np.float64)
