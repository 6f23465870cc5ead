"""Requests and answers as Arrow IPC streams; nothing in a stream is believed before it is checked.

Arrow believes what a stream declares. A compressed buffer states the size that it unfolds to, a dictionary of nulls its
length, and a schema may name one text a million times, which becomes a million texts. So a body of a kilobyte could ask
for a terabyte, and what it asks for must be known before Arrow reads a batch. The metadata of a message is a
flatbuffer; `check_messages` reads the few of its fields that tell, with every offset checked.

Imported with the first such request, since pyarrow takes its time and memory. Two things in Arrow stand for more than
they hold. Every batch of a stream may share one dictionary, and what walks over batches walks over it again and again:
two megabytes kept a processor busy for half a minute. And many views may show one long text, which a copy would write
out for each.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.types as at

from trueup._data import field_at, floats_to_arrow, follow, read_scores, scalar_of, unpack_at
from trueup.errors import DataError
from trueup.serving._problems import Problem
from trueup.serving._rows import ArrowBatch, RowPlan

__all__ = ["CALIBRATED", "check_messages", "read_arrow", "write_arrow"]

Floats = npt.NDArray[np.float64]
CALIBRATED = "calibrated"
_MAX_CELLS = 2**24
_MAX_VIEWED_BYTES = 2**26
_VIEWS = ("string_view", "binary_view")
_PLAIN = (
    "null", "boolean", "integer", "floating", "decimal", "date", "time", "timestamp", "duration", "string",
    "large_string", "binary", "large_binary", "fixed_size_binary",
)  # fmt: skip
_MAX_MESSAGES = 10_000
_MAX_DICTIONARY_VALUES = 1_000_000  # of all dictionaries together; some types cost two microseconds per value
_MAX_SCHEMA_BYTES = 2**20
_BYTES_OF_TABLE = 64  # what each part of a schema counts for at least

_CONTINUATION = 0xFFFFFFFF
# Fields of the flatbuffer tables, by number. `Message`:
_VERSION, _HEADER_TYPE, _HEADER, _BODY_LENGTH, _CUSTOM_METADATA = range(5)
_SCHEMA, _DICTIONARY_BATCH, _RECORD_BATCH = 1, 2, 3  # kinds of headers
_VERSION_5 = 4  # of all releases since 1.0; in version 4, custom metadata may say that buffers are compressed
# `DictionaryBatch`, whose data is a `RecordBatch`:
_DATA, _IS_DELTA = 1, 2
# `RecordBatch`:
_LENGTH, _NODES, _COMPRESSION = 0, 1, 3
# `Field`, whose type has a text or a list as its field 1 if it is a timestamp or a union:
_TYPE_KIND, _TYPE = 2, 3
_TIMESTAMP, _UNION = 10, 14

# What can be long in the tables of a schema: texts (None), and lists of other tables.
_OF_PAIR: dict[int, Any] = {0: None, 1: None}
_OF_FIELD: dict[int, Any] = {0: None, 6: _OF_PAIR}
_OF_FIELD[5] = _OF_FIELD
_OF_SCHEMA: dict[int, Any] = {1: _OF_FIELD, 2: _OF_PAIR}


def read_arrow(body: bytes, plan: RowPlan, *, max_rows: int, score_column: str | None = None) -> ArrowBatch:
    """The rows of a stream: the columns of the model, and scores in [0, 1]."""
    try:
        _check_cells(check_messages(body, max_rows), plan)
        with pa.ipc.open_stream(body) as reader:
            score_name = _check_schema(reader.schema, plan, score_column)
            needed = [name for name in reader.schema.names if name in plan.types or name == score_name]
            readable = [name for name in needed if _is_plain(reader.schema.field(name).type)]
            batches = list(reader)
            table = _gather(batches, reader.schema, readable)
    except (pa.ArrowException, ValueError, OSError, EOFError, OverflowError) as error:
        if isinstance(error, DataError):
            raise
        said = (str(error) or type(error).__name__).splitlines()[0][:200]
        raise Problem("bad-arrow", f"The stream can't be read: {said}") from None
    n_rows = sum(batch.num_rows for batch in batches)  # the table may have no columns at all
    return ArrowBatch(_scores(table, n_rows, plan, score_name), table)


def write_arrow(probabilities: Floats) -> bytes:
    """A stream of one column; NaN becomes null."""
    batch = pa.RecordBatch.from_arrays([floats_to_arrow(probabilities)], names=[CALIBRATED])
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return bytes(sink.getvalue())


def _check_cells(n_rows: int, plan: RowPlan) -> None:
    """Refuse rows that take no bytes in the stream, as nulls do, but eight each for every column of a wide model."""
    if n_rows * len(plan.columns) > _MAX_CELLS:
        raise Problem(
            "too-many-rows",
            f"The stream has {n_rows:,} rows of {len(plan.columns):,} columns; {_MAX_CELLS:,} values are the limit.",
        )


def _check_schema(schema: pa.Schema, plan: RowPlan, score_column: str | None) -> str:
    """Check the columns' names and types, and find the one of the scores."""
    names = schema.names
    if len(set(names)) < len(names):
        raise Problem("wrong-shape", "Two columns of the stream have the same name.")
    score_name = score_column or plan.score_column
    if plan.base_rate is None:
        score_name = plan.score_name(score_column)
        if score_name not in names or not _is_plain(schema.field(score_name).type):
            raise Problem("bad-score", f"The stream has no column {score_name!r} of base scores.", column=score_name)
    plan.check_names(names, score_name)
    for field in schema:
        if field.name in plan.types and not _is_plain(field.type):
            raise Problem(
                "wrong-type",
                f"Column {field.name!r} has type {field.type}, which is not supported. Cast it to a plain type.",
                column=field.name,
            )
    return score_name


