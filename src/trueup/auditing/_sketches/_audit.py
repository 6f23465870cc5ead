"""From a sketch to what an audit says, each number with its bounds."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from trueup._data import library_of
from trueup.auditing._checks import check_tests, warn_of_nothing
from trueup.auditing._listing import AuditListing
from trueup.auditing._measured import Bounds, Measured, critical_evidence, survival
from trueup.auditing._result import AuditResult, result_of
from trueup.auditing._sketches._edges import point_bins
from trueup.auditing._sketches._spec import SQUARE_BITS, SketchSpec
from trueup.auditing._sketches._sums import Sums
from trueup.errors import TableError
from trueup.segments import SegmentSums, certain_variance, holm

if TYPE_CHECKING:
    from trueup.auditing._sketches._sketch import Sketch

IntArray: TypeAlias = npt.NDArray[np.int64]
FloatArray: TypeAlias = npt.NDArray[np.float64]

# How far rounding moves a row's error at most, in units of the last bit: half for label and score each, and some for
# floats.
_ROUNDING_PER_ROW = 1.25
_NEVER = 2**62
_BINS_AT_ONCE = 2**18


@dataclass(frozen=True, eq=False)
class Ranges:
    """The range of each cell's running sum, in units of the last bit."""

    at_edges: FloatArray  # if the sum is only looked at where bins end
    low: FloatArray  # bounds of the exact range, at every score
    high: FloatArray


def ranges_of(sums: Sums, spec: SketchSpec) -> Ranges:
    """The ranges of all cells of a sketch.

    If a bin begins with the running sum at S, and its rows add P in rises and N in falls, the sum stays between
    S - N and S + P inside it, in whatever order the rows come. So the sums at two points in different bins differ by
    at most the highest value of one bin minus the lowest of the other, and within one bin by at most P or N. A bin of
    a single score has no inside: only P - N counts. The range at the ends of bins is a lower bound.
    """
    blocks = [_ranges_of_block(block, spec) for block in _blocks(sums)]
    if not blocks:
        nothing = np.zeros(0)
        return Ranges(nothing, nothing, nothing)
    return Ranges(*(np.concatenate([getattr(one, name) for one in blocks]) for name in ("at_edges", "low", "high")))


def _blocks(sums: Sums) -> Iterator[Sums]:
    """A few cells at a time, because the arrays computed from bins take many times the memory of the bins."""
    begin = 0
    while begin < len(sums.cell):
        end = int(np.searchsorted(sums.offsets, sums.offsets[begin] + _BINS_AT_ONCE, side="right")) - 1
        end = min(max(end, begin + 1), len(sums.cell))
        bins = slice(int(sums.offsets[begin]), int(sums.offsets[end]))
        cells = slice(begin, end)
        yield Sums(
            combination=sums.combination[cells],
            cell=sums.cell[cells],
            lanes=sums.lanes[cells],
            offsets=sums.offsets[begin : end + 1] - sums.offsets[begin],
            bin=sums.bin[bins],
            rises=sums.rises[bins],
            falls=sums.falls[bins],
        )
        begin = end


def _ranges_of_block(sums: Sums, spec: SketchSpec) -> Ranges:
    owner = np.repeat(np.arange(len(sums.cell)), np.diff(sums.offsets))
    net = sums.rises - sums.falls
    # The sum over all cells may wrap around, but differences inside a cell are still right.
    running = np.cumsum(net)
    begin = np.concatenate([[0], running])[sums.offsets[:-1]]
    ends = running - begin[owner]
    starts = ends - net
    at_edges = _by_cell(np.maximum, ends, sums, 0) - _by_cell(np.minimum, ends, sums, 0)
    points = _is_point(sums, spec, owner)
    rises, falls = np.where(points, np.maximum(net, 0), sums.rises), np.where(points, np.maximum(-net, 0), sums.falls)
    widest = _widest(starts + rises, starts - falls, np.maximum(rises, falls), sums, owner)
    rounding = _ROUNDING_PER_ROW * sums.lane("rows")
    edges = at_edges.astype(np.float64)
    return Ranges(edges, np.maximum(0.0, edges - rounding), np.maximum(at_edges, widest) + rounding)


def _widest(highs: IntArray, lows: IntArray, inside: IntArray, sums: Sums, owner: IntArray) -> IntArray:
    """The most by which the running sum of a cell can differ between two points."""
    highest, lowest = _by_cell(np.maximum, highs, sums, 0), _by_cell(np.minimum, lows, sums, 0)
    at_high, at_low = highs == highest[owner], lows == lowest[owner]
    # If one bin alone has both the highest and the lowest value, they don't belong to two different bins: then the
    # next highest or lowest counts.
    n_high, n_low, n_both = (
        _by_cell(np.add, some.astype(np.int64), sums, 0) for some in (at_high, at_low, at_high & at_low)
    )
    alone = (n_high == 1) & (n_low == 1) & (n_both == 1) & (highest > 0) & (lowest < 0)
    both = at_high & at_low & alone[owner]
    next_high = _by_cell(np.maximum, np.where(both, -_NEVER, highs), sums, 0)
    next_low = _by_cell(np.minimum, np.where(both, _NEVER, lows), sums, 0)
    apart = np.where(alone, np.maximum(next_high - lowest, highest - next_low), highest - lowest)
    return np.maximum(apart, _by_cell(np.maximum, inside, sums, 0))


