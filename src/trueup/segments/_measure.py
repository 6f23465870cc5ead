"""Rows in order of score; the sums, range and variance of every segment, in one pass per combination."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from trueup import _native
from trueup.segments._grid import SegmentGrid


@dataclass(frozen=True, eq=False)
class ScoredRows:
    """Rows in order of score."""

    order: npt.NDArray[np.int64]  # where each row stands in the table
    labels: FloatArray
    scores: FloatArray
    weights: FloatArray | None  # what each row counts, all above 0; None if all count the same
    score_ids: npt.NDArray[np.uint32]  # numbers of the distinct scores
    groups: npt.NDArray[np.int64] | None = None  # which rows belong together, numbered from 0; None if all are apart

    @property
    def n(self) -> int:
        """How many rows there are."""
        return len(self.order)

    @cached_property
    def total_weight(self) -> float:
        """The sum of the weights."""
        return float(self.n if self.weights is None else self.weights.sum())

    def residuals(self, scores: FloatArray | None = None) -> FloatArray:
        """Weight times (label minus score), for these scores or others."""
        difference = self.labels - (self.scores if scores is None else scores)
        return difference if self.weights is None else difference * self.weights

    def variances(self) -> FloatArray:
        """Of each residual, if the scores are true."""
        bernoulli = self.scores * (1 - self.scores)
        return bernoulli if self.weights is None else bernoulli * self.weights**2

    def lanes(self) -> FloatArray:
        """What the kernel sums: residuals first, for their range is wanted, then scores, variances and labels."""
        lanes = np.empty((self.n, _native.SUM_LANES))
        lanes[:, 0] = self.residuals()
        lanes[:, 1] = self.scores if self.weights is None else self.scores * self.weights
        lanes[:, 2] = self.variances()
        lanes[:, 3] = self.labels if self.weights is None else self.labels * self.weights
        return lanes

    def certain_errors(self, scores: FloatArray | None = None) -> FloatArray:
        """Weight times distance from the label where a score is exactly 0 or 1, and 0 elsewhere."""
        scores = self.scores if scores is None else scores
        return np.where((scores == 0) | (scores == 1), np.abs(self.residuals(scores)), 0.0)

    def further_lanes(self) -> FloatArray | None:
        """Weights, their squares and certain errors, to be summed too; None if none are needed."""
        certain = self.certain_errors()
        if self.weights is None and not certain.any():
            return None
        lanes = np.zeros((self.n, _native.SUM_LANES))
        lanes[:, 0] = 1.0 if self.weights is None else self.weights
        lanes[:, 1], lanes[:, 2] = lanes[:, 0] ** 2, certain
        return lanes


def sort_rows(
    labels: FloatArray,
    scores: FloatArray,
    weights: FloatArray | None = None,
    groups: npt.NDArray[np.int64] | None = None,
) -> ScoredRows:
    """Rows in order of score; among equal scores in an order that doesn't depend on where they stood.

    Then sums are the same to the last bit in whatever order the rows came.
    """
    order = np.argsort(scores)
    in_order = scores[order]
    is_new = in_order[1:] != in_order[:-1]
    if not is_new.all():
        order = np.lexsort([one for one in (groups, weights, labels, scores) if one is not None])
        in_order = scores[order]
        is_new = in_order[1:] != in_order[:-1]
    score_ids = np.zeros(len(scores), dtype=np.uint32)
    np.cumsum(is_new, out=score_ids[1:])
    sorted_weights = None if weights is None else weights[order]
    if groups is not None:  # numbered anew: groups of which no row is here are gone
        groups = np.unique(groups, return_inverse=True)[1].reshape(-1)[order]
    return ScoredRows(order, labels[order], in_order, sorted_weights, score_ids, groups)


# The least variance of a sigma, in squared rows. Below it, a single row can move the sum by more than its standard
# deviation, and a sigma would mean nothing. Evidence needs no such limit.
MIN_VARIANCE = 1.0
# The variance of a row scored exactly 0 or 1, as if the score were off by less than a float64 can show. It is so small
# that a single wrong row outweighs any noise, but not 0, so that nothing is divided by 0.
_CERTAIN = 2.0**-53
_VISITS_PER_BATCH = 100_000_000  # a fraction of a second, after which Ctrl-C is heard

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int32]
Advance: TypeAlias = Callable[[int], None]


@dataclass(frozen=True, eq=False)
class SegmentSums:
    """What was summed, one entry per segment."""

    combination: IntArray  # where in the grid the segment is
    cell: IntArray
    rows: npt.NDArray[np.int32] | npt.NDArray[np.int64]  # how many rows it has
    weight: FloatArray  # sums of weights, of weight times score, and of weight times label
    score: FloatArray
    label: FloatArray
    # The largest minus the smallest running sum of weight times (label minus score), in order of score.
    range: FloatArray
    variance: FloatArray  # of the final sum, if the scores are true; never quite 0; of groups, as they spread
    unit: FloatArray  # the typical weight of a row: the sum of squares over the sum
    certain: FloatArray  # the sum of the errors of scores that are exactly 0 or 1: no true scores have any
    inflation: FloatArray  # how many times as much sums vary because groups err together; at least 1
    min_variance: float  # sigmas are those of at least this variance, in squared units

    def __len__(self) -> int:
        return len(self.cell)

    def of(self, chosen: npt.NDArray[Any] | slice) -> SegmentSums:
        """Some of the segments."""
        return replace(self, **{name: getattr(self, name)[chosen] for name in _ARRAYS})

    @property
    def null_variance(self) -> FloatArray:
        """The variance that labels drawn from the scores have: that of the final sum."""
        return self.variance

    @property
    def sigmas(self) -> FloatArray:
        """The range in standard deviations: ``ecce_sigma`` of each segment."""
        return self.range / np.sqrt(self.sigma_variance)

    @property
    def sigma_variance(self) -> FloatArray:
        """The variance whose root is a sigma: the segment's own, or `min_variance` where that is more."""
        return np.maximum(self.variance, self.min_variance * self.unit**2)

    @property
    def evidence(self) -> FloatArray:
        """The range in standard deviations, less where single rows matter: comparable between segments.

        Certain errors count by themselves too, however much noise there is around them.
        """
        of_range = evidence(self.range, self.variance, self.unit)
        if not self.certain.any():
            return of_range
        return np.maximum(of_range, evidence(self.certain, certain_variance(self.weight, self.unit), self.unit))


