"""Writing all segments to a table."""

from __future__ import annotations

from typing import Any

from trueup.cli._files import STANDARD_STREAM, Format, check_output, format_of, is_same_file, write_table
from trueup.errors import ParameterError

__all__ = ["check_segment_table", "write_segment_table"]


def check_segment_table(output: str | None, table: str) -> Format:
    """The format of the table to write, if there is one, and its place is fine."""
    if output is None:
        return Format.CSV
    output_format = format_of(output, None, None)
    if output != STANDARD_STREAM:
        check_output(output)
        if table != STANDARD_STREAM and is_same_file(table, output):
            raise ParameterError(f"-o names the table itself, {output!r}. Name another file for the segments.")
    return output_format


def write_segment_table(table: Any, path: str, format_: Format) -> None:
    """Write all segments; what is not a number is missing, which every format can say."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for i, field in enumerate(table.schema):
        column = table.column(i)
        if pa.types.is_floating(field.type):
            table = table.set_column(i, field, pc.if_else(pc.is_nan(column), pa.NULL, column))
        elif pa.types.is_null(field.type):
            table = table.set_column(i, field.name, column.cast(pa.string()))
    write_table(table, path, format_)
