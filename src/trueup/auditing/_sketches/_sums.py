"""Rows as whole numbers, and their sums per cell and bin, which don't depend on how the rows were divided."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from trueup import _native
from trueup._data import CalibrationTable, Labels, listed, read_labels, read_scores, read_table, read_weights
from trueup.auditing._sketches._edges import bins_of
from trueup.auditing._sketches._spec import LARGEST_WEIGHT, LIMIT, SQUARE_BITS, SketchSpec
from trueup.errors import ColumnError, DataError, LabelError, TableError, WeightError

LANES = ("rows", "label", "score", "variance", "weight", "square")  # what is summed in a cell
_UNWEIGHTED = 4  # if all weigh the same, the last two needn't be summed

FloatArray: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class FixedRows:
    """What rows add to a sketch."""

    codes: npt.NDArray[np.uint8]  # the part of the column that the row is in
    slots: npt.NDArray[np.uint16]  # twice the bin of its score, plus 1 if its label is below the score
    steps: IntArray  # the weight times the distance of label and score
    lanes: IntArray  # what it adds to its cells; `LANES`, or the first four if all weigh the same
    weight: tuple[int, int]  # weight and squared weight of a row, if all weigh the same

    @property
    def n(self) -> int:
        """How many rows there are."""
        return len(self.steps)


def fixed_rows(X: Any, y: Any, scores: Any, spec: SketchSpec, sample_weight: Any = None) -> FixedRows:
    """Check what was given, and turn the rows of a weight above 0 into whole numbers."""
    table = None if X is None else read_table(X)
    if table is None and spec.cuts:
        raise TableError(f"The spec has segments of {listed(spec.columns)}, so X must be passed too.")
    if y is None:
        raise LabelError("y is None. Pass one label per row.")
    n = _n_labels(y) if table is None else table.n_rows
    labels, probabilities = _labels(y, n, spec), read_scores(scores, n)
    weights = read_weights(sample_weight, n, zeros_allowed=True)
    rows = None if weights is None or weights.all() else weights > 0
    if rows is not None:
        assert weights is not None
        labels, probabilities, weights = labels[rows], probabilities[rows], weights[rows]
    return _fixed(labels, probabilities, weights, _codes(table, rows, len(labels), spec), spec)


def _n_labels(y: Any) -> int:
    try:
        return len(y)
    except TypeError:
        raise LabelError(f"y is a {type(y).__name__}; pass a one-dimensional array.") from None


def too_large(spec: SketchSpec) -> DataError:
    """The error for sums that don't fit."""
    return DataError(
        f"The sums don't fit: with fraction_bits={spec.fraction_bits}, at most {LIMIT >> spec.fraction_bits:,} rows of "
        f"the typical weight {2.0**spec.weight_exponent:g} do, or squared weights as large as those. Learn the spec "
        "with fewer fraction_bits, or from a sample that has weights like these."
    )


def _labels(y: Any, n: int, spec: SketchSpec) -> FloatArray:
    if n == 0:
        return np.zeros(0)
    # With 0 and 1, probabilities are labels too; a part of the data may hold one class only.
    expected = Labels(np.zeros(0), spec.classes, soft=tuple(spec.classes) == (0, 1))
    return read_labels(y, n, like=expected).values


def _codes(
    table: CalibrationTable | None, rows: npt.NDArray[np.bool_] | None, n: int, spec: SketchSpec
) -> npt.NDArray[np.uint8]:
    codes = np.empty((len(spec.cuts), n), dtype=np.uint8)
    if table is None:
        return codes
    absent = [name for name in spec.columns if name not in table]
    if absent:
        raise ColumnError(
            f"X has no column {listed(absent)}, of which the spec makes segments. Its columns are "
            f"{listed(table.names, 12)}."
        )
    for place, cut in enumerate(spec.cuts):
        column = table.column(cut.column)
        codes[place] = cut.codes(column if rows is None else column.of_rows(rows))
    return codes


