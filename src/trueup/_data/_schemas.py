"""Arrow types: which kind of values they hold, one that several fit into, and strings that few functions know."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from trueup._model import ValueKind
from trueup.errors import ColumnError, TableError

if TYPE_CHECKING:
    import pyarrow as pa


def kind_in_words(arrow_type: pa.DataType) -> str | None:
    """What values of a type are, in a word or two; None for nothing but missing values, which are of any kind.

    Types of one kind differ in what they can hold, not in what they mean: integers of any width, floats and decimals
    are numbers; strings are strings whether a dictionary encodes them or not.
    """
    import pyarrow.types as at

    arrow_type = _value_type(arrow_type)
    if at.is_null(arrow_type):
        return None
    kinds = {
        ValueKind.NUMBER: (at.is_integer, at.is_floating, at.is_decimal),
        ValueKind.BOOLEAN: (at.is_boolean,),
        ValueKind.DATE: (at.is_date,),
        ValueKind.DATETIME: (at.is_timestamp,),
    }
    for kind, checks in kinds.items():
        if any(check(arrow_type) for check in checks):
            return kind.value
    name = str(arrow_type)
    if name in ("string", "large_string", "string_view"):
        return ValueKind.STRING.value
    simple = name.partition("[")[0].partition("<")[0]  # no unit, no field
    return f"values of type {simple.removeprefix('large_').removesuffix('_view')}"


class KindWatch:
    """Sees the types of columns in source after source, and refuses a column that changes its kind."""

    def __init__(self) -> None:
        self._seen: dict[str, tuple[str, str]] = {}

    def difference(self, column: str, arrow_type: pa.DataType, where: str) -> str | None:
        """What differs from what was seen before, in words; None if nothing does."""
        kind = kind_in_words(arrow_type)
        if kind is None:
            return None
        first, first_where = self._seen.setdefault(column, (kind, where))
        if first == kind:
            return None
        return (
            f"Column {column!r} holds {first} in {first_where} and {kind} in {where}. Give it one type in all of them, "
            "or leave it out."
        )

    def see(self, schema: Iterable[pa.Field], where: str) -> None:
        """Refuse a schema in which a column has another kind than before."""
        for field in schema:
            different = self.difference(field.name, field.type, where)
            if different:
                raise ColumnError(different)


def common_schema(schemas: Sequence[pa.Schema], columns: Sequence[str]) -> pa.Schema:
    """The schema that rows of all schemas fit into; what is said about a table as a whole is kept if there is one."""
    import pyarrow as pa

    if not schemas:
        return pa.schema([(column, pa.null()) for column in columns])
    fields = [_common_field([schema.field(column) for schema in schemas]) for column in columns]
    about = schemas[0].metadata
    return pa.schema(fields, metadata=about if all(schema.metadata == about for schema in schemas[1:]) else None)


def _common_field(fields: Sequence[pa.Field]) -> pa.Field:
    import pyarrow as pa

    first = fields[0]
    if all(field.equals(first, check_metadata=True) for field in fields):
        return first
    plain = [pa.schema([pa.field(first.name, _value_type(field.type))]) for field in fields]
    try:
        return pa.unify_schemas(plain, promote_options="permissive").field(0)
    except pa.ArrowException as error:
        types = ", ".join(dict.fromkeys(str(field.type) for field in fields))
        raise TableError(
            f"Column {first.name!r} has the types {types} in different files, and no single type holds them all "
            f"({error}). Give it one type everywhere."
        ) from error


def _value_type(arrow_type: pa.DataType) -> pa.DataType:
    """The type of the values, which a dictionary may encode."""
    import pyarrow as pa

    while pa.types.is_dictionary(arrow_type):
        arrow_type = arrow_type.value_type
    return arrow_type


def without_dictionaries(schema: pa.Schema) -> pa.Schema:
    """The schema with the values in place of codes."""
    import pyarrow as pa

    return pa.schema([field.with_type(_value_type(field.type)) for field in schema], metadata=schema.metadata)


def fitted(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """The table in the types of a schema; an error if a value doesn't fit."""
    import pyarrow as pa

    table = table.replace_schema_metadata(schema.metadata)
    if table.schema.equals(schema):
        return table
    try:
        return table.cast(schema)
    except pa.ArrowException as error:
        raise TableError(f"Values don't fit the type that their column has elsewhere: {error}") from error


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

    return pa.schema([field.with_type(_without_view(field.type)) for field in schema], metadata=schema.metadata)


def _has_view(arrow_type: pa.DataType) -> bool:
    return str(_value_type(arrow_type)) in ("string_view", "binary_view")


def _without_view(arrow_type: pa.DataType) -> pa.DataType:
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
