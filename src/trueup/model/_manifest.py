"""The manifest of a model file: everything but the trees, as JSON, and back with every field checked."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from trueup.model._features import Feature, FeatureSpec, ValueKind
from trueup.model._model import CalibrationModel, FittedRound, RoundRecord, TrainingSummary
from trueup.model._trees import Trees
from trueup.model._values import decode_value, encode_value

__all__ = ["FORMAT", "ParityRows", "manifest_from_model", "model_from_manifest"]

FORMAT = 1

# Seconds are left out: the same fit gives the same file.
_HISTORY_FIELDS = ("train_loss", "validation_loss", "theta", "logit_change", "phi", "alpha_bound")

T = TypeVar("T")


@dataclass(frozen=True)
class ParityRows:
    """A few made-up rows with the probabilities that they must get.

    Attributes
    ----------
    rows : tuple of tuple
        A value for each feature, None where it is missing.
    scores : tuple of float
        The base score of each row.
    expected : tuple of float
        The calibrated probability of each row.
    """

    rows: tuple[tuple[Any, ...], ...]
    scores: tuple[float, ...]
    expected: tuple[float, ...]


def manifest_from_model(model: CalibrationModel, parity: ParityRows) -> dict[str, Any]:
    """Everything but the trees, as JSON holds it."""
    spec, summary = model.features, model.summary
    return {
        "format": FORMAT,
        "columns": list(spec.columns),
        "named": spec.named,
        "score_column": spec.score_column,
        "features": [
            {
                "name": feature.name,
                "kind": feature.kind.name,
                "categories": None if feature.categories is None else [encode_value(v) for v in feature.categories],
            }
            for feature in spec.features
        ],
        "rounds": [{"n_trees": fitted.trees.n_trees, "theta": fitted.theta} for fitted in model.rounds],
        "base_rate": model.base_rate,
        "classes": [encode_value(label) for label in model.classes],
        "summary": {
            "n_rows": summary.n_rows,
            "positive_rate": _none_if_nan(summary.positive_rate),
            "history": [
                {name: _none_if_nan(getattr(record, name)) for name in _HISTORY_FIELDS} for record in summary.history
            ],
            "gains": list(summary.gains),
            "parameters": dict(summary.parameters),
            "versions": dict(summary.versions),
        },
        "parity": {
            "rows": [[encode_value(value) for value in row] for row in parity.rows],
            "scores": list(parity.scores),
            "expected": list(parity.expected),
        },
    }


def model_from_manifest(manifest: Mapping[str, Any], trees: Trees) -> tuple[CalibrationModel, ParityRows]:
    """The model and its parity rows; `TypeError`, `ValueError` or `KeyError` if a field is not what it should be."""
    features = tuple(_feature(entry) for entry in _a(list, manifest["features"]))
    columns = tuple(_a(str, name) for name in _a(list, manifest["columns"]))
    score_column = manifest["score_column"]
    names = [feature.name for feature in features]
    if len(set(columns)) != len(columns) or len(set(names)) != len(names) or not set(names) <= set(columns):
        raise ValueError("the names of columns and features don't fit together")
    if score_column is not None and _a(str, score_column) in names:
        raise ValueError("the score column is a feature too")
    spec = FeatureSpec(columns, features, _a(bool, manifest["named"]), score_column)
    base_rate = manifest["base_rate"]
    if base_rate is not None and not 0 <= _number(base_rate) <= 1:
        raise ValueError("the base rate is not a probability")
    classes = tuple(decode_value(label) for label in _a(list, manifest["classes"]))
    if len(classes) != 2:
        raise ValueError("there must be two classes")
    summary = _summary(_a(dict, manifest["summary"]), len(features))
    model = CalibrationModel(spec, _rounds(manifest, trees), base_rate, classes, summary)
    return model, _parity(_a(dict, manifest["parity"]), len(features))


def _rounds(manifest: Mapping[str, Any], trees: Trees) -> tuple[FittedRound, ...]:
    """The rounds, each with its own part of the trees.

    The offsets that are sliced by are checked here; what is inside the slices is checked where trees are compiled.
    """
    offsets, sets = trees.node_offsets, trees.category_offsets
    for array in (offsets, sets):
        if len(array) == 0 or array[0] != 0 or (array[1:] < array[:-1]).any():
            raise ValueError("offsets must begin at 0 and not decrease")
    if offsets[-1] != trees.n_splits or sets[-1] != len(trees.category_words):
        raise ValueError("offsets must end where their arrays end")
    if len(trees.leaf_values) != trees.n_splits + trees.n_trees:
        raise ValueError("a tree must have one leaf more than splits")
    one_a_split = (trees.threshold, trees.decision_type, trees.left_child, trees.right_child)
    if any(len(array) != trees.n_splits for array in one_a_split):
        raise ValueError("the arrays of splits differ in length")
    named_sets = trees.threshold[(trees.decision_type & 1).astype(bool)]
    if not ((named_sets >= 0) & (named_sets < len(sets) - 1)).all():
        raise ValueError("a split names a set of categories that is not there")
    rounds, first = [], 0
    for entry in _a(list, manifest["rounds"]):
        last = first + _count(_a(dict, entry)["n_trees"])
        if last > trees.n_trees:
            raise ValueError("the rounds have more trees than there are")
        rounds.append(FittedRound(trees.slice(first, last), _number(entry["theta"])))
        first = last
    if first != trees.n_trees:
        raise ValueError("the rounds have fewer trees than there are")
    return tuple(rounds)


def _feature(entry: Any) -> Feature:
    encoded = _a(dict, entry)["categories"]
    kind = ValueKind[_a(str, entry["kind"])]
    if encoded is None:
        if kind is not ValueKind.NUMBER:
            raise ValueError("a numerical feature must hold numbers")
        return Feature(_a(str, entry["name"]), kind)
    categories = tuple(decode_value(value) for value in _a(list, encoded))
    if len({(type(value), value) for value in categories}) != len(categories):
        raise ValueError("a feature has the same category twice")
    return Feature(_a(str, entry["name"]), kind, categories)


def _summary(entry: Mapping[str, Any], n_features: int) -> TrainingSummary:
    history = tuple(
        RoundRecord(number, **{name: _number_or_nan(_a(dict, record)[name]) for name in _HISTORY_FIELDS})
        for number, record in enumerate(_a(list, entry["history"]))
    )
    gains = tuple(_number(gain) for gain in _a(list, entry["gains"]))
    if len(gains) not in (0, n_features + 1):
        raise ValueError("there must be one gain a feature, and one for the logit")
    versions = {_a(str, name): _a(str, version) for name, version in _a(dict, entry["versions"]).items()}
    return TrainingSummary(
        n_rows=_count(entry["n_rows"]),
        positive_rate=_number_or_nan(entry["positive_rate"]),
        history=history,
        gains=gains,
        parameters=_a(dict, entry["parameters"]),
        versions=versions,
    )


def _parity(entry: Mapping[str, Any], n_features: int) -> ParityRows:
    rows = tuple(tuple(decode_value(value) for value in _a(list, row)) for row in _a(list, entry["rows"]))
    scores = tuple(_number(score) for score in _a(list, entry["scores"]))
    expected = tuple(_number(value) for value in _a(list, entry["expected"]))
    if not rows or not len(rows) == len(scores) == len(expected) or any(len(row) != n_features for row in rows):
        raise ValueError("the parity rows are not whole")
    return ParityRows(rows, scores, expected)


def _a(kind: type[T], value: Any) -> T:
    if type(value) is not kind:
        raise TypeError(f"expected {kind.__name__}, found {type(value).__name__}")
    return value


def _count(value: Any) -> int:
    if _a(int, value) < 0:
        raise ValueError(f"{value} is not a count")
    return int(value)


def _number(value: Any) -> float:
    if type(value) not in (int, float) or not math.isfinite(value):
        raise ValueError(f"{value!r} is not a finite number")
    return float(value)


def _number_or_nan(value: Any) -> float:
    return math.nan if value is None else _number(value)


def _none_if_nan(value: float) -> float | None:
    return None if math.isnan(value) else value
