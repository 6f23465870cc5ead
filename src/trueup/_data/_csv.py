"""Reading and writing CSV without changing what is in it.

A CSV file has no types, so they are guessed, and a guess can lose something: ``8.10`` is not the number 8.1
if it is a version, ``01234`` is not 1234 if it is a place, and ``NA`` is Namibia. Hence the rules here:
strings stay strings; an empty value is missing; what a model knows to be strings is read as strings; numbers
that are named as categories keep their text unless they are plain integers; and a column that would not be
written as it was read is written as its text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from trueup._data._sniff import CSV, Dialect, opened
from trueup.errors import FileError

if TYPE_CHECKING:
    from trueup._model import ValueKind

_PLAIN_INTEGER = r"^(0|-?[1-9][0-9]{0,17})$"


def csv_schema(source: Any, dialect: Dialect = CSV) -> Any:
    """The columns, with types that the first rows suggest: those of all rows may differ from them."""
    from pyarrow import csv

    with csv.open_csv(opened(source, dialect), parse_options=_parse_options(dialect)) as reader:
        return reader.schema


def read_csv(source: Any, kinds: Mapping[str, ValueKind], dialect: Dialect = CSV) -> Any:
    """A table with guessed types, but for columns whose kind is known.

    Values such as ``NA`` and ``NULL`` are missing in a column of numbers, and strings in a column of strings.
    """
    import pyarrow as pa
    from pyarrow import csv

    from trueup._model import ValueKind

    arrow_types = {ValueKind.STRING: pa.string(), ValueKind.BOOLEAN: pa.bool_()}
    known = {name: arrow_types[kind] for name, kind in kinds.items() if kind in arrow_types}
    options = csv.ConvertOptions(column_types=known, decimal_point=dialect.decimal_point)
    table = csv.read_csv(opened(source, dialect), parse_options=_parse_options(dialect), convert_options=options)
    for i, field in enumerate(table.schema):
        if pa.types.is_binary(field.type):
            raise FileError(f"Column {field.name!r} of a CSV file is not UTF-8 text. Save the file as UTF-8.")
        if field.type == pa.string():
            table = table.set_column(i, field, _empty_is_missing(table.column(i)))
    return table


def with_category_text(table: Any, source: Any, names: Sequence[str], dialect: Dialect = CSV) -> Any:
    """The table with the text of those columns that were read as numbers, unless it is plain integers."""
    import pyarrow as pa
    import pyarrow.compute as pc

    numeric = [
        name for name in names if pa.types.is_integer(table[name].type) or pa.types.is_floating(table[name].type)
    ]
    if not numeric:
        return table
    text = _read_text(source, numeric, dialect)
    for name in numeric:
        column = _empty_is_missing(text.column(name))
        is_plain = pc.all(pc.match_substring_regex(column, _PLAIN_INTEGER)).as_py()
        if is_plain is False:
            table = table.set_column(table.column_names.index(name), name, column)
    return table


def with_faithful_text(table: Any, source: Any, dialect: Dialect = CSV) -> Any:
    """The table with the text of those columns that would not be written as they were read."""
    import pyarrow as pa
    import pyarrow.compute as pc

    text = _read_text(source, table.column_names, dialect)
    for i, name in enumerate(table.column_names):
        if pa.types.is_string(table.schema.field(i).type):
            continue
        would_write = pc.fill_null(pc.cast(table.column(i), pa.string()), "")
        if not pc.all(pc.equal(would_write, text.column(i))).as_py():
            table = table.set_column(i, name, _empty_is_missing(text.column(i)))
    return table


def write_csv(table: Any, sink: Any, *, header: bool = True, delimiter: str = ",") -> None:
    """Write a table as CSV; what is missing is empty."""
    from pyarrow import csv

    csv.write_csv(table, sink, csv.WriteOptions(include_header=header, delimiter=delimiter))


def _read_text(source: Any, names: Sequence[str], dialect: Dialect) -> Any:
    """Some columns as strings."""
    import pyarrow as pa
    from pyarrow import csv

    options = csv.ConvertOptions(include_columns=names, column_types=dict.fromkeys(names, pa.string()))
    return csv.read_csv(opened(source, dialect), parse_options=_parse_options(dialect), convert_options=options)


def _parse_options(dialect: Dialect) -> Any:
    from pyarrow import csv

    return csv.ParseOptions(delimiter=dialect.delimiter, newlines_in_values=True)


def _empty_is_missing(column: Any) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.if_else(pc.equal(column, ""), pa.NULL, column)
