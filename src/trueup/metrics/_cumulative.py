"""The running sum of errors in order of score, whose range is the ECCE."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from trueup._runtime import check_fraction, check_whole
from trueup.errors import ParameterError
from trueup.metrics._brownian import brownian_range_quantile, brownian_range_survival, brownian_reach
from trueup.metrics._checks import FloatArray, Observations
from trueup.metrics._curve_rows import read_rows
from trueup.metrics._ecce import in_sigmas, standard_error, steps_of_scores
from trueup.metrics._ties import range_of_sums

MIN_POINTS = 4  # the start, the end, the highest and the lowest


@dataclass(frozen=True, eq=False)
class CumulativeCurve:
    """The running sum of observed minus predicted, with rows in order of score.

    It rises where the scores are too low, falls where they are too high, and is flat where they are right.

    Attributes
    ----------
    score : array of float64
        The score up to which, inclusive, rows are summed; the first point, with no rows, has the lowest score.
    share, difference : array of float64
        The share of all weight up to there, from 0 to 1, and the sum of ``w (y - p)`` over the sum of all w.
    low_at, high_at : int
        The places of the lowest and the highest point.
    ecce, sigma, ecce_sigma, p_value : float
        The highest minus the lowest point, the standard deviation of the last one if the scores are true, the first
        over the second, and the chance that true scores would show as large an ECCE.
    confidence : float
        The chance that `noise` and `band` hold.
    noise, band : float
        If the scores are true, the ECCE is at most `noise`, and the whole curve stays within 0 ± `band`.
    n : int
        How many rows are summed.

    Examples
    --------
    For the upper two of these four rows, 1.2 positives are predicted and 2 observed:

    >>> from trueup.metrics import cumulative_curve
    >>> curve = cumulative_curve([0, 0, 1, 1], [0.1, 0.1, 0.6, 0.6])
    >>> curve.share.tolist(), curve.difference.round(2).tolist()
    ([0.0, 0.5, 1.0], [0.0, -0.05, 0.15])
    >>> round(curve.ecce, 2), curve.low_at, curve.high_at
    (0.2, 1, 2)
    """

    score: FloatArray
    share: FloatArray
    difference: FloatArray
    low_at: int
    high_at: int
    ecce: float
    sigma: float
    ecce_sigma: float
    p_value: float
    confidence: float
    noise: float
    band: float
    n: int

    def __len__(self) -> int:
        return len(self.score)


def cumulative_curve(
    y_true: Any, y_prob: Any, *, sample_weight: Any = None, max_points: int | None = None, confidence: float = 0.95
) -> CumulativeCurve:
    """The running sum of observed minus predicted, in order of score; its range is the ECCE.

    Parameters
    ----------
    y_true, y_prob, sample_weight : array-like of shape (n,)
        Labels of two classes, or soft ones; probabilities of the positive class; and weights of at least 0, if any.
    max_points : int, optional
        The most points to keep, at least 4: the start, the end, the highest and the lowest point, and the highest and
        the lowest in each stretch of the others. All by default.
    confidence : float, default=0.95
        The chance that true scores stay within `noise`, and within `band`.

    Returns
    -------
    CumulativeCurve
        A point for each distinct score, and one before the first.

    Notes
    -----
    If the scores are true, the sums are a random walk; with many rows, a Brownian motion whose clock is the variance.
    Its range, the ECCE, is at most 2.50 sigma in 95 % of cases: that is `noise`. The p-value is that of
    `trueup.metrics.ecce_pvalue`; it is below one minus `confidence` exactly if the ECCE exceeds `noise`.

    The band is sigma times the distance from 0 within which a Brownian motion stays, 2.24 for 95 %. It holds for the
    whole curve at once, not point by point, but is the weaker of the two: a curve that swings both ways may stay
    within it and still have a small p-value. Both hold a little more often than asked, because a path of few steps
    misses the extremes between them, and soft labels vary less.

    Examples
    --------
    >>> import numpy as np
    >>> from trueup.metrics import cumulative_curve
    >>> scores = np.linspace(0.01, 0.99, 1000)
    >>> curve = cumulative_curve(scores > 0.5, scores, max_points=50)
    >>> len(curve) <= 50, bool(curve.difference[curve.low_at] == curve.difference.min())
    (True, True)
    """
    check_fraction("confidence", confidence)
    if max_points is not None:
        check_whole("max_points", max_points, 1)
        if max_points < MIN_POINTS:
            raise ParameterError(f"max_points must be at least {MIN_POINTS}, or None for all; got {max_points}.")
    return cumulative_of(read_rows(y_true, y_prob, sample_weight), max_points, float(confidence))


def cumulative_of(rows: Observations, max_points: int | None = None, confidence: float = 0.95) -> CumulativeCurve:
    """Compute a `cumulative_curve` from rows that were checked, all of weight above 0."""
    scores, steps, weights = steps_of_scores(rows)
    total = float(weights.sum())
    share = np.concatenate(([0.0], np.cumsum(weights) / total))
    share[-1] = 1.0
    difference = np.concatenate(([0.0], np.cumsum(steps) / total))
    kept = _kept_points(share, difference, max_points)
    sigma, ecce = standard_error(rows), min(1.0, range_of_sums(steps) / total)
    ecce_sigma = in_sigmas(ecce, sigma)
    return CumulativeCurve(
        score=np.concatenate((scores[:1], scores))[kept],
        share=share[kept],
        difference=difference[kept],
        low_at=int(difference[kept].argmin()),
        high_at=int(difference[kept].argmax()),
        ecce=ecce,
        sigma=sigma,
        ecce_sigma=ecce_sigma,
        p_value=brownian_range_survival(ecce_sigma),
        confidence=confidence,
        noise=brownian_range_quantile(confidence) * sigma,
        band=brownian_reach(confidence) * sigma,
        n=len(rows.labels),
    )


def _kept_points(share: FloatArray, difference: FloatArray, max_points: int | None) -> npt.NDArray[np.intp]:
    """The points to keep: the ends, both extremes, and the extremes of stretches of equal width."""
    if max_points is None or len(share) <= max_points:
        return np.arange(len(share))
    always = [0, len(share) - 1, int(difference.argmin()), int(difference.argmax())]
    n_stretches = (max_points - MIN_POINTS) // 2
    if n_stretches == 0:
        return np.unique(always)
    stretch = np.minimum((share * n_stretches).astype(np.intp), n_stretches - 1)
    starts = np.flatnonzero(np.concatenate(([True], stretch[1:] != stretch[:-1])))
    lowest = _first_equal(difference, np.minimum.reduceat(difference, starts), starts)
    highest = _first_equal(difference, np.maximum.reduceat(difference, starts), starts)
    return np.unique(np.concatenate((always, lowest, highest)))


def _first_equal(values: FloatArray, sought: FloatArray, starts: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
    """In each stretch, the first place of the value sought."""
    lengths = np.diff(starts, append=len(values))
    places = np.flatnonzero(values == np.repeat(sought, lengths))
    return places[np.searchsorted(places, starts)]
