"""`trueup diagnose`."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import trueup
from planted import clean_rows

ROLES = ("--label=y", "--score=p")


@pytest.fixture
def tables(tmp_path, monkeypatch):
    """Clean tables to fit on and to test on, as train.parquet and test.parquet in the current folder."""
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(tmp_path)
    written = {}
    for name, n, seed in (("train", 4000, 1), ("test", 3000, 2)):
        rows = clean_rows(n, seed)
        tenure = pa.array(rows.X["tenure"], from_pandas=True)
        written[name] = pa.table({**rows.X, "tenure": tenure, "y": rows.y, "p": rows.scores, "w": np.ones(n)})
        pq.write_table(written[name], f"{name}.parquet")
    return written


def test_clean_tables_are_fine(run, tables):
    outcome = run("diagnose", "train.parquet", "--test=test.parquet", *ROLES, "--drop=w", "--strict")
    assert (outcome.code, outcome.err) == (0, "")
    assert "4,000 rows to fit on, 3,000 of test.parquet to test on" in outcome.out
    assert "Nothing found." in outcome.out


def test_findings_come_with_advice_and_strict_fails(run, tables):
    outcome = run("diagnose", "train.parquet", "--test=train.parquet", *ROLES)
    assert outcome.code == 0
    assert "error 4,000 of the 4,000 test rows (100 %) also appear" in outcome.out
    assert "  A test on rows that were fitted on flatters the model." in outcome.out
    outcome = run("diagnose", "train.parquet", "--test=train.parquet", *ROLES, "--strict", "--quiet")
    assert (outcome.code, outcome.out) == (5, "")
    assert outcome.err == "failed: --strict, and there are warnings (shared_rows).\n"


def test_json_is_what_python_gives(run, tables):
    outcome = run("diagnose", "train.parquet", "--test=train.parquet", *ROLES, "--features=site,income", "--json")
    found = json.loads(outcome.out, parse_constant=pytest.fail)
    table = tables["train"]
    parts = (table.select(["site", "income"]), table["y"], table["p"])
    expected = json.loads(json.dumps(trueup.diagnose(*parts, test=parts).to_dict()))
    assert {name: found[name] for name in expected} == expected
    assert (found["table"], found["test"], found["label"]) == ("train.parquet", "train.parquet", "y")
    assert found["seconds"] > 0


def test_weights_that_the_other_table_lacks_are_a_finding(run, tables):
    pq.write_table(tables["test"].drop_columns(["w"]), "test.parquet")
    found = run("diagnose", "train.parquet", "--test=test.parquet", *ROLES, "--weight=w", "--json").json
    assert [finding["code"] for finding in found["findings"]] == ["weights_on_one_side"]


def test_columns_that_the_other_table_lacks_are_findings(run, tables):
    pq.write_table(tables["test"].drop_columns(["hour", "p"]), "test.parquet")
    found = run("diagnose", "train.parquet", "--test=test.parquet", *ROLES, "--drop=w", "--json").json
    assert {finding["code"] for finding in found["findings"]} == {"absent_column", "scores_on_one_side"}


def test_one_table_alone_can_be_diagnosed_from_csv(run, tables):
    table = tables["train"]
    at = table.column_names.index("p")
    pa.csv.write_csv(table.set_column(at, "p", pa.array(np.full(4000, 0.25))), "flat.csv")
    outcome = run("diagnose", "flat.csv", *ROLES, "--drop=w")
    assert outcome.code == 0
    assert "warning All 4,000 scores of the training rows are 0.25." in outcome.out


def test_names_cannot_steer_the_terminal(run, tables):
    table = tables["train"].append_column("\x1b[31mred", pa.array(np.zeros(4000)))
    pq.write_table(table, "odd.parquet")
    outcome = run("diagnose", "odd.parquet", *ROLES)
    assert "\x1b[31mred" not in outcome.out


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("train.parquet", "--label=z"), 3, "--label: 'train.parquet' has no column 'z'"),
        (("train.parquet", "--label=y", "--test=none.parquet"), 3, "There is no file 'none.parquet'"),
        (("-", "--label=y", "--test=-"), 2, "Both tables are stdin"),
        (("train.parquet", "--label=y", "--features=hour", "--drop=site"), 2, "not both"),
    ],
)
def test_wrong_use_says_what(run, tables, arguments, code, message):
    outcome = run("diagnose", *arguments)
    assert outcome.code == code
    assert message in outcome.err
