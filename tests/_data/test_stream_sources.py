"""Datasets, lazy frames, queries, tables and iterables as streams."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from pyarrow import ipc

from trueup._data import Stream, open_stream
from trueup.errors import ColumnError, FileError, TableError

TABLE = pa.table({"n": list(range(10)), 'odd "name"': [f"w{n}" for n in range(10)]})


class Counted:
    """An iterable of batches that may be read again."""

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        return iter(TABLE.to_batches(max_chunksize=4))


def query(connection: duckdb.DuckDBPyConnection) -> Any:
    connection.register("held", TABLE)
    return connection.sql("select * from held order by n")


SOURCES: dict[str, Callable[[Path], Any]] = {
    "dataset": ds.dataset,
    "filtered dataset": lambda folder: ds.dataset(folder).filter(ds.field("n") >= 0),
    "dataset in memory": lambda _: ds.dataset(TABLE),
    "lazy frame": lambda folder: pl.scan_parquet(folder / "t.parquet"),
    "lazy frame in memory": lambda _: pl.DataFrame(TABLE.to_pydict()).lazy(),
    "duckdb": lambda _: query(duckdb.connect()),
    "pyarrow": lambda _: TABLE,
    "record batch": lambda _: TABLE.combine_chunks().to_batches()[0],
    "pandas": lambda _: TABLE.to_pandas(),
    "polars": lambda _: pl.from_arrow(TABLE),
    "dict": lambda _: TABLE.to_pydict(),
    "list": lambda _: [TABLE.slice(0, 4), pl.from_arrow(TABLE.slice(4, 0)), TABLE.slice(4).to_pandas()],
    "iterable": lambda _: Counted(),
}


@pytest.mark.parametrize("kind", SOURCES)
def test_a_source_gives_its_rows_as_often_as_it_is_read(tmp_path: Path, kind: str) -> None:
    pq.write_table(TABLE, tmp_path / "t.parquet", row_group_size=3)
    stream = open_stream(SOURCES[kind](tmp_path))
    assert stream.rereadable
    assert stream.columns == tuple(TABLE.column_names)
    for _ in range(2):
        batches = list(stream.batches(batch_rows=3))
        assert all(batch.table.num_rows <= 3 for batch in batches)
        assert [row for batch in batches for row in batch.table.to_pylist()] == TABLE.to_pylist()
    assert [row for batch in stream.batches(['odd "name"']) for row in batch.table.to_pylist()] == [
        {'odd "name"': f"w{n}"} for n in range(10)
    ]
    assert open_stream(stream) is stream


@pytest.mark.parametrize("kind", ["reader", "generator"])
def test_what_can_be_read_once_is_known_and_refused_the_second_time(kind: str) -> None:
    source = TABLE.to_reader(max_chunksize=4) if kind == "reader" else (batch for batch in TABLE.to_batches())
    stream = open_stream(source)
    assert not stream.rereadable
    assert stream.columns == tuple(TABLE.column_names)  # known from the first batch, which is not lost
    assert sum(batch.table.num_rows for batch in stream.batches()) == 10
    with pytest.raises(TableError, match=r"^The \w+ has been read already, and can be read only once\. Pass a path"):
        stream.batches()
    with pytest.raises(TableError, match="can be read only once"):
        stream.schema()


def test_batches_of_an_iterable_are_numbered_those_without_rows_too() -> None:
    stream = open_stream(iter([TABLE.slice(0, 0), TABLE.slice(0, 2), TABLE.slice(2, 0), TABLE.slice(2, 8)]))
    assert [batch.where for batch in stream.batches(batch_rows=5)] == [
        "batch 1",
        "batch 3, rows 0 to 4",
        "batch 3, rows 5 to 7",
    ]


def test_a_later_batch_without_a_column_is_named() -> None:
    stream = open_stream(iter([TABLE, TABLE.drop_columns(["n"])]))
    with pytest.raises(ColumnError, match="Batch 1: There is no column 'n'"):
        list(stream.batches())


def test_a_later_batch_of_another_kind_is_named() -> None:
    stream = open_stream(iter([pa.table({"x": [1]}), pa.table({"x": ["a"]})]))
    with pytest.raises(ColumnError, match="Column 'x' holds numbers in batch 0 and strings in batch 1"):
        list(stream.batches())


def test_an_index_of_pandas_is_no_column() -> None:
    frame = pd.DataFrame({"x": [1, 2, 3]}, index=[7, 8, 9])
    assert open_stream(frame).columns == ("x",)


def test_dictionaries_and_strings_are_of_one_kind() -> None:
    words = pa.array(["a", "b"])
    stream = open_stream([pa.table({"x": words}), pa.table({"x": words.dictionary_encode()})])
    assert [batch.table["x"].to_pylist() for batch in stream.batches()] == [["a", "b"], ["a", "b"]]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (3, "A int can't be read as a stream. Pass a path"),
        ([], "There is nothing to read: the list is empty"),
        ([3], "Batch 0 is a int, which gives no Arrow data"),
        ([TABLE, [TABLE]], "Entry 1 of the list is a list itself"),
        (b"path", "A bytes can't be read as a stream"),
    ],
    ids=["number", "empty", "list of numbers", "list of lists", "bytes"],
)
def test_what_is_no_table_is_refused(source: Any, message: str) -> None:
    with pytest.raises(TableError, match=message):
        open_stream(source)


def test_an_iterable_without_batches_has_no_columns() -> None:
    stream = open_stream(iter([]))
    assert stream.columns == ()
    assert list(stream.batches()) == []


def test_a_query_that_fails_says_why() -> None:
    connection = duckdb.connect()
    connection.register("held", TABLE)
    failing = open_stream(connection.sql('select cast("odd ""name""" as integer) as x from held'))
    with pytest.raises(FileError, match=r"the DuckDB relation can't be read: .*w0"):
        list(failing.batches())
    frame = open_stream(pl.LazyFrame({"x": ["w0"]}).select(pl.col("x").str.to_integer()))
    with pytest.raises(FileError, match="the LazyFrame can't be read: "):
        list(frame.batches())


