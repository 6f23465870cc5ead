"""The errors of segments, exact from rows and with bounds from a sketch; and how small an error can be found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from statistics import NormalDist
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from trueup.metrics import brownian_range_survival, ecce
from trueup.segments import NullMaxima, ScoredRows, SegmentSums, certain_variance, evidence, grouped

FloatArray: TypeAlias = npt.NDArray[np.float64]

_FLOAT_ERROR = 2.0**-50  # of a product of a few floats


@dataclass(frozen=True, eq=False)
class Bounds:
    """Bounds of the exact numbers of each segment."""

    range_low: FloatArray
    range_high: FloatArray
    rounding: FloatArray  # how far rounding can have moved the weight or the variance
    unit_low: FloatArray
    unit_high: FloatArray

    def of(self, chosen: npt.NDArray[np.int64]) -> Bounds:
        """The bounds of some of the segments."""
        return Bounds(*(getattr(self, one.name)[chosen] for one in fields(self)))


@dataclass(frozen=True, eq=False)
class Measured:
    """Sums of segments. From a sketch they have bounds, and `range` is the one at the ends of bins."""

    sums: SegmentSums
    bounds: Bounds | None = None

    @property
    def ecce(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The ECCE, and its lower and upper bound."""
        weight = self.sums.weight
        value = self.sums.range / weight
        if self.bounds is None:
            return value, value, value
        least = np.maximum(weight - self.bounds.rounding, np.finfo(float).tiny)
        low, high = self.bounds.range_low / (weight + self.bounds.rounding), self.bounds.range_high / least
        return np.minimum(1.0, value), low, np.minimum(1.0, high)

    @property
    def sigmas(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The ECCE in standard errors, and its bounds."""
        sums, value = self.sums, self.sums.sigmas
        if self.bounds is None:
            return value, value, value
        off = self.bounds.rounding + _FLOAT_ERROR * sums.variance
        most = replace(sums, variance=sums.variance + off, unit=self.bounds.unit_high).sigma_variance
        least = replace(sums, variance=sums.variance - off, unit=self.bounds.unit_low).sigma_variance
        least = np.maximum(least, certain_variance(sums.weight, sums.unit))
        return value, self.bounds.range_low / np.sqrt(most), self.bounds.range_high / np.sqrt(least)

    @property
    def evidence(self) -> FloatArray:
        """The evidence, or its lower bound."""
        if self.bounds is None:
            return self.sums.evidence
        return evidence(self.bounds.range_low, self.sums.variance, self.sums.unit)

    @property
    def p_values(self) -> FloatArray:
        """The chance of as much in this segment alone if its scores are true.

        Evidence counts too, because `min_variance` keeps sigmas small where little noise is expected.
        """
        return survival(np.maximum(self.sigmas[1], self.evidence))


def survival(evidence_: FloatArray) -> FloatArray:
    """The chance that the range of a Brownian motion is at least this, for each entry."""
    return np.array([brownian_range_survival(one) for one in evidence_.tolist()], dtype=np.float64)


def sums_of_all(rows: ScoredRows, min_variance: float) -> SegmentSums:
    """All rows as one segment, even if there are fewer than a segment must have."""
    weights = np.ones(rows.n) if rows.weights is None else rows.weights
    total = rows.total_weight
    weight, unit = np.array([total]), np.array([float(weights @ weights) / total])
    sums = SegmentSums(
        combination=np.zeros(1, dtype=np.int32),
        cell=np.zeros(1, dtype=np.int32),
        rows=np.array([rows.n]),
        weight=weight,
        score=np.array([float(weights @ rows.scores)]),
        label=np.array([float(weights @ rows.labels)]),
        range=ecce(rows.labels, rows.scores, sample_weight=rows.weights) * weight,
        variance=np.maximum(rows.variances().sum(), certain_variance(weight, unit)),
        unit=unit,
        certain=np.array([float(rows.certain_errors().sum())]),
        inflation=np.ones(1),
        min_variance=float(min_variance),
    )
    if rows.groups is None:
        return sums
    of_groups = (np.bincount(rows.groups, values) for values in (rows.residuals(), np.sqrt(rows.variances())))
    squares, together = (np.square(one).sum(keepdims=True) for one in of_groups)
    return grouped(rows, sums, squares, together)


_BISECTIONS = 60


def critical_evidence(nulls: Sequence[NullMaxima], n_segments: int, significance: float) -> float:
    """The evidence that a segment must exceed to be significant; without draws, by Bonferroni's rule."""
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

    The range is at least the final sum, which is about normal around the true sum of errors. So a true sum must lie
    ``NormalDist().inv_cdf(power)`` standard deviations beyond the critical range, and be at least one row.
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
