"""Either model's largest calibration error of any segment, in sigmas, and how its difference varies."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from trueup import _native
from trueup.comparison._intervals import Intervals
from trueup.comparison._metrics import MetricDifference, with_role
from trueup.comparison._options import CompareOptions
from trueup.comparison._segments import Advance, SegmentSearch
from trueup.segments import MIN_VARIANCE, ScoredRows, SegmentGrid, SegmentSums, measure_segments, sort_rows

__all__ = ["measure_mce", "n_mce_draws"]

# Of either model, so many of the worst segments are measured in every draw: one of them is the worst there.
_WORST = 50
_DRAWS_A_TAIL = 5  # beyond either end of the interval
_MOST_PLACES = 20_000_000  # 100 MB of rows of segments at once
_VISITS_A_BATCH = 100_000_000  # a fraction of a second, after which Ctrl-C is heard

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int32]
LongArray: TypeAlias = npt.NDArray[np.int64]


def n_mce_draws(options: CompareOptions) -> int:
    """How often the worst segments are drawn again: enough for the interval's ends, and no more."""
    return min(options.n_bootstrap, math.ceil(2 * _DRAWS_A_TAIL / options.level - 1e-9))


def measure_mce(
    search: SegmentSearch,
    options: CompareOptions,
    *,
    searched: Advance = lambda combinations: None,
    drawn: Advance = lambda draws: None,
) -> MetricDifference:
    """The MCE of both models, with an interval for the difference.

    Notes
    -----
    A search in every draw would be too dear. The worst segment of a draw is one of those that are bad in the sample,
    so only the worst of either model are measured again, each in its own sigmas of the sample.
    """
    rows = search.loss.rows
    models = [_searched(search, scores, options.min_rows, searched) for scores in (rows.base, rows.candidate)]
    base, candidate = (float(model.sums.sigmas.max()) if len(model.sums) else math.nan for model in models)
    found = MetricDifference("mce", base, candidate)
    if math.isfinite(found.difference):
        worst = np.union1d(*(model.worst(_WORST) for model in models))
        draws = [_draw_again(model, worst, search, options, drawn) for model in models]
        moved = Intervals(rows, options.level).around(found.difference, draws[1] - draws[0])
        found = MetricDifference("mce", base, candidate, *moved)
    return with_role(found, options, rows.mean(rows.labels))


@dataclass(frozen=True, eq=False)
class SearchedModel:
    """One model's rows and its segments.

    Attributes
    ----------
    rows : ScoredRows
        The rows in order of its scores.
    grid : SegmentGrid
        The segments.
    codes : array of uint8
        The codes of the grid's partitions, a line each, in the order of the rows.
    sums : SegmentSums
        What was found in each segment.
    """

    rows: ScoredRows
    grid: SegmentGrid
    codes: npt.NDArray[np.uint8]
    sums: SegmentSums

    @property
    def keys(self) -> LongArray:
        """A number for each segment found, ascending, that is the same for another model."""
        return (self.sums.combination.astype(np.int64) << 32) | self.sums.cell

    def worst(self, most: int) -> LongArray:
        """The keys of the segments of the most sigmas."""
        return self.keys[np.argsort(-self.sums.sigmas, kind="stable")[:most]]

    def of(self, keys: LongArray) -> SegmentSums:
        """What was found in these segments, if it was."""
        return self.sums.of(np.isin(self.keys, keys))

    def inside(self, combination: int, cell: int) -> IntArray:
        """The places of a segment's rows."""
        inside = np.ones(self.rows.n, dtype=bool)
        for member, code in self.grid.parts_of(combination, cell):
            inside &= self.codes[member] == code
        return np.flatnonzero(inside).astype(np.int32)


def _searched(search: SegmentSearch, scores: FloatArray, min_rows: int, advance: Advance) -> SearchedModel:
    paired = search.loss.rows
    weights = None if (paired.weights == 1).all() else paired.weights
    rows = sort_rows(paired.labels, scores, weights)
    codes = np.take(search.codes, rows.order, axis=1)
    sums, _ = measure_segments(
        rows,
        search.grid,
        search.grid.cells(rows, codes),
        min_rows=min_rows,
        min_variance=MIN_VARIANCE,
        max_segments=None,
        n_threads=search.n_threads,
        advance=advance,
    )
    return SearchedModel(rows, search.grid, codes, sums)


def _draw_again(
    model: SearchedModel, keys: LongArray, search: SegmentSearch, options: CompareOptions, advance: Advance
) -> FloatArray:
    """The largest error of these segments in every draw."""
    rows, paired, n_draws, n_threads = model.rows, search.loss.rows, n_mce_draws(options), search.n_threads
    of_rows: dict[str, Any] = {
        "cluster": paired.cluster[rows.order],
        "weight": np.ones(rows.n) if rows.weights is None else rows.weights,
        "residual": rows.residuals(),
        "n_clusters": paired.n_clusters,
    }
    largest = np.zeros(n_draws)
    for segments in _batches(model.of(keys)):
        of_segments = _segmented(model, segments)
        size = max(n_threads, _VISITS_A_BATCH // (rows.n + len(of_segments["places"])))
        for first in range(0, n_draws, size):
            last = min(n_draws, first + size)
            found = _native.resample_segments(
                **of_rows, **of_segments, seed=options.random_state, first=first, last=last, n_threads=n_threads
            )
            np.maximum(largest[first:last], found, out=largest[first:last])
    advance(n_draws)
    return largest


def _batches(segments: SegmentSums) -> Iterator[SegmentSums]:
    """Segments whose rows fit into memory together."""
    batch = (np.cumsum(segments.rows, dtype=np.int64) - 1) // _MOST_PLACES
    for number in np.unique(batch):
        yield segments.of(batch == number)


def _segmented(model: SearchedModel, segments: SegmentSums) -> dict[str, Any]:
    """The rows of some segments, as the kernel wants them."""
    inside = [model.inside(*place) for place in zip(segments.combination.tolist(), segments.cell.tolist(), strict=True)]
    places = np.concatenate(inside)
    offsets = np.append(0, np.cumsum([len(some) for some in inside])).astype(np.int64)
    ids = model.rows.score_ids[places]
    ends = np.append(ids[1:] != ids[:-1], True)
    ends[offsets[1:] - 1] = True
    return {
        "places": places,
        "offsets": offsets,
        "ends": ends.astype(np.uint8),
        "sigma": np.sqrt(segments.variance) / segments.weight,
    }
