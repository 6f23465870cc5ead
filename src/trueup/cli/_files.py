"""Tables from files and stdin: one in memory, or one file, several, a folder or a pattern batch by batch."""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from trueup._data import (
    Format,
    Written,
    delimiter_named,
    is_pattern,
    known_ending,
    read_csv,
    sniff,
    with_category_text,
    with_faithful_text,
    would_read,
)
from trueup.errors import ColumnError, DataWarning, FileError, ParameterError

if TYPE_CHECKING:
    from trueup._data import Stream
    from trueup._model import ValueKind

__all__ = [
    "STANDARD_STREAM",
    "Format",
    "Reading",
    "TableSource",
    "is_same_file",
    "known_ending",
    "name_of",
    "names_many",
    "stream_of",
]

STANDARD_STREAM = "-"


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
    def name(self) -> str:
        """What messages call it."""
        return "stdin" if self.content is not None else repr(self.path)

    def read(self, kinds: Mapping[str, ValueKind] | None = None) -> Any:
        """The table; in a CSV file, columns of known kinds are read as such."""
        with self._telling_problems():
            if self.written.format is Format.CSV:
                table = read_csv(self._raw(), kinds or {}, self.written.dialect)
            elif self.written.format is Format.PARQUET:
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
        if self.written.format is not Format.CSV:
            return table
        with self._telling_problems():
            return with_category_text(table, self._raw(), names, self.written.dialect)

    def with_faithful_text(self, table: Any, written_as: Format) -> Any:
        """The table in which nothing changes on the way from one CSV file to another."""
        if self.written.format is not Format.CSV or written_as is not Format.CSV:
            return table
        with self._telling_problems():
            return with_faithful_text(table, self._raw(), self.written.dialect)

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
            raise FileError(f"{self.name} can't be read as {self.written.format.value}: {reason}") from error


def is_same_file(one: str, other: str) -> bool:
    """Whether two paths name one file."""
    both_exist = os.path.exists(one) and os.path.exists(other)
    return os.path.samefile(one, other) if both_exist else os.path.realpath(one) == os.path.realpath(other)


def names_many(tables: Sequence[str]) -> bool:
    """Whether arguments name more than one file: several, a folder or a pattern."""
    if len(tables) == 1:
        return tables[0] != STANDARD_STREAM and (os.path.isdir(tables[0]) or is_pattern(tables[0]))
    return True


def stream_of(tables: Sequence[str], reading: Reading, outputs: Sequence[str] = ()) -> Stream:
    """The stream that arguments name. Outputs may be neither a table nor where the next run would read one."""
    from trueup._data import open_stream

    if STANDARD_STREAM in tables:
        raise ParameterError("stdin can be read only once, and not as one of several tables. Name files.")
    if not names_many(tables):
        TableSource.of(tables[0], reading)  # whose errors know the options
    stream = open_stream(
        tables[0] if len(tables) == 1 else list(tables),
        file_format=reading.format and reading.format.value,
        delimiter=reading.delimiter,
    )
    for output in outputs:
        if output != STANDARD_STREAM and os.path.realpath(output) in map(os.path.realpath, stream.files):
            raise ParameterError(f"-o names {output!r}, which is one of the tables to read. Name another file.")
        for path in tables:
            if output != STANDARD_STREAM and would_read(path, output):
                raise ParameterError(
                    f"-o names {output!r}, which {path!r} would read as a table the next time. Write it elsewhere."
                )
    return stream


def name_of(tables: Sequence[str]) -> str:
    """What messages call the tables together."""
    if len(tables) == 1:
        return "stdin" if tables[0] == STANDARD_STREAM else tables[0]
    return f"{tables[0]} and {len(tables) - 1:,} more"


def _read_arrow(source: Any) -> Any:
    """A table in Arrow's file format, or in its stream format: the first bytes tell."""
    import pyarrow as pa
    from pyarrow import ipc

    with pa.OSFile(source) if isinstance(source, str) else source as file:
        is_file = file.read(6) == b"ARROW1"
        file.seek(0)
        with ipc.open_file(file) if is_file else ipc.open_stream(file) as reader:
            return reader.read_all()