def _is_plain(arrow_type: pa.DataType) -> bool:
    """Whether a column of that type may be read: of types that the table knows, nothing nested, and no extension."""
    if at.is_dictionary(arrow_type) and not _takes_bytes(arrow_type.value_type):
        return False
    plain = arrow_type.value_type if at.is_dictionary(arrow_type) else arrow_type
    return str(plain) in _VIEWS or any(getattr(at, f"is_{name}")(plain) for name in _PLAIN)


def _takes_bytes(arrow_type: pa.DataType) -> bool:
    """Whether every value is at least a byte of the body, so that a dictionary can't be longer than the body is."""
    is_empty = at.is_fixed_size_binary(arrow_type) and arrow_type.byte_width == 0
    return not (is_empty or at.is_null(arrow_type) or at.is_boolean(arrow_type))


def _scores(table: pa.Table, n_rows: int, plan: RowPlan, score_name: str) -> Floats:
    if plan.base_rate is not None:
        return np.full(n_rows, plan.base_rate)
    try:
        return read_scores(table.column(score_name), n_rows, name=f"Column {score_name!r}", missing_allowed=True)
    except DataError as error:
        raise Problem("bad-score", str(error), column=score_name) from None


def _gather(batches: list[pa.RecordBatch], schema: pa.Schema, names: Iterable[str]) -> pa.Table:
    """The named columns of all batches as a table that is valid: after this, no value can point astray."""
    for batch in batches:
        batch.validate()  # lengths only; the values are looked at below, once
    fields = [schema.field(name) for name in names]
    columns = [_column(batches, field) for field in fields]
    if sum(map(_viewed_bytes, columns)) > _MAX_VIEWED_BYTES:
        raise Problem("bad-arrow", f"The texts of the stream have more than {_MAX_VIEWED_BYTES:,} bytes.")
    for column, field in zip(columns, fields, strict=True):
        _validate(column, field)
    return pa.table(columns, schema=pa.schema(fields))


def _validate(column: pa.ChunkedArray, field: pa.Field) -> None:
    """Check offsets, codes of dictionaries, UTF-8 and times, in words of our own: Arrow's would tell the value."""
    try:
        column.validate(full=True)
    except pa.ArrowInvalid:
        raise Problem(
            "bad-arrow",
            f"Column {field.name!r} of type {field.type} holds something that no value of this type can be, such as "
            "text that is not UTF-8, a time beyond a day, or a code that is not in the dictionary.",
            column=field.name,
        ) from None


def _column(batches: list[pa.RecordBatch], field: pa.Field) -> pa.ChunkedArray:
    """A column of all batches, in which chunks that share a dictionary are one, so that it is looked at once."""
    chunks = [batch.column(batch.schema.get_field_index(field.name)) for batch in batches]
    if at.is_dictionary(field.type):
        chunks = [_joined(list(alike), field.type) for _, alike in groupby(chunks, _place_of_dictionary)]
    return pa.chunked_array(chunks, field.type)


def _place_of_dictionary(chunk: pa.DictionaryArray) -> tuple[int, ...]:
    """What chunks that share a dictionary have in common: where in memory it is."""
    dictionary = chunk.dictionary
    return len(dictionary), *(0 if buffer is None else buffer.address for buffer in dictionary.buffers())


def _joined(chunks: list[pa.DictionaryArray], arrow_type: pa.DictionaryType) -> pa.DictionaryArray:
    if len(chunks) == 1:
        return chunks[0]
    indices = pa.concat_arrays([chunk.indices for chunk in chunks])
    return pa.DictionaryArray.from_arrays(indices, chunks[0].dictionary, ordered=arrow_type.ordered, safe=False)


def _viewed_bytes(column: pa.ChunkedArray) -> int:
    """How long all texts are that the views of a column show; 0 if it has none."""
    total = 0
    for chunk in column.chunks:
        values = chunk.dictionary if at.is_dictionary(chunk.type) else chunk
        if str(values.type) in _VIEWS and len(values):
            # A view is four words, of which the first is a length.
            lengths = np.frombuffer(values.buffers()[1], "<i4")[: 4 * (values.offset + len(values)) : 4]
            total += int(lengths.astype(np.int64).clip(0).sum())
    return total


