"""What can be said of a difference between two models, from its standard error or from draws of it."""

from __future__ import annotations

import math
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from trueup.comparison._input import PairedRows

__all__ = ["Intervals"]

_SHARED = 0.5  # how much counts of the variance that halves share

FloatArray: TypeAlias = npt.NDArray[np.float64]


class Intervals:
    """Intervals at one level."""

    def __init__(self, rows: PairedRows, level: float) -> None:
        self._degrees = rows.n_clusters - 1
        self._level = level

    def normal(self, difference: float, standard_error: float) -> tuple[float, float, float]:
        """Of a mean, or of what is one to first order: Student's, with a degree of freedom less than clusters."""
        from scipy.special import stdtr, stdtrit

        if difference == 0 and standard_error == 0:
            return 0.0, 0.0, 1.0
        if not standard_error >= 0 or self._degrees < 1:
            return math.nan, math.nan, math.nan
        half = float(stdtrit(self._degrees, 1 - self._level / 2)) * standard_error
        ratio = abs(difference) / standard_error if standard_error > 0 else math.inf
        return difference - half, difference + half, float(2 * stdtr(self._degrees, -ratio))

    def spread(self, difference: float, drawn: FloatArray) -> tuple[float, float, float]:
        """Of a smooth metric: the standard deviation of the replicates is its standard error."""
        drawn = drawn[np.isfinite(drawn)]
        if len(drawn) < 2 or self._degrees < 1:
            return math.nan, math.nan, math.nan
        # Of C clusters, draws spread by (C - 1) / C less than samples do.
        return self.normal(difference, float(drawn.std(ddof=1)) * math.sqrt(1 + 1 / self._degrees))

    def of_halves(
        self, difference: float, halves: FloatArray, centre: Literal["mode", "mean"] = "mode"
    ) -> tuple[float, float, float]:
        """Of a metric that is not smooth: from its differences in both halves of random splits, a line a split.

        Notes
        -----
        Noise makes an ECCE, ECE or MCE larger. A half of the rows is the sample plus noise of the size that the sample
        has itself, and the other half is the sample minus this noise. Half of what they differ by varies as samples do
        in which noise is larger beside the error: as it should for models that are right, or very wrong, and too little
        in between. A half varies as a bootstrap's replicate does, by what both halves share as well: too much for
        models that are right, whose noise counts twice. So what they share counts, with half of its variance.

        Such a distribution leans to where errors are larger, and a sample that shows too little of an error finds too
        little variance as well. So it is its mode, by Pearson's rule three medians less two means, that is moved to the
        difference: what leans becomes longer yet. A maximum, such as the MCE, leans for being one: there, it is the
        mean. The interval is for what samples of this size show on average.
        """
        halves = halves[np.isfinite(halves).all(axis=1)]
        if len(halves) == 0 or self._degrees < 1:
            return math.nan, math.nan, math.nan
        apart = (halves[:, 0] - halves[:, 1]) / 2
        shared = halves.mean(axis=1)
        shared = (shared - shared.mean()) * math.sqrt(_SHARED)
        varied = np.concatenate([shared + apart, shared - apart])  # of mean 0
        middle = 3 * np.median(varied) if centre == "mode" else 0.0
        moved = np.sort(difference + varied - middle)
        # By ranks, so that 0 is outside exactly if the p-value is at most the level.
        beyond = max(1, math.floor((1 + len(moved)) * self._level / 2 + 1e-9))
        tail = min(np.count_nonzero(moved >= 0), np.count_nonzero(moved <= 0))
        return float(moved[beyond - 1]), float(moved[-beyond]), min(1.0, 2 * (1 + tail) / (1 + len(moved)))
