"""The manifest of a model file: everything but the arrays, as JSON, and back with every field checked."""

from __future__ import annotations

import datetime as dt
import decimal
import operator
import reprlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from trueup._model._model import (
    CalibrationModel,
    Feature,
    FeatureSpec,
    FittedRound,
    KnotMap,
    LogitMap,
    RoundRecord,
    TrainingSummary,
    ValueKind,
    map_entry,
    read_map,
)
from trueup._model._trees import ARRAY_TYPES, Trees
from trueup._model._values import (
    LARGEST_NUMBER,
    counted,
    encode_value,
    exactly,
    fields_of,
    finite,
    finite_or_nan,
    none_if_nan,
    plain_value,
    value_of,
)

FORMAT = 1
MAX_ROUNDS = 5_000
MAX_PARITY_ROWS = 100
_MAX_DEPTH = 20  # of the parameters
_MAX_EQUAL_HASHES = 50  # more of them are no accident, and would make a dictionary crawl
_MAX_BASE_LOGIT = 709.0  # of the smallest score that has a logit
_MAX_LOGIT = 1e300

Arrays: TypeAlias = Mapping[str, npt.NDArray[Any]]
_KNOTS = ("score_map/scores", "score_map/values")
_SUMMARY_FIELDS = ("n_rows", "positive_rate", "history", "gains", "parameters", "versions")
# Seconds are left out: the same fit gives the same file.
_HISTORY_FIELDS = ("train_loss", "validation_loss", "theta", "logit_change", "phi", "alpha_bound")
_FIELDS = (
    "format", "columns", "named", "score_column", "features", "score_map", "rounds", "base_rate", "classes", "summary",
    "parity",
)  # fmt: skip

_TYPES_OF_KIND: dict[ValueKind, tuple[type, ...]] = {
    ValueKind.NUMBER: (int, float, decimal.Decimal),
    ValueKind.STRING: (str,),
    ValueKind.BOOLEAN: (bool,),
    ValueKind.DATE: (dt.date,),
    ValueKind.DATETIME: (dt.datetime,),
    ValueKind.EMPTY: (),
}


@dataclass(frozen=True)
class ParityRows:
    """A few made-up rows with the probabilities that they must get."""

    rows: tuple[tuple[Any, ...], ...]  # a value per feature, None where it is missing
    scores: tuple[float, ...]
    expected: tuple[float, ...]


def manifest_from_model(model: CalibrationModel, parity: ParityRows) -> dict[str, Any]:
    """Everything but the arrays, as JSON holds it."""
    spec, summary = model.features, model.summary
    history = [{name: none_if_nan(getattr(record, name)) for name in _HISTORY_FIELDS} for record in summary.history]
    return {
        "format": FORMAT,
        "columns": list(spec.columns),
        "named": spec.named,
        "score_column": spec.score_column,
        "features": [
            {
                "name": feature.name,
                "kind": feature.kind.name,
                "categories": None if feature.categories is None else list(map(encode_value, feature.categories)),
            }
            for feature in spec.features
        ],
        "score_map": map_entry(model.score_map),
        "rounds": [{"n_trees": fitted.trees.n_trees, "theta": fitted.theta} for fitted in model.rounds],
        "base_rate": model.base_rate,
        "classes": list(map(encode_value, model.classes)),
        "summary": {
            "n_rows": summary.n_rows,
            "positive_rate": none_if_nan(summary.positive_rate),
            "history": history,
            "gains": list(summary.gains),
            "parameters": dict(summary.parameters),
            "versions": dict(summary.versions),
        },
        "parity": {
            "rows": [list(map(encode_value, row)) for row in parity.rows],
            "scores": list(parity.scores),
            "expected": list(parity.expected),
        },
    }


def array_types(manifest: dict[str, Any]) -> dict[str, np.dtype[Any]]:
    """The arrays that belong to a manifest, by the names of their parts of the file."""
    types = {f"trees/{name}": dtype for name, dtype in ARRAY_TYPES.items()}
    score_map = manifest.get("score_map")
    if type(score_map) is dict and score_map.get("form") == "knots":
        types |= dict.fromkeys(_KNOTS, ARRAY_TYPES["leaf_values"])
    return types


def arrays_of(model: CalibrationModel) -> Arrays:
    """The arrays of a model, by the names of their parts of the file."""
    trees = Trees.concatenate([fitted.trees for fitted in model.rounds]).arrays()
    arrays: dict[str, npt.NDArray[Any]] = {f"trees/{name}": array for name, array in trees.items()}
    if isinstance(model.score_map, KnotMap):
        arrays |= zip(_KNOTS, (model.score_map.scores, model.score_map.values), strict=True)
    return arrays


def model_from_manifest(manifest: dict[str, Any], arrays: Arrays) -> tuple[CalibrationModel, ParityRows]:
    """The model and its parity rows; a built-in error if a field is not what `manifest_from_model` writes."""
    manifest = fields_of(manifest, _FIELDS)
    spec = _read_spec(manifest)
    base_rate = None if manifest["base_rate"] is None else finite(manifest["base_rate"])
    if base_rate is not None and not 0 <= base_rate <= 1:
        raise ValueError("the base rate is not a probability")
    classes = _classes(exactly(list, manifest["classes"]))
    summary = _summary(manifest["summary"], len(spec.features))
    score_map = read_map(manifest["score_map"], arrays.get(_KNOTS[0]), arrays.get(_KNOTS[1]))
    trees = Trees(**{name: arrays[f"trees/{name}"] for name in ARRAY_TYPES})
    largest = score_map.largest(_MAX_BASE_LOGIT) if isinstance(score_map, LogitMap) else _MAX_BASE_LOGIT
    rounds = _read_rounds(manifest["rounds"], trees, largest)
    model = CalibrationModel(spec, rounds, base_rate, classes, summary, score_map)
    return model, _read_parity(manifest["parity"], len(spec.features))


