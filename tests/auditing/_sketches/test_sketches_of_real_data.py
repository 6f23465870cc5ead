"""On real data, where they are at hand: the exact error of every segment is within the bounds of a merged sketch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import trueup
from trueup.auditing import SketchSpec, make_sketch, merge_sketches

N_ROWS = 12_000
N_FEATURES = 8


@dataclass(frozen=True)
class Task:
    """Where the labels of a file are, and which columns would give them away."""

    label: Callable[[pa.Table], pa.ChunkedArray]
    leaks: tuple[str, ...]
    weight: str | None = None


def equals(column: str, value: object) -> Callable[[pa.Table], pa.ChunkedArray]:
    return lambda table: pc.equal(table[column], pa.scalar(value, table[column].type))


def above(column: str, value: float) -> Callable[[pa.Table], pa.ChunkedArray]:
    return lambda table: pc.greater(table[column], value)


TASKS = {
    "bank_marketing": Task(equals("y", "yes"), ("y",)),
    "credit_default": Task(equals("class", 1), ("class", "ID")),
    "meps_test": Task(equals("UTILIZATION", 1), ("UTILIZATION",)),
    "acs_income_2018": Task(equals("PINCP", 1), ("PINCP", "row", "split")),
    "acs_public_2018": Task(equals("PUBCOV", 1), ("PUBCOV", "row")),
    "acs_mobility_2018": Task(equals("MIG", 1), ("MIG", "row")),
    "acs_travel_2018_holdout": Task(above("Travel time to work", 20), ("Travel time to work",)),
    "acs_pums_2024": Task(equals("ESR", 1), ("ESR",), "PWGTP"),
    "hmda_2017_NJ": Task(lambda table: pc.less_equal(table["action_taken"], 2), ("action_taken", "purchaser_type")),
    "acs_employment_MA_scored": Task(equals("employed", 1), ("employed", "predicted_probability", "id")),
    "flights_3m": Task(above("delay", 15), ("delay",)),
}


def first_rows(path: Path) -> pa.Table:
    """Rows from all over the first part of a file, without reading the rest."""
    for batch in pq.ParquetFile(path).iter_batches(batch_size=20 * N_ROWS):
        return pa.Table.from_batches([batch]).take(np.linspace(0, len(batch) - 1, min(N_ROWS, len(batch)), dtype=int))
    raise AssertionError("the file has no rows")


def test_there_is_a_task_for_every_file(data_folder: Path) -> None:
    assert {path.stem for path in data_folder.glob("*.parquet")} <= set(TASKS)


@pytest.mark.parametrize("name", TASKS)
def test_merged_and_exact_errors_of_every_segment_differ_by_less_than_the_bound(name: str, data_folder: Path) -> None:
    path = data_folder / f"{name}.parquet"
    if not path.exists():
        pytest.skip(f"{path.name} is not there")
    table, task = first_rows(path), TASKS[name]
    y = np.asarray(task.label(table).fill_null(False).combine_chunks().cast("int8"))
    features = [column for column in table.column_names if column not in (*task.leaks, task.weight)][:N_FEATURES]
    X = table.select(features)
    weights = None if task.weight is None else np.asarray(table[task.weight].combine_chunks().cast("float64"))
    if "predicted_probability" in table.column_names:
        p = np.asarray(table["predicted_probability"].combine_chunks())
    else:  # scores all over, around the base rate
        rate = np.clip(y.mean(), 0.05, 0.95)
        p = 1 / (1 + np.exp(-(np.log(rate / (1 - rate)) + np.random.default_rng(0).normal(size=len(y)))))
    exact = trueup.audit(X, y, p, sample_weight=weights, max_depth=2, null_samples=0)
    spec = SketchSpec.learn(X, p, sample_weight=weights, max_depth=2)
    part = np.random.default_rng(1).integers(0, 3, len(y))
    merged = merge_sketches(
        make_sketch(
            X.filter(pa.array(some)), y[some], p[some], spec, sample_weight=None if weights is None else weights[some]
        )
        for some in (part == i for i in range(3))
    ).audit()
    assert (merged.n, merged.n_segments) == (exact.n, exact.n_segments)
    assert merged.ecce_low <= exact.ecce <= merged.ecce_high
    assert merged.mce_low <= exact.mce <= merged.mce_high
    assert merged.ecce_sigma_high - merged.ecce_sigma_low < 0.2
    found = {row["segment"]: row for row in merged.segments.to_pylist()}
    for row in exact.segments.to_pylist():
        bounds = found[row["segment"]]
        assert bounds["rows"] == row["rows"]
        assert bounds["ecce_low"] <= row["ecce"] <= bounds["ecce_high"], row["segment"]
        assert bounds["ecce_sigma_low"] <= row["ecce_sigma"] <= bounds["ecce_sigma_high"], row["segment"]
