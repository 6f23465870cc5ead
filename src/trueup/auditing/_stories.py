"""Which segments tell a story of their own, and which repeat one that was told."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from trueup.segments import ScoredRows, SegmentGrid, SegmentSums, evidence

__all__ = ["Stories", "tell_stories"]

# How many segments, from the most evidence on, are looked at; and how many stories are told.
MOST_EXAMINED = 500
MOST_STORIES = 20
# A story is told of the simplest segment around it: one of which the rest is off by the same amount, as far as this
# many standard deviations can tell, and which keeps this share of the evidence.
_SAME_WITHIN = 3.0
_SHARE_OF_EVIDENCE = 0.8
# Below what noise alone shows, a segment still repeats another if that one accounts for this share of its evidence.
_SHARE_LEFT = 0.7
_NEWTON_STEPS = 12
# Prior standard deviations of the shift and the slope of a correction: few rows must not correct without limit.
_SHIFT_PRIOR, _SLOPE_PRIOR = 2.0, 0.5
_LARGEST_LOGIT = 15.0

BoolArray: TypeAlias = npt.NDArray[np.bool_]
FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Stories:
    """What was told.

    Attributes
    ----------
    told : tuple of int
        Segments with a story of their own, in the order of their evidence.
    explained_by : dict of int to int
        Segments that repeat a story, and whose.
    """

    told: tuple[int, ...]
    explained_by: dict[int, int]


def tell_stories(
    rows: ScoredRows,
    grid: SegmentGrid,
    codes: npt.NDArray[np.uint8],
    segments: SegmentSums,
    critical_evidence: float,
) -> Stories:
    """Go down the list of segments; set each story right before the next is told.

    A story's rows get corrected scores: shift and slope of the logit, fitted in the segment. A segment that
    is right within noise on the scores corrected so far has been explained. Otherwise it has a story of its
    own, or an ancestor, made of some of its conditions only, has it: the simplest one that is off by the same
    amount all over.
    """
    teller = _Teller(rows, grid, codes, segments)
    strength = segments.evidence
    explained_by: dict[int, int] = {}
    for candidate in np.argsort(-strength, kind="stable")[:MOST_EXAMINED].tolist():
        limit = critical_evidence if strength[candidate] > critical_evidence else _SHARE_LEFT * strength[candidate]
        while candidate not in teller.told:
            if teller.evidence_left(candidate) <= limit:
                if teller.told:
                    explained_by[candidate] = teller.explaining(candidate)
                break
            if len(teller.told) == MOST_STORIES:
                break
            teller.tell(teller.simplest_around(candidate))
    for story in teller.told:
        explained_by.pop(story, None)
    return Stories(tuple(sorted(teller.told, key=lambda one: -strength[one])), explained_by)


class _Teller:
    """Scores corrected for the stories told so far."""

    def __init__(
        self, rows: ScoredRows, grid: SegmentGrid, codes: npt.NDArray[np.uint8], segments: SegmentSums
    ) -> None:
        self._rows, self._grid, self._codes, self._segments = rows, grid, codes, segments
        self._scores = rows.scores.copy()
        self._weights = np.ones(rows.n) if rows.weights is None else rows.weights
        self._last_story = np.zeros(rows.n, dtype=np.intp)  # the story that moved a row last
        self.told: list[int] = []

    def evidence_left(self, segment: int) -> float:
        """The evidence that a segment is wrong, on the corrected scores."""
        places = self._places(segment)
        steps, variances = self._steps(places)
        path = self._path(steps, places)
        span = max(0.0, float(path.max())) - min(0.0, float(path.min()))
        variance, unit = float(variances.sum()), self._segments.unit[segment]
        if variance <= 0:
            return 0.0
        return float(evidence(np.array([span]), np.array([variance]), np.array([unit]))[0])

    def simplest_around(self, segment: int) -> int:
        """The segment, or the simplest of its ancestors that is off by the same amount all over."""
        inside = self._places(segment)
        lowest, highest = self._worst_scores(inside)
        own = self._shift(inside, lowest, highest)
        strength = self.evidence_left(segment)
        for ancestor in self._ancestors(segment):
            if ancestor in self.told or self.evidence_left(ancestor) < _SHARE_OF_EVIDENCE * strength:
                continue
            around = np.setdiff1d(self._places(ancestor), inside, assume_unique=True)
            rest = self._shift(around, lowest, highest)
            if abs(own[0] - rest[0]) < _SAME_WITHIN * np.sqrt(own[1] + rest[1]):
                return ancestor
        return segment

    def tell(self, segment: int) -> None:
        """Set the scores of a segment right."""
        places = self._places(segment)
        corrected = _corrected(self._rows.labels[places], self._scores[places], self._weights[places])
        self._scores[places] = corrected
        self._last_story[places] = len(self.told)
        self.told.append(segment)

    def explaining(self, segment: int) -> int:
        """The story that accounts for most of the change of a segment's scores."""
        places = self._places(segment)
        moved = self._weights[places] * np.abs(self._scores[places] - self._rows.scores[places])
        by_story = np.bincount(self._last_story[places], weights=moved, minlength=1)
        return self.told[int(by_story.argmax())]

    def _ancestors(self, segment: int) -> Iterator[int]:
        """Segments made of some of the conditions, the simplest first."""
        combination = int(self._segments.combination[segment])
        parts = self._grid.parts_of(combination, int(self._segments.cell[segment]))
        alone = any(member >= self._grid.n_crossed for member, _ in parts)
        for depth in range(1 if alone else len(parts)):
            for some in itertools.combinations(parts, depth):
                found = self._find(*self._grid.place_of(some))
                if found is not None:
                    yield found

    def _find(self, combination: int, cell: int) -> int | None:
        first, last = np.searchsorted(self._segments.combination, (combination, combination + 1))
        place = first + int(np.searchsorted(self._segments.cell[first:last], cell))
        return int(place) if place < last and self._segments.cell[place] == cell else None

    def _places(self, segment: int) -> IntArray:
        """The rows of a segment, in order of score."""
        combination = int(self._segments.combination[segment])
        inside: BoolArray = np.ones(self._rows.n, dtype=bool)
        for member, code in self._grid.parts_of(combination, int(self._segments.cell[segment])):
            inside &= self._codes[member] == code
        return np.flatnonzero(inside)

    def _steps(self, places: IntArray) -> tuple[FloatArray, FloatArray]:
        """What each row adds to the running sum, and its variance."""
        scores, weights = self._scores[places], self._weights[places]
        return weights * (self._rows.labels[places] - scores), weights**2 * scores * (1 - scores)

    def _path(self, steps: FloatArray, places: IntArray) -> FloatArray:
        """The running sum at the end of each distinct score."""
        ids = self._rows.score_ids[places]
        return np.asarray(np.cumsum(steps)[np.append(ids[1:] != ids[:-1], True)])

    def _worst_scores(self, places: IntArray) -> tuple[int, int]:
        """The scores between which the running sum goes from one extreme to the other, by their numbers."""
        steps, _ = self._steps(places)
        ids = self._rows.score_ids[places]
        last = np.flatnonzero(np.append(ids[1:] != ids[:-1], True))
        path = np.concatenate([[0.0], np.cumsum(steps)[last]])
        first, end = sorted((int(path.argmax()), int(path.argmin())))
        return (int(ids[last[first - 1]]) + 1 if first else 0), int(ids[last[end - 1]]) if end else 0

    def _shift(self, places: IntArray, lowest: int, highest: int) -> tuple[float, float]:
        """By how much logits are off between two scores, to first order, and the variance of that."""
        ids = self._rows.score_ids[places]
        places = places[(ids >= lowest) & (ids <= highest)]
        steps, variances = self._steps(places)
        scores = self._scores[places]
        information = float((self._weights[places] * scores * (1 - scores)).sum())
        if information <= 0:
            return 0.0, np.inf
        return float(steps.sum()) / information, float(variances.sum()) / information**2


