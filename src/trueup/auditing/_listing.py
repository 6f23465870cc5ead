"""The segments as a table, one per row: first those with a pattern of their own."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from trueup._report import MOST_LISTED, SegmentListing
from trueup.auditing._measured import Bounds, FloatArray, Measured, detectable_sum
from trueup.auditing._patterns import Audited, Patterns, find_patterns
from trueup.metrics import wilson_interval
from trueup.segments import SegmentGrid, SegmentSums

BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class AuditListing(SegmentListing):
    """The segments that were tested, with their p-values and patterns."""

    grid: SegmentGrid
    sums: SegmentSums
    adjusted: FloatArray  # p-values that hold for all segments together
    total_weight: FloatArray  # of all rows that could be in each segment
    significance: float
    critical: float  # the evidence that is significant
    power: float
    bounds: Bounds | None = None  # None if the rows are known
    audited: Audited | None = None  # the rows, from which patterns and curves are made
    unit_exponent: int = 0  # a sketch counts weights in units of 2 to this power
    n_threads: int = 1

    @property
    def is_significant(self) -> BoolArray:
        """Which segments are wrong by more than noise explains."""
        return np.asarray(self.adjusted <= self.significance)

    @cached_property
    def patterns(self) -> Patterns:
        """Which segments have a pattern of their own. Without rows, as in a sketch, each significant segment counts."""
        if self.audited is None:
            return Patterns(tuple(np.flatnonzero(self.is_significant).tolist()), {})
        return find_patterns(self.audited, self.is_significant, self.critical, self.n_threads)

    @property
    def has_found_patterns(self) -> bool:
        """Whether asking for the patterns takes no time."""
        return self.audited is None or "patterns" in self.__dict__

    @cached_property
    def order(self) -> npt.NDArray[np.int64]:
        """The segments as listed: patterns, then those that no pattern explains, then the others; each by evidence."""
        rank = np.ones(len(self.sums), dtype=np.int64)
        rank[list(self.patterns.found)] = 0
        rank[list(self.patterns.explained_by)] = 2
        return np.lexsort((-self.sums.evidence, self.adjusted, rank))[:MOST_LISTED]

    def columns_of(self, places: npt.NDArray[np.int64]) -> dict[str, Any]:
        """The columns of the table for the segments at these places."""
        sums = self.sums.of(places)
        measured = Measured(sums, None if self.bounds is None else self.bounds.of(places))
        (ecce, *ecce_bounds), (sigmas, *sigma_bounds) = measured.ecce, measured.sigmas
        rate = np.clip(sums.label / sums.weight, 0, 1)
        low, high = wilson_interval(rate, sums.weight / (sums.unit * sums.inflation))
        detectable = detectable_sum(sums.variance, sums.unit, self.critical, self.power)
        explaining = [self.patterns.explained_by.get(place) for place in places.tolist()]
        columns = {
            "segment": [str(self.segment(place)) for place in places.tolist()],
            "rows": sums.rows.astype(np.int64),
            "weight": np.ldexp(sums.weight, self.unit_exponent),
            "share": sums.weight / self.total_weight[places],
            "mean_score": np.clip(sums.score / sums.weight, 0, 1),
            "observed_rate": rate,
            "observed_low": low,
            "observed_high": high,
            "direction": _directions(sums),
            "ecce": ecce,
            "sigma": np.sqrt(sums.sigma_variance) / sums.weight,
            "ecce_sigma": sigmas,
            "evidence": sums.evidence,
            "p_value": measured.p_values,
            "adjusted_p_value": self.adjusted[places],
            "significant": self.is_significant[places],
            "minimum_detectable": detectable / sums.weight,
            "is_pattern": np.isin(places, self.patterns.found),
            "explained_by": [None if place is None else str(self.segment(place)) for place in explaining],
        }
        if self.bounds is not None:
            columns |= {"ecce_low": ecce_bounds[0], "ecce_high": ecce_bounds[1]}
            columns |= {"ecce_sigma_low": sigma_bounds[0], "ecce_sigma_high": sigma_bounds[1]}
        return columns


def _directions(sums: SegmentSums) -> list[str]:
    """Which way the scores are wrong, or both ways, if the errors at low and at high scores mostly cancel."""
    balance = (sums.score - sums.label) / np.maximum(sums.range, np.finfo(float).tiny)
    words = np.where(balance >= 0.5, "over-estimates", np.where(balance <= -0.5, "under-estimates", "both"))
    return [str(word) for word in words]
