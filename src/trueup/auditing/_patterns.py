"""Which segments have a pattern of their own, and which only overlap one that was found."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from trueup import _native
from trueup.segments import ScoredRows, SegmentGrid, SegmentSums, certain_variance, sum_again

# Patterns are looked for while a segment is significantly wrong on corrected scores, up to the first number. If there
# are few, the most suspicious segments within noise are listed too, up to the second.
MOST_PATTERNS = 20
FEWEST_PATTERNS = 10
# A pattern is credited to the simplest segment around it: its other rows must be off by the same amount, within this
# many standard deviations, and it must keep this share of the evidence.
_SAME_WITHIN = 3.0
_SHARE_OF_EVIDENCE = 0.8
# Segments with this share of the critical evidence may only overlap a pattern, and are explained with the others.
_NEARLY = 0.7
# A segment that is right within noise counts as explained only if this share of its evidence, or less, is left.
_SHARE_LEFT = 0.7
# Of two segments within noise, the second repeats the first if they share this much of the smaller one; of those, this
# many are looked at.
_SHARED_ROWS = 0.5
_MOST_EXAMINED = 200
# This many patterns are corrected at once, if they share few rows; this many candidates are tried for that.
_BATCH = _native.SUM_LANES - 2
_TRIED = 40
_LITTLE = 0.05

BoolArray: TypeAlias = npt.NDArray[np.bool_]
FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Patterns:
    """The patterns that were found."""

    found: tuple[int, ...]  # segments with a pattern of their own, in the order of their evidence
    explained_by: dict[int, int]  # segments that repeat a pattern, and whose


@dataclass(frozen=True, eq=False)
class Audited:
    """The rows, and the segments that were measured in them."""

    rows: ScoredRows
    grid: SegmentGrid
    codes: npt.NDArray[np.uint8]  # the codes of the grid's partitions, with rows in order of score
    sums: SegmentSums

    def inside(self, segment: int) -> BoolArray:
        """Which rows are in a segment, rows in order of score."""
        combination = int(self.sums.combination[segment])
        inside: BoolArray = np.ones(self.rows.n, dtype=bool)
        for member, code in self.grid.parts_of(combination, int(self.sums.cell[segment])):
            inside &= self.codes[member] == code
        return inside


def find_patterns(audited: Audited, is_significant: BoolArray, critical: float, n_threads: int = 1) -> Patterns:
    """Find the worst pattern, correct the scores in its segment by isotonic regression, and look for the next one.

    Significant segments that are then right within noise are explained by it. The worst of the others has the next
    pattern, or the simplest segment around it does, if that is off by the same amount all over.
    """
    strength = audited.sums.evidence
    pool = np.flatnonzero(is_significant | (strength > _NEARLY * critical))
    limits = np.minimum(critical, _SHARE_LEFT * strength[pool])
    finder = _Finder(audited, pool, is_significant, n_threads)
    left = strength[pool]
    while len(finder.found) < MOST_PATTERNS:
        is_open = is_significant[pool] & (left > limits) & ~np.isin(pool, [*finder.found, *finder.explained_by])
        candidates = pool[is_open][np.argsort(-left[is_open], kind="stable")]
        batch = finder.find_some(candidates[:_TRIED].tolist())
        if not batch:
            break
        left, movers = finder.look_again(batch)
        for place in np.flatnonzero((left <= limits) & (movers >= 0)).tolist():
            if pool[place] not in finder.found:
                finder.explained_by.setdefault(int(pool[place]), int(movers[place]))
    is_open = ~is_significant
    is_open[list(finder.explained_by)] = False
    by_evidence = np.argsort(-strength, kind="stable")
    finder.list_noise(by_evidence[is_open[by_evidence]][:_MOST_EXAMINED].tolist())
    return Patterns(tuple(sorted(finder.found, key=lambda one: -strength[one])), finder.explained_by)


class _Finder:
    """Scores corrected for the patterns found so far."""

    def __init__(self, audited: Audited, pool: IntArray, is_significant: BoolArray, n_threads: int) -> None:
        self._rows, self._grid, self._inside = audited.rows, audited.grid, audited.inside
        self._segments, self._pool = audited.sums, audited.sums.of(pool)
        self._strength, self._is_significant = audited.sums.evidence, is_significant
        self._cells, self._n_threads = audited.grid.cells(audited.rows, audited.codes), n_threads
        self._scores = audited.rows.scores.copy()
        self._weights = np.ones(self._rows.n) if audited.rows.weights is None else audited.rows.weights
        self.found: list[int] = []
        self.explained_by: dict[int, int] = {}

    def find_some(self, candidates: list[int]) -> dict[int, tuple[IntArray, FloatArray]]:
        """Correct the first candidate, and others that share few rows with it: each one's rows and how they moved."""
        batch: dict[int, tuple[IntArray, FloatArray]] = {}
        before = self._scores.copy()
        for candidate in candidates:
            if len(self.found) == MOST_PATTERNS or len(batch) == _BATCH:
                break
            if batch and self._is_touched(candidate, before):
                continue
            pattern = self.simplest_around(candidate)
            if not batch or not self._is_touched(pattern, before):
                batch[pattern] = self._correct(pattern)
        return batch

    def list_noise(self, candidates: list[int]) -> None:
        """List segments within noise, except those that mostly repeat the rows of one listed before."""
        listed = [(pattern, self._inside(pattern), True) for pattern in self.found]
        for candidate in candidates:
            if len(self.found) >= FEWEST_PATTERNS:
                break
            inside = self._inside(candidate)
            size = np.count_nonzero(inside)
            for pattern, rows, is_significant in listed:
                # A pattern covers what lies inside it; two segments within noise cover each other.
                smaller = size if is_significant else min(size, np.count_nonzero(rows))
                if np.count_nonzero(inside & rows) > _SHARED_ROWS * smaller:
                    self.explained_by[candidate] = pattern
                    break
            else:
                self.found.append(candidate)
                listed.append((candidate, inside, False))

    def look_again(self, batch: dict[int, tuple[IntArray, FloatArray]]) -> tuple[FloatArray, IntArray]:
        """The evidence left in each segment on the corrected scores, and the pattern that moved it most, or -1."""
        lanes = np.zeros((self._rows.n, _native.SUM_LANES))
        lanes[:, 0], lanes[:, 1] = self._steps(np.arange(self._rows.n))
        for lane, (places, moved) in enumerate(batch.values(), start=2):
            lanes[places, lane] = moved
        sums, range_ = sum_again(self._pool, self._grid, self._cells, lanes, self._n_threads)
        certain_lanes = np.zeros_like(lanes)
        certain_lanes[:, 0] = self._rows.certain_errors(self._scores)
        certain = np.zeros(len(range_))
        if certain_lanes.any():
            certain = sum_again(self._pool, self._grid, self._cells, certain_lanes, self._n_threads)[0][:, 0]
        variance = np.maximum(sums[:, 1], certain_variance(self._pool.weight, self._pool.unit)) * self._pool.inflation
        left = replace(self._pool, range=range_, variance=variance, certain=certain).evidence
        moved_by = sums[:, 2 : 2 + len(batch)]
        movers = np.where(moved_by.max(axis=1) > 0, np.array(list(batch))[moved_by.argmax(axis=1)], -1)
        return left, movers

    def _is_touched(self, segment: int, before: FloatArray) -> bool:
        """Whether a batch has moved a segment's scores by more than a little."""
        places = self._places(segment)
        moved = np.count_nonzero(self._scores[places] != before[places])
        return bool(moved > _LITTLE * len(places))

    def _correct(self, segment: int) -> tuple[IntArray, FloatArray]:
        """Correct the scores of a segment."""
        places = self._places(segment)
        before = self._scores[places]
        self._scores[places] = _corrected(self._rows.labels[places], before, self._weights[places])
        self.found.append(segment)
        return places, self._weights[places] * np.abs(self._scores[places] - before)

    def _evidence_left_in(self, segment: int) -> float:
        """The evidence that one segment is wrong, on the corrected scores."""
        places = self._places(segment)
        steps, variances = self._steps(places)
        path = self._path(steps, places)
        span = max(0.0, float(path.max())) - min(0.0, float(path.min()))
        one = self._segments.of(slice(segment, segment + 1))
        variance = np.maximum(variances.sum(), certain_variance(one.weight, one.unit)) * one.inflation
        certain = self._rows.certain_errors(self._scores)[places].sum(keepdims=True)
        return float(replace(one, range=np.array([span]), variance=variance, certain=certain).evidence[0])

    def simplest_around(self, segment: int) -> int:
        """The segment, or the simplest one with only some of its conditions that is off by the same amount all over."""
        inside = self._places(segment)
        lowest, highest = self._worst_scores(inside)
        own = self._shift(inside, lowest, highest)
        if not np.isfinite(own[1]):  # scores of 0 and 1 only: no logit says by how much the others should be off
            return segment
        least = _SHARE_OF_EVIDENCE * self._strength[segment]
        least_left = _SHARE_OF_EVIDENCE * self._evidence_left_in(segment)
        for ancestor in self._ancestors(segment):
            if ancestor in self.found or ancestor in self.explained_by or not self._is_significant[ancestor]:
                continue
            if self._strength[ancestor] < least or self._evidence_left_in(ancestor) < least_left:
                continue
            around = np.setdiff1d(self._places(ancestor), inside, assume_unique=True)
            rest = self._shift(around, lowest, highest)
            spread = own[1] * self._segments.inflation[segment] + rest[1] * self._segments.inflation[ancestor]
            if abs(own[0] - rest[0]) < _SAME_WITHIN * np.sqrt(spread):
                return ancestor
        return segment

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
        return np.flatnonzero(self._inside(segment))

    def _steps(self, places: IntArray) -> tuple[FloatArray, FloatArray]:
        """What each row adds to the running sum, and the variance of that."""
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
    """Scores recalibrated by isotonic regression, at least half a row away from 0 and 1."""
    from sklearn.isotonic import IsotonicRegression

    least = 0.5 / (len(scores) + 1)
    regression = IsotonicRegression(y_min=least, y_max=1 - least)
    return np.asarray(regression.fit_transform(scores, labels, sample_weight=weights), dtype=np.float64)
