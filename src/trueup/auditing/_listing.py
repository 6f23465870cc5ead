"""The segments as a table: a row each, the ones with a story of their own first."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from trueup._report import MOST_LISTED, SegmentListing
from trueup.auditing._power import detectable_sum
from trueup.auditing._stories import Audited, Stories, tell_stories
from trueup.metrics import brownian_range_survival, wilson_interval
from trueup.segments import SegmentGrid, SegmentSums

__all__ = ["Listing", "directions"]

FloatArray: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Listing(SegmentListing):
    """All that is known of the segments.

    Attributes
    ----------
    audited : Audited
        Rows, segments and their sums.
    adjusted : array of float64
        Their p-values among all of them; NaN if the null was not drawn.
    total_weight : array of float64
        The weight of all rows that could be in the segment.
    significance : float
        How often true scores may raise a false alarm.
    critical : float
        The evidence that is significant.
    power : float
        The chance with which an error is to be found.
    n_threads : int
        Threads to use.
    """

    audited: Audited
    adjusted: FloatArray
    total_weight: FloatArray
    significance: float
    critical: float
    power: float
    n_threads: int

    @property
    def grid(self) -> SegmentGrid:  # type: ignore[override]
        """Where the segments come from."""
        return self.audited.grid

    @property
    def sums(self) -> SegmentSums:
        """What was summed in the segments."""
        return self.audited.sums

    @property
    def is_significant(self) -> npt.NDArray[np.bool_]:
        """Which segments are wrong by more than noise explains; by Bonferroni's rule if the null was not drawn."""
        if np.isnan(self.adjusted).any():
            return np.asarray(self.sums.evidence > self.critical)
        return np.asarray(self.adjusted <= self.significance)

    @cached_property
    def stories(self) -> Stories:
        """Which segments tell a story of their own; found out when it is first asked for."""
        return tell_stories(self.audited, self.is_significant, self.critical, self.n_threads)

    @property
    def has_told_stories(self) -> bool:
        """Whether they have been asked for before."""
        return "stories" in self.__dict__

    @cached_property
    def order(self) -> npt.NDArray[np.int64]:
        """The segments as they are listed: stories, what no story explains, and what one does; each by evidence."""
        rank = np.ones(len(self.sums), dtype=np.int64)
        rank[list(self.stories.told)] = 0
        rank[list(self.stories.explained_by)] = 2
        return np.lexsort((-self.sums.evidence, self.adjusted, rank))[:MOST_LISTED]

    def columns_of(self, order: npt.NDArray[np.int64]) -> dict[str, Any]:
        """The columns of the table for the segments at these places."""
        sums = self.sums.of(order)
        rate = np.clip(sums.label / sums.weight, 0, 1)
        low, high = wilson_interval(rate, sums.weight / sums.unit)
        standard_error = np.sqrt(sums.sigma_variance) / sums.weight
        # Where little noise is expected, evidence says more than sigmas, which are held down there.
        strength = np.maximum(sums.sigmas, sums.evidence)
        detectable = detectable_sum(sums.variance, sums.unit, self.critical, self.power)
        explaining = [self.stories.explained_by.get(place) for place in order.tolist()]
        return {
            "segment": [str(self.segment(place)) for place in order.tolist()],
            "rows": sums.rows.astype(np.int64),
            "share": sums.weight / self.total_weight[order],
            "mean_score": sums.score / sums.weight,
            "observed_rate": rate,
            "observed_low": low,
            "observed_high": high,
            "direction": directions(sums),
            "ecce": sums.range / sums.weight,
            "sigma": standard_error,
            "ecce_sigma": sums.sigmas,
            "evidence": sums.evidence,
            "p_value": np.array([brownian_range_survival(one) for one in strength.tolist()]),
            "adjusted_p_value": self.adjusted[order],
            "significant": self.is_significant[order],
            "minimum_detectable": detectable / sums.weight,
            "is_story": np.isin(order, self.stories.told),
            "explained_by": [None if place is None else str(self.segment(place)) for place in explaining],
        }


def directions(sums: SegmentSums) -> list[str]:
    """Which way the scores are wrong; both, if the errors at low and at high scores mostly cancel."""
    balance = (sums.score - sums.label) / np.maximum(sums.range, np.finfo(float).tiny)
    words = np.where(balance >= 0.5, "over-estimates", np.where(balance <= -0.5, "under-estimates", "both"))
    return [str(word) for word in words]