def _by_cell(fold: np.ufunc, values: IntArray, sums: Sums, empty: int) -> IntArray:
    """Fold the values of each cell's bins, together with the start, where the sum is 0."""
    if not len(values):
        return np.full(len(sums.cell), empty, dtype=np.int64)
    has_bins = sums.offsets[1:] > sums.offsets[:-1]
    found = np.full(len(sums.cell), empty, dtype=np.int64)
    folded: IntArray = fold.reduceat(values, sums.offsets[:-1][has_bins])
    found[has_bins] = fold(folded, empty)
    return found


def _is_point(sums: Sums, spec: SketchSpec, owner: IntArray) -> npt.NDArray[np.bool_]:
    """Which bins hold a single score."""
    points = [point_bins(edges) for edges in spec.score_edges]
    if not any(some.any() for some in points):
        return np.zeros(len(sums.bin), dtype=bool)
    depth = np.diff(spec.grid.offsets)[sums.combination][owner]
    first = np.concatenate([[0], np.cumsum([len(some) for some in points])])[depth]
    return np.concatenate(points)[first + sums.bin]


_HALF_BIT = 0.5  # how far rounding moves a row's weight or variance at most


def audit_sketch(
    sketch: Sketch, *, min_rows: int, min_variance: float, significance: float, power: float
) -> AuditResult:
    """Judge the segments of a sketch."""
    check_tests(min_rows=min_rows, min_variance=min_variance, significance=significance, power=power)
    if sketch.n == 0:
        raise TableError("There are no rows to audit: the sketch is empty.")
    ranges = ranges_of(sketch.sums, sketch.spec)
    whole = _measured(sketch, ranges, np.arange(1), float(min_variance))
    tested = _measured(sketch, ranges, np.flatnonzero(sketch.sums.lane("rows") >= min_rows), float(min_variance))
    n = len(tested.sums)
    if not n:
        warn_of_nothing(sketch.n, min_rows)
    listing = AuditListing(
        grid=sketch.spec.grid,
        sums=tested.sums,
        adjusted=holm(survival(tested.evidence)),
        total_weight=np.full(n, whole.sums.weight[0]),
        significance=significance,
        critical=critical_evidence((), n, significance),
        power=power,
        bounds=tested.bounds,
        unit_exponent=sketch.spec.weight_exponent,
    )
    return result_of(whole, listing, classes=sketch.spec.classes, library=library_of())


def _measured(sketch: Sketch, ranges: Ranges, chosen: npt.NDArray[np.intp], min_variance: float) -> Measured:
    """The sums of some cells with their bounds; weights are in the unit of the spec."""
    sums, bits = sketch.sums, sketch.spec.fraction_bits
    ulp = math.ldexp(1.0, -bits)
    rows = sums.lane("rows")[chosen]
    weight, score, label, variance = (
        np.ldexp(sums.lane(name)[chosen].astype(np.float64), -bits) for name in ("weight", "score", "label", "variance")
    )
    squares = np.ldexp(sums.lane("square")[chosen].astype(np.float64), -SQUARE_BITS)
    weight = np.maximum(weight, np.finfo(float).tiny)
    # Never below the mean weight (Cauchy and Schwarz), so that rounding small squares can't make it vanish.
    unit = np.maximum(squares, weight**2 / rows) / weight
    off = _HALF_BIT * ulp * rows.astype(np.float64)
    square_off = _HALF_BIT * math.ldexp(1.0, -SQUARE_BITS) * rows
    least = np.maximum(weight - off, np.finfo(float).tiny)
    bounds = Bounds(
        range_low=ulp * ranges.low[chosen],
        range_high=ulp * ranges.high[chosen],
        rounding=off,
        unit_low=np.minimum(unit, np.maximum(squares - square_off, 0.0) / (weight + off)),
        unit_high=np.maximum(unit, (squares + square_off) / least),
    )
    return Measured(
        SegmentSums(
            combination=sums.combination[chosen],
            cell=sums.cell[chosen],
            rows=rows,
            weight=weight,
            score=score,
            label=label,
            range=ulp * ranges.at_edges[chosen],
            variance=np.maximum(variance, certain_variance(weight, unit)),
            unit=unit,
            certain=np.zeros(len(rows)),  # a bin doesn't say which of its scores are exactly 0 or 1
            inflation=np.ones(len(rows)),
            min_variance=min_variance,
        ),
        bounds,
    )
