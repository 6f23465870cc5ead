"""What the whole search finds when the scores are true: the null distribution of its maximum."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from trueup import _native
from trueup.segments._grid import SegmentGrid
from trueup.segments._measure import Advance, ScoredRows, SegmentSums, batches
from trueup.segments._partitions import Partition

# Step-down matters where p-values are small. Further down the list, the maximum over the rest is close enough.
STEPS = 1_000
# The null is summed in single precision: smaller differences than this mean nothing.
_TOLERANCE = 1e-5
# If less than one positive is expected among all rows, most draws have none, just like most data. Both show less than
# this, but rounding to single precision may tell them apart, which must not raise an alarm.
_NOTHING = np.float32(0.9)
_HASH_FACTOR = 0x9E3779B97F4A7C15  # odd, with bits all over

FloatArray: TypeAlias = npt.NDArray[np.float64]
SingleArray: TypeAlias = npt.NDArray[np.float32]
BitArray: TypeAlias = npt.NDArray[np.uint8]


class SearchedSegments(Protocol):
    """What a search compares: segments in the order of the grid, one entry each."""

    @property
    def combination(self) -> npt.NDArray[np.int32]:
        """The combination of each segment."""

    @property
    def cell(self) -> npt.NDArray[np.int32]:
        """The cell of each segment in its combination."""

    @property
    def null_variance(self) -> FloatArray:
        """The variance of each sum in the draws."""

    @property
    def min_variance(self) -> float:
        """The least variance of a sigma, in squared units."""

    @property
    def unit(self) -> FloatArray:
        """The size of a typical row's step."""

    @property
    def evidence(self) -> FloatArray:
        """The evidence in the data."""


@dataclass(frozen=True, eq=False)
class NullMaxima:
    """Maxima of the search on labels that were drawn from the scores."""

    sigmas: SingleArray  # the largest range in standard deviations of any segment
    leading: npt.NDArray[np.int64]  # the segments with the most evidence in the data, first to last
    leading_evidence: SingleArray  # the evidence of each
    rest: SingleArray  # the most evidence of any other segment

    @property
    def n_draws(self) -> int:
        """How often labels were drawn."""
        return len(self.sigmas)

    @property
    def evidence(self) -> SingleArray:
        """For each draw, the most evidence of any segment."""
        most: SingleArray = np.maximum(self.rest, self.leading_evidence.max(axis=0, initial=0.0))
        return most

    def beyond_rounding(self) -> NullMaxima:
        """The same, where each draw shows at least as much as rows without a positive can."""
        return replace(self, sigmas=np.maximum(self.sigmas, _NOTHING), rest=np.maximum(self.rest, _NOTHING))

    def p_value_of_sigmas(self, sigmas: float) -> float:
        """The chance that true scores show at least this many sigmas somewhere."""
        return (1 + int(np.count_nonzero(self.sigmas >= sigmas * (1 - _TOLERANCE)))) / (1 + self.n_draws)

    def critical_evidence(self, significance: float) -> float:
        """The evidence that a segment must exceed for a p-value of at most `significance`."""
        allowed = int(np.floor(significance * (1 + self.n_draws) + 1e-9)) - 1  # draws that may reach it
        if allowed < 0:
            return np.inf
        return float(np.sort(self.evidence)[::-1][allowed])


def draw_null(
    rows: ScoredRows,
    grid: SegmentGrid,
    cells: _native.Cells,
    segments: SegmentSums,
    *,
    n_draws: int,
    random_state: int | np.random.Generator,
    n_threads: int,
    advance: Advance = lambda combinations: None,
) -> NullMaxima:
    """Draw labels from the scores and search all segments again, `n_draws` times."""
    rng = np.random.default_rng(random_state)
    weights = 1.0 if rows.weights is None else rows.weights
    if_zero, if_one = ((weights * (label - rows.scores)).astype(np.float32) for label in (0, 1))
    places = _places_in_ties(rows, grid)

    def draw() -> BitArray:
        """Labels for each row, one bit per draw."""
        draws = np.empty(rows.n, dtype=np.uint8)
        draws[places] = draw_labels(rows.scores, rng)
        return draws

    return search_draws(
        grid,
        cells,
        segments,
        draw,
        (if_zero, if_one),
        n_draws=n_draws,
        n_threads=n_threads,
        advance=advance,
    )


def draw_group_signs(
    rows: ScoredRows,
    grid: SegmentGrid,
    cells: _native.Cells,
    segments: SegmentSums,
    *,
    n_draws: int,
    random_state: int,
    n_threads: int,
    advance: Advance = lambda combinations: None,
) -> NullMaxima:
    """Turn the errors of whole groups around or leave them, by chance, and search all segments again.

    If the scores are true, a group's errors are as likely as their opposites, however they depend on each other (the
    wild bootstrap). Where there are next to no positives, that is not so: compare with `draw_null` too.
    """
    assert rows.groups is not None
    rng, groups = np.random.default_rng([random_state, 1]), rows.groups  # other draws than those of the labels
    n_groups, errors = int(groups.max()) + 1, rows.residuals().astype(np.float32)

    def draw() -> BitArray:
        """A sign per group, one bit per draw."""
        return rng.integers(0, 1 << _native.DRAW_LANES, n_groups, dtype=np.uint8)[groups]

    how = {"n_draws": n_draws, "n_threads": n_threads}
    return search_draws(grid, cells, segments, draw, (-errors, errors), **how, advance=advance)


