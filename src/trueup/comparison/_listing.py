"""The segments as a table, one row each, those with the most evidence first."""

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

from trueup._report import MOST_LISTED, SegmentListing
from trueup.comparison._segments import SegmentDifferences, SegmentSearch
from trueup.segments import SegmentGrid

__all__ = ["ComparisonListing"]

MOST_PATTERNS = 50
# A segment with this share of the weight repeats all rows, if both gain, both are harmed, or of neither it is clear.
_NEARLY_ALL = 0.9
# Sums over the same rows differ by rounding at most.
_ROUNDING = 1e-9

FloatArray: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ComparisonListing(SegmentListing):
    """All that is known of the segments."""

    grid: SegmentGrid
    sums: SegmentDifferences
    adjusted: FloatArray  # p-values that hold for all segments together
    significance: float
    search: SegmentSearch  # the rows, which are already in its order

    @classmethod
    def none(cls, search: SegmentSearch) -> ComparisonListing:
        """No segments."""
        return cls(search.grid, SegmentDifferences.none(), np.zeros(0), 0.5, search)

    @property
    def total_weight(self) -> float:
        """The weight of all rows."""
        return self.search.loss.rows.total_weight

    @cached_property
    def outcomes(self) -> npt.NDArray[Any]:
        """Whether each segment gains or is harmed by more than noise and the search explain."""
        direction = np.where(self.sums.difference > 0, "harmed", "gains")
        return np.where(self.adjusted <= self.significance, direction, "unclear")

    @cached_property
    def is_pattern(self) -> npt.NDArray[np.bool_]:
        """Which significant segments are a pattern of their own.

        Of segments that share half of the conditions of either, and which both gain or are both harmed, it is the one
        with the most evidence; of segments with the same rows, the one with the shortest description. All rows, and
        segments that repeat them, are none: the metrics say that.
        """
        found = np.zeros(len(self.sums), dtype=bool)
        patterns: list[tuple[str, frozenset[tuple[int, int]]]] = []
        for place in self._distinct():
            outcome = str(self.outcomes[place])
            if outcome == "unclear" or len(patterns) == MOST_PATTERNS:
                break
            parts = frozenset(self._parts(place))
            if not any(
                outcome == other and 2 * len(own & parts) >= min(len(own), len(parts)) for other, own in patterns
            ):
                found[place] = True
                patterns.append((outcome, parts))
        return found

    def patterns(self, outcome: str) -> list[int]:
        """The places of the patterns that gain, or are harmed, those that change most per row first."""
        places = np.flatnonzero(self.is_pattern & (self.outcomes == outcome))
        change = np.abs(self.sums.difference / self.sums.weight)[places]
        ordered: list[int] = places[np.argsort(-change, kind="stable")].tolist()
        return ordered

    def ranked(self, n: int) -> list[int]:
        """The places of the first `n` segments to show: who is harmed, who gains, then the unclear."""
        patterns = [*self.patterns("harmed"), *self.patterns("gains")]
        unclear = (place for place in self._distinct() if self.outcomes[place] == "unclear")
        return list(itertools.islice(itertools.chain(patterns, unclear), n))

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
        """Which rows are in the segment at a place, in the order of the search."""
        return self.search.inside(int(self.sums.combination[place]), int(self.sums.cell[place]))

    def _parts(self, place: int) -> list[tuple[int, int]]:
        return list(self.grid.parts_of(int(self.sums.combination[place]), int(self.sums.cell[place])))

    @cached_property
    def order(self) -> npt.NDArray[np.int64]:
        """The segments as they are listed: by adjusted p-value, then by evidence."""
        return np.lexsort((-self.sums.evidence, self.adjusted))[:MOST_LISTED]

    @property
    def harmed(self) -> list[str]:
        """The segments that are significantly worse off, the one with the most evidence first."""
        return [str(self.segment(place)) for place in self.order.tolist() if self.outcomes[place] == "harmed"]

    def columns_of(self, places: npt.NDArray[np.int64]) -> dict[str, Any]:
        """The columns of the table for the segments at these places."""
        sums = self.sums.of(places)
        difference = sums.difference / sums.weight
        error = np.sqrt(sums.variance) / sums.weight
        half = NormalDist().inv_cdf(1 - self.significance / 2) * error
        segments = [self.segment(place) for place in places.tolist()]
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
            "adjusted_p_value": self.adjusted[places],
            "outcome": [str(outcome) for outcome in self.outcomes[places]],
            "is_pattern": self.is_pattern[places],
            "observed_rate": np.clip(sums.label / sums.weight, 0, 1),
            "mean_base": sums.base / sums.weight,
            "mean_candidate": sums.candidate / sums.weight,
        }


def _two_sided(sigmas: FloatArray) -> FloatArray:
    """The normal distribution's chance of at least so many standard deviations, either way."""
    from scipy.special import ndtr

    return np.asarray(2 * ndtr(-sigmas), dtype=np.float64)
