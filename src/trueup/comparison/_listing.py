"""The segments as a table: a row each, the ones with the most evidence first."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from trueup.comparison._segments import SegmentDifferences, SegmentSearch
from trueup.segments import Segment

__all__ = ["MOST_LISTED", "ComparisonListing"]

MOST_LISTED = 100_000
MOST_PATTERNS = 50
# A segment with this share of the weight repeats all rows, if both gain, both are harmed, or of neither it is clear.
_NEARLY_ALL = 0.9
# Sums over the same rows differ by rounding at most.
_ROUNDING = 1e-9

FloatArray: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ComparisonListing:
    """All that is known of the segments.

    Attributes
    ----------
    search : SegmentSearch
        Where the segments come from.
    sums : SegmentDifferences
        What was summed in them.
    adjusted : array of float64
        Their p-values among all of them.
    total_weight : float
        The weight of all rows.
    significance : float
        The level of significance.
    """

    search: SegmentSearch
    sums: SegmentDifferences
    adjusted: FloatArray
    total_weight: float
    significance: float

    @classmethod
    def none(cls, search: SegmentSearch) -> ComparisonListing:
        """No segments."""
        return cls(search, SegmentDifferences.none(), np.zeros(0), total_weight=1.0, significance=0.5)

    @cached_property
    def outcomes(self) -> npt.NDArray[Any]:
        """Whether each segment gains or is harmed by more than noise and the search explain."""
        direction = np.where(self.sums.difference > 0, "harmed", "gains")
        return np.where(self.adjusted <= self.significance, direction, "unclear")

    @cached_property
    def told(self) -> npt.NDArray[np.bool_]:
        """The significant segments that tell a pattern of their own.

        Of segments that share half of the conditions of either, and which both gain or are both harmed, the one with
        the most evidence tells it; of segments with the same rows, the one with the shortest description. All rows,
        and segments that repeat them, tell none: the metrics do.
        """
        told = np.zeros(len(self.sums), dtype=bool)
        patterns: list[tuple[str, frozenset[tuple[int, int]]]] = []
        for place in self._distinct():
            outcome = str(self.outcomes[place])
            if outcome == "unclear" or len(patterns) == MOST_PATTERNS:
                break
            parts = frozenset(self._parts(place))
            if not any(
                outcome == other and 2 * len(own & parts) >= min(len(own), len(parts)) for other, own in patterns
            ):
                told[place] = True
                patterns.append((outcome, parts))
        return told

    def patterns(self, outcome: str) -> list[int]:
        """The patterns of those that gain, or are harmed, at their places in the sums: who changes most a row first."""
        places = np.flatnonzero(self.told & (self.outcomes == outcome))
        change = np.abs(self.sums.difference / self.sums.weight)[places]
        told: list[int] = places[np.argsort(-change, kind="stable")].tolist()
        return told

    def ranked(self, n: int) -> list[int]:
        """The first `n` segments to show, at their places in the sums: who is harmed, who gains, then the unclear."""
        told = [*self.patterns("harmed"), *self.patterns("gains")]
        unclear = (place for place in self._distinct() if self.outcomes[place] == "unclear")
        return list(itertools.islice(itertools.chain(told, unclear), n))

    def _distinct(self) -> Iterator[int]:
        """The segments as they are listed, those with the same rows once, without those that repeat all rows."""
        weight = self.sums.weight
        whole = np.flatnonzero(weight >= (1 - _ROUNDING) * self.total_weight)
        repeats = (weight >= _NEARLY_ALL * self.total_weight) & np.isin(self.outcomes, self.outcomes[whole])
        seen: set[int] = set()
        for place in self.order.tolist():
            if not repeats[place] and place not in seen:
                same = self._with_the_same_rows(place)
                seen.update(same)
                yield min(same, key=lambda one: (len(self._parts(one)), len(str(self.segment(one))), one))

    def _with_the_same_rows(self, place: int) -> list[int]:
        """The segments with the rows of one, which is among them."""
        others = self._alike.get(place, [])
        if not others:
            return [place]
        rows = self.inside(place)
        return [one for one in others if one == place or np.array_equal(self.inside(one), rows)]

    @cached_property
    def _alike(self) -> dict[int, list[int]]:
        """Of segments that may have the same rows, for as many and the same sums are in them: all that may."""
        sums = self.sums
        mark = sums.base + math.pi * sums.candidate + math.e * sums.label  # nothing below 0, so nothing cancels
        order = np.lexsort((mark, sums.rows))
        is_next = (np.diff(sums.rows[order]) == 0) & (np.diff(mark[order]) <= _ROUNDING * mark[order][1:])
        groups = np.split(order, np.flatnonzero(~is_next) + 1)
        return {place: group.tolist() for group in groups if len(group) > 1 for place in group.tolist()}

    def inside(self, place: int) -> npt.NDArray[np.bool_]:
        """Which rows are in the segment at a place of the sums, rows in the search's order."""
        return self.search.inside(int(self.sums.combination[place]), int(self.sums.cell[place]))

    def _parts(self, place: int) -> list[tuple[int, int]]:
        return list(self.search.grid.parts_of(int(self.sums.combination[place]), int(self.sums.cell[place])))

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
        return self.search.grid.segment(int(self.sums.combination[place]), int(self.sums.cell[place]))

    def columns(self, n: int | None = None) -> dict[str, Any]:
        """The first `n` rows of the table, a column each."""
        return self.columns_of(self.order[:n])

    def columns_of(self, order: npt.NDArray[np.int64]) -> dict[str, Any]:
        """The rows of the table for the segments at these places of the sums, a column each."""
        sums = self.sums.of(order)
        difference = sums.difference / sums.weight
        error = np.sqrt(sums.variance) / sums.weight
        half = NormalDist().inv_cdf(1 - self.significance / 2) * error
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
            "is_pattern": self.told[order],
            "observed_rate": np.clip(sums.label / sums.weight, 0, 1),
            "mean_base": sums.base / sums.weight,
            "mean_candidate": sums.candidate / sums.weight,
        }


def _two_sided(sigmas: FloatArray) -> FloatArray:
    """The normal distribution's chance of at least so many standard deviations, either way."""
    from scipy.special import ndtr

    return np.asarray(2 * ndtr(-sigmas), dtype=np.float64)
