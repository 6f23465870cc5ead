"""Columns that options name or should name: what is said of those that can't be used as they are."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import trueup
from trueup.cli._files import Format
from trueup.cli._writing import write_table
from trueup.errors import ColumnError, LabelError

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


@pytest.mark.parametrize(("name", "meant"), [("prob", None), ("P", "'p'"), ("Country", "'country'")])
def test_a_name_that_is_not_there_is_answered_with_one_that_is_near_and_no_other(run, shared, tmp_path, name, meant):
    pq.write_table(shared.scored.append_column("job", shared.scored["flag"]), tmp_path / "t.parquet")
    outcome = run("apply", tmp_path / "t.parquet", "-m", shared.model, "--score", name, "-o", tmp_path / "o.csv")
    assert outcome.code == 3
    assert (f"Did you mean {meant}?" in outcome.err) if meant else ("Did you mean" not in outcome.err)


def test_evaluate_knows_a_column_in_another_case():
    with pytest.raises(ColumnError, match=r"no column 'Y'\. Did you mean 'y'\?"):
        trueup.evaluate({"y": [0, 1], "p": [0.1, 0.9]}, "Y", "p")


def test_a_model_file_that_is_not_there_is_named_in_a_sentence(run, shared, tmp_path):
    outcome = run("apply", shared.table, "-m", tmp_path / "none.trueup", "-o", tmp_path / "o.csv")
    assert (outcome.code, outcome.err) == (3, f"error: There is no file {str(tmp_path / 'none.trueup')!r}.\n")


def test_apply_does_not_write_over_its_input_unless_it_is_told_to(run, shared, tmp_path):
    pq.write_table(shared.scored, tmp_path / "t.parquet")
    before = (tmp_path / "t.parquet").read_bytes()
    arguments = ["apply", tmp_path / "t.parquet", "-m", shared.model, "-o", tmp_path / "t.parquet"]
    outcome = run(*arguments)
    assert outcome.code == 2
    assert "--force" in outcome.err
    assert (tmp_path / "t.parquet").read_bytes() == before
    assert run(*arguments, "--force").code == 0
    assert "calibrated" in pq.read_table(tmp_path / "t.parquet").column_names


def test_an_evaluation_does_not_replace_an_earlier_one_unless_it_is_told_to(run, dated, tmp_path):
    pq.write_table(dated, tmp_path / "t.parquet")
    options = ["--label=y", "--score=p", "--drop=when,due", "--max-rounds=0", "--jobs=1", "-q", "-o", tmp_path / "ev"]
    assert run("evaluate", tmp_path / "t.parquet", *options).code == 0
    outcome = run("evaluate", tmp_path / "t.parquet", *options)
    assert outcome.code == 2
    assert "earlier evaluation. Name another folder, or add --force." in outcome.err
    assert run("evaluate", tmp_path / "t.parquet", *options, "--force").code == 0


def test_three_classes_are_listed_without_saying_that_there_are_more():
    with pytest.raises(LabelError, match=r"3 classes \('a', 'b', 'c'\)"):
        trueup.audit(None, ["a", "b", "c"], [0.1, 0.2, 0.3])
