"""LightGBM's trees as flat arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

ARRAY_TYPES: dict[str, np.dtype[Any]] = {
    "node_offsets": np.dtype("<i4"),
    "split_feature": np.dtype("<i4"),
    "threshold": np.dtype("<f8"),
    "decision_type": np.dtype("u1"),
    "left_child": np.dtype("<i4"),
    "right_child": np.dtype("<i4"),
    "leaf_values": np.dtype("<f8"),
    "category_offsets": np.dtype("<i4"),
    "category_words": np.dtype("<u4"),
}


@dataclass(frozen=True, eq=False)
class Trees:
    """Any number of LightGBM's trees, one after the other.

    Tree ``k`` has the splits ``node_offsets[k]`` to ``node_offsets[k + 1]``, the first being its root, and one leaf
    more than splits: ``leaf_values[node_offsets[k] + k]`` is its first.
    """

    node_offsets: npt.NDArray[np.int32]
    split_feature: npt.NDArray[np.int32]  # the number of features stands for the logit
    threshold: npt.NDArray[np.float64]  # numbers go left if at most this; of a set of categories, its number
    decision_type: npt.NDArray[np.uint8]  # bit 0 categorical, bit 1 missing goes left, bits 2 and 3 what is missing
    left_child: npt.NDArray[np.int32]  # a split of the same tree, counted from its root, or ~leaf
    right_child: npt.NDArray[np.int32]
    leaf_values: npt.NDArray[np.float64]
    category_offsets: npt.NDArray[np.int32]  # where the words of each set begin
    category_words: npt.NDArray[np.uint32]  # bit c % 32 of word c // 32: category c goes left

    @property
    def n_trees(self) -> int:
        """How many trees there are."""
        return len(self.node_offsets) - 1

    @property
    def n_splits(self) -> int:
        """How many splits all trees have together."""
        return len(self.split_feature)

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """The arrays by their names."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    @classmethod
    def constant(cls, value: float) -> Trees:
        """One tree without splits, which adds the same to every logit."""
        arrays: dict[str, Any] = {name: np.empty(0, dtype) for name, dtype in ARRAY_TYPES.items()}
        arrays["node_offsets"] = np.zeros(2, ARRAY_TYPES["node_offsets"])
        arrays["category_offsets"] = np.zeros(1, ARRAY_TYPES["category_offsets"])
        arrays["leaf_values"] = np.array([value], ARRAY_TYPES["leaf_values"])
        return cls(**arrays)

    @classmethod
    def concatenate(cls, parts: Sequence[Trees]) -> Trees:
        """The trees of all parts, in order."""
        thresholds = []
        n_sets = 0
        for part in parts:
            is_set = (part.decision_type & 1).astype(bool)
            thresholds.append(np.where(is_set, part.threshold + n_sets, part.threshold))
            n_sets += len(part.category_offsets) - 1
        joined: dict[str, Any] = {
            "node_offsets": _join_offsets([part.node_offsets for part in parts]),
            "category_offsets": _join_offsets([part.category_offsets for part in parts]),
            "threshold": _join(thresholds, "threshold"),
        }
        for name in ARRAY_TYPES.keys() - joined.keys():
            joined[name] = _join([getattr(part, name) for part in parts], name)
        return cls(**joined)

    def slice(self, first: int, last: int) -> Trees:
        """The trees `first` to `last`, with the sets of categories that they use."""
        begin, end = int(self.node_offsets[first]), int(self.node_offsets[last])
        own = {name: getattr(self, name)[begin:end] for name in _ONE_A_SPLIT}
        is_set = (own["decision_type"] & 1).astype(bool)
        sets = own["threshold"][is_set].astype(np.int64)
        used = np.unique(sets)
        own["threshold"] = own["threshold"].copy()
        own["threshold"][is_set] = np.searchsorted(used, sets)
        begins = self.category_offsets[used]
        lengths = self.category_offsets[used + 1] - begins
        category_offsets = np.concatenate([[0], np.cumsum(lengths)])
        words = np.arange(category_offsets[-1]) + np.repeat(begins - category_offsets[:-1], lengths)
        return Trees(
            node_offsets=self.node_offsets[first : last + 1] - self.node_offsets[first],
            leaf_values=self.leaf_values[begin + first : end + last],
            category_offsets=category_offsets.astype(ARRAY_TYPES["category_offsets"]),
            category_words=self.category_words[words],
            **own,
        )


_ONE_A_SPLIT = ("split_feature", "threshold", "decision_type", "left_child", "right_child")


def _join(arrays: Sequence[npt.NDArray[Any]], name: str) -> npt.NDArray[Any]:
    return np.concatenate([np.empty(0, ARRAY_TYPES[name]), *arrays]).astype(ARRAY_TYPES[name], copy=False)


def _join_offsets(parts: Sequence[npt.NDArray[np.int32]]) -> npt.NDArray[np.int32]:
    lengths = [np.diff(part) for part in parts]
    ends = np.cumsum(np.concatenate([np.empty(0, np.int64), *lengths]))
    return np.concatenate([[0], ends]).astype(ARRAY_TYPES["node_offsets"])