def _fixed(
    labels: FloatArray, scores: FloatArray, weights: FloatArray | None, codes: npt.NDArray[np.uint8], spec: SketchSpec
) -> FixedRows:
    n, bits = len(labels), spec.fraction_bits
    unit = _in_units(np.ones(1) if weights is None else weights, spec)
    predicted = np.rint(np.ldexp(unit * scores, bits))
    observed = np.rint(np.ldexp(unit * labels, bits))
    variance = np.rint(np.ldexp(np.square(unit) * (scores * (1 - scores)), bits))
    weight, square = np.rint(np.ldexp(unit, bits)), np.rint(np.ldexp(np.square(unit), SQUARE_BITS))
    lanes = np.ones((n, _UNWEIGHTED if weights is None else len(LANES)), dtype=np.int64)
    columns = [observed, predicted, variance] if weights is None else [observed, predicted, variance, weight, square]
    for lane, column in enumerate(columns, start=1):
        lanes[:, lane] = column
    steps = lanes[:, 1] - lanes[:, 2]
    falls = steps < 0
    slots = np.empty((spec.depth + 1, n), dtype=np.uint16)
    for depth, edges in enumerate(spec.score_edges):
        slots[depth] = 2 * bins_of(scores, edges) + falls
    same = (int(weight[0]), int(square[0])) if weights is None else (0, 0)
    return FixedRows(codes, slots, np.abs(steps), lanes, same)


def _in_units(weights: FloatArray, spec: SketchSpec) -> FloatArray:
    """Weights in units of the spec, which is a power of two, so that nothing is rounded."""
    found: FloatArray = np.ldexp(weights, -spec.weight_exponent)
    large = found > LARGEST_WEIGHT
    if large.any():
        raise WeightError(
            f"sample_weight: {int(large.sum()):,} of {len(weights):,} weights are more than {LARGEST_WEIGHT:,.0f} "
            f"times the typical weight of the spec, {2.0**spec.weight_exponent:g} (first: "
            f"{weights[large.argmax()]:g}). Learn the spec from a sample that has weights like these."
        )
    return found


IntArray: TypeAlias = npt.NDArray[np.int64]

_BIN_BITS = 16
_VISITS_PER_CALL = 100_000_000  # a fraction of a second, after which Ctrl-C is heard
_CELLS_PER_MERGE = 4_096  # whose bins have numbers at once, which take as much memory as half of what they hold


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
        """A number for each cell, in the order of the cells."""
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
    size = max(16, _VISITS_PER_CALL // rows.n)
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
        lanes[place] += part.lanes  # each part has a cell at most once
        _check_limit(lanes, spec)
    found = [
        _add_bins(parts, places, first, min(first + _CELLS_PER_MERGE, len(keys)), spec)
        for first in range(0, len(keys), _CELLS_PER_MERGE)
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
    """Refuse sums that are too large; adding two that were not can't have overflowed before."""
    if len(sums) and int(sums.max()) >= LIMIT:
        raise too_large(spec)


def _joined(parts: list[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    """The parts as one array; the list is emptied, so that memory doesn't hold everything twice."""
    joined = np.concatenate(parts)
    parts.clear()
    return joined


def _offsets(counts: npt.NDArray[np.int64]) -> IntArray:
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(counts, dtype=np.int64)])


def _bins_between(
    part: Sums, place: npt.NDArray[np.intp], first: int, last: int
) -> tuple[IntArray, IntArray, IntArray]:
    """Keys, rises and falls of the bins that belong to a part's cells from `first` to before `last`."""
    begin, end = np.searchsorted(place, [first, last])
    span = slice(int(part.offsets[begin]), int(part.offsets[end]))
    keys = np.repeat(place[begin:end].astype(np.int64) << _BIN_BITS, np.diff(part.offsets[begin : end + 1]))
    keys |= part.bin[span]
    return keys, part.rises[span], part.falls[span]
