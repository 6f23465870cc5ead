"""The manifest of a model file: everything but the trees, as JSON, and back with every field checked."""

from __future__ import annotations

import datetime as dt
import math
import operator
import reprlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from trueup.model._features import Feature, FeatureSpec, ValueKind
from trueup.model._model import CalibrationModel, FittedRound, RoundRecord, TrainingSummary
from trueup.model._trees import Trees
from trueup.model._values import decode_value, encode_value, plain_value

__all__ = ["FORMAT", "ParityRows", "manifest_from_model", "model_from_manifest"]

FORMAT = 1
MAX_ROUNDS = 5_000
MAX_PARITY_ROWS = 100
_MAX_DEPTH = 20  # of the parameters
_MAX_EQUAL_HASHES = 50  # more of them are no accident, and would make a dictionary crawl
_MAX_BASE_LOGIT = 14.0  # scores are kept away from 0 and 1 by 1e-6
_MAX_LOGIT = 1e300

_SUMMARY_FIELDS = ("n_rows", "positive_rate", "history", "gains", "parameters", "versions")
# Seconds are left out: the same fit gives the same file.
_HISTORY_FIELDS = ("train_loss", "validation_loss", "theta", "logit_change", "phi", "alpha_bound")
_FIELDS = (
    "format", "columns", "named", "score_column", "features", "rounds", "base_rate", "classes", "summary",
    "parity",
)  # fmt: skip

_TYPES_OF_KIND: dict[ValueKind, tuple[type, ...]] = {
    ValueKind.NUMBER: (int, float),
    ValueKind.STRING: (str,),
    ValueKind.BOOLEAN: (bool,),
    ValueKind.DATE: (dt.date,),
    ValueKind.DATETIME: (dt.datetime,),
    ValueKind.EMPTY: (),
}

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
        "features": [_feature_entry(feature) for feature in spec.features],
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


def _feature_entry(feature: Feature) -> dict[str, Any]:
    categories = feature.categories
    encoded = None if categories is None else [encode_value(value) for value in categories]
    return {"name": feature.name, "kind": feature.kind.name, "categories": encoded}


def model_from_manifest(manifest: dict[str, Any], trees: Trees) -> tuple[CalibrationModel, ParityRows]:
    """The model and its parity rows; a built-in error if a field is not what `manifest_from_model` writes."""
    manifest = _record(manifest, _FIELDS)
    features = tuple(_feature(entry) for entry in _a(list, manifest["features"]))
    columns = tuple(_a(str, name) for name in _a(list, manifest["columns"]))
    score_column = manifest["score_column"]
    names = {feature.name for feature in features}
    if len(set(columns)) != len(columns) or len(names) != len(features) or not names <= set(columns):
        raise ValueError("the names of columns and features don't fit together")
    if score_column is not None and _a(str, score_column) not in set(columns) - names:
        raise ValueError("the score column is no column, or a feature too")
    spec = FeatureSpec(columns, features, _a(bool, manifest["named"]), score_column)
    base_rate = None if manifest["base_rate"] is None else _number(manifest["base_rate"])
    if base_rate is not None and not 0 <= base_rate <= 1:
        raise ValueError("the base rate is not a probability")
    classes = _classes(_a(list, manifest["classes"]))
    summary = _summary(manifest["summary"], len(features))
    model = CalibrationModel(spec, _rounds(_a(list, manifest["rounds"]), trees), base_rate, classes, summary)
    return model, _parity(manifest["parity"], len(features))


def _feature(entry: Any) -> Feature:
    entry = _record(entry, ("name", "kind", "categories"))
    name, kind_name = _a(str, entry["name"]), _a(str, entry["kind"])
    if kind_name not in ValueKind.__members__:
        raise ValueError(f"{reprlib.repr(kind_name)} is no kind of value")
    kind = ValueKind[kind_name]
    if entry["categories"] is not None:
        return Feature(name, kind, _categories(kind, _a(list, entry["categories"])))
    if kind is not ValueKind.NUMBER:
        raise ValueError("a numerical feature must hold numbers")
    return Feature(name, kind)


