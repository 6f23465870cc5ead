"""Changes to the bodies of requests, and to the text of conditions.

A body has one byte before it, which draws the model that it is sent to.
"""

from __future__ import annotations

import datetime as dt
import decimal
import random
from typing import Any

import pyarrow as pa
from fuzz_mutations import mutate_bytes, mutate_json, odd_number, odd_text

__all__ = ["mutate_arrow_body", "mutate_condition", "mutate_json_body", "stream_of"]

_WORDS = [
    "and", "or", "not", "in", "is", "missing", "all rows", "country", "age", "=", "==", "!=", "<>", "<", "<=", ">",
    ">=", "≤",
    "≥", "≠", "{", "}", "(", ")", "[", "]", ",", "`a b`", "`", "``", "'", '"', "'a b'", '"a\\u00e9"', "\\",
    '"\\ud800"', "'\\'",
    "18", "-1e5", "1_000", "nan", "inf", "-inf", "1e999", "٣", "0x1F", "NO", "true", "2020-01-01", "\n", "\t", "\x00",
    "\u2003",
]  # fmt: skip
_TEXT_TYPES = [pa.string(), pa.large_string(), pa.string_view()]
_UNITS = ["s", "ms", "us", "ns"]
_TIME_TYPES = [pa.timestamp("us"), pa.timestamp("s"), pa.duration("ns"), pa.time64("us"), pa.date64()]


def mutate_json_body(data: bytes, rng: random.Random) -> bytes:
    """Another body of JSON, or bytes that are none."""
    prefix, body = data[:1] or b"\0", data[1:]
    if rng.random() < 0.05:
        return rng.randbytes(1) + body
    if rng.random() < 0.1:
        return prefix + mutate_bytes(body, rng)
    return prefix + mutate_json(body.decode("utf-8", "replace"), rng).encode("utf-8", "replace")


def mutate_arrow_body(data: bytes, rng: random.Random) -> bytes:
    """Another stream: its bytes changed, or a column of its table replaced by one of another type."""
    prefix, body = data[:1] or b"\0", data[1:]
    if rng.random() < 0.05:
        return rng.randbytes(1) + body
    if rng.random() < 0.7:
        return prefix + mutate_bytes(body, rng)
    try:
        table = pa.ipc.open_stream(body).read_all()
        table.validate(full=True)
        changed = _other_table(table, rng)
    except Exception:  # the stream was broken before, or the values don't make an array
        return prefix + mutate_bytes(body, rng)
    return prefix + stream_of(changed, rng)


def stream_of(table: pa.Table, rng: random.Random | None = None) -> bytes:
    """A table as a stream."""
    sink = pa.BufferOutputStream()
    compressed = rng is not None and rng.random() < 0.03
    options = pa.ipc.IpcWriteOptions(compression=rng.choice(["lz4", "zstd"]) if compressed and rng else None)
    with pa.ipc.new_stream(sink, table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=rng.choice([1, 2, 1000]) if rng is not None else 1000)
    return bytes(sink.getvalue())


def _other_table(table: pa.Table, rng: random.Random) -> pa.Table:
    if not table.num_columns or table.num_rows > 1000:
        return table.slice(0, 10)
    place = rng.randrange(table.num_columns)
    choice = rng.random()
    if choice < 0.1:
        return table.remove_column(place)
    if choice < 0.2:
        return pa.concat_tables([table] * rng.choice([2, 20])).slice(0, 1000)
    if choice < 0.3:
        return table.rename_columns([odd_text(rng) if i == place else n for i, n in enumerate(table.column_names)])
    if choice < 0.4:
        return table.add_column(place, odd_text(rng), table.column(rng.randrange(table.num_columns)))
    return table.set_column(place, table.column_names[place], _odd_column(table.column(place), rng))


def _odd_column(column: pa.ChunkedArray, rng: random.Random) -> pa.Array:
    n = len(column)
    moment = dt.datetime(2020, 1, 1)
    makers: list[Any] = [
        lambda: pa.array([odd_text(rng) for _ in range(n)], rng.choice(_TEXT_TYPES)),
        lambda: pa.array([rng.random() for _ in range(n)], rng.choice([pa.float64(), pa.float32(), pa.float16()])),
        lambda: pa.array([float(min(max(odd_number(rng), -1e308), 1e308)) for _ in range(n)]),
        lambda: pa.array([rng.choice([None, float("nan"), float("inf"), 0.5]) for _ in range(n)], pa.float64()),
        lambda: pa.array([rng.randrange(100) for _ in range(n)], rng.choice([pa.int8(), pa.uint64(), pa.int64()])),
        lambda: pa.array([rng.choice([True, False, None]) for _ in range(n)], pa.bool_()),
        lambda: pa.nulls(n),
        lambda: pa.array([moment] * n, pa.timestamp(rng.choice(_UNITS), rng.choice([None, "UTC", "x"]))),
        lambda: pa.array([rng.randrange(-(2**62), 2**62) for _ in range(n)]).cast(
            rng.choice(_TIME_TYPES), safe=False
        ),
        lambda: pa.array([rng.randrange(-(2**31), 2**31) for _ in range(n)], pa.int32()).cast(
            rng.choice([pa.date32(), pa.time32("s")]), safe=False
        ),
        lambda: pa.array([decimal.Decimal(rng.randrange(100)) / 4 for _ in range(n)], pa.decimal128(20, 3)),
        lambda: pa.array([rng.randbytes(3) for _ in range(n)], rng.choice([pa.binary(), pa.binary(3)])),
        lambda: pa.array([[1]] * n),
        lambda: pa.array([{"a": 1}] * n),
        lambda: column.combine_chunks().dictionary_encode(),
        lambda: pa.DictionaryArray.from_arrays(pa.array([0] * n, pa.int8()), pa.array([None], pa.string())),
        lambda: pa.compute.run_end_encode(column.combine_chunks()),
    ]  # fmt: skip
    return rng.choice(makers)()


def mutate_condition(data: bytes, rng: random.Random) -> bytes:
    """Another text: words put in, taken out and exchanged, or its bytes changed."""
    text = data.decode("utf-8", "surrogateescape")
    if rng.random() < 0.2:
        return mutate_bytes(data, rng)
    words = text.split(" ")
    place = rng.randrange(len(words))
    choice = rng.randrange(4)
    if choice == 0:
        words[place] = rng.choice(_WORDS)
    elif choice == 1:
        words.insert(place, rng.choice(_WORDS))
    elif choice == 2:
        words[place:place] = [rng.choice(words), odd_text(rng)]
    else:
        del words[place]
    return " ".join(words).encode("utf-8", "surrogateescape")
