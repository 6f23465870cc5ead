"""Strings as views, which few of Arrow's functions know, as plain strings."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["schema_without_views", "without_views"]


def without_views(table: pa.Table) -> pa.Table:
    """The table with plain strings in place of views, inside of dictionaries too."""
    if not any(map(_has_view, table.schema.types)):
        return table
    schema = schema_without_views(table.schema)
    for i, field in enumerate(schema):
        if _has_view(table.schema.field(i).type):
            table = table.set_column(i, field, _plain(table.column(i), field.type))
    return table


def schema_without_views(schema: pa.Schema) -> pa.Schema:
    """The schema with plain strings in place of views, inside of dictionaries too."""
    import pyarrow as pa

    return pa.schema([field.with_type(_plain_type(field.type)) for field in schema], metadata=schema.metadata)


def _has_view(arrow_type: pa.DataType) -> bool:
    return str(_value_type(arrow_type)) in ("string_view", "binary_view")


def _value_type(arrow_type: pa.DataType) -> pa.DataType:
    import pyarrow as pa

    return arrow_type.value_type if pa.types.is_dictionary(arrow_type) else arrow_type


def _plain_type(arrow_type: pa.DataType) -> pa.DataType:
    import pyarrow as pa

    if not _has_view(arrow_type):
        return arrow_type
    plain = pa.large_string() if str(_value_type(arrow_type)) == "string_view" else pa.large_binary()
    if not pa.types.is_dictionary(arrow_type):
        return plain
    return pa.dictionary(arrow_type.index_type, plain, arrow_type.ordered)


def _plain(column: pa.ChunkedArray, arrow_type: pa.DataType) -> pa.ChunkedArray:
    import pyarrow as pa

    if not pa.types.is_dictionary(arrow_type):
        return column.cast(arrow_type)
    chunks = [
        pa.DictionaryArray.from_arrays(
            chunk.indices, chunk.dictionary.cast(arrow_type.value_type), ordered=arrow_type.ordered
        )
        for chunk in column.chunks
    ]
    return pa.chunked_array(chunks, arrow_type)
