"""How small an error can be and still be found."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import NormalDist
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from trueup.metrics import brownian_range_survival
from trueup.segments import NullMaxima, evidence

__all__ = ["critical_evidence", "detectable_sum"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

_BISECTIONS = 60


def critical_evidence(nulls: Sequence[NullMaxima], n_segments: int, significance: float) -> float:
    """The evidence that a segment must exceed to be significant among all of them.

    Without draws from the null it is Bonferroni's: it is shared among the segments.
    """
    if nulls:
        return max(null.critical_evidence(significance) for null in nulls)
    low, high = 0.0, 50.0
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        if brownian_range_survival(middle) * max(1, n_segments) > significance:
            low = middle
        else:
            high = middle
    return high


def detectable_sum(variance: FloatArray, unit: FloatArray, critical: float, power: float) -> FloatArray:
    """The sum of residuals in a segment that is significant with a chance of at least `power`.

    A range that exceeds the critical one is significant. The range is at least the final sum, and that is
    about normal with the segment's variance around the true sum of errors. So a true sum that lies
    ``NormalDist().inv_cdf(power)`` standard deviations beyond the critical range is found often enough. No
    error is smaller than a row.
    """
    if not np.isfinite(critical):
        return np.full(len(variance), np.inf)
    low, high = np.zeros(len(variance)), np.sqrt(variance) * max(critical, 1e-9)
    while True:
        short = evidence(high, variance, unit) < critical
        if not short.any():
            break
        high = np.where(short, 2 * high, high)
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        short = evidence(middle, variance, unit) < critical
        low, high = np.where(short, middle, low), np.where(short, high, middle)
    return np.maximum(unit, high + NormalDist().inv_cdf(power) * np.sqrt(variance))