def search_draws(
    grid: SegmentGrid,
    cells: _native.Cells,
    segments: SearchedSegments,
    draw: Callable[[], BitArray],
    steps: tuple[SingleArray, SingleArray],
    *,
    n_draws: int,
    n_threads: int,
    advance: Advance = lambda combinations: None,
) -> NullMaxima:
    """Search all segments on drawn bits, `n_draws` times.

    `draw` gives one byte per row, with one bit per draw. `steps` are what a row adds to the sums of its segments if its
    bit is 0, and if it is 1.
    """
    leading = np.argsort(-segments.evidence, kind="stable")[:STEPS]
    slot = np.full(len(segments.cell), -1, dtype=np.int32)
    slot[leading] = np.arange(len(leading), dtype=np.int32)
    bounds = np.searchsorted(segments.combination, np.arange(grid.n_combinations + 1)).astype(np.int64)
    blocks: list[tuple[SingleArray, SingleArray, SingleArray]] = []
    for _ in range(0, n_draws, _native.DRAW_LANES):
        draws = draw()
        sigmas, rest = np.zeros((2, _native.DRAW_LANES), dtype=np.float32)
        led = np.zeros((len(leading), _native.DRAW_LANES), dtype=np.float32)
        for first, last in batches(len(draws), grid.n_combinations):
            begin, end = int(bounds[first]), int(bounds[last])
            offsets, members = grid.combinations_of(first, last)
            some_sigmas, some_rest, some_led = cells.drawn(
                offsets=offsets,
                members=members,
                chosen_offsets=bounds[first : last + 1] - begin,
                cell=segments.cell[begin:end],
                variance=segments.null_variance[begin:end],
                unit=segments.unit[begin:end],
                min_variance=segments.min_variance,
                slot=slot[begin:end],
                n_slots=len(leading),
                draws=draws,
                residual_if_zero=steps[0],
                residual_if_one=steps[1],
                n_threads=n_threads,
            )
            np.maximum(sigmas, some_sigmas, out=sigmas)
            np.maximum(rest, some_rest, out=rest)
            np.maximum(led, some_led, out=led)
            advance(last - first)
        blocks.append((sigmas, rest, led))
    all_sigmas, all_rest = (np.concatenate([block[i] for block in blocks])[:n_draws] for i in (0, 1))
    all_led = np.concatenate([block[2] for block in blocks], axis=1)[:, :n_draws]
    return NullMaxima(all_sigmas, leading, all_led, all_rest)


def step_down(evidence: FloatArray, null: NullMaxima) -> FloatArray:
    """P-values that hold for all segments together.

    This is Westfall and Young's step-down maxT: the segment of rank j is compared with the maximum over the segments of
    rank j and below. However segments overlap, the chance of any false alarm stays below the significance.
    """
    n = null.n_draws
    adjusted = np.empty(len(evidence))
    running = null.rest.astype(np.float64)
    in_steps = np.empty(len(null.leading))
    for step in range(len(null.leading) - 1, -1, -1):
        running = np.maximum(running, null.leading_evidence[step])
        reached = np.count_nonzero(running >= evidence[null.leading[step]] * (1 - _TOLERANCE))
        in_steps[step] = (1 + reached) / (1 + n)
    sorted_rest = np.sort(null.rest.astype(np.float64))
    reached_by_rest = n - np.searchsorted(sorted_rest, evidence * (1 - _TOLERANCE), side="left")
    adjusted[:] = (1 + reached_by_rest) / (1 + n)
    in_steps = np.maximum.accumulate(in_steps)
    if len(in_steps):
        np.maximum(adjusted, in_steps[-1], out=adjusted)
        adjusted[null.leading] = in_steps
    return adjusted


def holm(p_values: FloatArray) -> FloatArray:
    """P-values that hold for all segments together, by Holm's rule: the smallest of m is multiplied by m, and so on.

    Draws from the null do better, because they know how segments overlap.
    """
    order = np.argsort(p_values, kind="stable")
    stepped = np.maximum.accumulate(p_values[order] * np.arange(len(order), 0, -1))
    adjusted = np.empty(len(order))
    adjusted[order] = np.minimum(1.0, stepped)
    return adjusted


def _places_in_ties(rows: ScoredRows, grid: SegmentGrid) -> npt.NDArray[np.int64] | slice:
    """Which row takes which draw: rows of equal score by weight and parts, which don't depend on the order of rows."""
    if rows.n == 0 or rows.score_ids[-1] == rows.n - 1:
        return slice(None)
    parts = hash_of_parts(grid.partitions, rows.n)
    weights = np.ones(rows.n) if rows.weights is None else rows.weights
    return np.lexsort((parts[rows.order], weights, rows.score_ids))


def hash_of_parts(partitions: Sequence[Partition], n_rows: int) -> npt.NDArray[np.uint64]:
    """A number per row that almost surely differs between rows that are in different parts."""
    parts = np.zeros(n_rows, dtype=np.uint64)
    for partition in partitions:
        parts = parts * np.uint64(_HASH_FACTOR) + partition.codes
    return parts


def draw_labels(scores: FloatArray, rng: np.random.Generator) -> BitArray:
    """Labels drawn from the scores, one bit per draw."""
    draws = np.zeros(len(scores), dtype=np.uint8)
    for lane in range(_native.DRAW_LANES):
        draws |= (rng.random(len(scores)) < scores).astype(np.uint8) << np.uint8(lane)
    return draws
