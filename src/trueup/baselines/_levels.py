"""Level-set boosting: a tree a level set, rounded to levels, again and again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import lightgbm as lgb
import numpy as np
import numpy.typing as npt

from trueup._fitting import Split, trees_and_gains
from trueup._model import ARRAY_TYPES, Trees
from trueup._scoring import correction
from trueup.errors import TrainingError

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int32]
Categorical = npt.NDArray[np.uint8]  # 1 for a feature of categories
_LEAST_GAIN = 1e-6  # at 0, LightGBM may choose a split that leaves one side empty


@dataclass(frozen=True, eq=False)
class LevelData:
    """Rows as numbers: features, labels, the base model's scores."""

    matrix: Floats
    categorical: Categorical
    labels: Floats
    scores: Floats
    weights: Floats


@dataclass(frozen=True)
class LevelGrowth:
    """How the trees of level sets are grown."""

    n_levels: int
    max_depth: int  # of a tree
    min_child_samples: int  # rows that a leaf must hold
    seed: int  # LightGBM's
    n_threads: int  # for scoring with the trees

    def parameters(self) -> dict[str, Any]:
        """LightGBM's parameters for one tree of squared error."""
        return {
            "objective": "regression",
            "boost_from_average": False,
            "learning_rate": 1.0,
            "max_depth": self.max_depth,
            "num_leaves": 2**self.max_depth,
            "min_child_samples": self.min_child_samples,
            "min_sum_hessian_in_leaf": 0.0,
            "min_gain_to_split": _LEAST_GAIN,
            "seed": self.seed,
            "deterministic": True,
            "force_col_wise": True,
            "num_threads": 1,  # level sets are small, and OpenMP's threads don't survive a fork
            "verbosity": -1,
        }


def levels_of(scores: Floats, n_levels: int) -> npt.NDArray[np.int64]:
    """The level set that each score belongs to."""
    return np.clip(np.floor(scores * n_levels), 0, n_levels - 1).astype(np.int64)


def nearest_levels(scores: Floats, n_levels: int) -> Floats:
    """The level nearest to each score. Levels are the middles of equal intervals, so none of them is 0 or 1."""
    return (levels_of(scores, n_levels) + 0.5) / n_levels


def apply_levels(
    rounds: Sequence[Trees], n_levels: int, scores: Floats, matrix: Floats, *, categorical: Categorical, n_threads: int
) -> Floats:
    """The level of each row after all rounds."""
    level = nearest_levels(scores, n_levels)
    for tree in rounds:
        level = nearest_levels(correction(tree, categorical, matrix, level, n_threads), n_levels)
    return level


def fit_levels(
    data: LevelData, growth: LevelGrowth, split: Split, *, max_rounds: int, tolerance: float = 0.0
) -> tuple[list[Trees], list[float]]:
    """Rounds on some rows until the squared error of others stops falling; with no others, all rounds."""
    train, validation = split
    level = nearest_levels(data.scores, growth.n_levels)
    errors = [_squared_error(data, level, validation)] if len(validation) else []
    rounds: list[Trees] = []
    grower = _Grower(data, growth, train)
    for _ in range(max_rounds):
        tree = grower.grow(level)
        level = nearest_levels(
            correction(tree, data.categorical, data.matrix, level, growth.n_threads), growth.n_levels
        )
        if len(validation):
            errors.append(_squared_error(data, level, validation))
            if not errors[-1] < errors[-2] - tolerance:
                break
        rounds.append(tree)
    return rounds, errors


class _Grower:
    """Grows the tree of a round on rows that are binned once."""

    def __init__(self, data: LevelData, growth: LevelGrowth, train: Rows) -> None:
        self._data, self._growth, self._train = data, growth, train
        self._binned = lgb.Dataset(
            data.matrix[train],
            label=data.labels[train],
            weight=data.weights[train],
            categorical_feature=np.flatnonzero(data.categorical).tolist(),
            params=growth.parameters(),
            free_raw_data=False,
        ).construct()

    def grow(self, level: Floats) -> Trees:
        """A tree that asks for the level first, and then what the tree of that level set asks."""
        sets = levels_of(level[self._train], self._growth.n_levels)
        values = (np.arange(self._growth.n_levels) + 0.5) / self._growth.n_levels
        trees = [self._of_level(np.flatnonzero(sets == k), value) for k, value in enumerate(values.tolist())]
        return joined_by_level(trees, (values[:-1] + values[1:]) / 2, self._data.matrix.shape[1])

    def _of_level(self, places: npt.NDArray[np.int64], value: float) -> Trees:
        """The tree of a level set; what has too few rows for a leaf stays at its level."""
        if len(places) < self._growth.min_child_samples:
            return Trees.constant(value)
        rows = self._train[places]
        mean = float(np.average(self._data.labels[rows], weights=self._data.weights[rows]))
        if len(places) < 2 * self._growth.min_child_samples:
            return Trees.constant(mean)
        tree = self._grown(places)
        return tree if tree is not None and tree.n_splits else Trees.constant(mean)

    def _grown(self, places: npt.NDArray[np.int64]) -> Trees | None:
        """LightGBM's tree, or none if it chose a split with an empty side and gave up (its issue 4739)."""
        subset = self._binned.subset(places.tolist(), params=self._growth.parameters())
        try:
            booster = lgb.train(self._growth.parameters(), subset, num_boost_round=1)
        except lgb.basic.LightGBMError as error:
            if "best_split_info" in str(error):
                return None
            raise TrainingError(f"LightGBM could not grow a tree: {error}.") from error
        return trees_and_gains(booster.model_to_string(), self._data.matrix.shape[1])[0]


def joined_by_level(trees: list[Trees], cuts: Floats, level_feature: int) -> Trees:
    """One tree from one a level: a chain of splits on the level, and the trees below it."""
    n_chain = len(cuts)
    together = Trees.concatenate(trees)
    first_split = n_chain + together.node_offsets[:-1]
    first_leaf = together.node_offsets[:-1] + np.arange(len(trees))
    roots = np.where(np.diff(together.node_offsets) > 0, first_split, ~first_leaf)
    chain_right = np.append(np.arange(1, n_chain), roots[-1]) if n_chain else np.empty(0, np.int64)
    of_tree = np.repeat(np.arange(len(trees)), np.diff(together.node_offsets))
    children = [
        np.where(child >= 0, child + first_split[of_tree], child - first_leaf[of_tree])  # ~(leaf + k) is ~leaf - k
        for child in (together.left_child, together.right_child)
    ]
    arrays = {
        "node_offsets": np.array([0, n_chain + together.n_splits]),
        "split_feature": np.concatenate([np.full(n_chain, level_feature), together.split_feature]),
        "threshold": np.concatenate([cuts, together.threshold]),
        "decision_type": np.concatenate([np.zeros(n_chain), together.decision_type]),
        "left_child": np.concatenate([roots[:n_chain], children[0]]),
        "right_child": np.concatenate([chain_right, children[1]]),
        "leaf_values": np.clip(together.leaf_values, 0.0, 1.0),  # means of labels, but for their last digits
        "category_offsets": together.category_offsets,
        "category_words": together.category_words,
    }
    return Trees(**{name: array.astype(ARRAY_TYPES[name]) for name, array in arrays.items()})


def _squared_error(data: LevelData, level: Floats, rows: Rows) -> float:
    return float(np.average((level[rows] - data.labels[rows]) ** 2, weights=data.weights[rows]))