def _read_spec(manifest: dict[str, Any]) -> FeatureSpec:
    features = tuple(_read_feature(entry) for entry in exactly(list, manifest["features"]))
    columns = tuple(exactly(str, name) for name in exactly(list, manifest["columns"]))
    score_column = manifest["score_column"]
    names = {feature.name for feature in features}
    if len(set(columns)) != len(columns) or len(names) != len(features) or not names <= set(columns):
        raise ValueError("the names of columns and features don't fit together")
    if score_column is not None and exactly(str, score_column) not in set(columns) - names:
        raise ValueError("the score column is no column, or a feature too")
    return FeatureSpec(columns, features, exactly(bool, manifest["named"]), score_column)


def _read_feature(entry: Any) -> Feature:
    entry = fields_of(entry, ("name", "kind", "categories"))
    name, kind_name = exactly(str, entry["name"]), exactly(str, entry["kind"])
    if kind_name not in ValueKind.__members__:
        raise ValueError(f"{reprlib.repr(kind_name)} is no kind of value")
    kind = ValueKind[kind_name]
    if entry["categories"] is not None:
        return Feature(name, kind, _categories(kind, exactly(list, entry["categories"])))
    if kind is not ValueKind.NUMBER:
        raise ValueError("a numerical feature must hold numbers")
    return Feature(name, kind)


def _categories(kind: ValueKind, encoded: list[Any]) -> tuple[Any, ...]:
    """The categories of a feature: distinct, of the kind's types, and in the order that bisection needs."""
    values = tuple(map(value_of, encoded))
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
    classes = tuple(map(value_of, encoded))
    for label in classes:
        if type(label) in (int, float):
            finite(label)
    # Negative first, which need not be the lesser; but one of them must be, for scikit-learn sorts them.
    if len(classes) != 2 or None in classes or not (classes[0] < classes[1] or classes[1] < classes[0]):
        raise ValueError("there must be two different classes that can be sorted")
    return classes


def _read_rounds(written: Any, trees: Trees, largest_logit: float) -> tuple[FittedRound, ...]:
    """The rounds, each with its own part of the trees; they begin with logits up to that size."""
    entries = exactly(list, written)
    _check_slices(trees)
    if len(entries) > MAX_ROUNDS:
        raise ValueError(f"there are {len(entries):,} rounds, and {MAX_ROUNDS:,} is the limit")
    rounds, first = [], 0
    for entry in entries:
        round_ = fields_of(entry, ("n_trees", "theta"))
        theta, last = finite(round_["theta"]), first + counted(round_["n_trees"])
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
    of_sets = (trees.decision_type & 1).astype(bool)
    # Infinity parts all numbers from what is missing. Beyond where a table's numbers are cut, a row would go elsewhere.
    numbers = trees.threshold[~of_sets]
    beyond = ~((numbers >= -LARGEST_NUMBER) & (numbers < LARGEST_NUMBER)) & (numbers != np.inf)
    if beyond.any():
        raise ValueError(f"{int(beyond.sum()):,} thresholds are not numbers within ±{LARGEST_NUMBER:g}")
    # A set that many rounds share would be copied into each: a small file could ask for any amount of memory.
    named_sets = np.sort(trees.threshold[of_sets])
    if not np.array_equal(named_sets, np.arange(len(trees.category_offsets) - 1)):
        raise ValueError("each set of categories must be that of one split")


def _summary(entry: Any, n_features: int) -> TrainingSummary:
    entry = fields_of(entry, _SUMMARY_FIELDS)
    records = [fields_of(record, _HISTORY_FIELDS) for record in exactly(list, entry["history"])]
    history = tuple(
        RoundRecord(number, **{name: finite_or_nan(record[name]) for name in _HISTORY_FIELDS})
        for number, record in enumerate(records)
    )
    gains = tuple(finite(gain) for gain in exactly(list, entry["gains"]))
    if len(gains) not in (0, n_features + 1):
        raise ValueError("there must be one gain a feature, and one for the logit")
    _check_depth(exactly(dict, entry["parameters"]).values(), _MAX_DEPTH)
    return TrainingSummary(
        n_rows=counted(entry["n_rows"]),
        positive_rate=finite_or_nan(entry["positive_rate"]),
        history=history,
        gains=gains,
        parameters=entry["parameters"],
        versions={name: exactly(str, version) for name, version in exactly(dict, entry["versions"]).items()},
    )


def _check_depth(values: Iterable[Any], levels: int) -> None:
    """Refuse lists in lists in lists: what walks through them later would run out of stack."""
    if levels == 0:
        raise ValueError(f"the parameters are nested more than {_MAX_DEPTH} levels deep")
    for value in values:
        if isinstance(value, (list, dict)):
            _check_depth(value.values() if isinstance(value, dict) else value, levels - 1)


def _read_parity(entry: Any, n_values: int) -> ParityRows:
    entry = fields_of(entry, ("rows", "scores", "expected"))
    rows = tuple(tuple(map(value_of, exactly(list, row))) for row in exactly(list, entry["rows"]))
    scores = tuple(finite(score) for score in exactly(list, entry["scores"]))
    expected = tuple(finite(value) for value in exactly(list, entry["expected"]))
    if not 1 <= len(rows) <= MAX_PARITY_ROWS or not len(rows) == len(scores) == len(expected):
        raise ValueError(f"there must be 1 to {MAX_PARITY_ROWS} parity rows, each with a score and a probability")
    if any(len(row) != n_values for row in rows):
        raise ValueError("a parity row must have one value per feature")
    return ParityRows(rows, scores, expected)
