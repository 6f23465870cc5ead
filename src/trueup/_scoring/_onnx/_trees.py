"""Trees as one node of an ONNX graph, and the matrix of features that they look at.

A number is compared as it is, in doubles. A set of categories becomes a column that tells whether the row's category
is in it: the rows' codes pick from a table with a row per category and a column per set. Chains of comparisons with
single categories, the other way that ONNX knows, grow with the number of categories, and so does the time they take.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from trueup._model import Trees
from trueup._scoring._onnx._graph import ML_DOMAIN, GraphBuilder
from trueup._scoring._onnx._signature import GraphInput

_AT_MOST, _SUM, _NO_TRANSFORM = 0, 1, 0  # ONNX's numbers for them
_INSIDE = 0.5  # between the 0 and the 1 that tell whether a category is in a set

# LightGBM's decision_type: bit 0 categorical, bit 1 missing goes left, bits 2 and 3 what counts as missing.
_CATEGORICAL, _MISSING_LEFT = 1, 2
_ZERO_IS_MISSING, _NAN_IS_MISSING = 1, 2


@dataclass(frozen=True)
class SplitColumn:
    """A column of the matrix that the trees of a round look at."""

    feature: int  # the number of features stands for the logit
    categories: bytes | None = None  # bit c tells whether category c is in the set; None for a column of numbers
    zero_is_missing: bool = False  # whether numbers that LightGBM takes for zero are NaN here


def columns_of(trees: Trees) -> list[SplitColumn]:
    """The column that each split looks at; splits by the same set of categories share one."""
    return [_column(trees, split) for split in range(trees.n_splits)]


def sets_of(columns: list[SplitColumn], n_categories: int) -> npt.NDArray[np.uint8]:
    """Whether each category is in the set of each column; the last row is for a category that is none."""
    table = np.zeros((n_categories + 1, len(columns)), dtype=np.uint8)
    for place, column in enumerate(columns):
        assert column.categories is not None
        bits = np.unpackbits(np.frombuffer(column.categories, np.uint8), bitorder="little")[:n_categories]
        table[: len(bits), place] = bits
    return table


def tree_attributes(trees: Trees, columns: list[SplitColumn], places: dict[SplitColumn, int]) -> dict[str, Any]:
    """The attributes of a `TreeEnsemble` that sums the trees; `places` are the matrix's columns."""
    from onnx import numpy_helper

    nodes = _Nodes()
    for tree in range(trees.n_trees):
        begin, end = int(trees.node_offsets[tree]), int(trees.node_offsets[tree + 1])
        leaves = trees.leaf_values[begin + tree : end + tree + 1]
        if begin == end:
            nodes.add_constant(float(leaves[0]))
            continue
        nodes.begin_tree(leaves)
        for split in range(begin, end):
            left, right = int(trees.left_child[split]), int(trees.right_child[split])
            place = places[columns[split]]
            if columns[split].categories is not None:
                nodes.add(place, _INSIDE, right, left, False)  # at most 0.5 is outside, and goes right
            else:
                threshold = float(trees.threshold[split])
                nodes.add(place, threshold, left, right, _missing_goes_left(int(trees.decision_type[split]), threshold))
    return {
        "aggregate_function": _SUM,
        "post_transform": _NO_TRANSFORM,
        "n_targets": 1,
        "tree_roots": nodes.roots,
        "nodes_featureids": nodes.columns,
        "nodes_modes": numpy_helper.from_array(np.full(len(nodes.columns), _AT_MOST, dtype=np.uint8)),
        "nodes_splits": numpy_helper.from_array(np.array(nodes.splits, dtype=np.float64)),
        "nodes_truenodeids": nodes.true_ids,
        "nodes_trueleafs": nodes.true_is_leaf,
        "nodes_falsenodeids": nodes.false_ids,
        "nodes_falseleafs": nodes.false_is_leaf,
        "nodes_missing_value_tracks_true": nodes.missing_is_true,
        "leaf_targetids": [0] * len(nodes.leaves),
        "leaf_weights": numpy_helper.from_array(np.array(nodes.leaves, dtype=np.float64)),
    }


class _Nodes:
    """Splits and leaves of all trees, as the operator counts them: from the first tree on."""

    def __init__(self) -> None:
        self.roots: list[int] = []
        self.columns: list[int] = []
        self.splits: list[float] = []
        self.true_ids: list[int] = []
        self.true_is_leaf: list[int] = []
        self.false_ids: list[int] = []
        self.false_is_leaf: list[int] = []
        self.missing_is_true: list[int] = []
        self.leaves: list[float] = []
        self._first_leaf = 0

    def begin_tree(self, leaves: npt.NDArray[np.float64]) -> None:
        """Take the leaves of a tree, whose splits come next, the root first."""
        self.roots.append(len(self.columns))
        self._first_leaf = len(self.leaves)
        self.leaves.extend(leaves.tolist())

    def add(self, column: int, split: float, if_true: int, if_false: int, missing_is_true: bool) -> None:
        """Take a split; its children are splits of the tree, counted from its root, or ``~leaf``."""
        self.columns.append(column)
        self.splits.append(split)
        self.missing_is_true.append(int(missing_is_true))
        for child, ids, is_leaf in (
            (if_true, self.true_ids, self.true_is_leaf),
            (if_false, self.false_ids, self.false_is_leaf),
        ):
            ids.append(self._first_leaf + ~child if child < 0 else self.roots[-1] + child)
            is_leaf.append(int(child < 0))

    def add_constant(self, value: float) -> None:
        """Take a tree without splits: the operator wants one, and either way leads to the same value."""
        self.begin_tree(np.array([value, value]))
        self.add(0, 0.0, ~0, ~1, False)


