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

# Step-down matters where p-values are small; further down the list, the maximum over the rest of it is close enough.
STEPS = 1_000
# The null is summed in single precision: what differs by less than this is equal.
_TOLERANCE = 1e-5
# Where less than one positive is expected of all rows, most draws have none, and show exactly what data without one
# show, which is less than this, but for what single precision loses. That must not be an alarm.
_NOTHING = np.float32(0.9)
_HASH_FACTOR = 0x9E3779B97F4A7C15  # odd, with bits all over

FloatArray: TypeAlias = npt.NDArray[np.float64]
SingleArray: TypeAlias = npt.NDArray[np.float32]
BitArray: TypeAlias = npt.NDArray[np.uint8]


class SearchedSegments(Protocol):
    """What a search compares: segments in the order of the grid, with the evidence that the data give."""

    @property
    def combination(self) -> npt.NDArray[np.int32]:
        """The combination that each segment is of."""

    @property
    def cell(self) -> npt.NDArray[np.int32]:
        """Its cell of it."""

    @property
    def null_variance(self) -> FloatArray:
        """The variance of its sum in the draws."""

    @property
    def min_variance(self) -> float:
        """Sigmas are those of at least this variance, in squared units."""

    @property
    def unit(self) -> FloatArray:
        """The typical step of a row."""

    @property
    def evidence(self) -> FloatArray:
        """What the data show."""


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
        """The most evidence of any segment, a draw."""
        most: SingleArray = np.maximum(self.rest, self.leading_evidence.max(axis=0, initial=0.0))
        return most

    def beyond_rounding(self) -> NullMaxima:
        """The same, with every draw showing at least as much as rows without a positive may."""
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
        """Labels, a bit a draw for each row."""
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

    `draw` gives a byte a row, a bit a draw, and `steps` what a row adds to its segments' sums if its bit is 0, or 1.
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

    Westfall and Young's step-down maxT: the segment of rank j is compared with the maximum over the segments
    of rank j and below. The chance of a single false alarm among all segments whose scores are true stays
    below the significance, whatever the dependence between segments that overlap.
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
    """P-values that hold for all segments together, however they overlap: the smallest of m counts m times, and so on.

    This is Holm's step-down of Bonferroni's rule. Draws from the null do better, because they know the overlaps.
    """
    order = np.argsort(p_values, kind="stable")
    stepped = np.maximum.accumulate(p_values[order] * np.arange(len(order), 0, -1))
    adjusted = np.empty(len(order))
    adjusted[order] = np.minimum(1.0, stepped)
    return adjusted


def _places_in_ties(rows: ScoredRows, grid: SegmentGrid) -> npt.NDArray[np.int64] | slice:
    """Which row takes which draw: among equal scores by weight and parts, for these don't depend on the row order."""
    if rows.n == 0 or rows.score_ids[-1] == rows.n - 1:
        return slice(None)
    parts = hash_of_parts(grid.partitions, rows.n)
    weights = np.ones(rows.n) if rows.weights is None else rows.weights
    return np.lexsort((parts[rows.order], weights, rows.score_ids))


def hash_of_parts(partitions: Sequence[Partition], n_rows: int) -> npt.NDArray[np.uint64]:
    """A number a row that tells apart, all but surely, rows that are in different parts."""
    parts = np.zeros(n_rows, dtype=np.uint64)
    for partition in partitions:
        parts = parts * np.uint64(_HASH_FACTOR) + partition.codes
    return parts


def draw_labels(scores: FloatArray, rng: np.random.Generator) -> BitArray:
    """Labels drawn from scores: a bit a draw for each row."""
    draws = np.zeros(len(scores), dtype=np.uint8)
    for lane in range(_native.DRAW_LANES):
        draws |= (rng.random(len(scores)) < scores).astype(np.uint8) << np.uint8(lane)
    return draws