def _categories(kind: ValueKind, encoded: list[Any]) -> tuple[Any, ...]:
    """The categories of a feature: distinct, of the kind's types, and in the order that bisection needs."""
    values = tuple(map(_value, encoded))
    if kind is ValueKind.STRING:
        is_right = all(type(value) is str for value in values)
    else:
        types = _TYPES_OF_KIND.get(kind)
        is_right = all(_is_plain(value) and (types is None or type(value) in types) for value in values)
    if not is_right:
        raise ValueError(f"a feature of {kind.value} has categories that are something else")
    if kind is ValueKind.NUMBER:
        for value in values:
            float(value)  # an integer may be too large for that
    if max(Counter(map(hash, values)).values(), default=0) > _MAX_EQUAL_HASHES:
        raise ValueError("a feature has categories that were made to be looked up slowly")
    is_sorted = kind is ValueKind.MIXED or all(map(operator.lt, values, values[1:]))
    if not is_sorted or len(set(values)) < len(values):
        raise ValueError("categories must be sorted, and each must be there once")
    return values


def _is_plain(value: Any) -> bool:
    """Whether it is a value as tables give them: not missing, no whole float, no time with a zone."""
    plain = plain_value(value)
    return plain is not None and type(plain) is type(value) and bool(plain == value)


def _classes(encoded: list[Any]) -> tuple[Any, ...]:
    classes = tuple(map(_value, encoded))
    for label in classes:
        if type(label) in (int, float):
            _number(label)
    if len(classes) != 2 or None in classes or not classes[0] < classes[1]:
        raise ValueError("there must be two classes, in order")
    return classes


def _rounds(entries: list[Any], trees: Trees) -> tuple[FittedRound, ...]:
    """The rounds, each with its own part of the trees."""
    _check_slices(trees)
    if len(entries) > MAX_ROUNDS:
        raise ValueError(f"there are {len(entries):,} rounds, and {MAX_ROUNDS:,} is the limit")
    rounds, first, largest_logit = [], 0, _MAX_BASE_LOGIT
    for entry in entries:
        round_ = _record(entry, ("n_trees", "theta"))
        theta, last = _number(round_["theta"]), first + _count(round_["n_trees"])
        if last > trees.n_trees:
            raise ValueError("the rounds have more trees than there are")
        own = trees.slice(first, last)
        # Infinite logits could become NaN in a later round, so none may come about.
        largest_leaf = float(np.abs(own.leaf_values).max(initial=0.0))
        largest_logit = abs(theta) * (largest_logit + own.n_trees * largest_leaf)
        if not largest_logit < _MAX_LOGIT:
            raise ValueError("a leaf or a theta is NaN or too large: logits could become infinite")
        rounds.append(FittedRound(own, theta))
        first = last
    if first != trees.n_trees:
        raise ValueError("the rounds have fewer trees than there are")
    return tuple(rounds)


def _check_slices(trees: Trees) -> None:
    """Check all that slicing into rounds depends on; the rest is checked where trees are compiled."""
    for offsets in (trees.node_offsets, trees.category_offsets):
        if len(offsets) == 0 or offsets[0] != 0 or (offsets[1:] < offsets[:-1]).any():
            raise ValueError("offsets must begin at 0 and not decrease")
    if trees.node_offsets[-1] != trees.n_splits or trees.category_offsets[-1] != len(trees.category_words):
        raise ValueError("offsets must end where their arrays end")
    if len(trees.leaf_values) != trees.n_splits + trees.n_trees:
        raise ValueError("a tree must have one leaf more than splits")
    one_a_split = (trees.threshold, trees.decision_type, trees.left_child, trees.right_child)
    if any(len(array) != trees.n_splits for array in one_a_split):
        raise ValueError("the arrays of splits differ in length")
    # A set that many rounds share would be copied into each: a small file could ask for any amount of memory.
    named_sets = np.sort(trees.threshold[(trees.decision_type & 1).astype(bool)])
    if not np.array_equal(named_sets, np.arange(len(trees.category_offsets) - 1)):
        raise ValueError("each set of categories must be that of one split")


