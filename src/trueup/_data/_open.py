"""From whatever holds a table to a stream of it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from trueup._data._files import parts_of_files
from trueup._data._formats import Format
from trueup._data._parts import IteratedPart, Part, TablePart, as_table
from trueup._data._paths import find_files
from trueup._data._queries import part_of_query
from trueup._data._sniff import delimiter_named
from trueup._data._stream import Stream
from trueup.errors import FileError, TableError

if TYPE_CHECKING:
    from trueup._model import ValueKind

__all__ = ["open_stream"]


def open_stream(
    source: Any,
    *,
    file_format: str | None = None,
    delimiter: str | None = None,
    kinds: Mapping[str, ValueKind] | None = None,
) -> Stream:
    """Return a table as a stream of batches, so that it need not fit into memory.

    Parameters
    ----------
    source : path-like, list or table
        Where the rows are: a file (Parquet, Arrow or Feather, CSV), a pattern such as ``"huge/*.parquet"`` (``**`` is
        any folders), a folder with all folders in it, or a list of those; a ``pyarrow.dataset.Dataset``; a polars
        ``LazyFrame``; a DuckDB relation, hence any query; a table; an iterable of tables or record batches.
    file_format : {"parquet", "arrow", "csv"}, optional
        How files are written, if neither their first bytes nor their endings tell.
    delimiter : str, optional
        What is between the columns of CSV files; by default a tab in files that end in ``.tsv``, and in others what
        their first lines suggest: a warning says so unless it is the comma.
    kinds : mapping of str to ValueKind, optional
        What columns of CSV files are known to hold. All else is guessed, a file at a time.

    Returns
    -------
    Stream
        The stream. The ends of all files have been looked at, but no rows were read.

    Notes
    -----
    Files are read in the order of their paths. Names that begin with ``_`` or ``.`` are passed over. Folders that are
    called ``year=2024`` give a column, unless the file has it itself: integers if all its values are, else strings.

    Parquet and Arrow files are read batch by batch; a CSV file is read whole, as its types are those of all its rows.
    What reads a stream twice needs the same rows in the same order again, so a query should say in which. A DuckDB
    connection answers one query at a time: don't read two of its relations side by side.

    Examples
    --------
    >>> import pyarrow as pa, pyarrow.parquet as pq
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from trueup import open_stream
    >>> with TemporaryDirectory() as folder:
    ...     for year in (2023, 2024):
    ...         day = Path(folder) / f"year={year}"
    ...         day.mkdir()
    ...         pq.write_table(pa.table({"clicks": [year - 2020, 0]}), day / "part-0.parquet")
    ...     stream = open_stream(folder)
    ...     stream.n_rows, [batch.table.to_pydict() for batch in stream.batches()]
    (4, [{'clicks': [3, 0], 'year': [2023, 2023]}, {'clicks': [4, 0], 'year': [2024, 2024]}])
    """
    if isinstance(source, Stream):
        return source.with_kinds(kinds) if kinds else source
    format_ = None if file_format is None else Format(file_format)
    opener = _Opener(format_, None if delimiter is None else delimiter_named(delimiter), kinds or {})
    if isinstance(source, (list, tuple)):
        return opener.of_list(source)
    parts, name, rereadable = opener.of_one(source)
    return Stream(name, parts, rereadable=rereadable)


class _Opener:
    """Opens sources with the same options."""

    def __init__(self, format_: Format | None, delimiter: str | None, kinds: Mapping[str, ValueKind]) -> None:
        self.format = format_
        self.delimiter = delimiter
        self.kinds = kinds

    def of_list(self, sources: list[Any] | tuple[Any, ...]) -> Stream:
        """The sources one after the other."""
        if not sources:
            raise TableError("There is nothing to read: the list is empty.")
        if all(isinstance(source, (str, os.PathLike)) for source in sources):
            first = repr(os.fspath(sources[0]))
            name = first if len(sources) == 1 else f"{first} and {len(sources) - 1:,} more"
            return Stream(name, self.of_paths(sources))
        parts: list[Part] = []
        rereadable = True
        for number, source in enumerate(sources):
            if isinstance(source, (list, tuple)):
                raise TableError(f"Entry {number:,} of the list is a list itself. Pass tables, or paths.")
            found, _, again = self.of_one(source, f"batch {number:,}")
            parts += found
            rereadable &= again
        return Stream("the list", parts, rereadable=rereadable)

    def of_one(self, source: Any, name: str | None = None) -> tuple[list[Part], str, bool]:
        """The parts of a source, what to call it, and whether it can be read again."""
        import pyarrow as pa

        if isinstance(source, (str, os.PathLike)):
            return self.of_paths([source]), repr(os.fspath(source)), True
        query = part_of_query(source, name)
        if query is not None:
            return [query], query.name, True
        if isinstance(source, (pa.RecordBatchReader, Iterator)):
            called = name or f"the {type(source).__name__}"
            return [IteratedPart(lambda: iter(source), called)], called, False
        if _is_table(source):
            called = name or "the table"
            return [TablePart(called, as_table(source, called))], called, True
        if isinstance(source, Iterable) and not isinstance(source, (bytes, Mapping)):
            called = name or f"the {type(source).__name__}"
            return [IteratedPart(lambda: iter(source), called)], called, True
        if name is not None:
            return [TablePart(name, as_table(source, name))], name, True
        raise TableError(
            f"A {type(source).__name__} can't be read as a stream. Pass a path, a list of paths, a folder, a dataset, "
            "a LazyFrame, a DuckDB relation, a table, or batches."
        )

    def of_paths(self, paths: Iterable[str | os.PathLike[str]]) -> list[Part]:
        """The files that paths name."""
        named = list(paths)
        for path in named:
            if not os.fspath(path):
                raise FileError("A path is empty. Name a file, a folder or a pattern.")
        return list(parts_of_files(find_files(named), self.format, self.delimiter, self.kinds))


def _is_table(source: Any) -> bool:
    """Whether it is a table in memory: Arrow's, a data frame, or a dict of arrays."""
    import pyarrow as pa

    if isinstance(source, (pa.Table, pa.RecordBatch, Mapping)):
        return True
    return hasattr(source, "__arrow_c_stream__") or hasattr(source, "__dataframe__")
