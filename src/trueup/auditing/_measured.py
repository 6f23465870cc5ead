"""What is known of the errors of segments: from rows exactly, from a sketch between bounds."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from trueup.metrics import brownian_range_survival, ecce
from trueup.segments import ScoredRows, SegmentSums, certain_variance, evidence, grouped

__all__ = ["Bounds", "FloatArray", "Measured", "sums_of_all", "survival"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

_FLOAT_ERROR = 2.0**-50  # of a product of a few floats


@dataclass(frozen=True, eq=False)
class Bounds:
    """Between what the exact numbers of each segment lie."""

    range_low: FloatArray
    range_high: FloatArray
    rounding: FloatArray  # by how much rounding can have moved the weight or the variance
    unit_low: FloatArray
    unit_high: FloatArray

    def of(self, chosen: npt.NDArray[np.int64]) -> Bounds:
        """The bounds of some of the segments."""
        return Bounds(*(getattr(self, one.name)[chosen] for one in fields(self)))


@dataclass(frozen=True, eq=False)
class Measured:
    """Sums of segments. With bounds, the range of the sums is the one at the ends of a sketch's bins."""

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
        """The evidence that there is at least."""
        if self.bounds is None:
            return self.sums.evidence
        return evidence(self.bounds.range_low, self.sums.variance, self.sums.unit)

    @property
    def p_values(self) -> FloatArray:
        """The chance of as much in a segment if its scores are true; the search is not counted in.

        Where little noise is expected, evidence says more than sigmas, which `min_variance` holds down there.
        """
        return survival(np.maximum(self.sigmas[1], self.evidence))


def survival(evidence_: FloatArray) -> FloatArray:
    """The chance that a Brownian motion ranges as far, one by one."""
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
