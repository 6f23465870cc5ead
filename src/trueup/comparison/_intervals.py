"""What can be said of a difference between two models, from its standard error or from draws of it."""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from trueup.comparison._input import PairedRows

__all__ = ["Intervals"]

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

    def around(self, difference: float, drawn: FloatArray) -> tuple[float, float, float]:
        """Of a metric that is not smooth: the replicates themselves, moved so that their mean is the difference.

        Notes
        -----
        Noise makes an ECCE, ECE or MCE larger, and the noise of drawing again makes that of a replicate larger still.
        So it is how replicates lie around their own mean that tells how such a difference varies from sample to
        sample, not where they lie. The interval is for what samples of this size show on average.
        """
        n = len(drawn)
        if n == 0 or self._degrees < 1:
            return math.nan, math.nan, math.nan
        moved = drawn - drawn.mean() + difference
        low, high = np.quantile(moved, [self._level / 2, 1 - self._level / 2])
        tail = min(np.count_nonzero(moved >= 0), np.count_nonzero(moved <= 0))
        return float(low), float(high), min(1.0, 2 * (1 + tail) / (1 + n))