def _column(trees: Trees, split: int) -> SplitColumn:
    feature, decision = int(trees.split_feature[split]), int(trees.decision_type[split])
    if decision & _CATEGORICAL:
        number = int(trees.threshold[split])
        begin, end = trees.category_offsets[number], trees.category_offsets[number + 1]
        words = trees.category_words[begin:end].astype("<u4")
        return SplitColumn(feature, words.tobytes().rstrip(b"\0"))
    return SplitColumn(feature, zero_is_missing=decision >> 2 == _ZERO_IS_MISSING)


def _missing_goes_left(decision: int, threshold: float) -> bool:
    if decision >> 2 in (_NAN_IS_MISSING, _ZERO_IS_MISSING):
        return bool(decision & _MISSING_LEFT)
    return threshold >= 0.0  # LightGBM reads a missing value as 0 here


_LIGHTGBM_ZERO = float(np.float32(1e-35))  # as in src/native/forest.cpp


class FeatureColumns:
    """The features as columns: numbers as doubles, categories as codes. Each is made when first asked for."""

    def __init__(self, builder: GraphBuilder, inputs: tuple[GraphInput, ...]) -> None:
        self._builder = builder
        self._inputs = inputs
        self._made: dict[SplitColumn | int, str] = {}
        for graph_input in inputs:
            builder.add_input(graph_input.name, element_type(graph_input))

    def sum_of_trees(self, trees: Trees, logits: str) -> str:
        """What trees add to the logits, a column."""
        if not trees.n_trees:
            return self._builder.number(0.0)
        columns = columns_of(trees)
        of_sets = sorted({c for c in columns if c.categories is not None}, key=lambda c: (c.feature, c.categories))
        of_numbers = [c for c in dict.fromkeys(columns) if c.categories is None]
        parts = [self._numbers(column, logits) for column in of_numbers]
        if of_sets:
            parts.append(self._members(of_sets))
        places = {column: place for place, column in enumerate([*of_numbers, *of_sets])}
        # Trees without any splits need a column all the same.
        matrix = self._builder.beside(parts or [logits])
        attributes = tree_attributes(trees, columns, places)
        return self._builder.node("TreeEnsemble", matrix, domain=ML_DOMAIN, **attributes)

    def _numbers(self, column: SplitColumn, logits: str) -> str:
        builder = self._builder
        is_logit = column.feature == len(self._inputs)
        if column in self._made:
            return self._made[column]
        if column.zero_is_missing:
            numbers = self._numbers(SplitColumn(column.feature), logits)
            is_zero = builder.node("LessOrEqual", builder.node("Abs", numbers), builder.number(_LIGHTGBM_ZERO))
            made = builder.node("Where", is_zero, builder.number(float("nan")), numbers)
        elif is_logit:
            made = logits
        else:
            made = builder.column(builder.doubles(self._inputs[column.feature].name))
        if not is_logit:  # which is another one in each round
            self._made[column] = made
        return made

    def _members(self, columns: list[SplitColumn]) -> str:
        """A column per set: 1 for rows whose category is in it, 0 for all others."""
        builder = self._builder
        parts = []
        for feature in sorted({column.feature for column in columns}):
            own = [column for column in columns if column.feature == feature]
            table = builder.constant(sets_of(own, self._n_categories(feature)))
            parts.append(builder.node("Gather", table, self._codes(feature), axis=0))
        return builder.doubles(builder.beside(parts))

    def _codes(self, feature: int) -> str:
        """The codes of the rows' categories; one more than the last for what is missing or unseen."""
        if feature not in self._made:
            self._made[feature] = self._encoded(self._inputs[feature], self._n_categories(feature))
        return self._made[feature]

    def _encoded(self, graph_input: GraphInput, n_categories: int) -> str:
        from onnx import TensorProto, helper, numpy_helper

        assert graph_input.feature is not None
        categories = graph_input.feature.categories or ()
        if graph_input.element == "string":
            values = graph_input.name
            texts = [category.encode("utf-8") for category in categories]
            keys = helper.make_tensor("keys", TensorProto.STRING, [len(texts)], texts)
        else:
            values = self._builder.doubles(graph_input.name)
            keys = numpy_helper.from_array(np.array([float(category) for category in categories], dtype=np.float64))
        return self._builder.node(
            "LabelEncoder",
            values,
            domain=ML_DOMAIN,
            keys_tensor=keys,
            values_tensor=numpy_helper.from_array(np.arange(n_categories, dtype=np.int64)),
            default_tensor=numpy_helper.from_array(np.array([n_categories], dtype=np.int64)),
        )

    def _n_categories(self, feature: int) -> int:
        of_feature = self._inputs[feature].feature
        assert of_feature is not None
        return len(of_feature.categories or ())


def element_type(graph_input: GraphInput) -> int:
    """ONNX's number for the type of an input."""
    from onnx import TensorProto

    types = {"string": TensorProto.STRING, "float32": TensorProto.FLOAT, "float64": TensorProto.DOUBLE}
    return int(types[graph_input.element])
