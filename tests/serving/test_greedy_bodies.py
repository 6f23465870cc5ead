"""Bodies that stand for far more than they hold are refused, or cost no more than their size."""

from __future__ import annotations

import datetime as dt
import itertools
import json
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import trueup
from small_fits import quick
from trueup.baselines import IsotonicCalibrator
from trueup.serving import _arrow
from trueup.serving._arrow import check_messages, read_arrow
from trueup.serving._json_body import read_json
from trueup.serving._problems import Problem
from trueup.serving._rows import RowPlan

MODEL = quick().fit({"x": [1.0, 2.0] * 20, "c": ["a", "b"] * 20}, [0, 1] * 20, scores=[0.5] * 40).model_
CALIBRATOR, PLAN = trueup.Calibrator(MODEL), RowPlan.of(MODEL)


def stream(batches: Iterable[pa.RecordBatch], schema: pa.Schema, **options: object) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        for batch in batches:
            writer.write_batch(batch)
    return bytes(sink.getvalue())


def rows(words: pa.Array) -> pa.RecordBatch:
    """Rows whose column c is given."""
    n = len(words)
    columns = [pa.array(np.ones(n)), words, pa.array(np.full(n, 0.5))]
    return pa.RecordBatch.from_arrays(columns, names=["x", "c", "score"])


def answers(body: bytes) -> list[float]:
    batch = read_arrow(body, PLAN, max_rows=10_000)
    return list(batch.score(CALIBRATOR, PLAN).probabilities)


def words_of(codes: list[int | None], dictionary: list[str | None]) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), pa.array(dictionary, pa.string()))


def test_a_dictionary_that_many_batches_share_is_looked_at_once():
    batch = rows(words_of([0, 1], ["a", "b"]))
    body = stream([batch] * 500, batch.schema)
    gathered = read_arrow(body, PLAN, max_rows=1000).table
    assert gathered.column("c").num_chunks == 1
    assert gathered.column("x").num_chunks == 500
    assert answers(body) == answers(stream([rows(pa.array(["a", "b"]))], rows(pa.array(["a"])).schema)) * 500


def test_dictionaries_that_replace_each_other_are_read_each_with_its_codes():
    batches = [rows(words_of([0, 1], words)) for words in (["a", "b"], ["b", "a"], ["a", "c"])]
    plain = rows(pa.array(["a", "b", "b", "a", "a", "c"]))
    assert answers(stream(batches, batches[0].schema)) == answers(stream([plain], plain.schema))


@pytest.mark.parametrize("cut", [6, 2, 1])
def test_a_null_in_a_dictionary_is_a_missing_value(cut):
    # Codes 1 and 2 stand for the same: nothing is there.
    whole = rows(words_of([0, 1, None, 1, 0, 0], ["a", None, "b"]))
    body = stream([whole.slice(start, cut) for start in range(0, 6, cut)], whole.schema)
    plain = rows(pa.array(["a", None, None, None, "a", "a"]))
    assert answers(body) == answers(stream([plain], plain.schema))


def test_a_dictionary_that_grows_is_refused_before_it_is_read():
    words = list(itertools.accumulate(["a", "b", "c"], lambda before, word: [*before, word], initial=[]))[1:]
    batches = [rows(words_of([0], list(known))) for known in words]
    body = stream(batches, batches[0].schema, emit_dictionary_deltas=True)
    with pytest.raises(Problem, match="A dictionary of the stream grows") as refused:
        check_messages(body, 10)
    assert refused.value.status == 400
    assert len(answers(stream(batches, batches[0].schema))) == 3  # the same rows, each with its whole dictionary


def views(n: int, length: int) -> pa.Array:
    """So many texts of a length, all of them the same bytes."""
    view = np.zeros((n, 4), "<i4")
    view[:, 0] = length
    view[:, 1] = int.from_bytes(b"aaaa", "little")  # a view holds the beginning of a long text too
    return pa.Array.from_buffers(pa.string_view(), n, [None, pa.py_buffer(view.tobytes()), pa.py_buffer(b"a" * length)])


