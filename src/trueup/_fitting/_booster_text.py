"""LightGBM's text format of a model, read into flat arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from trueup._model import ARRAY_TYPES, Trees

__all__ = ["trees_and_gains"]

_BY_NAME = {
    "split_feature": "split_feature",
    "threshold": "threshold",
    "decision_type": "decision_type",
    "left_child": "left_child",
    "right_child": "right_child",
    "leaf_value": "leaf_values",
    "cat_threshold": "category_words",
}

_NO_END = 1e300


def trees_and_gains(text: str, n_columns: int) -> tuple[Trees, npt.NDArray[np.float64]]:
    """The trees of a booster, and the total gain of the splits on each of its columns.

    The text has 17 digits for each number that matters, so they come back as the very same bits.
    """
    parts = [_one_tree(block) for block in text.split("\nTree=")[1:]]
    gains = np.zeros(n_columns)
    for tree, tree_gains in parts:
        np.add.at(gains, tree.split_feature, tree_gains)
    return Trees.concatenate([tree for tree, _ in parts]), gains


def _one_tree(block: str) -> tuple[Trees, npt.NDArray[np.float64]]:
    fields = dict(line.split("=", 1) for line in block.split("\n\n", maxsplit=1)[0].splitlines()[1:])
    if fields.get("is_linear", "0") != "0":
        raise NotImplementedError("trees with linear leaves can't be read")
    arrays: dict[str, npt.NDArray[Any]] = {
        ours: np.array(fields.get(theirs, "").split(), dtype=ARRAY_TYPES[ours]) for theirs, ours in _BY_NAME.items()
    }
    n_splits = int(fields["num_leaves"]) - 1
    if n_splits == 0:  # a tree without splits is written with the fields of one split, or with none
        arrays.update({name: arrays[name][:0] for name in arrays if name != "leaf_values"})
    # LightGBM writes 1e300 where a threshold has no upper end, which infinity is above.
    arrays["threshold"][arrays["threshold"] >= _NO_END] = np.inf
    offsets = np.array(fields.get("cat_boundaries", "0").split(), dtype=ARRAY_TYPES["category_offsets"])
    gains = np.array(fields.get("split_gain", "").split(), dtype=np.float64)[:n_splits]
    node_offsets = np.array([0, n_splits], dtype=ARRAY_TYPES["node_offsets"])
    return Trees(node_offsets=node_offsets, category_offsets=offsets, **arrays), gains
