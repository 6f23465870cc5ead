"""One type for what has several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from trueup.errors import TableError

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["common_schema", "fitted", "without_dictionaries"]


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
    plain = [pa.schema([pa.field(first.name, _plain_type(field.type))]) for field in fields]
    try:
        return pa.unify_schemas(plain, promote_options="permissive").field(0)
    except pa.ArrowException as error:
        types = ", ".join(dict.fromkeys(str(field.type) for field in fields))
        raise TableError(
            f"Column {first.name!r} is of types {types} in different parts, which no type holds together ({error}). "
            "Give it one type in all of them."
        ) from error


def _plain_type(arrow_type: pa.DataType) -> pa.DataType:
    """The type of the values, which a dictionary may encode."""
    import pyarrow as pa

    while pa.types.is_dictionary(arrow_type):
        arrow_type = arrow_type.value_type
    return arrow_type


def without_dictionaries(schema: pa.Schema) -> pa.Schema:
    """The schema with the values in place of codes."""
    import pyarrow as pa

    return pa.schema([field.with_type(_plain_type(field.type)) for field in schema], metadata=schema.metadata)


def fitted(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """The table in the types of a schema; an error if a value doesn't fit."""
    import pyarrow as pa

    table = table.replace_schema_metadata(schema.metadata)
    if table.schema.equals(schema):
        return table
    try:
        return table.cast(schema)
    except pa.ArrowException as error:
        raise TableError(f"Values don't fit the type of their column in the other parts: {error}") from error
