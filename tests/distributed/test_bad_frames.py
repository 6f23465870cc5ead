"""What can be wrong with a Dask frame: each time an error in our words that says where, or the right model."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed import Client

from dask_fits import frame_of
from small_fits import quick
from trueup import MCGrad
from trueup.distributed import audit_dask, calibrate_dask, fit_dask
from trueup.errors import (
    ColumnError,
    DataError,
    FileError,
    LabelError,
    MissingExtraError,
    ParameterError,
    ScoreError,
    TableError,
    WeightError,
)

N = 60
RNG = np.random.default_rng(0)
ROWS = pd.DataFrame(
    {
        "site": RNG.choice(["a", "b"], N),
        "x": RNG.normal(size=N),
        "y": RNG.integers(0, 2, N),
        "p": RNG.uniform(0.1, 0.9, N),
        "w": np.ones(N),
        "user": [f"u{n}" for n in range(N)],
    }
)
COLUMNS = {"label": "y", "score": "p"}


def fitted(client: Client | None, frame: Any, columns: dict[str, str] | None = None, **options: Any) -> MCGrad:
    estimator = MCGrad(**{**quick().get_params(), "max_rounds": 1, **options})
    return fit_dask(frame, client=client, estimator=estimator, **(columns or COLUMNS))


def with_one(column: str, value: Any) -> pd.DataFrame:
    """The rows, of which the one at place 25 has another value."""
    values = ROWS[column].to_numpy(dtype=object, copy=True)
    values[25] = value
    return ROWS.assign(**{column: values if column == "user" else values.astype(float)})


@pytest.mark.parametrize(
    ("column", "value", "error", "message"),
    [
        ("y", None, LabelError, "The labels, column 'y': .*1 of 60 labels are missing"),
        ("p", None, ScoreError, "Column 'p': 1 of 60 scores are missing"),
        ("p", 1.5, ScoreError, r"Column 'p': 1 of 60 scores are outside \[0, 1\]"),
        ("w", None, WeightError, "The weights, column 'w': .*1 of 60 weights are missing"),
        ("w", -1.0, WeightError, "The weights, column 'w': .*1 of 60 weights are negative"),
        ("user", None, DataError, "Column 'user': 1 of 60 rows belong to no group"),
    ],
)
def test_a_value_that_is_wrong_in_a_partition_is_told_with_the_partition(
    client: Client, column: str, value: Any, error: type[Exception], message: str
) -> None:
    frame = frame_of(ROWS, with_one(column, value), ROWS)
    with pytest.raises(error, match=rf"^Partition 1: {message}.*first at row 25"):
        fitted(client, frame, {**COLUMNS, "weight": "w", "group": "user"}, validation=0.3)


@pytest.mark.parametrize(
    ("second", "error", "message"),
    [
        (ROWS.assign(x="1"), ColumnError, "^Partition 1: Column 'x' holds strings, .*before it held numbers"),
        (ROWS.assign(site=1.0), ColumnError, "^Partition 1: Column 'site' holds numbers, .*before it held strings"),
        (ROWS.assign(y="yes"), LabelError, "column 'y': .*mixes labels of different types"),
        (ROWS.assign(p="high"), ScoreError, "^Partition 1: Column 'p'"),
        (ROWS.drop(columns="x"), ColumnError, "^Partition 1: There is no column 'x'. The columns are 'site', 'y'"),
        (ROWS.drop(columns="y"), ColumnError, "^Partition 1: There is no column 'y'"),
        (ROWS.drop(columns="p"), ColumnError, "^Partition 1: There is no column 'p'"),
        (with_one("y", 2), LabelError, "The labels, column 'y': .*3 classes"),
    ],
    ids=["x strings", "site numbers", "labels strings", "scores strings", "no x", "no y", "no p", "three classes"],
)
def test_a_partition_of_other_columns_is_told_of(
    client: Client, second: pd.DataFrame, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        fitted(client, frame_of(ROWS, second, ROWS))


def test_types_that_differ_far_apart_are_told_with_the_range_of_partitions(client: Client) -> None:
    few, others = ROWS[:6], ROWS[:6].assign(x="1")
    with pytest.raises(ColumnError, match=r"^Partitions 16 to 18: Column 'x' holds strings"):
        fitted(client, frame_of(*[few] * 16, *[others] * 3))


def test_a_column_more_in_a_partition_is_no_feature(client: Client) -> None:
    model = fitted(client, frame_of(ROWS, ROWS.assign(new=1.0)))
    assert model.model_.features.names == ("site", "x", "w", "user")
    assert model.model_.summary.n_rows == 2 * N


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("empty", [ROWS.head(0), ROWS.head(0).astype(object)], ids=["typed", "untyped"])
def test_an_empty_partition_is_passed_over(alone: Client, place: int, empty: pd.DataFrame) -> None:
    parts = [ROWS, ROWS]
    parts.insert(place, empty)
    assert fitted(alone, frame_of(*parts, like=ROWS)).model_.summary.n_rows == 2 * N


def test_no_rows_in_any_partition_are_refused(client: Client) -> None:
    with pytest.raises(DataError, match="There are no rows"):
        fitted(client, frame_of(ROWS.head(0), ROWS.head(0)))
    with pytest.raises(TableError, match="all partitions are empty"):
        audit_dask(frame_of(ROWS.head(0)), label="y", score="p", client=client)


def test_partitions_of_one_class_each_are_one_table(alone: Client) -> None:
    ordered = ROWS.sort_values("y", kind="stable")
    n_negative = int((ROWS["y"] == 0).sum())
    model = fitted(alone, frame_of(ordered[:n_negative], ordered[n_negative:]))
    assert model.classes_.tolist() == [0, 1]
    assert model.model_.summary.positive_rate == ROWS["y"].mean()


def test_one_class_in_all_partitions_is_refused(client: Client) -> None:
    with pytest.raises(LabelError, match=r"The labels, column 'y': .*one class only: all 120 labels are 0"):
        fitted(client, frame_of(ROWS.assign(y=0), ROWS.assign(y=0)))


@pytest.mark.parametrize("filesystem", ["fsspec", "arrow"])
@pytest.mark.parametrize("where", ["end", "middle"])
def test_a_damaged_file_is_named(client: Client, tmp_path: Path, where: str, filesystem: str) -> None:
    for number in range(3):
        ROWS.to_parquet(tmp_path / f"part-{number}.parquet", row_group_size=20, write_page_checksum=True)
    frame = dd.read_parquet(tmp_path, filesystem=filesystem)
    path = tmp_path / "part-1.parquet"
    content = bytearray(path.read_bytes())
    if where == "end":
        content = content[: len(content) // 2]
    else:
        content[200:300] = bytes(100)
    path.write_bytes(content)
    with pytest.raises(FileError, match=r"^Partition 1, read from '.*part-1.parquet', can't be computed: \w+: \w+"):
        fitted(client, frame)
    with pytest.raises(FileError, match=r"^Partition 1, read from '.*part-1.parquet', can't be computed"):
        audit_dask(frame, **COLUMNS, client=client)


def test_a_file_of_other_columns_is_named(client: Client, tmp_path: Path) -> None:
    for number in range(3):
        rows = ROWS.drop(columns="x") if number == 1 else ROWS
        rows.to_parquet(tmp_path / f"part-{number}.parquet")
    frame = dd.read_parquet(tmp_path)
    for fit in (fitted, _audited):
        with pytest.raises(ColumnError, match=r"^Partition 1, read from '.*part-1.parquet', lacks a column.*'x'"):
            fit(client, frame)


def _audited(client: Client, frame: Any) -> Any:
    return audit_dask(frame, **COLUMNS, client=client)


def test_what_the_source_of_a_partition_says_is_passed_on(client: Client) -> None:
    def refused(rows: pd.DataFrame, partition_info: Any = None) -> pd.DataFrame:
        if partition_info and partition_info["number"] == 1:
            raise RuntimeError("the database is away")
        return rows

    frame = frame_of(ROWS, ROWS).map_partitions(refused, meta=ROWS.head(0))
    with pytest.raises(TableError, match=r"^Partition 1 can't be computed: RuntimeError: the database is away"):
        fitted(client, frame)


def changing(folder: Path, *readings: pd.DataFrame) -> dd.DataFrame:
    """A frame that gives other rows each time it is computed; folder counts how often that was."""

    def read(rows: pd.DataFrame) -> pd.DataFrame:
        n_before = len(list(folder.iterdir()))
        (folder / str(n_before)).touch()
        return readings[n_before]

    return frame_of(ROWS).map_partitions(read, meta=ROWS.head(0))


@pytest.mark.parametrize(
    ("again", "error", "message"),
    [
        (ROWS[:50], DataError, "had 60 rows when it was read first, and 50 when it was read again"),
        (with_one("y", 2), LabelError, "^Partition 0: The labels, column 'y': .*neither 0 nor 1"),
        (with_one("p", None), ScoreError, "^Partition 0: Column 'p': 1 of 60"),
        (ROWS.drop(columns="x"), TableError, r"^Partition 0 can't be computed: (?s:.*)Missing: *\['x'\]"),
        (ROWS.assign(x="1"), ColumnError, "^Partition 0: Column 'x' holds strings"),
    ],
    ids=["fewer", "another class", "no score", "no column", "another type"],
)
def test_a_frame_that_changes_when_it_is_computed_again_is_told_of(
    client: Client, tmp_path: Path, again: pd.DataFrame, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        fitted(client, changing(tmp_path, ROWS, again))


@pytest.mark.parametrize(
    ("options", "columns", "error", "message"),
    [
        ({}, {"label": "z"}, ColumnError, "The frame has no column 'z'. Its columns are 'site', 'x'"),
        ({}, {"label": "y", "score": "q"}, ColumnError, "no column 'q'"),
        ({}, {"label": "y", "weight": "v"}, ColumnError, "no column 'v'"),
        ({}, {"label": "y", "group": "k"}, ColumnError, "no column 'k'"),
        ({"features": ["x", "q"]}, {"label": "y"}, ColumnError, "no column 'q'"),
        ({"score_column": "w"}, COLUMNS, ParameterError, "score names 'p', and score_column 'w'. Name one column"),
        ({"validation": 1}, COLUMNS, ParameterError, "validation=1: there must be from 2"),
        ({"validation": [([0], [1])]}, COLUMNS, ParameterError, "with group="),
        ({"max_rounds": -1}, COLUMNS, ParameterError, "max_rounds"),
        ({"lightgbm_params": {"boosting": "dart"}}, COLUMNS, ParameterError, "boosting"),
        ({"lightgbm_params": {"max_bin": "many"}}, COLUMNS, ParameterError, "max_bin"),
    ],
)
def test_what_can_not_be_meant_is_refused_before_rows_are_read(
    client: Client,
    tmp_path: Path,
    options: dict[str, Any],
    columns: dict[str, str],
    error: type[Exception],
    message: str,
) -> None:
    with pytest.raises(error, match=message):
        fitted(client, changing(tmp_path, ROWS), columns, **options)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("frame", [ROWS, {"y": [0, 1]}, None], ids=["pandas", "dict", "nothing"])
def test_what_is_no_dask_frame_is_refused(client: Client, frame: Any) -> None:
    for fit in (fitted, _audited):
        with pytest.raises(TableError, match=f"The frame is a {type(frame).__name__}. Pass a Dask DataFrame"):
            fit(client, frame)


def test_without_a_cluster_it_is_said_how_to_get_one() -> None:
    for fit in (fitted, _audited):
        with pytest.raises(
            ParameterError, match=r"There is no Dask cluster. Connect first, client = distributed.Client"
        ):
            fit(None, frame_of(ROWS))


def test_the_cluster_that_was_connected_is_the_default(client: Client) -> None:
    with client.as_current():
        assert _audited(None, frame_of(ROWS, ROWS)).n == 2 * N


def test_without_dask_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    for fit in (fitted, _audited):
        with pytest.raises(MissingExtraError, match=r'pip install "trueup\[dask\]"'):
            fit(None, ROWS)


def test_columns_that_are_numbered_have_names(alone: Client) -> None:
    numbered = ROWS.rename(columns={"x": 3})
    model = fitted(alone, dd.from_pandas(numbered, npartitions=2))
    assert "3" in model.model_.features.names
    frame = frame_of(numbered)
    found = calibrate_dask(model, frame).compute(scheduler="sync")
    np.testing.assert_array_equal(found, model.calibrate(numbered))
