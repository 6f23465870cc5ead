"""From a sketch to what an audit says, each number with its bounds."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from trueup.auditing._cost import warn_of_nothing
from trueup.auditing._power import critical_evidence, detectable_sum
from trueup.auditing._sketches._bounds import Ranges, ranges_of
from trueup.auditing._sketches._result import SketchAudit
from trueup.auditing._sketches._sketch import Sketch
from trueup.auditing._sketches._spec import SQUARE_BITS, SketchSpec, check_whole
from trueup.errors import ParameterError, TableError
from trueup.metrics import brownian_range_survival
from trueup.segments import Segment, SegmentSums, certain_variance, evidence, holm

__all__ = ["Measured", "audit_sketch"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

_HALF_BIT = 0.5  # what rounding takes from a row's weight or variance at most
_FLOAT_ERROR = 2.0**-50  # of a product of a few floats


@dataclass(frozen=True, eq=False)
class Measured:
    """What is known of the tested segments, in the unit of the spec's weights.

    Attributes
    ----------
    spec : SketchSpec
        What was counted.
    sums : SegmentSums
        Their sums; the range is the one at the ends of bins.
    range_low, range_high : arrays of float64
        Between these is the exact range.
    rounding : array of float64
        By how much rounding can have moved the weight or the variance.
    critical : float
        The evidence that is significant.
    significance, power : float
        The error rate of the tests, and the chance of detection.
    """

    spec: SketchSpec
    sums: SegmentSums
    range_low: FloatArray
    range_high: FloatArray
    rounding: FloatArray
    critical: float
    significance: float
    power: float

    @cached_property
    def adjusted(self) -> FloatArray:
        """P-values that hold for all segments together."""
        if not len(self.sums):
            return np.zeros(0)
        return holm(np.array([brownian_range_survival(one) for one in self.strength.tolist()]))

    @property
    def strength(self) -> FloatArray:
        """The evidence that there is at least."""
        return evidence(self.range_low, self.sums.variance, self.sums.unit)

    @property
    def ecce(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The ECCE at the ends of bins, and between what the exact one is."""
        weight = self.sums.weight
        least = np.maximum(weight - self.rounding, np.finfo(float).tiny)
        low, high = self.range_low / (weight + self.rounding), self.range_high / least
        return np.minimum(1.0, self.sums.range / weight), low, np.minimum(1.0, high)

    @property
    def sigmas(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The same in standard deviations."""
        sums = self.sums
        off = self.rounding + _FLOAT_ERROR * sums.variance
        most, least = (
            replace(sums, variance=bound).sigma_variance for bound in (sums.variance + off, sums.variance - off)
        )
        least = np.maximum(least, certain_variance(sums.weight, sums.unit))
        return sums.sigmas, self.range_low / np.sqrt(most), self.range_high / np.sqrt(least)

    def segment(self, place: int) -> Segment:
        """The segment at a place of the sums."""
        return self.spec.grid.segment(int(self.sums.combination[place]), int(self.sums.cell[place]))


def audit_sketch(
    sketch: Sketch, *, min_rows: int, min_variance: float, significance: float, power: float
) -> SketchAudit:
    """Judge the segments of a sketch."""
    _check(min_rows, min_variance, significance, power)
    if sketch.n == 0:
        raise TableError("There are no rows to audit: the sketch is empty.")
    sums = _segment_sums(sketch, float(min_variance))
    every = _Every(sketch, sums, ranges_of(sketch.sums, sketch.spec), significance, power)
    tested = every.measured(np.flatnonzero(sums.rows >= min_rows))
    if not len(tested.sums):
        warn_of_nothing(sketch.n, min_rows)
    return _result(sketch, every.measured(np.arange(1)), tested)


@dataclass(frozen=True, eq=False)
class _Every:
    """All segments, of which some are judged."""

    sketch: Sketch
    sums: SegmentSums
    ranges: Ranges
    significance: float
    power: float

    def measured(self, chosen: npt.NDArray[np.intp]) -> Measured:
        """These segments, judged together."""
        some = self.sums.of(chosen)
        ulp = math.ldexp(1.0, -self.sketch.spec.fraction_bits)
        ranges = (self.ranges.at_edges, self.ranges.low, self.ranges.high)
        at_edges, low, high = (ulp * bound[chosen] for bound in ranges)
        return Measured(
            spec=self.sketch.spec,
            sums=replace(some, range=at_edges),
            range_low=low,
            range_high=high,
            rounding=np.asarray(_HALF_BIT * ulp * some.rows, dtype=np.float64),
            critical=critical_evidence(None, len(chosen), self.significance),
            significance=self.significance,
            power=self.power,
        )


def _segment_sums(sketch: Sketch, min_variance: float) -> SegmentSums:
    """All cells as an audit knows them; weights are in the unit of the spec."""
    sums, bits = sketch.sums, sketch.spec.fraction_bits
    rows = sums.lane("rows")
    weight, score, label, variance = (
        np.ldexp(sums.lane(name).astype(np.float64), -bits) for name in ("weight", "score", "label", "variance")
    )
    squares = np.ldexp(sums.lane("square").astype(np.float64), -SQUARE_BITS)
    weight = np.maximum(weight, np.finfo(float).tiny)
    # By Cauchy and Schwarz never below the mean weight, so that rounding of small squares can't make it vanish.
    unit = np.maximum(squares, weight**2 / rows) / weight
    return SegmentSums(
        combination=sums.combination,
        cell=sums.cell,
        rows=rows,
        weight=weight,
        score=score,
        label=label,
        range=np.zeros(len(rows)),
        variance=np.maximum(variance, certain_variance(weight, unit)),
        unit=unit,
        certain=np.zeros(len(rows)),  # which scores of a bin are exactly 0 or 1 is not known
        min_variance=min_variance,
    )


def _result(sketch: Sketch, whole: Measured, tested: Measured) -> SketchAudit:
    sums = whole.sums
    ecce, sigmas = ([float(bound[0]) for bound in bounds] for bounds in (whole.ecce, whole.sigmas))
    mce = [float(bound.max()) if len(bound) else math.nan for bound in tested.sigmas]
    sigma = math.sqrt(sums.sigma_variance[0]) / float(sums.weight[0])
    detectable = detectable_sum(sums.variance, sums.unit, tested.critical, tested.power) / sums.weight
    return SketchAudit(
        n=sketch.n,
        n_segments=len(tested.sums),
        prevalence=float(np.clip(sums.label[0] / sums.weight[0], 0, 1)),
        mean_score=float(np.clip(sums.score[0] / sums.weight[0], 0, 1)),
        ecce=ecce[0],
        ecce_low=ecce[1],
        ecce_high=ecce[2],
        sigma=sigma,
        ecce_sigma=sigmas[0],
        ecce_sigma_low=sigmas[1],
        ecce_sigma_high=sigmas[2],
        p_value=brownian_range_survival(max(sigmas[1], float(whole.strength[0]))),
        mce=mce[0],
        mce_low=mce[1],
        mce_high=mce[2],
        mce_absolute=mce[0] * sigma,
        mce_p_value=float(tested.adjusted.min()) if len(tested.sums) else math.nan,
        alpha=mce[0] / math.sqrt(float(sums.weight[0] / sums.unit[0])),
        minimum_detectable=float(detectable[0]),
        significant=bool((tested.adjusted <= tested.significance).any()),
        significance=tested.significance,
        power=tested.power,
        classes=sketch.spec.classes,
        _measured=tested,
        _total_weight=float(sums.weight[0]),
    )


def _check(min_rows: Any, min_variance: Any, significance: Any, power: Any) -> None:
    check_whole("min_rows", min_rows, 1, 2**62)
    for name, value in (("significance", significance), ("power", power)):
        if not isinstance(value, (int, float)) or isinstance(value, bool) or not 0 < value < 1:
            raise ParameterError(f"{name} must lie between 0 and 1, got {value!r}.")
    is_number = isinstance(min_variance, (int, float)) and not isinstance(min_variance, bool)
    if not is_number or not 0 <= min_variance < math.inf:
        raise ParameterError(f"min_variance must be a number of at least 0, got {min_variance!r}.")
