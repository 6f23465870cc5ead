"""Rows as whole numbers, so that a sum of them is the same however they are parted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from trueup._data import CalibrationTable, Labels, listed, read_labels, read_scores, read_table, read_weights
from trueup.auditing._sketches._edges import bins_of
from trueup.auditing._sketches._spec import LARGEST_WEIGHT, LIMIT, SQUARE_BITS, SketchSpec
from trueup.errors import ColumnError, DataError, LabelError, TableError, WeightError

__all__ = ["LANES", "FixedRows", "fixed_rows", "too_large"]

LANES = ("rows", "label", "score", "variance", "weight", "square")  # what is summed of a cell
_UNWEIGHTED = 4  # if all weigh the same, the last two needn't be summed

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]


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
    """The error that sums don't fit."""
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
