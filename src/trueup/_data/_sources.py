"""What a stream is made of: files, tables and queries that can be read batch by batch."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

from trueup._data._schemas import without_views
from trueup._data._table import listed
from trueup.errors import ColumnError, DataError, FileError, TableError

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, eq=False)
class Batch:
    """At least one row of a stream."""

    table: pa.Table
    where: str  # a file and which of its rows, for messages
    source: str = ""  # the file alone, or whatever source it is


@contextlib.contextmanager
def naming(batch: Batch) -> Iterator[None]:
    """Say in errors about the data which batch they are in."""
    try:
        yield
    except DataError as error:
        raise type(error)(f"{batch.where[0].upper()}{batch.where[1:]}: {error}") from error


ColumnTypes: TypeAlias = "Mapping[str, pa.DataType | None]"


@contextlib.contextmanager
def telling_problems(name: str, as_what: str = "") -> Iterator[None]:
    """Say of errors that reading raises which file or query they are in."""
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, OSError, UnicodeError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise FileError(f"{name} can't be read{as_what}: {reason}") from error


def as_table(batch: Any, name: str) -> pa.Table:
    """An Arrow table from a record batch, or from a table of any library that gives Arrow data."""
    import pyarrow as pa

    if isinstance(batch, pa.Table):
        table = batch
    elif isinstance(batch, pa.RecordBatch):
        table = pa.Table.from_batches([batch])
    elif type(batch).__module__.startswith("pandas") and hasattr(batch, "iloc"):
        table = pa.Table.from_pandas(batch, preserve_index=False)  # the numbers of rows are no feature
    else:
        try:
            table = pa.table(batch)
        except (TypeError, ValueError) as error:
            what = f"{name[0].upper()}{name[1:]} is a {type(batch).__name__}, which gives no Arrow data ({error})."
            raise TableError(f"{what} Pass record batches or tables.") from error
    return without_views(table)


def types_of(schema: pa.Schema, name: str) -> ColumnTypes:
    """The types by column; two columns of one name are refused."""
    types: dict[str, pa.DataType | None] = {}
    for field in schema:
        if field.name in types:
            raise doubled_column(name, field.name)
        types[field.name] = field.type
    return types


def doubled_column(name: str, column: str) -> ColumnError:
    """The error for two columns of one name."""
    return ColumnError(f"{name} has more than one column called {column!r}. Rename or drop one.")


def located(tables: Iterable[pa.Table], name: str, n_rows: int | None, batch_rows: int) -> Iterator[Batch]:
    """The rows of tables that follow one another in a source, so many at a time, and which rows of it they are."""
    first = 0
    for table in tables:
        for begin in range(0, table.num_rows, batch_rows):
            some = table.slice(begin, batch_rows)
            rows = "" if some.num_rows == n_rows else f", rows {first:,} to {first + some.num_rows - 1:,}"
            yield Batch(some, f"{name}{rows}", name)
            first += some.num_rows


@dataclass(frozen=True, eq=False)
class QuerySource:
    """A table in memory, or what another library reads or computes when it is asked for rows."""

    name: str
    schema: pa.Schema
    ask: Callable[[list[str], int], Iterator[Any]]  # called with the columns and the number of rows at a time
    problems: tuple[type[Exception], ...] = ()  # what that library raises if it fails
    n_rows: int | None = None

    @cached_property
    def types(self) -> ColumnTypes:
        """Its columns."""
        return types_of(self.schema, self.name)

    def read(self, columns: Sequence[str], batch_rows: int) -> Iterator[Batch]:
        """Its rows, as they are computed."""
        with telling_problems(self.name):
            try:
                tables = (as_table(batch, self.name) for batch in self.ask(list(columns), batch_rows))
                yield from located(tables, self.name, self.n_rows, batch_rows)
            except self.problems as error:
                raise FileError(f"{self.name} can't be read: {error}") from error


def table_source(table: Any, name: str) -> QuerySource:
    """A table in memory, of any library that gives Arrow data."""
    held = as_table(table, name)
    return QuerySource(name, held.schema, lambda columns, _: iter([held.select(columns)]), n_rows=held.num_rows)


class IteratedSource:
    """Batches that somebody else makes, of which only the first is known before they are read; `begin` gives them."""

    n_rows = None
    schema = None

    def __init__(self, begin: Callable[[], Iterator[Any]], name: str) -> None:
        self.name = name
        self.types: ColumnTypes = {}
        self._begin = begin
        batches = _with_rows(begin())
        first = list(itertools.islice(batches, 1))
        for number, table in first:
            self.types = types_of(table.schema, f"Batch {number:,}")
        self._begun: Iterator[tuple[int, pa.Table]] | None = itertools.chain(first, batches)  # none is lost

    def read(self, columns: Sequence[str], batch_rows: int) -> Iterator[Batch]:
        """The rows of one batch after the other."""
        batches = _with_rows(self._begin()) if self._begun is None else self._begun
        self._begun = None
        for number, table in batches:
            yield from self._of(number, table, columns, batch_rows)

    def _of(self, number: int, table: pa.Table, columns: Sequence[str], batch_rows: int) -> Iterator[Batch]:
        name = f"batch {number:,}"
        absent = [column for column in columns if column not in table.column_names]
        if absent:
            shown = listed(table.column_names, 12)
            raise ColumnError(f"B{name[1:]}: There is no column {listed(absent)}. The columns are {shown}.")
        return located([table.select(list(columns))], name, table.num_rows, batch_rows)


def _with_rows(batches: Iterator[Any]) -> Iterator[tuple[int, pa.Table]]:
    for number, batch in enumerate(batches):
        table = as_table(batch, f"batch {number:,}")
        if table.num_rows:
            yield number, table
