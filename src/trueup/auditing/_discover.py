"""Segments beyond the grid: trees find them on one half of the rows, and they are tested on the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from trueup import _native
from trueup._data import CalibrationTable
from trueup._features import FeatureCodes, learn_columns
from trueup._model import Feature
from trueup.segments import Condition, Interval, Missing, OneOf, Partition, Segment, between


@dataclass(frozen=True, eq=False)
class RegionTable:
    """Features as numbers: values, codes of categories, NaN for what is missing."""

    features: Sequence[Feature]
    columns: Sequence[FloatArray]
    _cuts: dict[tuple[int, float], float] = field(default_factory=dict)

    def cut(self, feature: int, threshold: float) -> float:
        """The shortest number that splits the values in the same place as the threshold."""
        key = (feature, threshold)
        if key not in self._cuts:
            present = self.columns[feature][~np.isnan(self.columns[feature])]
            self._cuts[key] = between(present, threshold)
        return self._cuts[key]


@dataclass(frozen=True)
class FeatureBounds:
    """Which values of one feature are in a region."""

    low: float | None = None  # numbers above the first and up to the second
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
    """The rows of a tree's node, or of a node without some of its conditions."""

    sides: dict[int, FeatureBounds]  # by feature
    inside: BoolArray

    def without(self, feature: int, table: RegionTable) -> Region:
        """The region without its condition on a feature."""
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
    """All nodes of a tree except its root."""
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
    """Which values of the feature that a node splits go to each of its two children."""
    place = int(structure["split_feature"])
    if structure["decision_type"] == "==":  # a missing value is in no set, so it goes right
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
    """The condition on one feature; None if every value is allowed."""
    has_missing = bool(np.isnan(values).any())
    or_missing = side.missing and has_missing
    if side.codes is not None:
        return _set_condition(feature, side.codes, or_missing)
    low = side.low if side.low is not None and np.any(values <= side.low) else None
    high = side.high if side.high is not None and np.any(values > side.high) else None
    if not np.any(replace(side, missing=False).holds(values)):
        return Missing(feature.name)  # LightGBM splits off missing values with a bound beyond all values
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


_TREES = 10
_MIN_ROWS = 20
# Which of the regions found are tested: each one more makes all the others harder to prove.
_MIN_SIGMAS = 2.0
_MOST_REGIONS = 60
# A condition is dropped if the error keeps at least this share of its sigmas without it.
_SHARE_OF_SIGMAS = 0.95
_PARAMETERS = {
    "learning_rate": 1.0,  # each tree corrects in full what it finds
    "num_leaves": 12,
    "max_depth": 5,
    "min_sum_hessian_in_leaf": 2.0,
    "min_gain_to_split": 0.01,  # at 0, LightGBM may choose a split that leaves one side empty, and stops
    "lambda_l2": 1.0,
    "max_cat_threshold": 8,  # sets that a person can read
    "cat_smooth": 50.0,
    "verbose": -1,
    "deterministic": True,
    "force_row_wise": True,
    "seed": 0,
}

BoolArray: TypeAlias = npt.NDArray[np.bool_]
FloatArray: TypeAlias = npt.NDArray[np.float64]


def discover_segments(
    table: CalibrationTable,
    labels: FloatArray,
    scores: FloatArray,
    weights: FloatArray | None,
    *,
    groups: npt.NDArray[np.int64] | None = None,
    features: Sequence[str] | None,
    categorical_features: Any,
    rows: BoolArray | None,
    min_rows: int,
    n_threads: int,
    random_state: Any,
) -> list[Partition]:
    """Partitions whose parts were found on half of the rows, or groups, and hold rows of the other half only."""
    least = max(min_rows, _MIN_ROWS)
    n = len(labels) if groups is None else int(groups.max()) + 1
    searched = np.zeros(n, dtype=bool)
    searched[np.random.default_rng(random_state).permutation(n)[: n // 2]] = True
    searched = searched if groups is None else searched[groups]
    learned = list(learn_columns(table, features, categorical_features=categorical_features, rows=rows))
    if np.count_nonzero(searched) < 2 * least or not learned:
        return []
    encoded = RegionTable(
        [feature for _, feature in learned], [FeatureCodes(feature).encode(column) for column, feature in learned]
    )
    half = _Half(searched, labels[searched], scores[searched], None if weights is None else weights[searched])
    regions = _worth_testing(encoded, half, _grow(encoded, half, least, n_threads))
    return [_partition(segment, region, ~searched) for segment, region in regions.items()]


@dataclass(frozen=True, eq=False)
class _Half:
    """The rows that are searched."""

    rows: BoolArray
    labels: FloatArray
    scores: FloatArray
    weights: FloatArray | None

    def sigmas(self, inside: BoolArray) -> float:
        """The error of some of these rows, in standard deviations."""
        weights = 1.0 if self.weights is None else self.weights[inside]
        scores = self.scores[inside]
        variance = float(np.sum(weights**2 * scores * (1 - scores)))
        return abs(float(np.sum(weights * (self.labels[inside] - scores)))) / variance**0.5 if variance > 0 else 0.0


def _grow(table: RegionTable, half: _Half, min_rows: int, n_threads: int) -> list[dict[str, Any]]:
    """Trees, each of which corrects what the ones before it left wrong."""
    import lightgbm as lgb

    is_hard = bool(np.isin(half.labels, (0, 1)).all())
    parameters = _PARAMETERS | {
        "objective": "binary" if is_hard else "cross_entropy",
        "min_data_in_leaf": min_rows,
        "num_threads": n_threads,
    }
    data = lgb.Dataset(
        np.column_stack([column[half.rows] for column in table.columns]),
        half.labels,
        weight=half.weights,
        init_score=_native.logit(half.scores),
        categorical_feature=[place for place, feature in enumerate(table.features) if feature.is_categorical],
        params=parameters,
    )
    booster = lgb.train(parameters, data, num_boost_round=_TREES)
    return [tree["tree_structure"] for tree in booster.dump_model()["tree_info"]]


def _worth_testing(table: RegionTable, half: _Half, trees: Sequence[dict[str, Any]]) -> dict[Segment, Region]:
    """The regions with the largest errors on the searched rows, simplified and without duplicates."""
    found: dict[Segment, tuple[float, Region]] = {}
    for tree in trees:
        for region in regions_of(tree, table):
            if half.sigmas(region.inside[half.rows]) >= _MIN_SIGMAS:
                simple = _simplified(region, table, half)
                segment = simple.segment(table)
                if segment.conditions:
                    found.setdefault(segment, (half.sigmas(simple.inside[half.rows]), simple))
    best = sorted(found, key=lambda segment: -found[segment][0])[:_MOST_REGIONS]
    return {segment: found[segment][1] for segment in best}


def _simplified(region: Region, table: RegionTable, half: _Half) -> Region:
    """The region without conditions that its error doesn't depend on."""
    sigmas = half.sigmas(region.inside[half.rows])
    for feature in list(region.sides):
        wider = region.without(feature, table)
        if wider.sides and half.sigmas(wider.inside[half.rows]) >= _SHARE_OF_SIGMAS * sigmas:
            region = wider
    return region


def _partition(segment: Segment, region: Region, tested: BoolArray) -> Partition:
    codes = (region.inside & tested).astype(np.uint8)
    return Partition(codes, (Segment(name="none"), segment), skips_zero=True, among=tested)
