"""Writing a table batch by batch, whole or not at all."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from trueup._data import BATCH_ROWS, CSV, Dialect, Format, delimiter_of_ending, fitted, without_dictionaries, write_csv
from trueup.cli._files import opened_sink, telling_of_writing

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["TableWriter", "writing_table"]


class TableWriter:
    """Takes tables with the columns of a schema, and writes them one after the other; CSV has no types to keep."""

    def __init__(self, sink: Any, format_: Format, schema: pa.Schema, delimiter: str = ",") -> None:
        self._delimiter = delimiter
        self._sink = sink
        self._format = format_
        self._writer: Any = None
        self._has_header = False
        self._waiting: list[pa.Table] = []  # small ones are written together
        # Arrow's file format holds one dictionary a column, and batches come with their own.
        self._schema = without_dictionaries(schema) if format_ is Format.ARROW else schema

    def write(self, table: pa.Table) -> None:
        """Write some rows."""
        if self._format is Format.CSV:
            write_csv(table, self._sink, header=not self._has_header, delimiter=self._delimiter)
            self._has_header = True
            return
        self._waiting.append(fitted(table, self._schema))
        if sum(waiting.num_rows for waiting in self._waiting) >= BATCH_ROWS:
            self._write_waiting()

    def close(self) -> None:
        """Write what waits, and the end of the file."""
        if self._format is not Format.CSV:
            self._write_waiting()
            self._opened().close()
        elif not self._has_header:
            self.write(self._schema.empty_table())

    def give_up(self) -> None:
        """Write no more; what is open would otherwise write its end when nobody expects it."""
        if self._writer is not None:
            with contextlib.suppress(Exception):
                self._writer.close()

    def _write_waiting(self) -> None:
        import pyarrow as pa

        if self._waiting:
            self._opened().write_table(pa.concat_tables(self._waiting))
            self._waiting = []

    def _opened(self) -> Any:
        if self._writer is None:
            import pyarrow.parquet as pq
            from pyarrow import ipc

            open_ = pq.ParquetWriter if self._format is Format.PARQUET else ipc.new_file
            self._writer = open_(self._sink, self._schema)
        return self._writer


@contextlib.contextmanager
def writing_table(path: str, format_: Format, schema: pa.Schema, dialect: Dialect = CSV) -> Iterator[TableWriter]:
    """Give what writes batches to a file, which is there when all were written, or to stdout."""
    with telling_of_writing(path, format_), opened_sink(path) as sink:
        writer = TableWriter(sink, format_, schema, delimiter_of_ending(path) or dialect.delimiter)
        try:
            yield writer
            writer.close()
        except BaseException:
            writer.give_up()
            raise