_ARRAYS = tuple(field.name for field in fields(SegmentSums) if field.name != "min_variance")


def certain_variance(weight: FloatArray, unit: FloatArray) -> FloatArray:
    """The variance of a sum over rows that are all scored 0 or 1: next to nothing, but not 0."""
    return _CERTAIN * weight * unit


def evidence(range_: FloatArray, variance: FloatArray, unit: FloatArray) -> FloatArray:
    """How many standard deviations a range is worth.

    Sums of few expected positives have a heavier tail than the normal. Bennett's inequality bounds it by
    ``exp(-v h(u))`` with ``v = variance / unit²``, ``u = range · unit / variance`` and
    ``h(u) = (1 + u) log(1 + u) - u``; the normal tail of x standard deviations is about ``exp(-x² / 2)``.
    So the evidence is ``sqrt(2 v h(u))``: for a large variance the sigmas themselves, else less.
    """
    v = variance / unit**2
    u = range_ * unit / variance
    h = np.where(u < 1e-4, u * u * (0.5 - u / 6), (1 + u) * np.log1p(u) - u)
    return np.sqrt(2 * v * h)


def measure_segments(
    rows: ScoredRows,
    grid: SegmentGrid,
    cells: _native.Cells,
    *,
    min_rows: int,
    min_variance: float,
    max_segments: int | None,
    n_threads: int,
    advance: Advance = lambda combinations: None,
) -> SegmentSums:
    """The sums of all segments of enough rows, in the order of the grid; `max_segments` takes the first ones."""
    lanes, further_lanes = rows.lanes(), rows.further_lanes()
    parts: list[SegmentSums] = []
    n_found = 0
    for first, last in batches(rows.n, grid.n_combinations, shorter=max_segments is not None):
        offsets, members = grid.combinations_of(first, last)
        combination, cell, count, sums, range_ = cells.sums(offsets, members, lanes, min_rows, n_threads)
        if further_lanes is None:
            weight, unit, certain = count.astype(np.float64), np.ones(len(count)), np.zeros(len(count))
        else:
            further = cells.sums(offsets, members, further_lanes, min_rows, n_threads)[3]
            weight, certain = (np.ascontiguousarray(further[:, lane]) for lane in (0, 2))
            unit = further[:, 1] / weight
        label, score = (np.ascontiguousarray(sums[:, lane]) for lane in (3, 1))
        found = SegmentSums(
            combination=combination + np.int32(first),
            cell=cell,
            rows=count,
            weight=weight,
            score=score,
            label=label,
            range=range_,
            variance=np.maximum(sums[:, 2], certain_variance(weight, unit)),
            unit=unit,
            certain=certain,
            inflation=np.ones(len(count)),
            min_variance=float(min_variance),
        )
        if max_segments is not None:
            found = found.of(slice(max_segments - n_found))
        n_found += len(found)
        parts.append(found)
        advance(last - first)
        if max_segments is not None and n_found >= max_segments:
            break
    joined: dict[str, Any] = {name: np.concatenate([getattr(part, name) for part in parts]) for name in _ARRAYS}
    return replace(parts[0], **joined)


