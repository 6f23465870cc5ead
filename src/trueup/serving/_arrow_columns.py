"""The columns of an Arrow stream, gathered so that no body costs more than its size.

Two things in Arrow stand for more than they hold. Every batch of a stream may share one dictionary, and what walks over
batches walks over that dictionary again and again: two megabytes kept a processor busy for half a minute. And many
views may show one long text, which a copy would write out for each.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from trueup.serving._problems import Problem

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["VIEWS", "gather"]

_MAX_VIEWED_BYTES = 2**26
VIEWS = ("string_view", "binary_view")


def gather(batches: list[pa.RecordBatch], schema: pa.Schema, names: Iterable[str]) -> pa.Table:
    """The named columns of batches as a table that is valid: after this, no value can point astray."""
    import pyarrow as pa

    for batch in batches:
        batch.validate()  # lengths only; the values are looked at below, once
    fields = [schema.field(name) for name in names]
    columns = [_column(batches, field) for field in fields]
    if sum(map(_viewed_bytes, columns)) > _MAX_VIEWED_BYTES:
        raise Problem("bad-arrow", f"The texts of the stream are more than {_MAX_VIEWED_BYTES:,} bytes.")
    for column, field in zip(columns, fields, strict=True):
        _validate(column, field)
    return pa.table(columns, schema=pa.schema(fields))


def _validate(column: pa.ChunkedArray, field: pa.Field) -> None:
    """Check offsets, codes of dictionaries, UTF-8 and times, in words of our own: Arrow's would tell the value."""
    import pyarrow as pa

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
    import pyarrow as pa

    chunks = [batch.column(batch.schema.get_field_index(field.name)) for batch in batches]
    if pa.types.is_dictionary(field.type):
        chunks = [_joined(list(alike), field.type) for _, alike in groupby(chunks, _place_of_dictionary)]
    return pa.chunked_array(chunks, field.type)


def _place_of_dictionary(chunk: pa.DictionaryArray) -> tuple[int, ...]:
    """What chunks that share a dictionary have in common: where in memory it is."""
    dictionary = chunk.dictionary
    return len(dictionary), *(0 if buffer is None else buffer.address for buffer in dictionary.buffers())


def _joined(chunks: list[pa.DictionaryArray], arrow_type: pa.DictionaryType) -> pa.DictionaryArray:
    import pyarrow as pa

    if len(chunks) == 1:
        return chunks[0]
    indices = pa.concat_arrays([chunk.indices for chunk in chunks])
    return pa.DictionaryArray.from_arrays(indices, chunks[0].dictionary, ordered=arrow_type.ordered, safe=False)


def _viewed_bytes(column: pa.ChunkedArray) -> int:
    """How long all texts are that the views of a column show; 0 if it has none."""
    import pyarrow as pa

    total = 0
    for chunk in column.chunks:
        values = chunk.dictionary if pa.types.is_dictionary(chunk.type) else chunk
        if str(values.type) in VIEWS and len(values):
            # A view is four words, of which the first is a length.
            lengths = np.frombuffer(values.buffers()[1], "<i4")[: 4 * (values.offset + len(values)) : 4]
            total += int(lengths.astype(np.int64).clip(0).sum())
    return total
