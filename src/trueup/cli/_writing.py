"""Tables to files, whole or not at all, and to stdout."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trueup._data import (
    BATCH_ROWS,
    COMPRESSIONS,
    CSV,
    Dialect,
    Format,
    delimiter_of_ending,
    fitted,
    format_of_ending,
    without_dictionaries,
    write_csv,
)
from trueup.cli._files import STANDARD_STREAM
from trueup.cli._printing import check_stdout
from trueup.errors import FileError

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["TableWriter", "check_output", "format_of", "write_table", "writing_table"]


def format_of(path: str, chosen: Format | None, option: str | None) -> Format:
    """The format that was asked for, or that the file's ending says; CSV in a pipe."""
    if chosen is not None:
        return chosen
    if path == STANDARD_STREAM:
        return Format.CSV
    return format_of_ending(path, "Rename it." if option is None else f"Rename it, or name its format with {option}.")


def check_output(path: str) -> None:
    """Refuse a place that can't be written to, before the work and not after it."""
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise FileError(f"{path!r} can't be written: there is no folder {str(target.parent)!r}. Make it first.")
    if target.is_dir():
        raise FileError(f"{path!r} can't be written: it is a folder. Name a file in it.")
    if target.exists() and not target.is_file():
        raise FileError(f"{path!r} can't be written: it is not a regular file.")
    if not os.access(target.parent, os.W_OK):
        raise FileError(f"{path!r} can't be written: the folder {str(target.parent)!r} may not be written to.")


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
    with _telling_of_writing(path, format_), _opened_sink(path) as sink:
        writer = TableWriter(sink, format_, schema, delimiter_of_ending(path) or dialect.delimiter)
        try:
            yield writer
            writer.close()
        except BaseException:
            writer.give_up()
            raise


def write_table(table: Any, path: str, format_: Format) -> None:
    """Write a table to a file or to stdout."""
    with writing_table(path, format_, table.schema) as writer:
        writer.write(table)


@contextlib.contextmanager
def _opened_sink(path: str) -> Iterator[Any]:
    """Something to write to that becomes the file when all is written, or stdout."""
    import pyarrow as pa

    from trueup._runtime import atomic_path

    if path == STANDARD_STREAM:
        check_stdout()
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    compression = COMPRESSIONS.get(os.path.splitext(path.lower())[1])
    with atomic_path(path) as temporary, pa.output_stream(temporary, compression=compression) as sink:
        yield sink


@contextlib.contextmanager
def _telling_of_writing(path: str, format_: Format) -> Iterator[None]:
    """Say in errors that writing raises which file they are about."""
    import pyarrow as pa

    try:
        yield
    except BrokenPipeError:
        raise
    except (pa.ArrowException, OSError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        name = "stdout" if path == STANDARD_STREAM else repr(path)
        raise FileError(f"{name} can't be written as {format_.value}: {reason}") from error
