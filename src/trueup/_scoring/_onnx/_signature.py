"""What goes into an ONNX graph and what comes out, and which features can't."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from trueup._data import CalibrationTable
from trueup._features import FeatureCodes
from trueup._model import CalibrationModel, Feature, ValueKind
from trueup.errors import ExportError, ParameterError

FloatType = Literal["float64", "float32"]
FLOAT_TYPES: tuple[FloatType, ...] = ("float64", "float32")
_EXPRESSED = (ValueKind.STRING, ValueKind.NUMBER, ValueKind.BOOLEAN, ValueKind.EMPTY)
_SHOWN_REASONS = 8


@dataclass(frozen=True)
class GraphInput:
    """An input of the graph, of one value per row.

    Attributes
    ----------
    name : str
        Its name: the feature's own.
    element : str
        What its values are: ``"string"``, ``"float64"`` or ``"float32"``.
    feature : Feature or None
        The feature that it holds; None for the base score.
    """

    name: str
    element: str
    feature: Feature | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Signature:
    """The inputs and the output of the graph."""

    features: tuple[GraphInput, ...]
    score: GraphInput | None  # None for a model that was fitted without
    output: str
    missing_text: str  # stands for a missing string; no feature has it as a category

    @property
    def inputs(self) -> tuple[GraphInput, ...]:
        """All inputs, the features first."""
        return self.features if self.score is None else (*self.features, self.score)


def plan_signature(model: CalibrationModel, float_type: FloatType) -> Signature:
    """The inputs and the output for a model; `ExportError` if ONNX can't express some of its features."""
    if float_type not in FLOAT_TYPES:
        raise ParameterError(f"float_type must be one of {', '.join(FLOAT_TYPES)}, got {float_type!r}.")
    features = model.features.features
    problems = {feature.name: _problem(feature, float_type) for feature in features}
    _refuse([f"{name!r}: {problem}" for name, problem in problems.items() if problem], len(features))
    names = {feature.name for feature in features}
    score = None
    if model.base_rate is None:
        score = GraphInput(free_name(model.features.score_column or "score", names), float_type)
        names.add(score.name)
    inputs = tuple(GraphInput(feature.name, _element(feature, float_type), feature) for feature in features)
    if not inputs and score is None:
        raise ExportError(
            "The model has neither features nor scores to start from: it gives every row the same probability, and a "
            "graph without inputs can't know the number of rows."
        )
    return Signature(inputs, score, free_name("calibrated", names), _missing_text(features))


def feeds_of_table(signature: Signature, table: CalibrationTable, scores: Any) -> dict[str, npt.NDArray[Any]]:
    """The inputs of the graph for the rows of a table, and their base scores if it takes any."""
    feeds: dict[str, npt.NDArray[Any]] = {}
    for graph_input in signature.features:
        assert graph_input.feature is not None
        column = table.column(graph_input.feature.name)
        FeatureCodes(graph_input.feature).encode(column)  # refuses a column of another kind than at fit
        if graph_input.element == "string":
            texts = (value if isinstance(value, str) else signature.missing_text for value in column.objects())
            feeds[graph_input.name] = np.fromiter(texts, dtype=object, count=len(column))
        else:
            feeds[graph_input.name] = _floats(column.floats(), graph_input)
    if signature.score is not None:
        feeds[signature.score.name] = _floats(np.asarray(scores, dtype=np.float64), signature.score)
    return feeds


def _floats(values: npt.NDArray[np.float64], graph_input: GraphInput) -> npt.NDArray[Any]:
    with np.errstate(over="ignore"):  # beyond the largest float32 is infinity, which compares as it should
        return values.astype(graph_input.element)


def _element(feature: Feature, float_type: FloatType) -> str:
    return "string" if feature.is_categorical and feature.kind in (ValueKind.STRING, ValueKind.EMPTY) else float_type


def _problem(feature: Feature, float_type: FloatType) -> str | None:
    """Why ONNX can't express a feature; None if it can."""
    if not feature.name:
        return "an input of a graph must have a name"
    if not _is_utf8(feature.name):
        return "its name is not valid Unicode"
    if feature.kind not in _EXPRESSED:
        return f"its categories are {feature.kind.value}, which no ONNX tensor can hold"
    for category in feature.categories or ():
        if isinstance(category, str) and not _is_utf8(category):
            return f"the category {category!r} is not valid Unicode"
        if not isinstance(category, str) and not _is_exact(category, float_type):
            return f"the category {category!r} is not exactly a {float_type}"
    return None


def _is_utf8(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _is_exact(category: Any, float_type: FloatType) -> bool:
    try:
        with np.errstate(over="ignore"):
            return bool(float(np.array(float(category)).astype(float_type)) == category)
    except OverflowError:
        return False


def _refuse(reasons: list[str], n_features: int) -> None:
    if not reasons:
        return
    more = f"; and {len(reasons) - _SHOWN_REASONS} more" if len(reasons) > _SHOWN_REASONS else ""
    raise ExportError(
        f"ONNX can't express {len(reasons)} of {n_features} features: {'; '.join(reasons[:_SHOWN_REASONS])}{more}. "
        "Fit with strings or numbers instead, or without these features."
    )


def free_name(name: str, taken: Iterable[str]) -> str:
    """The name, with underscores until nothing else has it."""
    while name in taken:
        name += "_"
    return name


def _missing_text(features: Iterable[Feature]) -> str:
    """The empty string; where that is a category, a text that is none."""
    known = {category for feature in features for category in feature.categories or () if isinstance(category, str)}
    return "" if "" not in known else free_name("<missing>", known)
