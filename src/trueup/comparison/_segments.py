"""In every segment, by how much the candidate loses more than the base, and what the search itself makes of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from trueup import _native
from trueup.comparison._rows import PairedLoss
from trueup.segments import MIN_VARIANCE, NullMaxima, SegmentGrid, batches, draw_labels, evidence, search_draws

__all__ = ["SegmentDifferences", "SegmentSearch", "draw_equal_models", "measure_differences"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int32]
Advance: TypeAlias = Callable[[int], None]


@dataclass(frozen=True, eq=False)
class SegmentDifferences:
    """What was summed in each segment, one entry per segment."""

    combination: IntArray  # where in the grid the segment is
    cell: IntArray
    rows: IntArray  # how many rows it has
    weight: FloatArray  # the sum of weights, and below of weight times the named value
    difference: FloatArray  # the candidate's loss minus the base's
    base_loss: FloatArray
    label: FloatArray
    base: FloatArray
    candidate: FloatArray
    # Of the sum of differences: as its rows or groups spread, and at least what the scores let expect. Of rare labels
    # none may have come, and what is left does not spread.
    variance: FloatArray
    null_variance: FloatArray  # that of the sum in the draws that it is compared with
    unit: FloatArray  # by how much a typical row's label moves the sum

    def __len__(self) -> int:
        return len(self.cell)

    @property
    def min_variance(self) -> float:
        """The least variance of a sigma: their own, for those of less are left out."""
        return 0.0

    @classmethod
    def none(cls) -> SegmentDifferences:
        """No segments."""
        whole = ("combination", "cell", "rows")
        types: dict[str, Any] = {field.name: np.int32 if field.name in whole else np.float64 for field in fields(cls)}
        return cls(**{name: np.zeros(0, dtype=type_) for name, type_ in types.items()})

    def of(self, chosen: npt.NDArray[Any]) -> SegmentDifferences:
        """Some of the segments."""
        return SegmentDifferences(**{field.name: getattr(self, field.name)[chosen] for field in fields(self)})

    @property
    def evidence(self) -> FloatArray:
        """The difference in standard errors, either way, less where single rows matter."""
        return evidence(np.abs(self.difference), self.variance, self.unit)


@dataclass(frozen=True, eq=False)
class SegmentSearch:
    """Rows in order of group, and the grid of their segments."""

    loss: PairedLoss
    grid: SegmentGrid
    codes: npt.NDArray[np.uint8]  # of the grid's partitions, a line each, in the order of the rows
    n_threads: int

    def inside(self, combination: int, cell: int) -> npt.NDArray[np.bool_]:
        """Which rows are in a segment."""
        inside: npt.NDArray[np.bool_] = np.ones(self.loss.rows.n, dtype=bool)
        for member, code in self.grid.parts_of(combination, cell):
            inside &= self.codes[member] == code
        return inside

    def cells(self, ids: npt.NDArray[np.uint32]) -> _native.Cells:
        """The cells, for the kernel, whose running sums count at the end of each id only."""
        return self.grid.cells_of(self.codes, ids)


def measure_differences(
    search: SegmentSearch, *, min_rows: int, advance: Advance = lambda combinations: None
) -> tuple[SegmentDifferences, int]:
    """The sums of all segments of enough rows, and how many were left out for lack of variance."""
    loss, rows = search.loss, search.loss.rows
    w, slope, difference = rows.weights, rows.weights * loss.slope, rows.weights * loss.difference
    lanes = [
        np.stack(some, axis=1)
        for some in (
            (difference, w, slope**2 * loss.neutral * (1 - loss.neutral), w * loss.base),
            (difference**2, difference * w, w**2, np.abs(slope)),
            (w * rows.labels, w * rows.base, w * rows.candidate, slope**2),
        )
    ]
    pairs = np.stack([difference, w], axis=1) if rows.is_grouped else None
    cells = search.cells(rows.group.astype(np.uint32))
    parts: list[SegmentDifferences] = []
    n_left_out = 0
    for first, last in batches(rows.n, search.grid.n_combinations):
        place = search.grid.combinations_of(first, last)
        combination, cell, count, *_ = found = cells.sums(*place, lanes[0], min_rows, search.n_threads)
        total, weight, model_variance, base_loss = found[3].T
        squares, crossed, weights_squared, step = cells.sums(*place, lanes[1], min_rows, search.n_threads)[3].T
        label, base, candidate, step_squared = cells.sums(*place, lanes[2], min_rows, search.n_threads)[3].T
        unit = step_squared / np.maximum(step, np.finfo(float).tiny)
        if pairs is None:
            mean = total / weight
            spread = np.maximum(squares - 2 * mean * crossed + mean**2 * weights_squared, 0.0)
            null_variance = model_variance
        else:
            bounds = np.searchsorted(combination, np.arange(last - first + 1)).astype(np.int64)
            products = cells.products(
                offsets=place[0],
                members=place[1],
                chosen_offsets=bounds,
                cell=cell,
                lanes=pairs,
                n_threads=search.n_threads,
            )
            # Not around the mean: of few groups, the spread around their own mean says little.
            spread = null_variance = np.ascontiguousarray(products[:, 0])
        some = SegmentDifferences(
            combination=combination + np.int32(first),
            cell=cell,
            rows=count,
            weight=weight,
            difference=total,
            base_loss=base_loss,
            label=label,
            base=base,
            candidate=candidate,
            variance=np.maximum(spread, model_variance),
            null_variance=null_variance,
            unit=unit,
        )
        tiny = np.finfo(float).tiny
        known = (model_variance >= MIN_VARIANCE * some.unit**2) & (model_variance > tiny) & (null_variance > tiny)
        n_left_out += int(np.count_nonzero(~known))
        parts.append(some.of(known))
        advance(last - first)
    joined = {
        field.name: np.ascontiguousarray(np.concatenate([getattr(part, field.name) for part in parts]))
        for field in fields(SegmentDifferences)
    }
    return SegmentDifferences(**joined), n_left_out


def draw_equal_models(
    search: SegmentSearch,
    segments: SegmentDifferences,
    *,
    n_draws: int,
    random_state: int,
    advance: Advance = lambda combinations: None,
) -> NullMaxima:
    """Draw differences of equally good models, and search all segments again, `n_draws` times.

    Without groups, labels are drawn with the probability at which both models lose the same on average. The
    scores stay, and with them the tails: where a label of 1 is rare and costs one model much, it is so in the
    draws too. With groups, labels are not independent, and which model is the candidate is drawn instead, for a
    whole group at once: the signs of its differences.
    """
    rng = np.random.default_rng(random_state)
    loss, rows = search.loss, search.loss.rows
    if rows.is_grouped:
        if_one = (rows.weights * loss.difference).astype(np.float32)
        if_zero = -if_one
    else:
        steps = rows.weights * loss.slope
        if_zero, if_one = ((steps * (loss.neutral - label)).astype(np.float32) for label in (0, 1))

    def draw() -> npt.NDArray[np.uint8]:
        """One bit per draw for each row."""
        if rows.is_grouped:
            return rng.integers(0, 256, rows.n_groups, dtype=np.uint8)[rows.group]
        return draw_labels(loss.neutral, rng)

    return search_draws(
        search.grid,
        # All rows are of one id: a segment's sum counts at its end only, and its range is its size.
        search.cells(np.zeros(rows.n, dtype=np.uint32)),
        segments,
        draw,
        (if_zero, if_one),
        n_draws=n_draws,
        n_threads=search.n_threads,
        advance=advance,
    )
