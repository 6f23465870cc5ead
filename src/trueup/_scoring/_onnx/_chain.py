"""A model as an ONNX graph: the formulas of `trueup._scoring`, in ONNX's operators and in doubles."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from trueup import _native
from trueup._model import CalibrationModel, FittedRound, KnotMap, LogitMap, ScoreMap, Trees
from trueup._scoring._onnx._graph import ML_DOMAIN, GraphBuilder
from trueup._scoring._onnx._signature import Signature
from trueup._scoring._onnx._trees import FeatureColumns, columns_of, element_type, tree_attributes


def build_graph(model: CalibrationModel, signature: Signature) -> Any:
    """The ONNX model."""
    builder = GraphBuilder([*(graph_input.name for graph_input in signature.inputs), signature.output])
    features = FeatureColumns(builder, signature.features)
    scores = _base_scores(builder, model, signature)
    mapped = _mapped(builder, model.score_map, scores)
    calibrated = _rounds(builder, features, model.rounds, mapped)
    return builder.model(calibrated, signature.output)


def _base_scores(builder: GraphBuilder, model: CalibrationModel, signature: Signature) -> str:
    """The base scores as a column; NaN where one is missing or no probability, for a graph can't raise an error."""
    if signature.score is not None:
        scores = builder.column(builder.doubles(builder.add_input(signature.score.name, element_type(signature.score))))
        inside = builder.node(
            "And",
            builder.node("GreaterOrEqual", scores, builder.number(0.0)),
            builder.node("LessOrEqual", scores, builder.number(1.0)),
        )
        return builder.node("Where", inside, scores, builder.number(float("nan")))
    assert model.base_rate is not None
    n_rows = builder.node("Shape", signature.features[0].name)
    shape = builder.node("Concat", n_rows, builder.constant(np.array([1], dtype=np.int64)), axis=0)
    return builder.node("Expand", builder.number(model.base_rate), shape)


def _rounds(builder: GraphBuilder, features: FeatureColumns, rounds: Iterable[FittedRound], scores: str) -> str:
    """The probabilities after all rounds; without any, the scores as they are."""
    if not (rounds := tuple(rounds)):
        return builder.node("Identity", scores)
    logits = _logit(builder, scores)
    for fitted in rounds:
        moved = builder.node("Add", logits, features.sum_of_trees(fitted.trees, logits))
        logits = builder.node("Mul", builder.number(fitted.theta), moved)
    return _sigmoid(builder, logits)


def _logit(builder: GraphBuilder, scores: str) -> str:
    inner = builder.clamp(scores, _native.LOWEST_SCORE, _native.HIGHEST_SCORE)
    odds = builder.node("Div", inner, builder.node("Sub", builder.number(1.0), inner))
    return builder.node("Log", odds)


def _sigmoid(builder: GraphBuilder, logits: str) -> str:
    """With an exponential that can't overflow: of minus the distance from zero."""
    small = builder.node("Exp", builder.node("Neg", builder.node("Abs", logits)))
    is_negative = builder.node("Less", logits, builder.number(0.0))
    above = builder.node("Where", is_negative, small, builder.number(1.0))
    return builder.node("Div", above, builder.node("Add", builder.number(1.0), small))


def _mapped(builder: GraphBuilder, score_map: ScoreMap | None, scores: str) -> str:
    """The scores after the map, as `trueup._scoring` has it."""
    if isinstance(score_map, KnotMap):
        return _knots(builder, score_map, scores)
    return scores if score_map is None else _sigmoid(builder, _mapped_logits(builder, score_map, scores))


def _mapped_logits(builder: GraphBuilder, score_map: LogitMap, scores: str) -> str:
    logits = _logit(builder, scores)
    mapped = builder.node("Mul", builder.number(score_map.slope), logits)
    if score_map.bend:
        square = builder.node("Mul", builder.number(score_map.bend), builder.node("Mul", logits, logits))
        mapped = builder.node("Add", mapped, square)
    if score_map.tilt:
        # ln(sigmoid(l)) = min(l, 0) - ln(1 + exp(-|l|)), which can't overflow
        small = builder.node("Exp", builder.node("Neg", builder.node("Abs", logits)))
        tail = builder.node("Log", builder.node("Add", builder.number(1.0), small))
        log_sigmoid = builder.node("Sub", builder.node("Min", logits, builder.number(0.0)), tail)
        mapped = builder.node("Add", mapped, builder.node("Mul", builder.number(score_map.tilt), log_sigmoid))
    return builder.node("Add", mapped, builder.number(score_map.shift))


def _knots(builder: GraphBuilder, body: KnotMap, scores: str) -> str:
    """Straight lines between the knots, as `numpy.interp` has them: ``slope * (score - knot) + value``."""
    knots, values = body.scores, body.values
    with np.errstate(divide="ignore", invalid="ignore"):  # knots may coincide, and then no score lies between
        slopes = np.diff(values) / np.diff(knots)
    place = _number_of_knots_up_to(builder, knots, scores)
    starts = builder.node("Gather", builder.constant(np.concatenate([knots[:1], knots])), place)
    heights = builder.node("Gather", builder.constant(np.concatenate([values[:1], values])), place)
    slopes = np.concatenate([[0.0], np.where(np.isfinite(slopes), slopes, 0.0), [0.0]])
    rise = builder.node(
        "Mul", builder.node("Gather", builder.constant(slopes), place), builder.node("Sub", scores, starts)
    )
    return builder.node("Add", rise, heights)


def _number_of_knots_up_to(builder: GraphBuilder, knots: np.ndarray[Any, Any], scores: str) -> str:
    """How many knots are at most each score, found by halving."""
    from onnx import TensorProto

    tree = _halving_tree(knots)
    columns = columns_of(tree)
    found = builder.node("TreeEnsemble", scores, domain=ML_DOMAIN, **tree_attributes(tree, columns, {columns[0]: 0}))
    return builder.node("Cast", found, to=TensorProto.INT64)


def _halving_tree(knots: np.ndarray[Any, Any]) -> Trees:
    """A tree over one number whose leaf is how many of the knots are at most that number."""
    # Numbers go left if they are at most the threshold, and a knot itself is to go right.
    thresholds: list[float] = []
    left: list[int] = []
    right: list[int] = []
    ends = [(0, len(knots))]
    for low, high in ends:  # grows as it is walked: splits are numbered from the root on
        middle = (low + high) // 2
        thresholds.append(np.nextafter(knots[middle], -np.inf))
        for begin, end, children in ((low, middle, left), (middle + 1, high, right)):
            if begin == end:
                children.append(~begin)
            else:
                children.append(len(ends))
                ends.append((begin, end))
    n = len(knots)
    return Trees(
        node_offsets=np.array([0, n], np.int32),
        split_feature=np.zeros(n, np.int32),
        threshold=np.array(thresholds, dtype=np.float64),
        decision_type=np.full(n, 2 << 2, np.uint8),  # only NaN is missing, and it goes right
        left_child=np.array(left, np.int32),
        right_child=np.array(right, np.int32),
        leaf_values=np.arange(n + 1, dtype=np.float64),
        category_offsets=np.zeros(1, np.int32),
        category_words=np.zeros(0, np.uint32),
    )
