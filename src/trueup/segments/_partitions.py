"""A column split into a few parts, each of which is a condition."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from trueup import _native
from trueup._data import EXACT_IN_FLOATS, Column
from trueup._features import FeatureCodes
from trueup._model import Feature
from trueup.segments._conditions import Condition, Interval, Missing, OneOf, Segment

MAX_PARTS = 256  # a code is a byte
_PEEKED_ROWS = 10_000
_LARGEST = np.finfo(np.float64).max / 2  # so that differences are finite

BoolArray: TypeAlias = npt.NDArray[np.bool_]
ByteArray: TypeAlias = npt.NDArray[np.uint8]
FloatArray: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Partition:
    """Rows cut into parts."""

    codes: ByteArray  # the part that each row is in
    parts: tuple[Segment, ...]  # by code
    skips_zero: bool = False  # whether rows of code 0 are in no part
    among: BoolArray | None = None  # the rows that could be in a part, if not all


def cut_column(column: Column, feature: Feature, max_values: int, *, splits_lumps: bool = True) -> Partition | None:
    """Split a feature's values into parts; None if there would be only one."""
    numbers = FeatureCodes(feature).encode(column) if feature.is_categorical else column.floats()
    missing = np.isnan(numbers)
    present = numbers[~missing]
    codes = np.zeros(len(numbers), dtype=np.uint8)
    conditions: Sequence[Condition] = ()
    if len(present):
        cut = _cut_categories if feature.is_categorical else _numbers_cutter(splits_lumps)
        codes[~missing], conditions = cut(feature, present, max_values)
    if len(present) < len(numbers):
        codes[missing] = len(conditions)
        conditions = (*conditions, Missing(feature.name))
    if len(conditions) < 2:
        return None
    return Partition(codes, tuple(Segment((condition,)) for condition in conditions))


Cut: TypeAlias = tuple[ByteArray, Sequence[Condition]]


def _cut_categories(feature: Feature, present: FloatArray, max_values: int) -> Cut:
    categories = feature.categories or ()
    category_codes = present.astype(np.int64)
    counts = np.bincount(category_codes, minlength=len(categories))
    by_frequency = np.argsort(-counts, kind="stable")[: np.count_nonzero(counts)]
    pooled = len(by_frequency) > max_values
    kept = by_frequency[: max_values - 1] if pooled else by_frequency
    part_of = np.full(len(categories), len(kept), dtype=np.uint8)
    part_of[kept] = np.arange(len(kept))
    conditions = [OneOf(feature.name, (categories[code],)) for code in kept]
    if pooled:
        conditions.append(OneOf(feature.name, tuple(categories[code] for code in kept), excluded=True))
    return part_of[category_codes], conditions


def _numbers_cutter(splits_lumps: bool) -> Callable[[Feature, FloatArray, int], Cut]:
    def cut(feature: Feature, present: FloatArray, max_values: int) -> Cut:
        """Split numbers by value if there are only a few values, else at quantiles."""
        values = _few_values(present, max_values)
        if values is not None:
            codes = np.searchsorted(values, present).astype(np.uint8)
            return codes, [_equal_to(feature.name, value) for value in values]
        finite = np.clip(present, -_LARGEST, _LARGEST)  # there is nothing half-way to infinity
        edges = np.unique(np.quantile(finite, np.linspace(0, 1, max_values + 1)))
        cuts = edges[1:-1]
        if len(cuts) == 0 and splits_lumps:
            return _around(feature, present, _middle(present))
        codes = np.zeros(len(present), dtype=np.uint8)
        for one in cuts:  # many times faster than a search among few cuts
            codes += present > one
        bounds = [between(present, cut) for cut in cuts]
        return codes, _intervals(feature.name, bounds)

    return cut


def _intervals(name: str, bounds: Sequence[float]) -> Sequence[Condition]:
    if not bounds:
        return [Missing(name, excluded=True)]
    ends = [None, *bounds, None]
    return [Interval(name, low, high) for low, high in itertools.pairwise(ends)]


def _few_values(present: FloatArray, max_values: int) -> FloatArray | None:
    """The distinct values, sorted, if there are no more than `max_values`."""
    if len(np.unique(present[:_PEEKED_ROWS])) > max_values:
        return None
    values = np.unique(present)
    return values if len(values) <= max_values else None


def _middle(present: FloatArray) -> float:
    """The median value, on which all inner quantiles fall if they are equal."""
    half = len(present) // 2
    return float(np.partition(present, half)[half])


def _equal_to(name: str, value: float) -> Condition:
    """The condition that a number equals this one, as far as floats can tell."""
    if abs(value) < EXACT_IN_FLOATS or math.isinf(value):
        return OneOf(name, (_tidy(value),))
    return Interval(name, float(value), float(value), includes_low=True)  # several integers may be this float


def _around(feature: Feature, present: FloatArray, value: float) -> Cut:
    """What is below a value, the value itself, and what is above."""
    side = np.where(present < value, 0, np.where(present > value, 2, 1))
    sides = np.unique(side)
    exact = _tidy(value)
    all_three: tuple[Condition, ...] = (
        Interval(feature.name, high=exact, includes_high=False),
        _equal_to(feature.name, value),
        Interval(feature.name, low=exact),
    )
    return np.searchsorted(sides, side).astype(np.uint8), [all_three[one] for one in sides]


def between(values: FloatArray, cut: float) -> float:
    """The shortest number that splits the values in the same place as the cut."""
    low, high = _native.neighbours(np.ascontiguousarray(values, dtype=np.float64), float(cut))
    if low == -math.inf and not np.any(values == low):
        low = float(cut)  # no value is that low
    for digits in range(1, 17):
        # Rounded up, because the bound must not fall below a value that it includes.
        rounded = float(Context(prec=digits, rounding=ROUND_CEILING).create_decimal(repr(low)))
        if low <= rounded < high:
            return _tidy(rounded)
    return _tidy(low)


def _tidy(number: float) -> float:
    """Whole numbers as int, so that they are written without a point."""
    return int(number) if float(number).is_integer() and abs(number) < EXACT_IN_FLOATS else float(number)
