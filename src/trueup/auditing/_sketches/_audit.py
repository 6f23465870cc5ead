"""From a sketch to what an audit says, each number with its bounds."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from trueup._data import library_of
from trueup.auditing._checks import check_tests, warn_of_nothing
from trueup.auditing._listing import AuditListing
from trueup.auditing._measured import Bounds, Measured, survival
from trueup.auditing._power import critical_evidence
from trueup.auditing._result import AuditResult, result_of
from trueup.auditing._sketches._bounds import Ranges, ranges_of
from trueup.auditing._sketches._spec import SQUARE_BITS
from trueup.errors import TableError
from trueup.segments import SegmentSums, certain_variance, holm

if TYPE_CHECKING:
    from trueup.auditing._sketches._sketch import Sketch

__all__ = ["audit_sketch"]

_HALF_BIT = 0.5  # what rounding takes from a row's weight or variance at most


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
    """Some cells as an audit knows them; weights are in the unit of the spec."""
    sums, bits = sketch.sums, sketch.spec.fraction_bits
    ulp = math.ldexp(1.0, -bits)
    rows = sums.lane("rows")[chosen]
    weight, score, label, variance = (
        np.ldexp(sums.lane(name)[chosen].astype(np.float64), -bits) for name in ("weight", "score", "label", "variance")
    )
    squares = np.ldexp(sums.lane("square")[chosen].astype(np.float64), -SQUARE_BITS)
    weight = np.maximum(weight, np.finfo(float).tiny)
    # By Cauchy and Schwarz never below the mean weight, so that rounding of small squares can't make it vanish.
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
            certain=np.zeros(len(rows)),  # which scores of a bin are exactly 0 or 1 is not known
            inflation=np.ones(len(rows)),
            min_variance=min_variance,
        ),
        bounds,
    )
