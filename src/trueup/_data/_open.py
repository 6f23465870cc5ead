"""From whatever holds a table to a stream of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from trueup._data._files import file_sources
from trueup._data._paths import find_files
from trueup._data._schemas import schema_without_views
from trueup._data._sniff import Format, delimiter_named
from trueup._data._sources import IteratedSource, QuerySource, table_source
from trueup._data._stream import Source, Stream
from trueup.errors import FileError, TableError

if TYPE_CHECKING:
    from trueup._model import ValueKind


def query_source(source: Any, name: str | None) -> QuerySource | None:
    """The source that asks another library for rows; None if it is nothing of the kind.

    Libraries are known by the names of their modules, so that none is imported that the user has not.
    """
    home, kind = type(source).__module__.partition(".")[0].lstrip("_"), type(source).__name__
    if home == "polars" and kind == "LazyFrame":
        return _of_lazy_frame(source, name or "the LazyFrame")
    if home == "duckdb" and kind == "DuckDBPyRelation":
        return _of_relation(source, name or "the DuckDB relation")
    if home == "pyarrow":
        import pyarrow.dataset as ds

        if isinstance(source, ds.Dataset):
            return _of_dataset(source, name or "the dataset")
    return None


def _of_lazy_frame(frame: Any, name: str) -> QuerySource:
    import polars as pl

    if not hasattr(frame, "collect_batches"):
        raise TableError(
            "This version of polars can't give a LazyFrame batch by batch. Install a newer one, or write it to Parquet "
            "with sink_parquet, and name that file."
        )

    def ask(columns: list[str], batch_rows: int) -> Iterator[Any]:
        """Let polars compute the rows, in order."""
        return iter(frame.select(columns).collect_batches(chunk_size=batch_rows, maintain_order=True))

    return QuerySource(
        name, schema_without_views(frame.head(0).collect().to_arrow().schema), ask, (pl.exceptions.PolarsError,)
    )


def _of_relation(relation: Any, name: str) -> QuerySource:
    import duckdb

    kind = type(relation)
    read = getattr(kind, "to_arrow_reader", None) or kind.fetch_record_batch  # before DuckDB 1.4

    def ask(columns: list[str], batch_rows: int) -> Iterator[Any]:
        """Let DuckDB run the query anew."""
        quoted = ", ".join('"{}"'.format(column.replace('"', '""')) for column in columns)
        with read(relation.project(quoted), batch_rows) as reader:  # closed, the connection is free again
            yield from reader

    with read(relation.limit(0), 1) as nothing:
        return QuerySource(name, schema_without_views(nothing.schema), ask, (duckdb.Error,))


def _of_dataset(dataset: Any, name: str) -> QuerySource:
    import pyarrow.dataset as ds

    files = getattr(dataset, "format", None)
    options = {}
    if isinstance(files, ds.ParquetFileFormat):
        options["fragment_scan_options"] = ds.ParquetFragmentScanOptions(use_buffered_stream=True, pre_buffer=False)

    def ask(columns: list[str], batch_rows: int) -> Iterator[Any]:
        """Scan it with as little read ahead as can be."""
        return iter(
            dataset.scanner(
                columns=columns, batch_size=batch_rows, batch_readahead=1, fragment_readahead=1, **options
            ).to_batches()
        )

    return QuerySource(name, schema_without_views(dataset.schema), ask)


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
    ...         pq.write_table(pa.table({"clicks": [year - 2020, 0]}), day / "rows.parquet")
    ...     stream = open_stream(folder)
    ...     stream.n_rows, [batch.table.to_pydict() for batch in stream.batches()]
    (4, [{'clicks': [3, 0], 'year': [2023, 2023]}, {'clicks': [4, 0], 'year': [2024, 2024]}])
    """
    if isinstance(source, Stream):
        return source.with_kinds(kinds) if kinds else source
    format_ = None if file_format is None else Format(file_format)
    between = None if delimiter is None else delimiter_named(delimiter)

    def paths(named: Iterable[str | os.PathLike[str]]) -> list[Source]:
        """The files that paths name."""
        if not all(map(os.fspath, named)):
            raise FileError("A path is empty. Name a file, a folder or a pattern.")
        return list(file_sources(find_files(named), format_, between, kinds or {}))

    if isinstance(source, (list, tuple)):
        return _of_list(source, paths)
    sources, name, rereadable = _of_one(source, paths)
    return Stream(name, sources, rereadable=rereadable)


def _of_list(given: Sequence[Any], paths: Callable[[Iterable[Any]], list[Source]]) -> Stream:
    """The entries one after the other."""
    if not given:
        raise TableError("There is nothing to read: the list is empty.")
    if all(isinstance(source, (str, os.PathLike)) for source in given):
        first = repr(os.fspath(given[0]))
        return Stream(first if len(given) == 1 else f"{first} and {len(given) - 1:,} more", paths(given))
    sources: list[Source] = []
    rereadable = True
    for number, source in enumerate(given):
        if isinstance(source, (list, tuple)):
            raise TableError(f"Entry {number:,} of the list is a list itself. Pass tables, or paths.")
        found, _, again = _of_one(source, paths, f"batch {number:,}")
        sources += found
        rereadable &= again
    return Stream("the list", sources, rereadable=rereadable)


def _of_one(
    source: Any, paths: Callable[[Iterable[Any]], list[Source]], name: str | None = None
) -> tuple[list[Source], str, bool]:
    """What one entry holds, what to call it, and whether it can be read again."""
    import pyarrow as pa

    if isinstance(source, (str, os.PathLike)):
        return paths([source]), repr(os.fspath(source)), True
    query = query_source(source, name)
    if query is not None:
        return [query], query.name, True
    once = isinstance(source, (pa.RecordBatchReader, Iterator))
    if not once and (_is_table(source) or (name is not None and not _is_iterable(source))):
        called = name or "the table"
        return [table_source(source, called)], called, True
    if once or _is_iterable(source):
        called = name or f"the {type(source).__name__}"
        return [IteratedSource(lambda: iter(source), called)], called, not once
    raise TableError(
        f"A {type(source).__name__} can't be read as a stream. Pass a path, a list of paths, a folder, a dataset, "
        "a LazyFrame, a DuckDB relation, a table, or batches."
    )


def _is_iterable(source: Any) -> bool:
    return isinstance(source, Iterable) and not isinstance(source, (bytes, Mapping))


def _is_table(source: Any) -> bool:
    """Whether it is a table in memory: Arrow's, a data frame, or a dict of arrays."""
    import pyarrow as pa

    if isinstance(source, (pa.Table, pa.RecordBatch, Mapping)):
        return True
    return hasattr(source, "__arrow_c_stream__") or hasattr(source, "__dataframe__")
