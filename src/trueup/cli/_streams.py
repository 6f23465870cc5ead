"""Tables that are named by folders, patterns or several files, and are read batch by batch."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from trueup._data import is_pattern, would_read
from trueup.cli._files import STANDARD_STREAM, Reading, TableSource
from trueup.errors import ParameterError

if TYPE_CHECKING:
    from trueup._data import Stream

__all__ = ["name_of", "names_many", "refuse_output_in", "stream_of"]


def names_many(tables: Sequence[str]) -> bool:
    """Whether arguments name more than one file: several, a folder or a pattern."""
    if len(tables) == 1:
        return tables[0] != STANDARD_STREAM and (os.path.isdir(tables[0]) or is_pattern(tables[0]))
    return True


def stream_of(tables: str | Sequence[str], reading: Reading, *, single_files: bool = False) -> Stream | None:
    """The stream that arguments name; None for one file or stdin, which are read into memory.

    With `single_files`, one file is a stream as well. Stdin never is: it can be read only once.
    """
    from trueup._data import open_stream

    named = [tables] if isinstance(tables, str) else list(tables)
    if STANDARD_STREAM in named and (len(named) > 1 or single_files):
        raise ParameterError("stdin can be read only once, and not as one of several tables. Name files.")
    if not names_many(named):
        if not single_files:
            return None
        TableSource.of(named[0], reading)  # whose errors know the options
    return open_stream(
        named[0] if len(named) == 1 else named,
        file_format=reading.format and reading.format.value,
        delimiter=reading.delimiter,
    )


def refuse_output_in(tables: Sequence[str], output: str, stream: Stream) -> None:
    """Refuse to write among what is read: over a table, or where the next run would read it as one."""
    real = os.path.realpath(output)
    for file in stream.files:
        if os.path.realpath(file) == real:
            raise ParameterError(f"-o names {output!r}, which is one of the tables to read. Name another file.")
    for path in tables:
        if would_read(path, output):
            raise ParameterError(
                f"-o names {output!r}, which {path!r} would read as a table the next time. Write it elsewhere."
            )


def name_of(tables: Sequence[str]) -> str:
    """What messages call the tables together."""
    if len(tables) == 1:
        return "stdin" if tables[0] == STANDARD_STREAM else tables[0]
    return f"{tables[0]} and {len(tables) - 1:,} more"
