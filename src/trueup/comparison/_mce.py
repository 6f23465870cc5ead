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
from trueup.segments import (
    MIN_VARIANCE,
    ScoredRows,
    SegmentGrid,
    SegmentSums,
    measure_segments,
    search_draws,
    sort_rows,
)

__all__ = ["measure_mce", "n_mce_draws", "n_mce_passes"]

# Of either model, so many of the worst segments are measured in every draw: one of them is the worst there.
_WORST = 50
_DRAWS_A_TAIL = 5  # beyond either end of the interval
# Only what nine of ten searches of noise do not reach is more than noise; so many searches find how much that is.
_NOISE, _SEARCHES = 0.9, 24
_MOST_PLACES = 8_000_000  # 100 MB of rows of segments at once
_VISITS_A_BATCH = 100_000_000  # a fraction of a second, after which Ctrl-C is heard

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int32]
LongArray: TypeAlias = npt.NDArray[np.int64]


def n_mce_draws(options: CompareOptions) -> int:
    """How often the worst segments are drawn again: enough for the interval's ends, and no more."""
    return min(options.n_bootstrap, math.ceil(2 * _DRAWS_A_TAIL / options.significance - 1e-9))


def n_mce_passes(options: CompareOptions) -> int:
    """How often all segments are searched."""
    return 2 * (1 + (-(-_SEARCHES // _native.DRAW_LANES) if options.n_bootstrap else 0))


def measure_mce(
    search: SegmentSearch,
    options: CompareOptions,
    *,
    searched: Advance = lambda combinations: None,
    drawn: Advance = lambda draws: None,
) -> MetricDifference:
    """The MCE of both models, with an interval for the difference.

    How the difference varies from sample to sample depends on how large the errors are without noise, and what a sample
    shows has noise in it already: were more of it added, it would count twice. What is known without it is by how much
    the models differ, for labels have no part in that. So draws are noise around a truth midway between the two
    models. In segments where either model is wrong by more than a search of noise finds, the errors that they show
    take its place. Noise is the residuals' own: those of half of the rows, or groups, change sign.

    A search in every draw would be too dear. The worst segment of a draw is one of those that are bad in the sample,
    so only the worst of either model are measured again, each in its own sigmas of the sample.
    """
    rows = search.loss.rows
    models = [_searched(search, scores, options.min_rows, searched) for scores in (rows.base, rows.candidate)]
    base, candidate = (float(model.sums.sigmas.max()) if len(model.sums) else math.nan for model in models)
    found = MetricDifference("mce", base, candidate)
    if math.isfinite(found.difference) and options.n_bootstrap:
        worst = np.union1d(*(model.worst(_WORST) for model in models))
        wrong = np.union1d(*(_beyond_noise(model, search, options, searched) for model in models))
        draws = [_draw_again(model, worst, wrong, search, options, advance=drawn) for model in models]
        moved = Intervals(rows, options.significance).around(found.difference, draws[1] - draws[0])
        found = MetricDifference("mce", base, candidate, *moved)
    return with_role(found, options, rows.mean(rows.labels))


@dataclass(frozen=True, eq=False)
class SearchedModel:
    """One model's rows and its segments."""

    rows: ScoredRows  # in order of its scores
    grid: SegmentGrid
    codes: npt.NDArray[np.uint8]  # of the grid's partitions, a line each, in the order of the rows
    cells: _native.Cells  # the same, for the kernel
    sums: SegmentSums

    @property
    def keys(self) -> LongArray:
        """The keys of the segments found."""
        return _keys(self.sums)

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
    cells = search.grid.cells(rows, codes)
    sums = measure_segments(
        rows,
        search.grid,
        cells,
        min_rows=min_rows,
        min_variance=MIN_VARIANCE,
        max_segments=None,
        n_threads=search.n_threads,
        advance=advance,
    )
    return SearchedModel(rows, search.grid, codes, cells, sums)


def _beyond_noise(model: SearchedModel, search: SegmentSearch, options: CompareOptions, advance: Advance) -> LongArray:
    """The keys of the segments of more sigmas than noise has, in most searches, in any segment."""
    rows, rng = search.loss.rows, np.random.default_rng(options.random_state)
    group, residual = rows.group[model.rows.order], model.rows.residuals().astype(np.float32)
    null = search_draws(
        model.grid,
        model.cells,
        model.sums,
        lambda: rng.integers(0, 256, rows.n_groups, dtype=np.uint8)[group],  # a sign a group
        (-residual, residual),
        n_draws=_SEARCHES,
        n_threads=search.n_threads,
        advance=advance,
    )
    return model.keys[model.sums.sigmas > np.quantile(null.sigmas, _NOISE)]


def _draw_again(
    model: SearchedModel,
    keys: LongArray,
    wrong: LongArray,
    search: SegmentSearch,
    options: CompareOptions,
    *,
    advance: Advance,
) -> FloatArray:
    """The largest error of these segments in every draw, two draws a split; in the wrong ones around what they show."""
    rows, paired, n_threads = model.rows, search.loss.rows, search.n_threads
    shown = rows.residuals()
    of_rows: dict[str, Any] = {
        "group": paired.group[rows.order],
        "weight": np.ones(rows.n) if rows.weights is None else rows.weights,
        "residual": shown,
        "n_groups": paired.n_groups,
    }
    # What residuals would be on average, if the truth were midway between the models.
    midway = shown - rows.residuals(((paired.base + paired.candidate) / 2)[rows.order])
    n_splits = -(-n_mce_draws(options) // 2)
    largest = np.zeros((n_splits, 2))
    for segments in _batches(model.of(keys)):
        of_segments = _segmented(model, segments, shown, midway, wrong)
        size = max(n_threads, _VISITS_A_BATCH // (rows.n + len(of_segments["places"])))
        for first in range(0, n_splits, size):
            last = min(n_splits, first + size)
            found = _native.halve_segments(
                **of_rows, **of_segments, seed=options.random_state, first=first, last=last, n_threads=n_threads
            )
            np.maximum(largest[first:last], found, out=largest[first:last])
    advance(n_mce_draws(options))
    return largest.ravel()


def _batches(segments: SegmentSums) -> Iterator[SegmentSums]:
    """Segments whose rows fit into memory together."""
    batch = (np.cumsum(segments.rows, dtype=np.int64) - 1) // _MOST_PLACES
    for number in np.unique(batch):
        yield segments.of(batch == number)


def _segmented(
    model: SearchedModel, segments: SegmentSums, shown: FloatArray, midway: FloatArray, wrong: LongArray
) -> dict[str, Any]:
    """The rows of some segments, as the kernel wants them, with the errors around which noise is drawn."""
    rows = model.rows
    inside = [model.inside(*place) for place in zip(segments.combination.tolist(), segments.cell.tolist(), strict=True)]
    places = np.concatenate(inside)
    offsets = np.append(0, np.cumsum([len(some) for some in inside])).astype(np.int64)
    ids = rows.score_ids[places]
    ends = np.append(ids[1:] != ids[:-1], True)
    ends[offsets[1:] - 1] = True
    steps = [shown if is_wrong else midway for is_wrong in np.isin(_keys(segments), wrong)]
    return {
        "places": places,
        "offsets": offsets,
        "ends": ends.astype(np.uint8),
        "path": np.concatenate([np.cumsum(step[some]) for step, some in zip(steps, inside, strict=True)]),
        "mean": (segments.label - segments.score) / segments.weight,
        "sigma": np.sqrt(segments.sigma_variance),
    }


def _keys(segments: SegmentSums) -> LongArray:
    """A number for each segment, ascending, that is the same for another model."""
    return (segments.combination.astype(np.int64) << 32) | segments.cell