@pytest.mark.parametrize("encoded", [False, True])
def test_many_views_of_one_long_text_are_refused(encoded, monkeypatch):
    monkeypatch.setattr(_arrow, "_MAX_VIEWED_BYTES", 10_000)
    texts = views(11, 1000)
    if encoded:
        texts = pa.DictionaryArray.from_arrays(pa.array([0] * 11, pa.int8()), texts)
    batch = rows(texts)
    with pytest.raises(Problem, match="more than 10,000 bytes"):
        answers(stream([batch], batch.schema))
    fewer = batch.slice(0, 10) if not encoded else rows(views(10, 1000))
    assert len(answers(stream([fewer], fewer.schema))) == 10


def test_a_stream_of_very_many_batches_is_refused():
    batch = rows(pa.array([], pa.string()))
    with pytest.raises(Problem, match=r"more than 10,000 batches\. Send fewer"):
        answers(stream([batch] * 10_001, batch.schema))
    assert answers(stream([batch] * 9_000, batch.schema)) == []


def test_columns_that_the_model_does_not_read_are_not_looked_at():
    offsets = pa.py_buffer(np.array([0, 900, 2], np.int32))
    wild = pa.Array.from_buffers(pa.string(), 2, [None, offsets, pa.py_buffer(b"ab")])
    batch = pa.RecordBatch.from_arrays([*rows(pa.array(["a", "b"])).columns, wild], names=["x", "c", "score", "more"])
    body = stream([batch], batch.schema)
    loose = RowPlan.of(MODEL, strict=False)
    assert read_arrow(body, loose, max_rows=10).table.column_names == ["x", "c", "score"]


def test_a_model_that_reads_no_column_and_no_score_answers_every_row():
    fitted = IsotonicCalibrator().fit({"x": [0.0] * 4}, [0, 1, 1, 1])
    calibrator, plan = trueup.Calibrator(fitted.model_), RowPlan.of(fitted.model_, strict=False)
    assert (plan.columns, plan.base_rate) == ((), 0.75)
    batch = rows(pa.array(["a", "b", "a"]))
    asked = read_arrow(stream([batch], batch.schema), plan, max_rows=10)
    assert asked.score(calibrator, plan).probabilities.tolist() == [0.75] * 3


def test_a_type_that_python_has_no_name_for_is_refused():
    # Month intervals: C++ reads them, and pyarrow fails with KeyError wherever such an array is touched.
    corpus = Path(__file__).parents[1] / "fuzz" / "corpus" / "arrow_body"
    body = (corpus / "dictionary-of-month-intervals").read_bytes()[1:]
    calibrator = trueup.load(Path(__file__).parents[1] / "_model" / "golden" / "format_1_knots.trueup")
    with pytest.raises(Problem, match="no column 'score' of base scores"):
        read_arrow(body, RowPlan.of(calibrator.model), max_rows=1000)


def test_an_empty_stream_with_a_dictionary_has_no_rows():
    batch = rows(words_of([], ["a"]))
    assert answers(stream([], batch.schema)) == []


@pytest.mark.parametrize("filler", [b"{},", b"[],", b'{"a":1},'])
def test_more_rows_than_there_may_be_are_refused_before_they_are_made(filler, monkeypatch):
    def unfold(body: bytes) -> None:
        raise AssertionError("it was unfolded")

    monkeypatch.setattr("orjson.loads", unfold)
    with pytest.raises(Problem, match="objects and lists; at most 10 rows") as refused:
        read_json(b'{"rows":[' + filler * 5000 + b"{}]}", PLAN, max_rows=10)
    assert refused.value.status == 413


def test_brackets_in_texts_do_no_harm():
    body = json.dumps({"rows": [{"x": 1.0, "c": "{[{"}] * 10, "scores": [0.5] * 10}).encode()
    assert len(read_json(body, PLAN, max_rows=10).scores) == 10


def test_a_number_where_a_time_is_expected_is_the_clients_mistake():
    times = [dt.datetime(2026, 1, 1), dt.datetime(2026, 1, 2)] * 20
    fitted = quick(categorical_features=["t"]).fit({"t": times}, [0, 1] * 20, scores=[0.5] * 40)
    plan = RowPlan.of(fitted.model_)
    for value in (5, 0.5, True, [], {}):
        batch = read_json(json.dumps({"rows": [{"t": value}], "scores": [0.5]}).encode(), plan, max_rows=10)
        with pytest.raises(Problem, match=r"expected a time as .* or null") as refused:
            batch.score(trueup.Calibrator(fitted.model_), plan)
        assert refused.value.kind == "wrong-type"
