"""`--positive`: the label that the scores are probabilities of."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import trueup
from trueup.cli._columns import positive_label
from trueup.datasets import make_traffic

visits = make_traffic(3_000, random_state=0)
CHURN = np.where(visits.y == 1, "churn", "stay")
COLUMNS = ("--label=y", "--score=p")


@pytest.fixture
def table(tmp_path):
    rows = visits.X.append_column("y", pa.array(CHURN)).append_column("p", pa.array(visits.scores))
    pq.write_table(rows, tmp_path / "churn.parquet")
    return tmp_path / "churn.parquet"


@pytest.mark.parametrize("reading", ["--in-memory", "--stream"])
def test_a_fit_takes_the_class_that_is_named_and_inspect_shows_it(run, table, tmp_path, reading):
    made = run("fit", table, *COLUMNS, "--positive=churn", "--max-rounds=1", reading, "-o", tmp_path / "model")
    assert (made.code, made.err) == (0, "")
    assert "'churn'" in made.out
    assert trueup.load(tmp_path / "model").model.classes == ("stay", "churn")
    assert run("inspect", tmp_path / "model", "--json").json["classes"] == ["stay", "churn"]


def test_audits_compare_and_diagnose_take_it_too(run, table, tmp_path):
    quick = ("--max-depth=1", "--json", "--quiet", "--positive=churn")
    for more in ("--null-samples=40",), ("--stream",):
        assert run("audit", table, *COLUMNS, *quick, *more).json["classes"] == ["stay", "churn"]
    two = pq.read_table(table).append_column("q", pa.array(visits.scores))
    pq.write_table(two, tmp_path / "two.parquet")
    compared = run("compare", tmp_path / "two.parquet", "--label=y", "--base=p", "--candidate=q", *quick)
    assert compared.json["prevalence"] == pytest.approx(visits.y.mean())
    diagnosis = run("diagnose", table, *COLUMNS, "--positive=churn", "--json")
    assert "scores_backward" not in [finding["code"] for finding in diagnosis.json["findings"]]


def test_evaluate_takes_it_too(run, table, tmp_path):
    outcome = run("evaluate", table, *COLUMNS, "--positive=churn", "--max-rounds=1", "-q", "-o", tmp_path / "out")
    assert (outcome.code, outcome.err) == (0, "")
    assert trueup.load(tmp_path / "out" / "model.trueup").model.classes == ("stay", "churn")


def test_a_label_that_is_not_there_is_told_in_the_words_of_the_shell(run, table, tmp_path):
    outcome = run("fit", table, *COLUMNS, "--positive=leave", "-o", tmp_path / "model")
    assert outcome.code == 3
    assert "--positive is 'leave', but the labels are 'churn' and 'stay'. Name one of them." in outcome.err


@pytest.mark.parametrize(
    ("text", "type_of_labels", "label"),
    [
        ("0", pa.int64(), 0),
        ("0", pa.float64(), 0.0),
        ("False", pa.bool_(), False),
        ("0", pa.string(), "0"),
        ("churn", pa.dictionary(pa.int32(), pa.string()), "churn"),
        ("churn", pa.int64(), "churn"),  # told of when the labels are read
        (None, pa.int64(), None),
    ],
)
def test_text_is_read_as_the_labels_are(text, type_of_labels, label):
    found = positive_label(text, type_of_labels)
    assert (type(found), found) == (type(label), label)


@pytest.mark.parametrize("command", ["fit", "audit"])
def test_percentages_are_not_taken_for_logits(run, tmp_path, command):
    rows = visits.X.append_column("y", pa.array(visits.y)).append_column("p", pa.array(100 * visits.scores))
    pq.write_table(rows, tmp_path / "percent.parquet")
    more = ("-o", tmp_path / "model") if command == "fit" else ()
    outcome = run(command, tmp_path / "percent.parquet", *COLUMNS, *more)
    assert outcome.code == 3
    assert "They look like percentages: divide them by 100." in outcome.err
    assert "logit" not in outcome.err
