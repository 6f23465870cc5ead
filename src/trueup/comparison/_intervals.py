"""What can be said of a difference between two models, from its standard error or from draws of it."""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from trueup.comparison._rows import PairedRows

__all__ = ["Intervals"]

# Sigmas of ECCE. Of two models that are right, the larger is above the first in two of five samples, and above the
# second in one of forty or fifty.
_NOISE, _MORE_THAN_NOISE = 1.75, 2.75

FloatArray: TypeAlias = npt.NDArray[np.float64]


class Intervals:
    """Intervals of one confidence."""

    def __init__(self, rows: PairedRows, significance: float) -> None:
        self._degrees = rows.n_groups - 1
        self._significance = significance

    def normal(self, difference: float, standard_error: float) -> tuple[float, float, float]:
        """Of a mean, or of what is one to first order: Student's, with a degree of freedom less than groups."""
        from scipy.special import stdtr, stdtrit

        if difference == 0 and standard_error == 0:
            return 0.0, 0.0, 1.0
        if not standard_error >= 0 or self._degrees < 1:
            return math.nan, math.nan, math.nan
        half = float(stdtrit(self._degrees, 1 - self._significance / 2)) * standard_error
        ratio = abs(difference) / standard_error if standard_error > 0 else math.inf
        return difference - half, difference + half, float(2 * stdtr(self._degrees, -ratio))

    def spread(self, difference: float, drawn: FloatArray) -> tuple[float, float, float]:
        """Of a smooth metric: the standard deviation of the replicates is its standard error."""
        drawn = drawn[np.isfinite(drawn)]
        if len(drawn) < 2 or self._degrees < 1:
            return math.nan, math.nan, math.nan
        # Of C groups, draws spread by (C - 1) / C less than samples do.
        return self.normal(difference, float(drawn.std(ddof=1)) * math.sqrt(1 + 1 / self._degrees))

    def around(self, difference: float, drawn: FloatArray) -> tuple[float, float, float]:
        """Of the MCE: the draws themselves, moved so that their mean is the difference.

        Noise makes an MCE larger, by more where errors are smaller. So it is how draws lie around their own mean that
        tells how such a difference varies from sample to sample, not where they lie. The interval is for what samples
        of this size show on average.
        """
        return self._of(drawn - drawn.mean() + difference) if len(drawn) else (math.nan, math.nan, math.nan)

    def of_halves(self, difference: float, halves: FloatArray, sigmas: float) -> tuple[float, float, float]:
        """Of ECCE or ECE: the interval's ends and the p-value, from the differences in both halves of random splits.

        `halves` has one line per split, and `sigmas` is the larger ECCE of the two models in standard errors.

        Noise makes an ECCE or ECE larger. A half of the rows is the sample plus noise of the size that the sample has
        itself, and the other half is the sample minus this noise. Half of what they differ by varies as samples do in
        which noise is larger beside the error: as it should for models that are right, or very wrong, and too little in
        between. A half varies as a bootstrap's replicate does, by what both halves share as well: too much for models
        that are right, whose noise counts twice. So the variance that halves share counts not at all where neither
        model shows more than noise does, wholly where one clearly does, and in part in between.

        Such a distribution leans to where errors are larger, and a sample that shows too little of an error finds too
        little variance as well. So it is its mode, by Pearson's rule three medians less two means, that is moved to the
        difference: what leans becomes longer yet. The interval is for what samples of this size show on average.
        """
        halves = halves[np.isfinite(halves).all(axis=1)]
        if len(halves) == 0:
            return math.nan, math.nan, math.nan
        apart = (halves[:, 0] - halves[:, 1]) / 2
        shared = halves.mean(axis=1)
        part = np.interp(sigmas, [_NOISE, _MORE_THAN_NOISE], [0, 1])
        shared = (shared - shared.mean()) * math.sqrt(part)
        varied = np.concatenate([shared + apart, shared - apart])  # of mean 0
        return self._of(difference + varied - 3 * np.median(varied))

    def _of(self, moved: FloatArray) -> tuple[float, float, float]:
        """Quantiles between ranks, and the p-value: the significance at which one of them reaches 0."""
        n = len(moved)
        if n < 2 or self._degrees < 1:
            return math.nan, math.nan, math.nan
        low, high = np.quantile(moved, [self._significance / 2, 1 - self._significance / 2])
        tail = min(_share_below_0(np.sort(moved)), _share_below_0(np.sort(-moved)))
        return float(low), float(high), min(1.0, 2 * max(tail, 1 / (1 + n)))


def _share_below_0(ascending: FloatArray) -> float:
    """The largest share whose quantile is not above 0; the reverse of `np.quantile`."""
    below = int(np.searchsorted(ascending, 0.0, side="right"))
    if below in (0, len(ascending)):
        return float(below > 0)
    step = ascending[below] - ascending[below - 1]
    return float((below - 1 - ascending[below - 1] / step) / (len(ascending) - 1))