def _summary(entry: Any, n_features: int) -> TrainingSummary:
    entry = _record(entry, _SUMMARY_FIELDS)
    records = [_record(record, _HISTORY_FIELDS) for record in _a(list, entry["history"])]
    history = tuple(
        RoundRecord(number, **{name: _number_or_nan(record[name]) for name in _HISTORY_FIELDS})
        for number, record in enumerate(records)
    )
    gains = tuple(_number(gain) for gain in _a(list, entry["gains"]))
    if len(gains) not in (0, n_features + 1):
        raise ValueError("there must be one gain a feature, and one for the logit")
    _check_depth(_a(dict, entry["parameters"]).values(), _MAX_DEPTH)
    return TrainingSummary(
        n_rows=_count(entry["n_rows"]),
        positive_rate=_number_or_nan(entry["positive_rate"]),
        history=history,
        gains=gains,
        parameters=entry["parameters"],
        versions={name: _a(str, version) for name, version in _a(dict, entry["versions"]).items()},
    )


def _check_depth(values: Iterable[Any], levels: int) -> None:
    """Refuse lists in lists in lists: what walks through them later would run out of stack."""
    if levels == 0:
        raise ValueError(f"the parameters are nested more than {_MAX_DEPTH} levels deep")
    for value in values:
        if isinstance(value, (list, dict)):
            _check_depth(value.values() if isinstance(value, dict) else value, levels - 1)


def _parity(entry: Any, n_features: int) -> ParityRows:
    entry = _record(entry, ("rows", "scores", "expected"))
    rows = tuple(tuple(map(_value, _a(list, row))) for row in _a(list, entry["rows"]))
    scores = tuple(_number(score) for score in _a(list, entry["scores"]))
    expected = tuple(_number(value) for value in _a(list, entry["expected"]))
    if not 1 <= len(rows) <= MAX_PARITY_ROWS or not len(rows) == len(scores) == len(expected):
        raise ValueError(f"there must be 1 to {MAX_PARITY_ROWS} parity rows, each with a score and a probability")
    if any(len(row) != n_features for row in rows):
        raise ValueError("a parity row must have one value a feature")
    return ParityRows(rows, scores, expected)


def _record(entry: Any, names: tuple[str, ...]) -> dict[str, Any]:
    """An object with these fields and no others: what an unknown field means, only another version knows."""
    fields = _a(dict, entry)
    for name in names:
        if name not in fields:
            raise ValueError(f"the field {name!r} is missing")
    if len(fields) > len(names):
        unknown = next(name for name in fields if name not in names)
        raise ValueError(f"the field {reprlib.repr(unknown)} is unknown")
    return fields


def _value(encoded: Any) -> Any:
    """A value, if this is exactly what `encode_value` makes of it."""
    if encoded is None or type(encoded) in (str, int, float, bool):
        return encoded
    value = decode_value(_a(dict, encoded))
    if encode_value(value) != encoded:
        raise ValueError(f"{reprlib.repr(encoded)} is no value")
    return value


def _a(kind: type[T], value: Any) -> T:
    if type(value) is not kind:
        raise TypeError(f"expected {kind.__name__}, found {type(value).__name__}")
    return value


def _count(value: Any) -> int:
    if not 0 <= _a(int, value) < 2**63:
        raise ValueError(f"{reprlib.repr(value)} is not a count")
    return int(value)


def _number(value: Any) -> float:
    if type(value) not in (int, float) or not math.isfinite(value):
        raise ValueError(f"{reprlib.repr(value)} is not a finite number")
    return float(value)


def _number_or_nan(value: Any) -> float:
    return math.nan if value is None else _number(value)


def _none_if_nan(value: float) -> float | None:
    return None if math.isnan(value) else value
