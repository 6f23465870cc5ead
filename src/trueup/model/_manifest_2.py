"""The manifest of format 2, which holds models of several kinds: as JSON, and back with every field checked."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from trueup.model._baselines import (
    BaselineBody,
    BaselineModel,
    CellUpdates,
    GroupRounds,
    LevelTrees,
    ScoreMap,
    number_of_bins,
)
from trueup.model._checked import exactly, fields_of, finite, value_of
from trueup.model._features import ValueKind
from trueup.model._groups import Group, GroupCondition, IsBetween, IsMissing, IsOneOf
from trueup.model._manifest import (
    MAX_ROUNDS,
    ParityRows,
    check_slices,
    feature_entry,
    fit_entries,
    parity_entry,
    read_feature,
    read_fit,
    read_parity,
    read_rounds,
    read_spec,
    round_entries,
    spec_entries,
)
from trueup.model._trees import ARRAY_TYPES, Trees
from trueup.model._values import encode_value

__all__ = [
    "ARRAYS_OF_KIND",
    "FORMAT_2",
    "arrays_of_body",
    "baseline_from_manifest",
    "kind_of_manifest",
    "manifest_from_baseline",
]

FORMAT_2 = 2
# Loading tries the parity rows, so each of these is a matter of seconds too.
MAX_GROUPS = 10_000
MAX_CONDITIONS = 10_000
MAX_UPDATES = 2**22
MAX_BINS = 2**16 - 1
_MAX_DELTA = 2.0

Arrays = Mapping[str, npt.NDArray[Any]]

_FLOATS, _INTS = ARRAY_TYPES["leaf_values"], ARRAY_TYPES["split_feature"]
# What each kind of model is called in a file, and the types of its arrays.
ARRAYS_OF_KIND: dict[str, dict[str, np.dtype[Any]]] = {
    "score_map": {"scores": _FLOATS, "values": _FLOATS},
    "cell_updates": {"group": _INTS, "bin": _INTS, "delta": _FLOATS, "bin_means": _FLOATS},
    "group_rounds": ARRAY_TYPES,
    "level_trees": ARRAY_TYPES,
}
_FIELDS = (
    "format", "kind", "columns", "named", "score_column", "features", "groups", "body", "base_rate", "classes",
    "summary", "parity",
)  # fmt: skip
_CONDITION_FIELDS: dict[str, tuple[str, ...]] = {
    "one_of": ("test", "values", "excluded", "or_missing"),
    "between": ("test", "column", "low", "high", "includes_low", "includes_high", "or_missing"),
    "missing": ("test", "column", "excluded"),
}


def manifest_from_baseline(model: BaselineModel, parity: ParityRows) -> dict[str, Any]:
    """Everything but the arrays, as JSON holds it."""
    return {
        "format": FORMAT_2,
        "kind": _kind_of_body(model.body),
        **spec_entries(model.features),
        "groups": [_group_entry(group) for group in model.groups],
        "body": _body_entry(model.body),
        **fit_entries(model.base_rate, model.classes, model.summary),
        "parity": parity_entry(parity),
    }


def arrays_of_body(body: BaselineBody) -> Arrays:
    """The arrays of a model, by the names that its kind has for them."""
    if isinstance(body, GroupRounds):
        return Trees.concatenate([fitted.trees for fitted in body.rounds]).arrays()
    if isinstance(body, LevelTrees):
        return body.trees.arrays()
    return {name: getattr(body, name) for name in ARRAYS_OF_KIND[_kind_of_body(body)]}


def kind_of_manifest(manifest: dict[str, Any]) -> str:
    """The kind of model that a manifest of format 2 tells of."""
    kind = manifest.get("kind")
    if type(kind) is not str or kind not in ARRAYS_OF_KIND:
        raise ValueError("its manifest names no kind of model.")
    return kind


def baseline_from_manifest(manifest: dict[str, Any], arrays: Arrays) -> tuple[BaselineModel, ParityRows]:
    """The model and its parity rows; a built-in error if a field is not what `manifest_from_baseline` writes."""
    manifest = fields_of(manifest, _FIELDS)
    kind = kind_of_manifest(manifest)
    spec = read_spec(manifest)
    groups = _groups(manifest["groups"])
    base_rate, classes, summary = read_fit(manifest, len(spec.features) + len(groups))
    body = _READERS[kind](manifest["body"], arrays, len(groups))
    model = BaselineModel(spec, groups, body, base_rate, classes, summary)
    if not set(model.columns_read) <= set(spec.columns):
        raise ValueError("a condition is about a column that is none")
    return model, read_parity(manifest["parity"], len(model.columns_read) + len(model.mask_names))


def _kind_of_body(body: BaselineBody) -> str:
    kinds = {ScoreMap: "score_map", CellUpdates: "cell_updates", GroupRounds: "group_rounds", LevelTrees: "level_trees"}
    return kinds[type(body)]


def _body_entry(body: BaselineBody) -> dict[str, Any]:
    """What a body holds besides arrays."""
    if isinstance(body, CellUpdates):
        return {"bin_width": body.bin_width}
    if isinstance(body, GroupRounds):
        return {"rounds": round_entries(body.rounds)}
    return {"n_levels": body.n_levels} if isinstance(body, LevelTrees) else {}


def _group_entry(group: Group) -> dict[str, Any]:
    conditions = group.conditions
    return {
        "name": group.name,
        "conditions": None if conditions is None else [_condition_entry(condition) for condition in conditions],
    }


def _condition_entry(condition: GroupCondition) -> dict[str, Any]:
    if isinstance(condition, IsOneOf):
        values = feature_entry(condition.values)
        return {"test": "one_of", "values": values, **_flags(condition, "excluded", "or_missing")}
    if isinstance(condition, IsMissing):
        return {"test": "missing", "column": condition.column, **_flags(condition, "excluded")}
    return {
        "test": "between",
        "column": condition.column,
        "low": encode_value(condition.low),
        "high": encode_value(condition.high),
        **_flags(condition, "includes_low", "includes_high", "or_missing"),
    }


def _flags(condition: GroupCondition, *names: str) -> dict[str, bool]:
    return {name: bool(getattr(condition, name)) for name in names}


def _groups(written: Any) -> tuple[Group, ...]:
    entries = [fields_of(entry, ("name", "conditions")) for entry in exactly(list, written)]
    if len(entries) > MAX_GROUPS:
        raise ValueError(f"there are {len(entries):,} groups, and {MAX_GROUPS:,} is the limit")
    given = [entry["conditions"] for entry in entries]
    n_conditions = sum(len(exactly(list, conditions)) for conditions in given if conditions is not None)
    if n_conditions > MAX_CONDITIONS:
        raise ValueError(f"there are {n_conditions:,} conditions, and {MAX_CONDITIONS:,} is the limit")
    groups = tuple(
        Group(exactly(str, entry["name"]), None if found is None else tuple(map(_condition, found)))
        for entry, found in zip(entries, given, strict=True)
    )
    if len({group.name for group in groups}) != len(groups):
        raise ValueError("two groups have the same name")
    return groups


def _condition(entry: Any) -> GroupCondition:
    test = exactly(dict, entry).get("test")
    if type(test) is not str or test not in _CONDITION_FIELDS:
        raise ValueError("a condition has no known test")
    entry = fields_of(entry, _CONDITION_FIELDS[test])
    flags = {
        name: exactly(bool, entry[name]) for name in entry if name not in ("test", "values", "column", "low", "high")
    }
    if test == "one_of":
        values = read_feature(entry["values"])
        if not values.is_categorical or values.kind is ValueKind.EMPTY:
            raise ValueError("a condition names no values")
        return IsOneOf(values, **flags)
    column = exactly(str, entry["column"])
    if test == "missing":
        return IsMissing(column, **flags)
    low, high = (_bound(entry[name]) for name in ("low", "high"))
    if low is None and high is None:
        raise ValueError("an interval has no bound")
    return IsBetween(column, low, high, **flags)


def _bound(encoded: Any) -> float | None:
    value = value_of(encoded)
    if value is None:
        return None
    if math.isnan(exactly(float, value)):
        raise ValueError("a bound is NaN")
    return float(value)


def _score_map(entry: Any, arrays: Arrays, n_groups: int) -> ScoreMap:
    fields_of(entry, ())
    scores, values = arrays["scores"], arrays["values"]
    if not len(scores) or len(scores) != len(values):
        raise ValueError("a map must have a value a knot")
    if not np.isfinite(scores).all() or not (scores[1:] > scores[:-1]).all():
        raise ValueError("the knots of a map must ascend")
    if not _are_probabilities(values) or not (values[1:] >= values[:-1]).all():
        raise ValueError("the values of a map must be probabilities that don't fall")
    if n_groups:
        raise ValueError("a map has no groups")
    return ScoreMap(scores, values)


def _cell_updates(entry: Any, arrays: Arrays, n_groups: int) -> CellUpdates:
    width = finite(fields_of(entry, ("bin_width",))["bin_width"])
    if not 1 / MAX_BINS <= width <= 1:
        raise ValueError("the width of a bin is none")
    group, bin_, delta, means = (arrays[name] for name in ARRAYS_OF_KIND["cell_updates"])
    if len(delta) > MAX_UPDATES:
        raise ValueError(f"there are {len(delta):,} updates, and {MAX_UPDATES:,} is the limit")
    if not len(group) == len(bin_) == len(delta):
        raise ValueError("the arrays of updates differ in length")
    n_bins = number_of_bins(width)
    if not _are_within(group, n_groups) or not _are_within(bin_, n_bins):
        raise ValueError("an update is of a cell that is none")
    if not (np.abs(delta) <= _MAX_DELTA).all():
        raise ValueError("an update is NaN or too large")
    if len(means) not in (0, n_bins) or not _are_probabilities(means[~np.isnan(means)]):
        raise ValueError("there must be a mean a bin")
    return CellUpdates(width, group, bin_, delta, means)


def _group_rounds(entry: Any, arrays: Arrays, n_groups: int) -> GroupRounds:
    return GroupRounds(read_rounds(fields_of(entry, ("rounds",))["rounds"], Trees(**arrays)))


def _level_trees(entry: Any, arrays: Arrays, n_groups: int) -> LevelTrees:
    n_levels = exactly(int, fields_of(entry, ("n_levels",))["n_levels"])
    trees = Trees(**arrays)
    check_slices(trees)
    if not 1 <= n_levels <= MAX_BINS:
        raise ValueError(f"there must be 1 to {MAX_BINS:,} levels")
    if trees.n_trees > MAX_ROUNDS:
        raise ValueError(f"there are {trees.n_trees:,} rounds, and {MAX_ROUNDS:,} is the limit")
    if not _are_probabilities(trees.leaf_values):
        raise ValueError("a leaf is not a probability")
    if n_groups:
        raise ValueError("trees on level sets have no groups")
    return LevelTrees(n_levels, trees)


_READERS: dict[str, Callable[[Any, Arrays, int], BaselineBody]] = {
    "score_map": _score_map,
    "cell_updates": _cell_updates,
    "group_rounds": _group_rounds,
    "level_trees": _level_trees,
}


def _are_probabilities(values: npt.NDArray[Any]) -> bool:
    return bool(((values >= 0) & (values <= 1)).all())


def _are_within(indices: npt.NDArray[Any], end: int) -> bool:
    return bool(((indices >= 0) & (indices < end)).all())
