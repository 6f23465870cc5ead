"""The features in an ONNX graph: numbers as doubles, categories as codes, and the matrix that trees look at."""

from __future__ import annotations

import numpy as np

from trueup._model import Trees
from trueup._scoring._onnx._graph import ML_DOMAIN, GraphBuilder
from trueup._scoring._onnx._signature import GraphInput
from trueup._scoring._onnx._trees import SplitColumn, columns_of, sets_of, tree_attributes

__all__ = ["FeatureColumns", "element_type"]

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
        """A column a set: 1 for rows whose category is in it, 0 for all others."""
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
