"""The whole numbers of a sketch: of every cell that has rows, and of its bins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from trueup import _native
from trueup.auditing._sketches._fixed_point import LANES, FixedRows, too_large
from trueup.auditing._sketches._spec import LIMIT, SketchSpec

__all__ = ["Sums", "add_sums", "no_sums", "sum_rows"]

IntArray: TypeAlias = npt.NDArray[np.int64]

_BIN_BITS = 16
_VISITS_A_CALL = 100_000_000  # a fraction of a second, after which Ctrl-C is heard
_CELLS_A_MERGE = 4_096  # whose bins have numbers at once, which take as much memory as half of what they hold


@dataclass(frozen=True, eq=False)
class Sums:
    """What was summed of cells that have rows, in order of the grid, and of those of their bins that are not empty."""

    combination: npt.NDArray[np.int32]  # where in the grid each cell is
    cell: npt.NDArray[np.int32]
    lanes: IntArray  # how many rows it has, and their sums
    offsets: IntArray  # the bins of cell i are those from offsets[i] to before offsets[i + 1]
    bin: npt.NDArray[np.uint16]  # which bin of the cell it is
    # Sums of weight times (label minus score), of the rows where it is above 0, and minus it where it is below.
    rises: IntArray
    falls: IntArray

    def lane(self, name: str) -> IntArray:
        """One of the sums of cells."""
        return self.lanes[:, LANES.index(name)]

    @property
    def keys(self) -> IntArray:
        """Numbers of the cells that are in order where cells are."""
        return (self.combination.astype(np.int64) << 32) | self.cell


def no_sums() -> Sums:
    """The sums of no rows."""
    ints, longs = np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int64)
    no_lanes = np.zeros((0, len(LANES)), dtype=np.int64)
    return Sums(ints, ints, no_lanes, np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.uint16), longs, longs)


def sum_rows(rows: FixedRows, spec: SketchSpec, n_threads: int) -> Sums:
    """The sums of some rows."""
    if rows.n == 0:
        return no_sums()
    largest = max(rows.lanes.sum(axis=0, dtype=np.float64).max(), rows.n * float(max(rows.weight)))
    if largest >= LIMIT:  # of all rows, so that no cell's sum can run over
        raise too_large(spec)
    grid = spec.grid
    n_values = np.array([len(cut.parts) for cut in spec.cuts], dtype=np.uint32)
    size = max(16, _VISITS_A_CALL // rows.n)
    found = []
    for first in range(0, grid.n_combinations, size):
        offsets, members = grid.combinations_of(first, min(first + size, grid.n_combinations))
        combination, *others = _native.sum_bins(
            codes=rows.codes,
            n_values=n_values,
            offsets=offsets,
            members=members,
            slots=rows.slots,
            n_bins=np.array(spec.n_bins, dtype=np.uint32),
            steps=rows.steps,
            lanes=rows.lanes,
            n_threads=n_threads,
        )
        found.append((combination + np.int32(first), *others))
    pieces = [list(parts) for parts in zip(*found, strict=True)]
    found.clear()
    combination, cell, lanes, n_bins, bin_, rises, falls = (_joined(parts) for parts in pieces)
    if lanes.shape[1] < len(LANES):  # all weigh the same
        counts = lanes[:, :1]
        lanes = np.hstack([lanes, counts * rows.weight[0], counts * rows.weight[1]])
    return Sums(combination, cell, lanes, _offsets(n_bins), bin_, rises, falls)


def add_sums(parts: Sequence[Sums], spec: SketchSpec) -> Sums:
    """The sums of all parts together: the same to the last bit in any order and any grouping."""
    parts = [part for part in parts if len(part.cell)]
    if len(parts) < 2:
        return parts[0] if parts else no_sums()
    keys = np.unique(np.concatenate([part.keys for part in parts]))
    lanes = np.zeros((len(keys), len(LANES)), dtype=np.int64)
    places = [np.searchsorted(keys, part.keys) for part in parts]
    for part, place in zip(parts, places, strict=True):
        lanes[place] += part.lanes  # each cell once a part
        _check_limit(lanes, spec)
    found = [
        _add_bins(parts, places, first, min(first + _CELLS_A_MERGE, len(keys)), spec)
        for first in range(0, len(keys), _CELLS_A_MERGE)
    ]
    pieces = [list(columns) for columns in zip(*found, strict=True)]
    found.clear()
    n_bins, bin_, rises, falls = (_joined(columns) for columns in pieces)
    combination, cell = (keys >> 32).astype(np.int32), (keys & 0xFFFFFFFF).astype(np.int32)
    return Sums(combination, cell, lanes, _offsets(n_bins), bin_, rises, falls)


def _add_bins(
    parts: Sequence[Sums], places: Sequence[npt.NDArray[np.intp]], first: int, last: int, spec: SketchSpec
) -> tuple[IntArray, npt.NDArray[np.uint16], IntArray, IntArray]:
    """How many bins each of some cells has, which they are, and their rises and falls."""
    none = np.zeros(0, dtype=np.int64)
    bins, rises, falls = none, none, none
    for part, place in zip(parts, places, strict=True):
        bins, rises, falls = _native.add_bins(bins, rises, falls, *_bins_between(part, place, first, last))
        for sums in (rises, falls):
            _check_limit(sums, spec)
    n_bins = np.bincount((bins >> _BIN_BITS) - first, minlength=last - first)
    bins &= 0xFFFF
    return n_bins, bins.astype(np.uint16), rises, falls


def _check_limit(sums: IntArray, spec: SketchSpec) -> None:
    """Refuse sums that have become too large; no two that were not could have run over in between."""
    if len(sums) and int(sums.max()) >= LIMIT:
        raise too_large(spec)


def _joined(parts: list[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    """The parts as one array; they are not kept, so that not all is held twice."""
    joined = np.concatenate(parts)
    parts.clear()
    return joined


def _offsets(counts: npt.NDArray[np.int64]) -> IntArray:
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(counts, dtype=np.int64)])


def _bins_between(
    part: Sums, place: npt.NDArray[np.intp], first: int, last: int
) -> tuple[IntArray, IntArray, IntArray]:
    """The bins of a part's cells from one place to before another, by numbers that are in order; rises; falls."""
    begin, end = np.searchsorted(place, [first, last])
    span = slice(int(part.offsets[begin]), int(part.offsets[end]))
    keys = np.repeat(place[begin:end].astype(np.int64) << _BIN_BITS, np.diff(part.offsets[begin : end + 1]))
    keys |= part.bin[span]
    return keys, part.rises[span], part.falls[span]
