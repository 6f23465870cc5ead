"""Some rows and columns of a table stay in its library, and any table becomes an Arrow table."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from trueup._data import read_table, subtable, to_arrow

COLUMNS = {"a": [1, 2, 3], "b": ["x", None, "z"], "c": [0.5, 1.5, 2.5]}
ROWS = np.array([True, False, True])


@pytest.mark.parametrize(
    "table",
    [pd.DataFrame(COLUMNS), pl.DataFrame(COLUMNS), pa.table(COLUMNS), COLUMNS],
    ids=["pandas", "polars", "pyarrow", "dict"],
)
def test_rows_and_columns_are_taken_in_the_same_library(table: Any) -> None:
    part = subtable(table, ROWS, ["a", "b"])
    assert type(part) is type(table)
    read = read_table(part)
    assert (read.names, read.n_rows) == (("a", "b"), 2)
    assert read.column("a").objects().tolist() == [1, 3]
    assert read.column("b").objects().tolist() == ["x", "z"]
    assert read_table(subtable(table)).n_rows == 3
    assert to_arrow(table).to_pydict() == COLUMNS


def test_a_pandas_table_with_an_odd_index_is_taken_by_place() -> None:
    table = pd.DataFrame(COLUMNS, index=[7, 7, 7])
    assert subtable(table, ROWS)["a"].tolist() == [1, 3]


def test_numpy_tables_are_taken_by_row() -> None:
    matrix = np.arange(6.0).reshape(3, 2)
    np.testing.assert_array_equal(subtable(matrix, ROWS), [[0, 1], [4, 5]])
    assert to_arrow(matrix).to_pydict() == {"x0": [0, 2, 4], "x1": [1, 3, 5]}


def test_a_dict_may_hold_arrays_of_any_kind() -> None:
    table = {"a": np.array([1, 2, 3]), "b": pa.array(["x", "y", "z"]), "c": pl.Series([1, 2, 3]), "d": (1, 2, 3)}
    part = subtable(table, ROWS)
    assert [list(read_table(part).column(name).objects()) for name in "abcd"] == [[1, 3], ["x", "z"], [1, 3], [1, 3]]


def test_a_record_batch_is_a_table_too() -> None:
    batch = pa.record_batch({"a": [1, 2, 3]})
    assert subtable(batch, ROWS).to_pydict() == {"a": [1, 3]}


def test_values_that_arrow_has_no_type_for_become_text() -> None:
    table = to_arrow({"odd": np.array([1, "one", None], dtype=object)})
    assert table.to_pydict() == {"odd": ["1", "one", None]}
