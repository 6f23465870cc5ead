"""Tables from files and stdin, and to files and stdout."""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trueup._data import (
    COMPRESSIONS,
    CSV,
    Dialect,
    Format,
    Written,
    delimiter_named,
    delimiter_of_ending,
    format_of_ending,
    known_ending,
    read_csv,
    sniff,
    with_category_text,
    with_faithful_text,
    write_csv,
)
from trueup.cli._printing import check_stdout
from trueup.errors import ColumnError, DataWarning, FileError

if TYPE_CHECKING:
    from trueup._model import ValueKind

__all__ = [
    "STANDARD_STREAM",
    "Format",
    "Reading",
    "TableSource",
    "check_output",
    "format_of",
    "is_same_file",
    "known_ending",
    "opened_sink",
    "telling_of_writing",
    "write_table",
]

STANDARD_STREAM = "-"


def format_of(path: str, chosen: Format | None, option: str | None) -> Format:
    """The format that was asked for, or that the file's ending says; CSV in a pipe."""
    if chosen is not None:
        return chosen
    if path == STANDARD_STREAM:
        return Format.CSV
    return format_of_ending(path, "Rename it." if option is None else f"Rename it, or name its format with {option}.")


@dataclass(frozen=True)
class Reading:
    """What options say of how tables are written; None is for what the files themselves say."""

    format: Format | None = None
    delimiter: str | None = None

    @classmethod
    def of(cls, format_: Format | None, delimiter: str | None) -> Reading:
        """What --input-format and --delimiter say."""
        return cls(format_, None if delimiter is None else delimiter_named(delimiter))


@dataclass(frozen=True, eq=False)
class TableSource:
    """Where a table comes from."""

    path: str  # or - for stdin
    written: Written
    content: bytes | None = None  # all of stdin, which can be read only once

    @classmethod
    def of(cls, path: str, reading: Reading | None = None) -> TableSource:
        """The source that an argument names."""
        reading = reading or Reading()
        advice = "Rename it, or name its format with --input-format."
        if path == STANDARD_STREAM:
            content = sys.stdin.buffer.read()
            return cls(path, sniff(content, ".csv", reading.format, reading.delimiter, advice), content)
        if not os.path.exists(path):
            raise FileError(f"There is no file {path!r}.")
        if os.path.isdir(path):
            raise FileError(f"{path!r} is a folder. Name a file.")
        try:
            return cls(path, sniff(path, path, reading.format, reading.delimiter, advice))
        except OSError as error:
            raise FileError(f"{path!r} can't be read: {error.strerror or error}") from error

    @property
    def format(self) -> Format:
        """How it is written."""
        return self.written.format

    @property
    def dialect(self) -> Dialect:
        """And how, if that is CSV."""
        return self.written.dialect

    @property
    def name(self) -> str:
        """What messages call it."""
        return "stdin" if self.content is not None else repr(self.path)

    def read(self, kinds: Mapping[str, ValueKind] | None = None) -> Any:
        """The table; in a CSV file, columns of known kinds are read as such."""
        with self._telling_problems():
            if self.format is Format.CSV:
                table = read_csv(self._raw(), kinds or {}, self.dialect)
            elif self.format is Format.PARQUET:
                import pyarrow.parquet as pq

                # Not read_table: it would make columns out of folders such as year=2024.
                with pq.ParquetFile(self._native()) as file:
                    table = file.read()
            else:
                table = _read_arrow(self._native())
            names: list[str] = table.column_names
        if len(set(names)) < len(names):
            doubled = sorted({name for name in names if names.count(name) > 1})
            raise ColumnError(f"{self.name} has more than one column called {doubled[0]!r}. Rename or drop one.")
        if self.written.assumed:
            warnings.warn(self.written.assumed, DataWarning, stacklevel=2)
        return table

    def with_category_text(self, table: Any, names: Sequence[str]) -> Any:
        """The table with the text of categories that the reader of a CSV file took for numbers."""
        if self.format is not Format.CSV:
            return table
        with self._telling_problems():
            return with_category_text(table, self._raw(), names, self.dialect)

    def with_faithful_text(self, table: Any, written_as: Format) -> Any:
        """The table in which nothing changes on the way from one CSV file to another."""
        if self.format is not Format.CSV or written_as is not Format.CSV:
            return table
        with self._telling_problems():
            return with_faithful_text(table, self._raw(), self.dialect)

    def _raw(self) -> str | bytes:
        return self.path if self.content is None else self.content

    def _native(self) -> Any:
        import pyarrow as pa

        return self.path if self.content is None else pa.BufferReader(self.content)

    @contextlib.contextmanager
    def _telling_problems(self) -> Iterator[None]:
        import pyarrow as pa

        try:
            yield
        except (pa.ArrowException, OSError, UnicodeError) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else error
            raise FileError(f"{self.name} can't be read as {self.format.value}: {reason}") from error


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


def is_same_file(one: str, other: str) -> bool:
    """Whether two paths name one file."""
    return os.path.exists(one) and os.path.exists(other) and os.path.samefile(one, other)


def write_table(table: Any, path: str, format_: Format, dialect: Dialect = CSV) -> None:
    """Write a table to a file, whole or not at all, or to stdout; its ending may say another delimiter."""
    with telling_of_writing(path, format_), opened_sink(path) as sink:
        _write(table, sink, format_, delimiter_of_ending(path) or dialect.delimiter)


@contextlib.contextmanager
def opened_sink(path: str) -> Iterator[Any]:
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
def telling_of_writing(path: str, format_: Format) -> Iterator[None]:
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


def _write(table: Any, sink: Any, format_: Format, delimiter: str) -> None:
    if format_ is Format.CSV:
        write_csv(table, sink, delimiter=delimiter)
    elif format_ is Format.PARQUET:
        import pyarrow.parquet as pq

        pq.write_table(table, sink)
    else:
        from pyarrow import ipc

        # The file format holds one dictionary a column, and the chunks of a table may come with several.
        table = table.unify_dictionaries()
        with ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)


def _read_arrow(source: Any) -> Any:
    """A table in Arrow's file format, or in its stream format: the first bytes tell."""
    import pyarrow as pa
    from pyarrow import ipc

    with pa.OSFile(source) if isinstance(source, str) else source as file:
        is_file = file.read(6) == b"ARROW1"
        file.seek(0)
        with ipc.open_file(file) if is_file else ipc.open_stream(file) as reader:
            return reader.read_all()
