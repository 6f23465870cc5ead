"""JSON bodies: whatever they hold, a problem or probabilities, and large requests are refused as small ones are."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import trueup
from small_fits import quick
from trueup.serving._json_body import read_json, write_json
from trueup.serving._problems import KINDS, Problem
from trueup.serving._rows import SMALL, RowPlan

COLUMNS: dict[str, list[Any]] = {
    "text": ["a", "b"] * 20,
    "number": [1.0, 2.0, 3.0, 4.0] * 10,
    "flag": [True, False] * 20,
    "mixed": ["a", 1, 2.5, None] * 10,
    "empty": [None] * 40,
}
MODEL = quick().fit(COLUMNS, [0, 1] * 20, scores=[0.5] * 40).model_
CALIBRATOR, PLAN = trueup.Calibrator(MODEL), RowPlan.of(MODEL)
GOOD = {name: values[0] for name, values in COLUMNS.items()}

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**40), 10**40),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(),
)
ANYTHING = st.recursive(
    SCALARS, lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(), inner, max_size=3))
)
MOSTLY_GOOD = {name: st.one_of(*[st.sampled_from(values)] * 8, SCALARS, ANYTHING) for name, values in COLUMNS.items()}
ROWS = st.lists(st.fixed_dictionaries(MOSTLY_GOOD), min_size=1, max_size=3)
SCORES = st.lists(st.one_of(*[st.floats(0, 1)] * 8, ANYTHING), min_size=3, max_size=3)


def outcome(body: bytes) -> Any:
    """The kind of problem, and where; or the probabilities."""
    try:
        batch = read_json(body, PLAN, max_rows=1000)
        return batch.score(CALIBRATOR, PLAN).probabilities
    except Problem as raised:
        problem = raised
    described = json.loads(problem.body())
    assert 400 <= described["status"] == KINDS[problem.kind].status < 500
    assert described["detail"]
    return problem.kind, described.get("row"), described.get("column")


@given(ANYTHING)
def test_any_json_is_a_problem_or_has_probabilities(value):
    found = outcome(json.dumps(value).encode("utf-8", "surrogatepass"))
    assert isinstance(found, tuple)  # an object with good rows is too unlikely to be drawn


@given(st.binary(max_size=200))
def test_noise_in_json_is_a_problem(noise):
    assert isinstance(outcome(noise), tuple)


@settings(max_examples=400)
@given(ROWS, SCORES)
def test_rows_of_anything_get_the_same_in_a_small_request_and_in_a_large_one(rows, scores):
    small = {"rows": rows, "scores": scores[: len(rows)]}
    padding = SMALL + 1
    large = {"rows": rows + [GOOD] * padding, "scores": small["scores"] + [0.5] * padding}
    few, many = (outcome(json.dumps(body).encode("utf-8", "surrogatepass")) for body in (small, large))
    if isinstance(few, tuple):
        assert many == few
    else:
        assert np.array_equal(few, many[: len(rows)], equal_nan=True)
        assert np.all(np.isnan(few) | ((few >= 0) & (few <= 1)))


@given(st.lists(st.one_of(st.floats(0, 1), st.just(float("nan"))), max_size=30))
def test_an_answer_in_json_holds_every_probability_to_the_last_bit(values):
    answer = json.loads(write_json(np.array(values, dtype=np.float64), "clicks", "ab"))
    assert answer["probabilities"] == [None if np.isnan(value) else value for value in values]


@pytest.mark.parametrize(
    "body",
    [
        '{"rows": [%(row)s], "scores": [0.5], "scores": [0.9]}',
        '{"rows": [{"number": 7, %(inside)s}], "scores": [0.5]}',
        '{"rows": [{"num\\u0062er": 7, %(inside)s}], "scores": [0.5]}',
        '{"rows": [{"text": "\\\\\\":", %(inside)s}], "scores": [0.5]}',
        '{"rows": [%(row)s], "rows": [%(row)s], "scores": [0.5]}',
    ],
)
def test_a_key_twice_in_an_object_is_refused_where_the_last_one_was_taken_in_silence(body):
    row = json.dumps(GOOD)
    assert outcome((body % {"row": row, "inside": row[1:-1]}).encode())[0] == "bad-json"


@pytest.mark.parametrize("text", [":", '":"', "\\", '\\":', "\\\\:", '{"a": 1, "a": 2}', "\u00e9:\u65e5"])
def test_colons_and_quotes_in_texts_are_no_keys(text):
    for body in (json.dumps({"rows": [GOOD | {"text": text}], "scores": [0.5]}, ensure_ascii=flag) for flag in (0, 1)):
        assert np.isfinite(outcome(body.encode())).all()


def test_keys_of_an_object_in_a_column_that_is_ignored_are_no_repeated_keys():
    lenient = RowPlan.of(MODEL, strict=False)
    row = json.dumps(GOOD | {"extra": {"text": {"text": 1}, "list": [{"text": 2}]}})
    assert len(read_json(f'{{"rows": [{row}], "scores": [0.5]}}'.encode(), lenient, max_rows=9).rows) == 1
    twice = row.replace('"text": 2', '"text": 2, "text": 3')
    with pytest.raises(Problem, match="1 too many"):
        read_json(f'{{"rows": [{twice}], "scores": [0.5]}}'.encode(), lenient, max_rows=9)