def test_a_pass_over_a_query_that_was_given_up_leaves_the_connection_free() -> None:
    stream = open_stream(query(duckdb.connect()))
    given_up = stream.batches(batch_rows=2)
    next(given_up)
    given_up.close()  # type: ignore[attr-defined]
    assert sum(batch.table.num_rows for batch in stream.batches(batch_rows=2)) == 10


def test_a_stream_says_what_it_is() -> None:
    assert repr(open_stream(TABLE)) == "Stream(the table, 2 columns, 10 rows)"
    assert isinstance(open_stream(TABLE), Stream)


STRINGS = pl.DataFrame(
    {
        "word": ["a", "b", None, "d"],
        "category": pl.Series(["x", "y", None, "x"], dtype=pl.Categorical),
        "choice": pl.Series(["x", "y", "x", "y"], dtype=pl.Enum(["x", "y"])),
    }
)


@pytest.mark.parametrize("kind", ["frame", "lazy frame", "list", "file", "stream file"])
def test_strings_and_categories_of_polars_can_be_worked_with(tmp_path: Path, kind: str) -> None:
    views = pa.table(STRINGS)
    assert pa.types.is_string_view(views["word"].type)  # of which Arrow can take no rows
    source: Any = {"frame": STRINGS, "lazy frame": STRINGS.lazy(), "list": [STRINGS, views]}.get(kind)
    if source is None:
        source = tmp_path / "t.arrow"
        with (ipc.new_file if kind == "file" else ipc.new_stream)(source, views.schema) as writer:
            writer.write_table(views)
    stream = open_stream(source)
    assert stream.sample(8).to_pylist() == STRINGS.to_dicts() * (2 if kind == "list" else 1)
    assert all(batch.table.schema.equals(stream.schema()) for batch in stream.batches())
