"""Arrow streams that declare far more than they hold are refused before anything is allocated for them."""

from __future__ import annotations

import contextlib
import datetime as dt
import struct
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import trueup
from small_fits import quick
from trueup.serving import _arrow
from trueup.serving._arrow import read_arrow
from trueup.serving._problems import Problem
from trueup.serving._rows import RowPlan

MODEL = quick().fit({"x": [1.0, 2.0] * 20}, [0, 1] * 20, scores=[0.5] * 40).model_
CALIBRATOR, PLAN = trueup.Calibrator(MODEL), RowPlan.of(MODEL)
V4, V5 = pa.ipc.MetadataVersion.V4, pa.ipc.MetadataVersion.V5


@pytest.fixture
def unread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Arrow must not see the stream at all."""

    def read(body: bytes) -> None:
        raise AssertionError("Arrow has read it")

    monkeypatch.setattr("pyarrow.ipc.open_stream", read)


def stream(x: pa.Array, *, version: Any = V5, metadata: dict[str, str] | None = None) -> bytes:
    batch = pa.RecordBatch.from_arrays([x, pa.array(np.full(len(x), 0.5))], names=["x", "score"])
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(metadata_version=version)
    with pa.ipc.new_stream(sink, batch.schema, options=options) as writer:
        writer.write_batch(batch, custom_metadata=metadata)
    return bytes(sink.getvalue())


def refused(body: bytes, max_rows: int = 1000) -> Problem:
    with pytest.raises(Problem) as found:
        read_arrow(body, PLAN, max_rows=max_rows)
    return found.value


def encoded(values: pa.Array) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array([0], pa.int32()), values)


def messages(body: bytes) -> list[tuple[int, int]]:
    return list(_arrow._messages(body))


def squeezed(n_bytes: int, total: int) -> pa.Buffer:
    """Zeros as Arrow 0.17 compressed them, filled up to a length with a frame that decoders skip."""
    packed = bytes(pa.Codec("zstd").compress(bytes(n_bytes)))
    padding = total - 16 - len(packed)
    return pa.py_buffer(struct.pack("<q", n_bytes) + packed + struct.pack("<II", 0x184D2A50, padding) + bytes(padding))


def test_the_compression_of_arrow_0_17_is_refused_unread(unread: None) -> None:
    x = pa.Array.from_buffers(pa.float64(), 500, [None, squeezed(2**16, 8 * 500)])
    found = refused(stream(x, version=V4, metadata={"ARROW:experimental_compression": "zstd"}))
    assert (found.status, found.kind) == (400, "bad-arrow")
    assert "old metadata version" in found.detail


def test_batches_of_metadata_version_4_are_refused_unread(unread: None) -> None:
    assert "Write it with version 5" in refused(stream(pa.array([1.0]), version=V4)).detail


def test_batches_with_custom_metadata_are_refused_unread(unread: None) -> None:
    assert "custom metadata" in refused(stream(pa.array([1.0]), metadata={"a": "b"})).detail


def test_metadata_of_the_schema_and_its_fields_are_taken() -> None:
    table = pa.table({"x": [1.0], "score": [0.5]}).replace_schema_metadata({"pandas": "{}"})
    field = table.schema.field("x").with_metadata({"unit": "m"})
    table = table.cast(pa.schema([field, table.schema.field("score")], metadata=table.schema.metadata))
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    assert len(read_arrow(bytes(sink.getvalue()), PLAN, max_rows=10).scores) == 1


def test_a_dictionary_longer_than_a_million_is_refused_unread(unread: None) -> None:
    assert "more than 1,000,000 values" in refused(stream(encoded(pa.nulls(2**30)))).detail
    assert "more than 1,000,000 values" in refused(stream(encoded(pa.nulls(1_000_001)))).detail


def test_the_length_of_a_dictionary_is_what_arrow_takes_it_for_and_not_what_the_batch_says(unread: None) -> None:
    body = bytearray(stream(encoded(pa.nulls(2**30))))
    at = body.index(struct.pack("<q", 2**30))  # the batch's own length; the node's comes after it
    first, last = at, body.rindex(struct.pack("<q", 2**30))
    assert first < last
    for place in (first, last):
        changed = bytes(body[:place] + struct.pack("<q", 1) + body[place + 8 :])
        assert "more than 1,000,000 values" in refused(changed).detail


def test_dictionaries_of_a_stream_are_counted_together(unread: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_arrow, "_MAX_DICTIONARY_VALUES", 5)
    schema = pa.schema([("x", pa.dictionary(pa.int32(), pa.float64())), ("score", pa.float64())])
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, schema) as writer:
        for start in (0.0, 10.0):
            values = pa.array([start, start + 1, start + 2])
            writer.write_batch(pa.RecordBatch.from_arrays([encoded(values), pa.array([0.5])], schema=schema))
    assert "more than 5 values" in refused(bytes(sink.getvalue())).detail


@pytest.mark.parametrize(
    "values", [pa.nulls(3), pa.array([b"", b""], pa.binary(0)), pa.array([True, False])], ids=["null", "0", "bool"]
)
def test_dictionaries_whose_values_take_no_byte_each_are_refused(values: pa.Array) -> None:
    found = refused(stream(encoded(values)))
    assert (found.kind, found.where["column"]) == ("wrong-type", "x")
    assert "Column 'x' has type dictionary" in found.detail


def test_more_rows_than_there_may_be_are_refused_unread(unread: None) -> None:
    assert refused(stream(pa.array([1.0, 2.0, 3.0])), max_rows=2).kind == "too-many-rows"


def test_rows_that_take_no_bytes_are_bounded_by_the_values_that_a_model_reads(
    unread: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_arrow, "_MAX_CELLS", 99)
    found = refused(stream(pa.nulls(100)))
    assert found.kind == "too-many-rows"
    assert "100 rows of 1 columns; 99 values are the limit" in found.detail


def shared_fields(n: int, name_length: int, metadata: dict[str, str] | None = None) -> bytes:
    """A schema whose fields are all the same bytes, of which one has a long name."""
    names = [f"f{place}" for place in range(n - 1)]
    fields = [pa.field(name, pa.float64()) for name in names]
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, pa.schema([pa.field("x" * name_length, pa.float64(), metadata=metadata), *fields])):
        pass
    body = bytearray(sink.getvalue())
    start, end = messages(bytes(body))[0]
    message = bytes(body[start:end])
    schema = _arrow.follow(message, _arrow.field_at(message, _arrow.follow(message, 0), 2))
    vector = _arrow.follow(message, _arrow.field_at(message, schema, 1))
    wanted = _arrow.follow(message, vector + 4)
    for place in range(vector + 4, vector + 4 + 4 * n, 4):
        struct.pack_into("<I", body, start + place, wanted - place)
    return bytes(body)


def test_a_schema_that_names_one_long_text_many_times_is_refused_unread(unread: None) -> None:
    body = shared_fields(300, 5000)
    assert len(body) < 50_000
    assert "The schema of the stream is too large" in refused(body).detail


def test_a_schema_that_shares_metadata_is_refused_unread(unread: None) -> None:
    assert "The schema of the stream is too large" in refused(shared_fields(300, 1, {"k": "v" * 5000})).detail


def test_a_schema_of_very_many_fields_is_refused_unread(unread: None) -> None:
    assert "The schema of the stream is too large" in refused(shared_fields(20_000, 1)).detail


def test_no_offset_of_a_damaged_stream_leads_outside() -> None:
    body = stream(encoded(pa.array([1.0, 2.0])))
    ends = [end for _, end in messages(body)]
    for place in range(0, ends[-1], 4):
        for word in (b"\xff\xff\xff\xff", b"\xff\xff\xff\x7f", b"\x00\x00\x00\x80"):
            with contextlib.suppress(Problem, ValueError):
                _arrow.check_messages(body[:place] + word + body[place + 4 :], 1000)


SECRET = 7_777_777


@pytest.mark.parametrize("is_encoded", [False, True])
@pytest.mark.parametrize(
    "values",
    [
        pa.array([SECRET], pa.int32()).view(pa.time32("s")),
        pa.array([SECRET * 10**9]).view(pa.time64("us")),
        pa.array([SECRET]).view(pa.date64()),
        pa.array([f"\udcff{SECRET}".encode("utf-8", "surrogateescape")]).view(pa.string()),
    ],
    ids=["time32", "time64", "date64", "text"],
)
def test_a_value_that_its_type_forbids_is_refused_by_column_and_not_told(values: pa.Array, is_encoded: bool) -> None:
    found = refused(stream(encoded(values) if is_encoded else values))
    assert "Column 'x' of type" in found.detail
    assert found.where["column"] == "x"
    assert str(SECRET) not in found.body().decode()


def test_what_arrow_says_of_a_value_that_it_cannot_convert_is_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(name: str, array: Any) -> None:
        raise pa.ArrowInvalid(f"{SECRET} can't be converted")

    body = stream(pa.array([1.0]))
    monkeypatch.setattr("trueup._data._readers._from_arrow", refuse)
    batch = read_arrow_without_scores(body)
    with pytest.raises(Problem, match="Column 'x' of Arrow type double has values that can't be read") as found:
        batch.score(CALIBRATOR, PLAN)
    assert (found.value.kind, found.value.where) == ("wrong-type", {"column": "x"})
    assert str(SECRET) not in found.value.body().decode()


def read_arrow_without_scores(body: bytes) -> Any:
    table = pa.ipc.open_stream(body).read_all()
    return _arrow.ArrowBatch(np.full(len(table), 0.5), table)


def test_a_date_in_json_that_is_none_is_not_told() -> None:
    fitted = quick(categorical_features=["t"]).fit(
        {"t": [dt.date(2026, 1, 1), dt.date(2026, 1, 2)] * 20}, [0, 1] * 20, scores=[0.5] * 40
    )
    plan = RowPlan.of(fitted.model_)
    from trueup.serving._json_body import read_json

    for text in (f"2026-{SECRET}", "0000-00-00"):
        batch = read_json(f'{{"rows": [{{"t": "{text}"}}], "scores": [0.5]}}'.encode(), plan, max_rows=1)
        with pytest.raises(Problem) as found:
            batch.score(trueup.Calibrator(fitted.model_), plan)
        assert text not in found.value.body().decode()
