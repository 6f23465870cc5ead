"""Files as sources of a stream: read batch by batch, with the columns that their folders' names tell."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from trueup._data._csv import csv_schema, read_csv
from trueup._data._paths import Found, folder_columns
from trueup._data._schemas import schema_without_views, without_views
from trueup._data._sniff import Dialect, Format, Written, sniff
from trueup._data._sources import Batch, ColumnTypes, doubled_column, located, telling_problems, types_of
from trueup.errors import DataWarning, FileError, callers_level

if TYPE_CHECKING:
    import pyarrow as pa

    from trueup._model import ValueKind

_BUFFER = 2**20  # of a column's compressed bytes; without it, all of a row group's are held


def file_sources(
    files: Sequence[Found], format_: Format | None, delimiter: str | None, kinds: Mapping[str, ValueKind]
) -> list[FileSource]:
    """The files as sources. All are looked at, so that one that can't be read is told of at once."""
    advice = "Rename it, or name the others with a pattern, such as 'folder/*.parquet'."
    types = folder_columns(files)
    sources, assumed = [], []
    for found in files:
        with telling_problems(repr(found.path), ""):
            written = sniff(found.path, found.path, format_, delimiter, advice)
        sources.append(FileSource.of(found, written, types, kinds))
        assumed += [written.assumed] if written.assumed else []
    if assumed:
        more = f" The same goes for {len(assumed) - 1:,} more." if len(assumed) > 1 else ""
        warnings.warn(f"{assumed[0]}{more}", DataWarning, stacklevel=callers_level())
    return sources


@dataclass(frozen=True, eq=False)
class FileSource:
    """A file of a stream, looked at but not read."""

    path: str
    format: Format
    dialect: Dialect
    types: ColumnTypes  # its columns, and then those that its folders tell
    schema: pa.Schema | None  # the same in full; None for a CSV file
    n_rows: int | None  # if its end says so
    in_folders: Mapping[str, str | None]  # what its folders' names tell of columns that it doesn't have itself
    kinds: Mapping[str, ValueKind]  # of columns of a CSV file whose types would otherwise be guessed

    @classmethod
    def of(cls, found: Found, written: Written, told_types: ColumnTypes, kinds: Mapping[str, ValueKind]) -> FileSource:
        """The file, looked at but not read."""
        import pyarrow as pa

        name = repr(found.path)
        with telling_problems(name, f" as {written.format.value}"):
            schema, names, n_rows = _LOOK[written.format](found.path, written.dialect)
        schema = schema and schema_without_views(schema)
        types = dict.fromkeys(names) if schema is None else types_of(schema, name)
        told = {column: value for column, value in found.in_folders.items() if column not in types}
        for column in told:
            schema = schema and schema.append(pa.field(column, told_types[column]))
        types = {**types, **{column: told_types[column] for column in told}}
        return cls(found.path, written.format, written.dialect, types, schema, n_rows, told, kinds)

    @property
    def name(self) -> str:
        """What messages call it."""
        return repr(self.path)

    @property
    def likely_schema(self) -> pa.Schema:
        """Its schema; of a CSV file, what its first rows suggest."""
        import pyarrow as pa

        if self.schema is not None:
            return self.schema
        told = pa.schema([(column, self.types[column]) for column in self.in_folders])
        return pa.unify_schemas([csv_schema(self.path, self.dialect), told])

    def with_kinds(self, kinds: Mapping[str, ValueKind]) -> FileSource:
        """The same file, of which more is known."""
        return replace(self, kinds={**self.kinds, **kinds})

    def read(self, columns: Sequence[str], batch_rows: int) -> Iterator[Batch]:
        """Its rows; a CSV file is read whole, one of another format batch by batch."""
        own = [column for column in columns if column not in self.in_folders]
        with telling_problems(self.name, f" as {self.format.value}"):
            tables = (self._completed(table, columns) for table in self._tables(own, batch_rows))
            yield from located(tables, self.name, self.n_rows, batch_rows)

    def _tables(self, columns: list[str], batch_rows: int) -> Iterator[pa.Table]:
        if self.format is Format.CSV:
            try:
                return iter([read_csv(self.path, self.kinds, self.dialect)])
            except FileError as error:
                raise FileError(f"{self.name}: {error}") from error
        return (
            _read_parquet(self.path, columns, batch_rows) if self.format is Format.PARQUET else _read_arrow(self.path)
        )

    def _completed(self, table: pa.Table, columns: Sequence[str]) -> pa.Table:
        """The columns asked for, in order, those that folders tell among them."""
        import pyarrow as pa

        table = without_views(table)
        for column in columns:
            if column in self.in_folders:
                value, arrow_type = self.in_folders[column], self.types[column]
                typed = None if value is None else int(value) if pa.types.is_integer(arrow_type) else value
                table = table.append_column(column, pa.repeat(pa.scalar(typed, arrow_type), table.num_rows))
        return table.select(list(columns))


Look: TypeAlias = "tuple[pa.Schema | None, list[str], int | None]"  # what is known of columns, their names, of rows


def _look_at_parquet(path: str, _: Dialect) -> Look:
    import pyarrow.parquet as pq

    with pq.ParquetFile(path, pre_buffer=False) as file:
        return file.schema_arrow, file.schema_arrow.names, file.metadata.num_rows


def _look_at_arrow(path: str, _: Dialect) -> Look:
    with _opened(path) as reader:
        batches = getattr(reader, "num_record_batches", None)  # what has none has no rows
        return reader.schema, reader.schema.names, 0 if batches == 0 else None


def _look_at_csv(path: str, dialect: Dialect) -> Look:
    """The columns; their types are those of all rows, which are not read here."""
    names = csv_schema(path, dialect).names
    if len(set(names)) < len(names):
        doubled = next(name for name in names if names.count(name) > 1)
        raise doubled_column(repr(path), doubled)
    return None, names, None


_LOOK = {Format.PARQUET: _look_at_parquet, Format.ARROW: _look_at_arrow, Format.CSV: _look_at_csv}


def _read_parquet(path: str, columns: list[str], batch_rows: int) -> Iterator[pa.Table]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with pq.ParquetFile(path, pre_buffer=False, buffer_size=_BUFFER, page_checksum_verification=True) as file:
        for batch in file.iter_batches(batch_rows, columns=columns):
            yield pa.Table.from_batches([batch])


def _read_arrow(path: str) -> Iterator[pa.Table]:
    import pyarrow as pa

    with _opened(path) as reader:
        if hasattr(reader, "num_record_batches"):
            for i in range(reader.num_record_batches):
                yield pa.Table.from_batches([reader.get_batch(i)])
        else:
            for batch in reader:
                yield pa.Table.from_batches([batch])


def _opened(path: str) -> Any:
    """A reader of Arrow's file format, or of its stream format: the first bytes tell.

    The file is not mapped into memory: pages that were read would count as the process's own, and a file that gets
    shorter meanwhile would end it.
    """
    import pyarrow as pa
    from pyarrow import ipc

    file = pa.OSFile(path)
    is_file = file.read(6) == b"ARROW1"
    file.seek(0)
    return ipc.open_file(file) if is_file else ipc.open_stream(file)
