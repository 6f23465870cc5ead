"""A spec as text, the same for equal specs, and back with every field checked."""

from __future__ import annotations

import json
from typing import Any

from trueup._model import ValueKind, encode_value, exactly, fields_of, finite, value_of
from trueup.auditing._sketches._spec import SketchSpec
from trueup.segments import ColumnCut, Condition, Interval, Missing, OneOf

_FIELDS = ("cuts", "max_depth", "score_edges", "classes", "weight_exponent", "fraction_bits")
_CUT_FIELDS = ("column", "kind", "is_categorical", "conditions", "n_seen")
_FLAGS = {"one_of": ("excluded",), "between": ("includes_low", "includes_high"), "missing": ("excluded",)}
_VALUES = {"one_of": ("values",), "between": ("low", "high"), "missing": ()}
_TYPES = {"one_of": OneOf, "between": Interval, "missing": Missing}


def spec_to_text(spec: SketchSpec) -> bytes:
    """The spec in JSON."""
    entries = {
        "cuts": [_cut_entry(cut) for cut in spec.cuts],
        "max_depth": spec.max_depth,
        "score_edges": [list(edges) for edges in spec.score_edges],
        "classes": [encode_value(label) for label in spec.classes],
        "weight_exponent": spec.weight_exponent,
        "fraction_bits": spec.fraction_bits,
    }
    return json.dumps(entries, ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode("ascii")


def spec_from_text(text: bytes) -> SketchSpec:
    """The spec; a built-in error or a `ParameterError` if a field is not what `spec_to_text` writes."""
    entries = fields_of(json.loads(text.decode("ascii"), parse_constant=finite), _FIELDS)
    return SketchSpec(
        cuts=tuple(_cut(entry) for entry in exactly(list, entries["cuts"])),
        max_depth=exactly(int, entries["max_depth"]),
        score_edges=tuple(
            tuple(finite(edge) for edge in exactly(list, edges)) for edges in exactly(list, entries["score_edges"])
        ),
        classes=tuple(value_of(label) for label in exactly(list, entries["classes"])),
        weight_exponent=exactly(int, entries["weight_exponent"]),
        fraction_bits=exactly(int, entries["fraction_bits"]),
    )


def _cut_entry(cut: ColumnCut) -> dict[str, Any]:
    return {
        "column": cut.column,
        "kind": cut.kind.name,
        "is_categorical": cut.is_categorical,
        "conditions": [_condition_entry(condition) for condition in cut.conditions],
        "n_seen": cut.n_seen,
    }


def _cut(entry: Any) -> ColumnCut:
    entry = fields_of(entry, _CUT_FIELDS)
    column, kind = exactly(str, entry["column"]), exactly(str, entry["kind"])
    if kind not in ValueKind.__members__:
        raise ValueError("a column holds no known kind of values")
    return ColumnCut(
        column=column,
        kind=ValueKind[kind],
        is_categorical=exactly(bool, entry["is_categorical"]),
        conditions=tuple(_condition(column, one) for one in exactly(list, entry["conditions"])),
        n_seen=exactly(int, entry["n_seen"]),
    )


def _condition_entry(condition: Condition) -> dict[str, Any]:
    test = next(name for name, kind in _TYPES.items() if isinstance(condition, kind))
    entry: dict[str, Any] = {"test": test}
    for name in _VALUES[test]:
        value = getattr(condition, name)
        entry[name] = [encode_value(one) for one in value] if name == "values" else encode_value(value)
    return entry | {name: bool(getattr(condition, name)) for name in _FLAGS[test]}


def _condition(column: str, entry: Any) -> Condition:
    test = exactly(dict, entry).get("test")
    if type(test) is not str or test not in _TYPES:
        raise ValueError("a condition has no known test")
    entry = fields_of(entry, ("test", *_VALUES[test], *_FLAGS[test]))
    flags = {name: exactly(bool, entry[name]) for name in _FLAGS[test]}
    if test == "one_of":
        return OneOf(column, tuple(value_of(one) for one in exactly(list, entry["values"])), **flags)
    if test == "between":
        return Interval(column, value_of(entry["low"]), value_of(entry["high"]), **flags)
    return Missing(column, **flags)
