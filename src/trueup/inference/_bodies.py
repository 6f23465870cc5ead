"""What each kind of baseline does to base scores."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np
import numpy.typing as npt

from trueup import _native
from trueup.inference._apply import compile_rounds, compile_trees, probabilities, score_logits
from trueup.inference._members import members_matrix, packed_members
from trueup.model import (
    BaselineModel,
    CellUpdates,
    Feature,
    FeatureSpec,
    GroupRounds,
    LevelTrees,
    ScoreMap,
    ValueKind,
)

__all__ = ["Compiled", "average_bins", "compile_body", "group_features", "levels_of", "nearest_levels"]

Floats = npt.NDArray[np.float64]
Masks = Iterator[npt.NDArray[np.bool_]]


class Compiled(Protocol):
    """A body that is ready to score."""

    def __call__(self, scores: Floats, matrix: Floats, masks: Masks, n_threads: int) -> Floats:
        """The calibrated probabilities of rows, none of whose scores is missing."""


def compile_body(model: BaselineModel) -> Compiled:
    """The body of a model, ready to score; `ValueError` if it is none."""
    body = model.body
    if isinstance(body, ScoreMap):
        return _ScoreMap(body)
    if isinstance(body, CellUpdates):
        return _CellUpdates(body, len(model.groups))
    if isinstance(body, GroupRounds):
        return _GroupRounds(body, group_features([group.name for group in model.groups]))
    return _LevelTrees(body, model.features)


def group_features(names: list[str]) -> FeatureSpec:
    """Groups as numerical features, one a group."""
    return FeatureSpec(tuple(names), tuple(Feature(name, ValueKind.NUMBER) for name in names))


def average_bins(scores: Floats, means: Floats, width: float) -> Floats:
    """The mean of each score's bin; the score itself where there is none."""
    if not len(means):
        return scores
    found = means[_native.bins_of(scores, width, len(means))]
    return np.where(np.isnan(found), scores, found)


def levels_of(scores: Floats, n_levels: int) -> npt.NDArray[np.int64]:
    """The level set that each score belongs to."""
    return np.clip(np.floor(scores * n_levels), 0, n_levels - 1).astype(np.int64)


def nearest_levels(scores: Floats, n_levels: int) -> Floats:
    """The level nearest to each score. Levels are the middles of equal intervals, so none of them is 0 or 1."""
    return (levels_of(scores, n_levels) + 0.5) / n_levels


class _ScoreMap:
    def __init__(self, body: ScoreMap) -> None:
        self._body = body

    def __call__(self, scores: Floats, matrix: Floats, masks: Masks, n_threads: int) -> Floats:
        return np.interp(scores, self._body.scores, self._body.values)


class _CellUpdates:
    def __init__(self, body: CellUpdates, n_groups: int) -> None:
        self._body = body
        self._moves = _native.CellMoves(
            group=body.group,
            bin=body.bin,
            delta=body.delta,
            width=body.bin_width,
            n_bins=body.n_bins,
            n_groups=n_groups,
        )

    def __call__(self, scores: Floats, matrix: Floats, masks: Masks, n_threads: int) -> Floats:
        moved = self._moves.apply(packed_members(masks, len(scores)), scores, n_threads)
        return average_bins(moved, self._body.bin_means, self._body.bin_width)


class _GroupRounds:
    def __init__(self, body: GroupRounds, features: FeatureSpec) -> None:
        self._n_groups, self._n_rounds = len(features.features), len(body.rounds)
        self._forest = compile_rounds(features, body.rounds)

    def __call__(self, scores: Floats, matrix: Floats, masks: Masks, n_threads: int) -> Floats:
        inside = members_matrix(masks, len(scores), self._n_groups)
        if not self._n_rounds:
            return scores.copy()
        logits = self._forest.advance(inside, score_logits(scores, n_threads), 0, self._n_rounds, n_threads)
        return probabilities(logits, n_threads)


class _LevelTrees:
    def __init__(self, body: LevelTrees, features: FeatureSpec) -> None:
        self._n_levels, self._n_rounds = body.n_levels, body.trees.n_trees
        self._forest = compile_trees(features, body.trees)

    def __call__(self, scores: Floats, matrix: Floats, masks: Masks, n_threads: int) -> Floats:
        level = nearest_levels(scores, self._n_levels)
        for t in range(self._n_rounds):
            level = nearest_levels(self._forest.corrections(matrix, level, t, n_threads), self._n_levels)
        return level
