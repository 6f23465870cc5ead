"""The segments as a table: a row each, the ones with the most evidence first."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from trueup.comparison._segments import SegmentDifferences
from trueup.segments import Segment, SegmentGrid

__all__ = ["MOST_LISTED", "Listing"]

MOST_LISTED = 100_000
MOST_STORIES = 50

FloatArray: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Listing:
    """All that is known of the segments.

    Attributes
    ----------
    grid : SegmentGrid
        Where the segments come from.
    sums : SegmentDifferences
        What was summed in them.
    adjusted : array of float64
        Their p-values among all of them.
    total_weight : float
        The weight of all rows.
    level : float
        The level of significance.
    """

    grid: SegmentGrid
    sums: SegmentDifferences
    adjusted: FloatArray
    total_weight: float
    level: float

    @classmethod
    def none(cls, grid: SegmentGrid) -> Listing:
        """No segments."""
        return cls(grid, SegmentDifferences.none(), np.zeros(0), total_weight=1.0, level=0.5)

    @cached_property
    def outcomes(self) -> npt.NDArray[Any]:
        """Whether each segment gains or is harmed by more than noise and the search explain."""
        direction = np.where(self.sums.difference > 0, "harmed", "gains")
        return np.where(self.adjusted <= self.level, direction, "unclear")

    @cached_property
    def told(self) -> npt.NDArray[np.bool_]:
        """The significant segments that tell a story of their own.

        Of segments of which one is made of some of the other's conditions only, and which both gain or are both
        harmed, the one with the most evidence tells it. All rows tell one besides.
        """
        told = np.zeros(len(self.sums), dtype=bool)
        stories: list[tuple[str, frozenset[tuple[int, int]]]] = []
        for place in self.order.tolist():
            outcome = str(self.outcomes[place])
            if outcome == "unclear" or len(stories) == MOST_STORIES:
                break
            parts = frozenset(self.grid.parts_of(int(self.sums.combination[place]), int(self.sums.cell[place])))
            told[place] = not any(
                outcome == other and own and parts and (own <= parts or parts <= own) for other, own in stories
            )
            if told[place]:
                stories.append((outcome, parts))
        return told

    @cached_property
    def order(self) -> npt.NDArray[np.int64]:
        """The segments as they are listed: by adjusted p-value, then by evidence."""
        return np.lexsort((-self.sums.evidence, self.adjusted))[:MOST_LISTED]

    @property
    def harmed(self) -> list[str]:
        """The segments that are significantly worse off, the one with the most evidence first."""
        return [str(self.segment(place)) for place in self.order.tolist() if self.outcomes[place] == "harmed"]

    def segment(self, place: int) -> Segment:
        """The segment at a place of the sums."""
        return self.grid.segment(int(self.sums.combination[place]), int(self.sums.cell[place]))

    def columns(self, n: int | None = None) -> dict[str, Any]:
        """The first `n` rows of the table, a column each."""
        order = self.order[:n]
        sums = self.sums.of(order)
        difference = sums.difference / sums.weight
        error = np.sqrt(sums.variance) / sums.weight
        half = NormalDist().inv_cdf(1 - self.level / 2) * error
        segments = [self.segment(place) for place in order.tolist()]
        base_loss = sums.base_loss / sums.weight
        return {
            "segment": [str(segment) for segment in segments],
            "n_conditions": np.array([len(segment.conditions) for segment in segments], dtype=np.int64),
            "rows": sums.rows.astype(np.int64),
            "share": sums.weight / self.total_weight,
            "base_loss": base_loss,
            "candidate_loss": base_loss + difference,
            "difference": difference,
            "standard_error": error,
            "low": difference - half,
            "high": difference + half,
            "p_value": _two_sided(sums.evidence),
            "adjusted_p_value": self.adjusted[order],
            "outcome": [str(outcome) for outcome in self.outcomes[order]],
            "is_story": self.told[order],
            "observed_rate": np.clip(sums.label / sums.weight, 0, 1),
            "mean_base": sums.base / sums.weight,
            "mean_candidate": sums.candidate / sums.weight,
        }


def _two_sided(sigmas: FloatArray) -> FloatArray:
    """The normal distribution's chance of at least so many standard deviations, either way."""
    from scipy.special import ndtr

    return np.asarray(2 * ndtr(-sigmas), dtype=np.float64)
