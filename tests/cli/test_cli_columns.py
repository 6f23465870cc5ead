"""Columns that options name or should name: what is said of those that can't be used as they are."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from trueup.cli._files import Format, write_table

DATES = "'when' (dates), 'due' (dates with times)"


@pytest.fixture(scope="module")
def dated(scored) -> pa.Table:
    """The rows, over 200 days, with two columns of dates."""
    days = np.datetime64("2024-01-01") + np.arange(scored.num_rows) // 10
    return (
        scored.select(["country", "hour", "y", "p"])
        .append_column("when", pa.array(days))
        .append_column("due", pa.array((days + 3).astype("datetime64[s]")))
    )


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
@pytest.mark.parametrize("streamed", [[], ["--stream"]])
@pytest.mark.parametrize("command", ["fit", "audit"])
def test_all_columns_of_dates_are_named_at_once_with_the_option_that_leaves_them_out(
    run, dated, tmp_path, command, streamed, name
):
    table = tmp_path / name
    write_table(dated, str(table), Format.CSV if name.endswith("csv") else Format.PARQUET)
    roles = ["--label=y", "--score=p", *streamed]
    output = ["-o", tmp_path / "m.trueup"] if command == "fit" else ["--max-depth=1"]
    if command == "audit" and not streamed:
        output.append("--null-samples=19")
    outcome = run(command, table, *roles, *output)
    assert outcome.code == 3
    assert f"The columns {DATES} can't be used" in outcome.err
    assert '--drop "when,due"' in outcome.err
    assert "categorical_features" not in outcome.err
    assert run(command, table, *roles, *output, "--drop", "when,due", "-q").code == 0


def test_dates_that_are_named_as_features_are_to_be_taken_out_of_them(run, dated, tmp_path):
    pq.write_table(dated, tmp_path / "t.parquet")
    options = ["--label=y", "--score=p", "--features=hour,due", "-o", tmp_path / "m.trueup"]
    outcome = run("fit", tmp_path / "t.parquet", *options)
    assert "The column 'due' (dates with times) can't be used" in outcome.err
    assert "out of --features" in outcome.err


def test_an_evaluation_in_time_does_not_stop_at_another_column_of_dates(run, dated, tmp_path):
    pq.write_table(dated, tmp_path / "t.parquet")
    options = ["--label=y", "--score=p", "--time=when", "--max-rounds=1", "-q", "-o", tmp_path / "ev"]
    outcome = run("evaluate", tmp_path / "t.parquet", *options)
    assert outcome.code == 0, outcome.err
    assert outcome.err.count("\n") == 1
    assert outcome.err.startswith("warning: Ignoring the column 'due' (dates with times)")
