"""Tables of every library, their names and their columns."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from trueup._data import listed, read_table
from trueup.errors import ColumnError, TableError

TABLES: dict[str, Any] = {
    "pandas": pd.DataFrame({"a": [1, 2], "b": ["x", None]}),
    "polars": pl.DataFrame({"a": [1, 2], "b": ["x", None]}),
    "pyarrow": pa.table({"a": [1, 2], "b": ["x", None]}),
    "record batch": pa.record_batch({"a": [1, 2], "b": ["x", None]}),
    "narwhals": nw.from_native(pl.DataFrame({"a": [1, 2], "b": ["x", None]})),
    "dict": {"a": [1, 2], "b": np.array(["x", None])},
    "structured array": np.array([(1, "x"), (2, None)], dtype=[("a", "i8"), ("b", object)]),
    "table": read_table({"a": [1, 2], "b": ["x", None]}),
}


@pytest.mark.parametrize("library", TABLES)
def test_a_table_has_names_and_rows_and_columns(library: str) -> None:
    table = read_table(TABLES[library])
    assert table.names == ("a", "b")
    assert table.named
    assert table.n_rows == 2
    assert "b" in table
    assert "c" not in table
    assert table.column("a").objects().tolist() == [1, 2]
    assert table.column("b").objects().tolist() == ["x", None]


@pytest.mark.parametrize(
    ("X", "expected"),
    [
        (np.array([[1, 2], [3, 4]]), [1, 3]),
        (np.array([["1", "2"], ["3", "4"]]), ["1", "3"]),
        (np.array([[1, "2"], [None, 4]], dtype=object), [1, None]),
        ([[1, "2"], [3, "4"]], [1, 3]),
        (((True, 2.5), (False, 3.5)), [1, 0]),
        (pd.DataFrame([[1, 2], [3, 4]]), [1, 3]),
    ],
)
def test_columns_that_nobody_named_are_numbered(X: Any, expected: list[Any]) -> None:
    table = read_table(X)
    assert not table.named
    assert len(table.names) == 2
    assert table.column(table.names[0]).objects().tolist() == expected


def test_numbers_beside_strings_stay_numbers_in_lists_of_lists() -> None:
    table = read_table([[1, "x"], [2, "y"]])
    assert [table.column(name).objects().tolist() for name in table.names] == [[1, 2], ["x", "y"]]


def test_names_are_read_as_texts() -> None:
    assert read_table({1: [0], None: [0], ("a", 1): [0]}).names == ("1", "None", "('a', 1)")
    frame = pd.DataFrame([[1, 2]], columns=[7, 3])
    assert read_table(frame).names == ("7", "3")
    assert read_table(frame).named
    levels = pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([("a", "x"), ("a", "y")]))
    assert read_table(levels).names == ("('a', 'x')", "('a', 'y')")


def test_columns_are_read_only_when_asked_for() -> None:
    table = read_table({"good": [1], "bad": [[1]]})
    assert table.column("good").objects().tolist() == [1]
    with pytest.raises(ColumnError, match="Column 'bad'"):
        table.column("bad")


def test_a_table_under_other_names_has_the_same_columns() -> None:
    table = read_table(np.array([[1, 2]])).renamed(("a", "b"))
    assert table.column("b").objects().tolist() == [2]


@pytest.mark.parametrize(
    "X",
    [
        pd.DataFrame([[1, 2, 3]], columns=["a", "b", "a"]),
        pa.table([[1], [2], [3]], names=["a", "b", "a"]),
        {"a": [1], np.str_("a"): [1]} | {1: [1], "1": [2]},
    ],
)
def test_a_name_that_stands_twice_is_an_error_that_names_it(X: Any) -> None:
    with pytest.raises(ColumnError, match=r"Column names must be unique, but '(a|1)' appears more than once. Rename"):
        read_table(X)


@pytest.mark.parametrize(
    ("X", "what"),
    [
        (None, "X is a NoneType"),
        (3, "X is a int"),
        ("file.csv", "X is a str"),
        (np.float64(3), "Expected 2D array, got scalar"),
        (np.ones(3), "Expected 2D array, got 1D"),
        (np.ones((1, 1, 1)), "Expected 2D array, got 3D"),
        ([1, 2, 3], "Expected 2D array, got 1D"),
        ([{"a": 1}], "Expected 2D array, got 1D"),
        (pd.Series([1]), "Expected 2D array, got 1D"),
        (pl.Series([1]), "Expected 2D array, got 1D"),
        ([[1, 2], [3]], "X can't be read as a table"),
        (pl.DataFrame({"a": [1]}).lazy(), r"X is lazy \(LazyFrame\). Collect it first"),
        ({"a": [1], "b": [1, 2]}, "Columns differ in length: 'a' has 1 rows, 'b' has 2"),
        ({"a": 1}, "Column 'a' is a single int"),
        ({"a": [1], "b": "x"}, "Column 'b' is a single str"),
    ],
)
def test_what_is_no_table_is_refused(X: Any, what: str) -> None:
    with pytest.raises(TableError, match=what):
        read_table(X)


def test_sparse_data_are_refused_with_the_way_out() -> None:
    sparse = pytest.importorskip("scipy.sparse")
    for X in (sparse.csr_array(np.eye(2)), sparse.dok_array(np.eye(2))):
        with pytest.raises(TableError, match=r"Sparse data .* X.toarray\(\)"):
            read_table(X)


def test_names_in_messages_are_quoted_and_counted() -> None:
    assert listed(["a", "b\n"]) == r"'a', 'b\n'"
    assert listed("abcdefg", at_most=2) == "'a', 'b' and 5 more"
    assert listed([]) == ""