def _corrected(labels: FloatArray, scores: FloatArray, weights: FloatArray) -> FloatArray:
    """Scores with the shift and slope of their logits that fit the labels best, within a prior."""
    bound = 1 / (1 + np.exp(_LARGEST_LOGIT))
    logits = np.log(np.clip(scores, bound, 1 - bound)) - np.log1p(-np.clip(scores, bound, 1 - bound))
    centre = float(np.average(logits, weights=weights))
    slopes = logits - centre
    shift, slope = 0.0, 0.0
    unit = float((weights**2).sum() / weights.sum())
    penalty = unit * np.array([_SHIFT_PRIOR**-2.0, _SLOPE_PRIOR**-2.0])
    for _ in range(_NEWTON_STEPS):
        probabilities = 1 / (1 + np.exp(-np.clip(logits + shift + slope * slopes, -30, 30)))
        residuals = weights * (labels - probabilities)
        curvature = weights * probabilities * (1 - probabilities)
        gradient = np.array([residuals.sum(), residuals @ slopes]) - penalty * (shift, slope)
        mixed = curvature @ slopes
        hessian = np.array([[curvature.sum(), mixed], [mixed, curvature @ slopes**2]]) + np.diag(penalty)
        step = np.clip(np.linalg.solve(hessian, gradient), -1, 1)
        shift, slope = shift + float(step[0]), slope + float(step[1])
        if np.abs(step).max() < 1e-6:
            break
    return np.asarray(1 / (1 + np.exp(-np.clip(logits + shift + slope * slopes, -30, 30))))
