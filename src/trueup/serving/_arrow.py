"""Requests and answers as Arrow IPC streams; nothing in a stream is believed before it is checked.

Imported with the first such request, since pyarrow takes its time and memory. Two things in Arrow stand for more than
they hold. Every batch of a stream may share one dictionary, and what walks over batches walks over it again and again:
two megabytes kept a processor busy for half a minute. And many views may show one long text, which a copy would write
out for each.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.types as at

from trueup._data import floats_to_arrow, read_scores
from trueup.errors import DataError
from trueup.serving._arrow_messages import check_messages
from trueup.serving._problems import Problem
from trueup.serving._rows import ArrowBatch, RowPlan

__all__ = ["CALIBRATED", "read_arrow", "write_arrow"]

Floats = npt.NDArray[np.float64]
CALIBRATED = "calibrated"
_MAX_CELLS = 2**24
_MAX_VIEWED_BYTES = 2**26
_VIEWS = ("string_view", "binary_view")
_PLAIN = (
    "null", "boolean", "integer", "floating", "decimal", "date", "time", "timestamp", "duration", "string",
    "large_string", "binary", "large_binary", "fixed_size_binary",
)  # fmt: skip


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