def spread_by_groups(
    rows: ScoredRows, grid: SegmentGrid, codes: npt.NDArray[np.uint8], segments: SegmentSums, n_threads: int
) -> SegmentSums:
    """The segments with the variance that the sums of whole groups show: their squares, added up."""
    assert rows.groups is not None
    order = np.argsort(rows.groups, kind="stable")  # the kernel takes a change of id for the end of a group
    cells = grid.cells_of(np.take(codes, order, axis=1), rows.groups[order].astype(np.uint32))
    lanes = np.stack([rows.residuals(), np.sqrt(rows.variances())], axis=1)[order]
    bounds = np.searchsorted(segments.combination, np.arange(grid.n_combinations + 1)).astype(np.int64)
    squares, together = np.empty((2, len(segments)))
    for first, last in batches(rows.n, grid.n_combinations):
        begin, end = int(bounds[first]), int(bounds[last])
        offsets, members = grid.combinations_of(first, last)
        products = cells.products(
            offsets=offsets,
            members=members,
            chosen_offsets=bounds[first : last + 1] - begin,
            cell=segments.cell[begin:end],
            lanes=lanes,
            n_threads=n_threads,
        )
        squares[begin:end], together[begin:end] = products[:, 0], products[:, 2]
    return grouped(rows, segments, squares, together)


def grouped(rows: ScoredRows, segments: SegmentSums, squares: FloatArray, together: FloatArray) -> SegmentSums:
    """The segments with variances that hold for whole groups.

    `squares` are the sums of squares of what groups err by, and `together` what they would be on average if the rows
    of a group always erred together. A few groups that happen to have no positives show next to no spread, so they get
    at least the correlation that all rows show.
    """
    assert rows.groups is not None
    own = rows.variances()
    total = own.sum()
    shown, most = (np.square(np.bincount(rows.groups, values)).sum() for values in (rows.residuals(), np.sqrt(own)))
    correlation = np.clip((shown - total) / (most - total), 0, 1) if most > total * (1 + 1e-9) else 0.0
    variance = segments.variance + correlation * np.maximum(0.0, together - segments.variance)
    inflation = np.clip(squares, variance, np.maximum(variance, together)) / segments.variance
    return replace(segments, variance=np.maximum(variance, squares), inflation=inflation)


def sum_again(
    segments: SegmentSums, grid: SegmentGrid, cells: _native.Cells, lanes: FloatArray, n_threads: int
) -> tuple[FloatArray, FloatArray]:
    """Other sums of the same segments, one column per lane, and the range of the first lane."""
    sums, range_ = np.empty((len(segments), _native.SUM_LANES)), np.empty(len(segments))
    needed, place = np.unique(segments.combination, return_inverse=True)
    for first, last in batches(len(lanes), len(needed)):
        begin, end = np.searchsorted(place, (first, last))
        offsets, members = grid.some_combinations(needed[first:last])
        combination, cell, _, some_sums, some_ranges = cells.sums(offsets, members, lanes, 1, n_threads)
        wanted = _keys(place[begin:end] - first, segments.cell[begin:end])
        found = np.searchsorted(_keys(combination, cell), wanted)
        sums[begin:end], range_[begin:end] = some_sums[found], some_ranges[found]
    return sums, range_


def _keys(combination: npt.NDArray[Any], cell: IntArray) -> npt.NDArray[np.int64]:
    """Numbers in the order of the segments."""
    return (combination.astype(np.int64) << 32) | cell


def batches(n_rows: int, n_combinations: int, *, shorter: bool = False) -> Iterator[tuple[int, int]]:
    """Ranges of combinations that take a fraction of a second each, or half of that if few may be needed."""
    size = max(16, _VISITS_PER_BATCH // max(1, n_rows) // (2 if shorter else 1))
    first = 0
    while first < n_combinations:
        last = min(n_combinations, first + size)
        yield first, last
        first = last
