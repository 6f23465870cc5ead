"""Arrow streams, of which nothing is believed."""

from __future__ import annotations

import itertools

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import trueup
from small_fits import quick
from trueup.serving._arrow import check_messages, read_arrow, write_arrow
from trueup.serving._problems import Problem
from trueup.serving._rows import RowPlan

MODEL = quick().fit({"x": [1.0, 2.0] * 20, "c": ["a", "b"] * 20}, [0, 1] * 20, scores=[0.5] * 40).model_
CALIBRATOR, PLAN = trueup.Calibrator(MODEL), RowPlan.of(MODEL)


def stream(table: pa.Table, **options: object) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def good(n: int = 4, **changed: object) -> pa.Table:
    return pa.table({"x": np.arange(n, dtype=np.float64), "c": ["a"] * n, "score": [0.5] * n, **changed})


def refusal(body: bytes, max_rows: int = 1000) -> tuple[str, str]:
    with pytest.raises(Problem) as refused:
        read_arrow(body, PLAN, max_rows=max_rows).score(CALIBRATOR, PLAN)
    return refused.value.kind, refused.value.detail


@pytest.mark.parametrize("codec", ["lz4", "zstd"])
def test_a_compressed_stream_is_refused_before_it_unfolds(codec):
    check_messages(stream(good()), 1000)
    with pytest.raises(Problem, match="The stream is compressed"):
        check_messages(stream(good(), compression=codec), 1000)
    assert refusal(stream(good(), compression=codec))[0] == "bad-arrow"


def test_a_compressed_dictionary_is_seen_too():
    encoded = good(c=pa.array(["a", "b", "a", "b"]).dictionary_encode())
    with pytest.raises(Problem, match="The stream is compressed"):
        check_messages(stream(encoded, compression="lz4"), 1000)
    assert read_arrow(stream(encoded), PLAN, max_rows=10).scores.tolist() == [0.5] * 4


def test_rows_are_counted_batch_by_batch():
    assert refusal(stream(good(50)), max_rows=49)[0] == "too-many-rows"
    assert len(read_arrow(stream(good(50)), PLAN, max_rows=50).scores) == 50


def test_rows_that_take_no_bytes_are_counted_too():
    huge = pa.table({"x": pa.nulls(10**6), "c": pa.nulls(10**6), "score": pa.nulls(10**6)})
    assert refusal(stream(huge))[0] == "too-many-rows"


@pytest.mark.parametrize(
    ("table", "kind"),
    [
        (good().drop_columns(["x"]), "missing-columns"),
        (good(colour=["red"] * 4), "unknown-columns"),
        (good().drop_columns(["score"]), "bad-score"),
        (good(score=[0.5, 0.5, 1.5, 0.5]), "bad-score"),
        (good(score=["a"] * 4), "bad-score"),
        (good(score=[[0.5]] * 4), "bad-score"),
        (good(x=["a"] * 4), "wrong-type"),
        (good(x=[[1.0]] * 4), "wrong-type"),
        (good(c=[1, 2, 3, 4]), "wrong-type"),
        (good(c=pa.array([{"a": 1}] * 4)), "wrong-type"),
    ],
)
def test_a_stream_that_does_not_fit_the_model_says_where(table, kind):
    found, detail = refusal(stream(table))
    assert found == kind
    assert "'" in detail  # the name of a column


def test_two_columns_of_one_name_are_refused():
    table = pa.Table.from_arrays([pa.array([1.0]), pa.array([2.0])], names=["x", "x"])
    assert refusal(stream(table))[0] == "wrong-shape"


def test_offsets_and_codes_that_point_astray_are_refused():
    text = pa.Array.from_buffers(
        pa.string(), 4, [None, pa.py_buffer(np.array([0, 1, 900, 2, 3], np.int32)), pa.py_buffer(b"abcd")]
    )
    assert refusal(stream(good(c=text)))[0] == "bad-arrow"
    codes = pa.array([0, 9, 0, 0], pa.int32())
    wild = pa.DictionaryArray.from_arrays(codes, pa.array(["a"]), safe=False)
    assert refusal(stream(good(c=wild)))[0] == "bad-arrow"


def outcome(body: bytes) -> str:
    """The kind of problem, or that there is none and the rows can be scored."""
    try:
        batch = read_arrow(body, PLAN, max_rows=1000)
        probabilities = batch.score(CALIBRATOR, PLAN).probabilities
    except Problem as problem:
        return problem.kind
    assert len(probabilities) == len(batch.scores)
    assert np.all((probabilities >= 0) & (probabilities <= 1) | np.isnan(batch.scores))
    return "fine"


def test_a_stream_that_is_cut_short_is_refused():
    body = stream(good(20))
    end_of_stream, padding = 8, 64
    assert outcome(body[:-end_of_stream]) == "fine"  # all rows are there
    for length in range(len(body) - end_of_stream - padding):
        assert outcome(body[:length]) != "fine" or length_holds_no_batch(body, length)


def length_holds_no_batch(body: bytes, length: int) -> bool:
    """Whether a cut stream ends exactly where a batch would begin: it has a schema and no rows."""
    return len(read_arrow(body[:length], PLAN, max_rows=1000).scores) == 0


def test_a_stream_with_a_changed_byte_is_refused_or_gives_probabilities():
    body = stream(good(20, c=pa.array(["a", "b"] * 10).dictionary_encode()))
    seen = set()
    for place, value in itertools.product(range(0, len(body), 3), (0, 0x7F, 0xFF)):
        seen.add(outcome(body[:place] + bytes([value]) + body[place + 1 :]))
    assert {"fine", "bad-arrow", "missing-columns"} <= seen


@given(st.binary(max_size=300))
def test_noise_is_a_problem(noise):
    with pytest.raises(Problem):
        read_arrow(noise, PLAN, max_rows=10)


@given(st.lists(st.one_of(st.floats(0, 1), st.just(float("nan"))), max_size=50))
def test_an_answer_holds_every_probability_and_null_for_none(values):
    table = pa.ipc.open_stream(write_arrow(np.array(values, dtype=np.float64))).read_all()
    assert table["calibrated"].to_pylist() == [None if np.isnan(value) else value for value in values]
