"""What can be wrong with a table that comes in files: each time an error that names the file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from small_fits import quick
from trueup.errors import (
    ColumnError,
    DataError,
    FileError,
    LabelError,
    ParameterError,
    ScoreError,
    TableError,
    TrueupError,
    WeightError,
)

N = 60
RNG = np.random.default_rng(0)
TABLE = pa.table(
    {
        "site": RNG.choice(["a", "b"], N),
        "x": RNG.normal(size=N),
        "y": RNG.integers(0, 2, N),
        "p": RNG.uniform(0.1, 0.9, N),
        "w": np.ones(N),
        "user": [f"u{n}" for n in range(N)],
    }
)
COLUMNS = {"label": "y", "score": "p", "weight": "w"}


def files_with(folder: Path, second: pa.Table) -> Path:
    """Three files, of which the second is not like the others."""
    for number, table in enumerate([TABLE, second, TABLE]):
        pq.write_table(table, folder / f"part-{number}.parquet", row_group_size=20)
    return folder


def changed(column: str, values: Any) -> pa.Table:
    return TABLE.set_column(TABLE.column_names.index(column), column, pa.array(values))


def with_one(column: str, value: Any, row: int = 25) -> pa.Table:
    values = TABLE[column].to_pylist()
    values[row] = value
    return changed(column, values)


@pytest.mark.parametrize(
    ("column", "value", "error", "message"),
    [
        ("y", None, LabelError, "The labels, column 'y': .*1 of 60 labels are missing"),
        ("p", None, ScoreError, "Column 'p': 1 of 60"),
        ("p", 1.5, ScoreError, r"Column 'p': 1 of 60 scores are outside \[0, 1\]"),
        ("w", None, WeightError, "The weights, column 'w': .*1 of 60 weights are missing"),
        ("w", -1.0, WeightError, "The weights, column 'w': .*1 of 60 weights are negative"),
        ("user", None, DataError, "Column 'user': 1 of 60 rows belong to no group"),
    ],
)
def test_a_value_that_is_wrong_in_a_later_file_is_told_with_the_file(
    tmp_path: Path, column: str, value: Any, error: type[Exception], message: str
) -> None:
    folder = files_with(tmp_path, with_one(column, value))
    with pytest.raises(error, match=rf"part-1\.parquet'.*: {message}.*first at row 25"):
        quick(validation=0.3).fit_stream(folder, group="user", **COLUMNS)


@pytest.mark.parametrize(
    ("second", "message"),
    [
        (changed("x", ["1"] * N), r"Column 'x' holds numbers in .*part-0.parquet' and strings in .*part-1.parquet'"),
        (changed("site", np.ones(N)), r"Column 'site' holds strings in .*part-0.parquet' and numbers in .*part-1"),
        (changed("y", ["yes", "no"] * 30), r"Column 'y' holds numbers in .*part-0.parquet' and strings in .*part-1"),
        (TABLE.drop_columns(["p"]), r"part-1.parquet' has no column 'p'"),
        (TABLE.drop_columns(["y"]), r"part-1.parquet' has no column 'y'"),
    ],
    ids=["strings for numbers", "numbers for strings", "other labels", "no scores", "no labels"],
)
def test_a_file_of_other_columns_is_named(tmp_path: Path, second: pa.Table, message: str) -> None:
    with pytest.raises(ColumnError, match=message):
        quick().fit_stream(files_with(tmp_path, second), **COLUMNS)


def test_a_feature_that_a_file_lacks_is_told_of_where_features_are_named(tmp_path: Path) -> None:
    folder = files_with(tmp_path, TABLE.drop_columns(["x"]))
    with pytest.raises(ColumnError, match=r"part-1.parquet' has no column 'x'"):
        quick(features=["site", "x"]).fit_stream(folder, **COLUMNS)


def test_a_score_column_that_a_file_lacks_is_told_with_the_file(tmp_path: Path) -> None:
    folder = files_with(tmp_path, TABLE.drop_columns(["p"]))
    with pytest.raises(ColumnError, match=r"part-1.parquet' has no column 'p'"):
        quick(score_column="p").fit_stream(folder, label="y")


def test_a_new_column_in_a_later_file_is_no_feature(tmp_path: Path) -> None:
    folder = files_with(tmp_path, TABLE.append_column("new", pa.array(np.arange(N))))
    with pytest.warns(UserWarning, match=r"Ignoring column 'new'.*part-0.parquet"):
        model = quick().fit_stream(folder, **COLUMNS)
    assert "new" not in model.model_.features.names


def test_a_file_without_rows_is_passed_over(tmp_path: Path) -> None:
    model = quick().fit_stream(files_with(tmp_path, TABLE.slice(0, 0)), **COLUMNS)
    assert model.model_.summary.n_rows == 2 * N


def test_a_file_of_wider_types_is_one_of_the_same_table(tmp_path: Path) -> None:
    second = changed("x", TABLE["x"].to_numpy().astype(np.float32))
    second = second.set_column(0, "site", TABLE["site"].combine_chunks().dictionary_encode())
    assert quick().fit_stream(files_with(tmp_path, second), **COLUMNS).model_.summary.n_rows == 3 * N


@pytest.mark.parametrize("where", ["end", "middle"])
def test_a_damaged_file_is_named(tmp_path: Path, where: str) -> None:
    folder = files_with(tmp_path, TABLE)
    path = folder / "part-1.parquet"
    pq.write_table(TABLE, path, row_group_size=20, write_page_checksum=True)
    content = bytearray(path.read_bytes())
    damaged = content[: len(content) // 2] if where == "end" else content
    if where == "middle":
        damaged[200:300] = bytes(100)
    path.write_bytes(damaged)
    with pytest.raises(FileError, match=r"part-1.parquet' can't be read as parquet"):
        quick().fit_stream(folder, **COLUMNS)


def test_one_class_in_all_files_is_refused(tmp_path: Path) -> None:
    for number in range(2):
        pq.write_table(changed("y", np.zeros(N)), tmp_path / f"{number}.parquet")
    with pytest.raises(LabelError, match=r"The labels, column 'y': .*one class only: all 120 labels are 0"):
        quick().fit_stream(tmp_path, **COLUMNS)


def test_a_third_class_in_a_later_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LabelError, match=r"The labels, column 'y': .*3 classes"):
        quick().fit_stream(files_with(tmp_path, with_one("y", 2)), **COLUMNS)


def test_no_rows_at_all_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no rows"):
        quick().fit_stream(TABLE.slice(0, 0), **COLUMNS)


def test_what_can_be_read_only_once_is_refused_before_it_is_read() -> None:
    read = []

    def batches() -> Iterator[pa.RecordBatch]:
        for batch in TABLE.to_batches(10):
            read.append(batch)
            yield batch

    with pytest.raises(TableError, match="generator can be read only once, and a fit reads its rows twice"):
        quick().fit_stream(batches(), **COLUMNS)
    assert len(read) <= 1
    reader = pa.RecordBatchReader.from_batches(TABLE.schema, TABLE.to_batches())
    with pytest.raises(TableError, match="RecordBatchReader can be read only once"):
        quick().fit_stream(reader, **COLUMNS)


class _Changing:
    """Batches that are others each time they are read."""

    def __init__(self, *readings: list[pa.Table]) -> None:
        self._readings = list(readings)

    def __iter__(self) -> Iterator[pa.Table]:
        return iter(self._readings.pop(0))


@pytest.mark.parametrize(
    ("again", "message"),
    [
        ([TABLE, TABLE], "another number of rows when it was read again"),
        ([TABLE.slice(0, 50)], "another number of rows when it was read again"),
        ([with_one("y", 2)], "Batch 0: The labels, column 'y': .*neither 0 nor 1"),
        ([with_one("p", None)], "Batch 0: Column 'p': 1 of 60"),
        ([TABLE.drop_columns(["x"])], "Batch 0: There is no column 'x'"),
        ([changed("x", ["1"] * N)], "Column 'x' holds strings"),
    ],
    ids=["longer", "shorter", "another class", "no score", "no column", "another type"],
)
def test_a_table_that_changes_while_it_is_read_is_told_of(again: list[pa.Table], message: str) -> None:
    with pytest.raises(TrueupError, match=message):
        quick().fit_stream(_Changing([TABLE], again), **COLUMNS)


@pytest.mark.parametrize(
    ("options", "columns", "error", "message"),
    [
        ({}, {"label": "z"}, ColumnError, "no column 'z'"),
        ({}, {"label": "y", "score": "q"}, ColumnError, "no column 'q'"),
        ({}, {"label": "y", "weight": "v"}, ColumnError, "no column 'v'"),
        ({}, {"label": "y", "group": "k"}, ColumnError, "no column 'k'"),
        ({"score_column": "q"}, {"label": "y"}, ColumnError, "no column 'q'"),
        ({"features": ["x", "q"]}, {"label": "y"}, ColumnError, "no column 'q'"),
        ({"features": "site"}, {"label": "y"}, ParameterError, "features must be a list of names"),
        ({"features": ["x", "x"]}, {"label": "y"}, ParameterError, "features names a column twice"),
        ({"features": ["x", "y"]}, {"label": "y"}, ParameterError, "features names 'y', which has another role"),
        ({"features": ["x", "p"], "score_column": "p"}, {"label": "y"}, ParameterError, "features names 'p'"),
        ({"features": []}, {"label": "y"}, ParameterError, "no columns left to be features"),
        ({"categorical_features": ["q"]}, {"label": "y"}, ColumnError, "no column 'q'"),
        ({"categorical_features": [1]}, {"label": "y"}, ParameterError, "name columns, not positions such as 1"),
        ({"categorical_features": "x"}, {"label": "y"}, ParameterError, "categorical_features must be"),
        ({"categorical_features": ["p"]}, {"label": "y", "score": "p"}, ParameterError, "not one of the features"),
        ({}, {"label": "y", "score": "y"}, ParameterError, "label, score and weight name 'y', 'y'. They must differ"),
        ({"score_column": "w"}, {"label": "y", "score": "p"}, ParameterError, "Name one column"),
        ({"validation": 1}, {"label": "y"}, ParameterError, "validation=1: there must be from 2"),
        ({"validation": 1.5}, {"label": "y"}, ParameterError, "validation=1.5"),
        ({"validation": [([0], [1])]}, {"label": "y"}, ParameterError, "with group="),
        ({"max_rounds": -1}, {"label": "y"}, ParameterError, "max_rounds"),
        ({"lightgbm_params": {"max_bin": "many"}}, {"label": "y"}, ParameterError, "max_bin"),
        ({"lightgbm_params": {"boosting": "dart"}}, {"label": "y"}, ParameterError, "boosting"),
    ],
)
def test_what_can_not_be_meant_is_refused(
    options: dict[str, Any], columns: dict[str, str], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        quick(**options).fit_stream(TABLE, **columns)


def test_parameters_are_looked_at_before_rows_are_read() -> None:
    for options in ({"validation": 1}, {"lightgbm_params": {"boosting": "dart"}}, {"random_state": "a"}):
        with pytest.raises(ParameterError):
            quick(**options).fit_stream(_Changing([TABLE]), label="y")


def test_numbers_can_be_named_as_categories() -> None:
    table = TABLE.append_column("zone", pa.array(np.arange(N) % 3))
    model = quick(categorical_features=["zone"], features=["zone"]).fit_stream(table.to_batches(10), **COLUMNS)
    assert model.model_.features.features[0].categories == (0, 1, 2)


def test_scores_alone_are_enough() -> None:
    model = quick(features=[]).fit_stream(TABLE, label="y", score="p")
    assert model.n_rounds_ == 2
    assert model.calibrate(TABLE).shape == (N,)