def check_messages(body: bytes, max_rows: int) -> int:
    """How many rows a stream declares; a `Problem` if it asks for too much, ValueError if that can't be told."""
    n_rows = n_values = 0
    for number, (start, end) in enumerate(_messages(body)):
        if number >= _MAX_MESSAGES:
            raise Problem("bad-arrow", f"The stream has more than {_MAX_MESSAGES:,} batches. Send fewer, larger ones.")
        message = body[start:end]
        table = follow(message, 0)
        kind, header_at = scalar_of("<B", message, table, _HEADER_TYPE), field_at(message, table, _HEADER)
        if header_at is None:
            continue
        header = follow(message, header_at)
        if kind == _SCHEMA:
            _check_schema_size(message, header)
        elif kind in (_DICTIONARY_BATCH, _RECORD_BATCH):
            _check_is_plain(message, table)
            if kind == _RECORD_BATCH:
                n_rows += _batch_length(message, header)
            else:
                n_values += _dictionary_length(message, header)
        if n_rows > max_rows:
            raise Problem("too-many-rows", f"The stream has more than {max_rows:,} rows.")
        if n_values > _MAX_DICTIONARY_VALUES:
            raise Problem(
                "bad-arrow",
                f"The dictionaries of the stream have more than {_MAX_DICTIONARY_VALUES:,} values. Leave out the "
                "values that no row has, or send the columns without dictionaries.",
            )
    return n_rows


def _messages(body: bytes) -> Iterator[tuple[int, int]]:
    """Where the metadata of each message begin and end."""
    place = 0
    while place < len(body):
        (length,) = unpack_at("<I", body, place)
        place += 4
        if length == _CONTINUATION:
            (length,) = unpack_at("<I", body, place)
            place += 4
        if length == 0:
            return  # the end of the stream; what stands behind it is never read
        end = place + length
        if end > len(body):
            raise ValueError("it is cut short")
        yield place, end
        message = body[place:end]
        place = end + _not_negative(scalar_of("<q", message, follow(message, 0), _BODY_LENGTH))


def _check_is_plain(message: bytes, table: int) -> None:
    """Refuse a batch whose metadata could tell Arrow to unfold it."""
    if scalar_of("<h", message, table, _VERSION) != _VERSION_5:
        raise Problem("bad-arrow", "A batch of the stream is of an old metadata version. Write it with version 5.")
    if field_at(message, table, _CUSTOM_METADATA) is not None:
        raise Problem("bad-arrow", "A batch of the stream has custom metadata. Write it without.")


def _batch_length(message: bytes, batch: int) -> int:
    if field_at(message, batch, _COMPRESSION) is not None:
        raise Problem("bad-arrow", "The stream is compressed. Write it with compression=None.")
    return _not_negative(scalar_of("<q", message, batch, _LENGTH))


def _dictionary_length(message: bytes, dictionary: int) -> int:
    """How many values a dictionary has, which its nodes tell: Arrow does not compare them with the batch."""
    if scalar_of("<B", message, dictionary, _IS_DELTA):
        raise Problem("bad-arrow", "A dictionary of the stream grows. Write it with emit_dictionary_deltas=False.")
    data_at = field_at(message, dictionary, _DATA)
    if data_at is None:
        return 0
    batch = follow(message, data_at)
    length, nodes_at = _batch_length(message, batch), field_at(message, batch, _NODES)
    if nodes_at is None:
        return length
    vector = follow(message, nodes_at)
    (count,) = unpack_at("<I", message, vector)
    if vector + 4 + 16 * count > len(message):
        raise ValueError("an offset points outside")
    lengths = np.frombuffer(message, "<i8", 2 * count, vector + 4)[::2]  # each node is a length and a count of nulls
    return max(length, int(lengths.max(initial=0)))


def _check_schema_size(message: bytes, schema: int) -> None:
    """Refuse a schema that is far larger than its message: parts of it may stand in many places at once."""
    n_bytes, waiting = 0, [(schema, _OF_SCHEMA)]
    while waiting:
        table, parts = waiting.pop()
        for number, inner in parts.items():
            at = field_at(message, table, number)
            if at is None:
                continue
            vector = follow(message, at)
            (count,) = unpack_at("<I", message, vector)
            n_bytes += count if inner is None else count * _BYTES_OF_TABLE
            _check_schema_bytes(n_bytes)
            if inner is not None:
                waiting += [(follow(message, vector + 4 + 4 * place), inner) for place in range(count)]
        if parts is _OF_FIELD and scalar_of("<B", message, table, _TYPE_KIND) in (_TIMESTAMP, _UNION):
            n_bytes += _bytes_of_type(message, table)
            _check_schema_bytes(n_bytes)


def _bytes_of_type(message: bytes, field: int) -> int:
    """The length of a timestamp's zone or of a union's list of types."""
    type_at = field_at(message, field, _TYPE)
    long_at = None if type_at is None else field_at(message, follow(message, type_at), 1)
    return 0 if long_at is None else 4 * unpack_at("<I", message, follow(message, long_at))[0]


def _check_schema_bytes(n_bytes: int) -> None:
    if n_bytes > _MAX_SCHEMA_BYTES:
        raise Problem("bad-arrow", "The schema of the stream is too large. Send fewer columns, without their metadata.")


def _not_negative(length: int) -> int:
    if length < 0:
        raise ValueError("a length is below zero")
    return length
