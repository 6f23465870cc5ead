"""`trueup compare`."""

import json
import re

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import trueup
from simulated_pairs import better_model

ROLES = ("--label=y", "--base=p", "--candidate=q")
QUICK = ("--bootstrap=100", "--null-samples=40", "--jobs=1", "--drop=user,w,r")


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """A better model that harms the north, as a file."""
    pair = better_model(0, 20_000, harmed_by=1.0)
    n = len(pair.y)
    columns = {"user": np.arange(n) // 2, "w": np.full(n, 2.0), "y": pair.y, "p": pair.base, "q": pair.candidate}
    columns["r"] = better_model(0, 20_000).candidate  # of the same rows, and harmless
    path = tmp_path_factory.mktemp("compare") / "pair.parquet"
    pq.write_table(pa.table({name: pa.array(values) for name, values in (pair.X | columns).items()}), path)
    return path


@pytest.fixture
def compare(run, table, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    return lambda *options: run("compare", table, *ROLES, *QUICK, *options)


def test_the_screen_says_what_a_person_asks(compare):
    outcome = compare()
    assert (outcome.code, outcome.err) == (0, "")
    assert "'q' instead of 'p', by 'y'" in outcome.out
    assert "Keep the base." in outcome.out
    assert "✓ Log loss improves: " in outcome.out
    assert "significantly worse off, first of all: region = north." in outcome.out
    lines = [line for line in outcome.out.splitlines() if line.rstrip().endswith("  harmed")]
    assert lines[0].startswith("region = north ")
    assert "≤ 0.025" in lines[0]
    assert all(len(line) <= 100 for line in outcome.out.splitlines())


@pytest.mark.parametrize("width", ["100", "60"])
def test_all_changes_have_one_minus_sign_and_sigmas_one_decimal(compare, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", width)
    _, out = compare().out.split("\n", 1)  # the first line has the path
    assert re.search(r"−\d", out)
    assert not re.search(r"-\d", out)
    if width == "100":
        (sigmas,) = [line for line in out.splitlines() if line.startswith("MCE ")]
        assert [len(decimals) for decimals in re.findall(r"\d\.(\d+)", sigmas)] == [1] * 5


def test_the_numbers_are_those_of_python(compare, table):
    found = json.loads(compare("--json").out, parse_constant=pytest.fail)
    rows = pq.read_table(table)
    X = rows.select(["region", "device", "age"])
    result = trueup.compare(X, rows["y"], rows["p"], rows["q"], n_bootstrap=100, null_samples=40, n_jobs=1)
    assert {name: found[name] for name in result.to_dict()} == json.loads(json.dumps(result.to_dict()))
    assert found["columns"]["candidate"] == "q"


@pytest.mark.parametrize(("fail_on", "code"), [("keep", 5), ("not-ship", 5), ("inconclusive", 0)])
def test_a_script_can_stop_at_a_verdict(compare, fail_on, code):
    outcome = compare("--fail-on", fail_on, "--quiet")
    assert (outcome.code, outcome.out) == (code, "")
    assert ("the verdict is keep" in outcome.err) == (code == 5)


def test_a_model_that_is_better_all_over_ships(run, table):
    options = ("--features=device,region", "--bootstrap=100", "--null-samples=40", "--group=user", "--weight=w")
    outcome = run("compare", table, "--label=y", "--base=p", "--candidate=r", *options, "--fail-on=not-ship")
    assert outcome.code == 0
    assert "Ship the candidate." in outcome.out
    assert "20,000 in 10,000 groups" in outcome.out


def test_all_segments_go_to_a_table(compare, tmp_path):
    compare("-o", tmp_path / "segments.parquet", "--quiet")
    written = pq.read_table(tmp_path / "segments.parquet")
    assert set(written["outcome"].to_pylist()) == {"harmed", "gains", "unclear"}
    out = compare("-o", "-").out
    assert pa.csv.read_csv(pa.py_buffer(out.encode())).num_rows == written.num_rows


def test_rules_can_be_set(compare):
    found = compare("--primary=brier", "--guardrail=auroc=0.1", "--guardrail=ece", "--significance=0.1", "--json").json
    roles = {row["metric"]: (row["role"], row["margin"]) for row in found["metrics"]}
    assert roles["brier"] == ("primary", None)
    assert roles["auroc"] == ("guardrail", 0.1)
    assert roles["ece"][0] == "guardrail"
    assert roles["ecce"] == ("shown", None)
    assert found["significance"] == 0.1
    alone = compare("--guardrail=none", "--json").json
    assert {row["role"] for row in alone["metrics"]} == {"primary", "shown"}


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (("--guardrail=f1",), 2, "'f1' is none of"),
        (("--guardrail=auroc=much",), 2, "'much' is not a number"),
        (("--candidate=p",), 2, "--base and --candidate both name the column 'p'"),
        (("--candidate=z",), 3, "has no column 'z'"),
        (("--base=age",), 3, "Column 'age': 20,000 of 20,000 scores are outside [0, 1]"),
        (("--json", "-o", "-"), 2, "JSON can't"),
        (("--bootstrap=5",), 2, "pass at least 40"),
    ],
)
def test_mistakes_are_told_in_the_users_names(run, table, options, code, message):
    outcome = run("compare", table, *ROLES, *options)
    assert outcome.code == code
    assert message in " ".join(outcome.err.replace("│", " ").split())


def test_missing_groups_are_told_with_their_column(run, tmp_path):
    rows = {"y": [0, 1] * 20, "p": [0.5] * 40, "q": [0.4] * 40, "user": [None, *range(39)]}
    pq.write_table(pa.table(rows), tmp_path / "t.parquet")
    outcome = run("compare", tmp_path / "t.parquet", *ROLES, "--group=user")
    assert outcome.code == 3
    assert "Column 'user': 1 of 40 rows belong to no group" in outcome.err


def test_ctrl_c_stops_it_and_nothing_is_written(compare, tmp_path, monkeypatch):
    def interrupted(**arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("trueup._native.resample", interrupted)
    outcome = compare("-o", tmp_path / "out.csv")
    assert outcome.code == 130
    assert outcome.err.strip() == "Stopped. Nothing was written."
    assert not list(tmp_path.iterdir())
