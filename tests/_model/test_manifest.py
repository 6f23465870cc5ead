"""The manifest: what goes into it comes out of it."""

import datetime as dt
import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trueup._model import (
    CalibrationModel,
    Feature,
    FeatureSpec,
    FittedRound,
    KnotMap,
    LogitMap,
    OpaqueValue,
    RoundRecord,
    TrainingSummary,
    Trees,
    ValueKind,
    plain_value,
)
from trueup._model._manifest import ParityRows, arrays_of, manifest_from_model, model_from_manifest

KNOTS = KnotMap(np.array([0.1, 0.5]), np.array([0.2, 0.2]))
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
VALUES = {
    ValueKind.NUMBER: st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False).map(plain_value),
    ValueKind.STRING: st.text(st.characters()),
    ValueKind.BOOLEAN: st.booleans(),
    ValueKind.DATE: st.dates(),
    ValueKind.DATETIME: st.datetimes(),
    ValueKind.MIXED: st.one_of(
        st.text(), st.booleans(), st.integers(), st.dates(), st.datetimes(), st.times(), st.timedeltas(),
        st.binary(), st.builds(OpaqueValue, st.text(), st.text()),
    ),
}  # fmt: skip


@st.composite
def features(draw: st.DrawFn, name: str) -> Feature:
    kind = draw(st.sampled_from([None, *ValueKind]))
    if kind is None:
        return Feature(name, ValueKind.NUMBER)
    distinct = draw(st.sets(VALUES[kind], max_size=5)) if kind in VALUES else set()
    return Feature(name, kind, tuple(distinct if kind is ValueKind.MIXED else sorted(distinct)))


@st.composite
def models(draw: st.DrawFn) -> CalibrationModel:
    """Models without trees: those are not in the manifest."""
    columns = draw(st.lists(st.text(), unique=True, min_size=1, max_size=5))
    chosen = draw(st.lists(st.sampled_from(columns), unique=True))
    rest = [name for name in columns if name not in chosen]
    score_column = draw(st.sampled_from([None, *rest]))
    spec = FeatureSpec(
        tuple(columns), tuple(draw(features(name)) for name in chosen), draw(st.booleans()), score_column
    )
    nothing = Trees.concatenate([])
    rounds = tuple(FittedRound(nothing, theta) for theta in draw(st.lists(st.floats(0, 10), max_size=3)))
    history = tuple(RoundRecord(number, *draw(st.tuples(*[NUMBERS] * 6))) for number in range(draw(st.integers(0, 3))))
    summary = TrainingSummary(
        n_rows=draw(st.integers(0, 2**40)),
        positive_rate=draw(st.floats(0, 1)),
        history=history,
        gains=tuple(draw(st.sampled_from([[], [0.5] * (len(chosen) + 1)]))),
        parameters=draw(st.dictionaries(st.text(), st.none() | st.booleans() | NUMBERS | st.lists(st.text()))),
        versions=draw(st.dictionaries(st.text(), st.text(), max_size=3)),
    )
    classes = draw(st.sampled_from([(0, 1), (False, True), (0.5, 2), ("", "a"), (dt.date(1, 1, 1), dt.date(1, 1, 2))]))
    score_map = draw(st.none() | st.builds(LogitMap, *[st.floats(-100, 100)] * 4) | st.just(KNOTS))
    return CalibrationModel(spec, rounds, draw(st.none() | st.floats(0, 1)), classes, summary, score_map)


@given(models())
def test_a_manifest_comes_back_from_json_as_the_model_that_it_was_made_from(model: CalibrationModel) -> None:
    row: tuple[Any, ...] = tuple((feature.categories or (None,))[0] for feature in model.features.features)
    parity = ParityRows((row,), (0.25,), (0.5,))
    manifest = manifest_from_model(model, parity)
    text = json.dumps(manifest, allow_nan=False)
    loaded, loaded_parity = model_from_manifest(json.loads(text), arrays_of(model))
    assert loaded.features == model.features
    assert (loaded.base_rate, loaded.classes, loaded.summary) == (
        model.base_rate,
        model.classes,
        model.summary,
    )
    assert [fitted.theta for fitted in loaded.rounds] == [fitted.theta for fitted in model.rounds]
    assert type(loaded.score_map) is type(model.score_map)
    assert loaded_parity == parity
    assert json.dumps(manifest_from_model(loaded, loaded_parity)) == text


def test_what_is_not_known_of_the_training_is_null_and_comes_back_as_nan() -> None:
    spec = FeatureSpec(("x",), (Feature("x", ValueKind.NUMBER),))
    summary = TrainingSummary(history=(RoundRecord(0, 0.5, math.nan),))
    manifest = manifest_from_model(CalibrationModel(spec, (), summary=summary), ParityRows(((1.0,),), (0.5,), (0.5,)))
    assert manifest["summary"]["positive_rate"] is None
    assert manifest["summary"]["history"][0]["validation_loss"] is None
    loaded, _ = model_from_manifest(manifest, arrays_of(CalibrationModel(spec, ())))
    assert math.isnan(loaded.summary.positive_rate)
    assert math.isnan(loaded.summary.history[0].validation_loss)


@pytest.mark.parametrize("leaf", [math.nan, math.inf, 1e301])
def test_leaves_that_could_make_a_logit_infinite_are_refused(leaf: float) -> None:
    one_leaf = Trees.concatenate([])
    one_leaf = Trees(**{**one_leaf.arrays(), "node_offsets": np.zeros(2, np.int32), "leaf_values": np.array([leaf])})
    spec = FeatureSpec(("x",), (Feature("x", ValueKind.NUMBER),))
    model = CalibrationModel(spec, (FittedRound(one_leaf, 1.0),))
    manifest = manifest_from_model(model, ParityRows(((1.0,),), (0.5,), (0.5,)))
    with pytest.raises(ValueError, match="logits could become infinite"):
        model_from_manifest(manifest, arrays_of(model))
