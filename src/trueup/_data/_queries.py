"""Datasets, lazy frames and queries of other libraries, which compute rows as they are asked for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trueup._data._parts import QueryPart
from trueup._data._views import schema_without_views
from trueup.errors import TableError

__all__ = ["part_of_query"]


def part_of_query(source: Any, name: str | None) -> QueryPart | None:
    """The part that asks another library for rows; None if it is nothing of the kind.

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


def _of_lazy_frame(frame: Any, name: str) -> QueryPart:
    import polars as pl

    if not hasattr(frame, "collect_batches"):
        raise TableError(
            "This version of polars can't give a LazyFrame batch by batch. Install a newer one, or write it to Parquet "
            "with sink_parquet, and name that file."
        )

    def ask(columns: list[str], batch_rows: int) -> Iterator[Any]:
        """Let polars compute the rows, in order."""
        return iter(frame.select(columns).collect_batches(chunk_size=batch_rows, maintain_order=True))

    return QueryPart(
        name, schema_without_views(frame.head(0).collect().to_arrow().schema), ask, (pl.exceptions.PolarsError,)
    )


def _of_relation(relation: Any, name: str) -> QueryPart:
    import duckdb

    def ask(columns: list[str], batch_rows: int) -> Iterator[Any]:
        """Let DuckDB run the query anew."""
        quoted = ", ".join('"{}"'.format(column.replace('"', '""')) for column in columns)
        with _reader_of(relation.project(quoted), batch_rows) as reader:  # closed, the connection is free again
            yield from reader

    with _reader_of(relation.limit(0), 1) as nothing:
        return QueryPart(name, schema_without_views(nothing.schema), ask, (duckdb.Error,))


def _reader_of(relation: Any, batch_rows: int) -> Any:
    read = getattr(relation, "to_arrow_reader", None) or relation.fetch_record_batch  # before DuckDB 1.4
    return read(batch_rows)


def _of_dataset(dataset: Any, name: str) -> QueryPart:
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

    return QueryPart(name, schema_without_views(dataset.schema), ask)
