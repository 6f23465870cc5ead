"""Where in the space of features a node of a LightGBM tree lies, in words and in rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from trueup._model import Feature
from trueup.segments import Condition, Interval, Missing, OneOf, Segment, between

__all__ = ["Region", "RegionTable", "regions_of"]

BoolArray: TypeAlias = npt.NDArray[np.bool_]
FloatArray: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RegionTable:
    """Features as numbers: values, codes of categories, NaN for what is missing."""

    features: Sequence[Feature]
    columns: Sequence[FloatArray]
    _cuts: dict[tuple[int, float], float] = field(default_factory=dict)

    def cut(self, feature: int, threshold: float) -> float:
        """The shortest number that parts the values as the threshold does."""
        key = (feature, threshold)
        if key not in self._cuts:
            present = self.columns[feature][~np.isnan(self.columns[feature])]
            self._cuts[key] = between(present, threshold)
        return self._cuts[key]


@dataclass(frozen=True)
class FeatureBounds:
    """What a region allows of one feature."""

    low: float | None = None  # the bounds of a number: above the first, up to the second
    high: float | None = None
    codes: frozenset[int] | None = None  # the categories; None for all
    missing: bool = True  # whether the value may be missing

    def holds(self, values: FloatArray) -> BoolArray:
        """Which values are allowed."""
        absent = np.isnan(values)
        inside = ~absent
        if self.low is not None:
            inside &= values > self.low
        if self.high is not None:
            inside &= values <= self.high
        if self.codes is not None:
            inside &= np.isin(values, np.fromiter(self.codes, np.float64, len(self.codes)))
        return inside | absent if self.missing else inside


@dataclass(frozen=True, eq=False)
class Region:
    """A node of a tree, or what is left of one without some of its conditions."""

    sides: dict[int, FeatureBounds]  # what is allowed of each feature that was split
    inside: BoolArray  # the rows in it

    def without(self, feature: int, table: RegionTable) -> Region:
        """The region that allows everything of a feature."""
        sides = {place: side for place, side in self.sides.items() if place != feature}
        inside = np.ones(len(self.inside), dtype=bool)
        for place, side in sides.items():
            inside &= side.holds(table.columns[place])
        return Region(sides, inside)

    def segment(self, table: RegionTable) -> Segment:
        """The region in words."""
        conditions = (
            _condition(table.features[place], table.columns[place], side) for place, side in self.sides.items()
        )
        return Segment(tuple(condition for condition in conditions if condition is not None))


def regions_of(tree: dict[str, Any], table: RegionTable) -> Iterator[Region]:
    """All nodes of a tree but its root."""
    n_rows = len(table.columns[0])
    waiting = [(tree, Region({}, np.ones(n_rows, dtype=bool)))]
    while waiting:
        structure, region = waiting.pop()
        if region.sides:
            yield region
        if "split_feature" not in structure:
            continue
        place = int(structure["split_feature"])
        before = region.sides.get(place, FeatureBounds())
        for child, side in zip(("left_child", "right_child"), _split(structure, before, table), strict=True):
            inside = region.inside & side.holds(table.columns[place])
            waiting.append((structure[child], Region({**region.sides, place: side}, inside)))


def _split(structure: dict[str, Any], before: FeatureBounds, table: RegionTable) -> tuple[FeatureBounds, FeatureBounds]:
    """What the two children of a node allow of the feature that it splits."""
    place = int(structure["split_feature"])
    if structure["decision_type"] == "==":  # what is missing is in no set of categories, so it goes to the right
        everything = frozenset(range(len(table.features[place].categories or ())))
        codes = everything if before.codes is None else before.codes
        left = frozenset(int(code) for code in structure["threshold"].split("||")) & codes
        return replace(before, codes=left, missing=False), replace(before, codes=codes - left)
    cut = table.cut(place, float(structure["threshold"]))
    missing_left = bool(structure["default_left"])
    return (
        replace(before, high=cut, missing=before.missing and missing_left),
        replace(before, low=cut, missing=before.missing and not missing_left),
    )


def _condition(feature: Feature, values: FloatArray, side: FeatureBounds) -> Condition | None:
    """What is allowed of a feature; None if that is everything."""
    has_missing = bool(np.isnan(values).any())
    or_missing = side.missing and has_missing
    if side.codes is not None:
        return _set_condition(feature, side.codes, or_missing)
    low = side.low if side.low is not None and np.any(values <= side.low) else None
    high = side.high if side.high is not None and np.any(values > side.high) else None
    if not np.any(replace(side, missing=False).holds(values)):
        return Missing(feature.name)  # LightGBM parts what is missing from the rest with a bound beyond all values
    if low is None and high is None:
        return Missing(feature.name, excluded=True) if has_missing and not or_missing else None
    return Interval(feature.name, low, high, or_missing=or_missing)


def _set_condition(feature: Feature, codes: frozenset[int], or_missing: bool) -> Condition:
    categories = feature.categories or ()
    if not codes:
        return Missing(feature.name)
    others = [code for code in range(len(categories)) if code not in codes]
    if not others:
        return Missing(feature.name, excluded=True)
    excluded = len(others) < len(codes)
    named = others if excluded else sorted(codes)
    return OneOf(feature.name, tuple(categories[code] for code in named), excluded, or_missing)
