"""Segments that no grid holds, found by trees on one half of the rows, to be tested on the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from trueup import _native
from trueup._data import CalibrationTable
from trueup._features import FeatureCodes, learn_columns
from trueup.auditing._regions import Region, RegionTable, regions_of
from trueup.segments import Partition, Segment

__all__ = ["discover_segments"]

_TREES = 10
_MIN_ROWS = 20
# Of the regions found, the ones to test: every one more makes all the others harder to prove.
_MIN_SIGMAS = 2.0
_MOST_REGIONS = 60
# A condition that can go without the error losing more than this share of its sigmas is no part of the pattern.
_SHARE_OF_SIGMAS = 0.95
_PARAMETERS = {
    "learning_rate": 1.0,  # a tree leaves to the next one only what it did not see
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
    """Trees of which each corrects what those before left wrong."""
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
    """The regions with the largest errors on the rows that were searched, each once and in its simplest form."""
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
    """The region without the conditions that its error does not need."""
    sigmas = half.sigmas(region.inside[half.rows])
    for feature in list(region.sides):
        wider = region.without(feature, table)
        if wider.sides and half.sigmas(wider.inside[half.rows]) >= _SHARE_OF_SIGMAS * sigmas:
            region = wider
    return region


def _partition(segment: Segment, region: Region, tested: BoolArray) -> Partition:
    codes = (region.inside & tested).astype(np.uint8)
    return Partition(codes, (Segment(name="none"), segment), skips_zero=True, among=tested)
