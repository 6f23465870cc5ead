"""`trueup evaluate` on one table."""

from __future__ import annotations

import json
import os
import re

import numpy as np
import pyarrow as pa
import pyarrow.csv as pv
import pyarrow.parquet as pq
import pytest

import trueup
from trueup.datasets import make_traffic
from trueup.evaluation import FILES, Evaluation

COLUMNS = ["--label=label", "--score=score"]


@pytest.fixture(scope="module")
def visits(tmp_path_factory):
    table = make_traffic(3000, random_state=4).to_table().drop_columns(["true_probability"])
    table = table.append_column("year", pa.array(np.repeat([2021, 2022, 2023], 1000)))
    path = tmp_path_factory.mktemp("visits") / "visits.parquet"
    pq.write_table(table.append_column("user", pa.array(np.arange(3000) % 300)), path)
    return path


@pytest.fixture
def evaluate(run, visits, tmp_path, monkeypatch):
    """Evaluate with no rounds and a page of one word: what a report says is tested elsewhere."""
    monkeypatch.setattr(Evaluation, "to_html", lambda *_, **__: "a page")

    def call(*options, table=visits):
        return run("evaluate", table, *COLUMNS, "--max-rounds=0", "--jobs=1", "-o", tmp_path / "out", *options)

    return call


def test_the_screen_ends_with_the_verdict_and_the_reports_path(evaluate, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    outcome = evaluate("--time=year", "--drop=user")
    assert (outcome.code, outcome.err) == (0, "")
    for part in (
        "'score' against 'label'",
        "2,000 rows of 2021 to 2022",
        "1,000 rows of 2023",
        "'year': new rows come from later times",
        "Log loss",
        "Verdict: KEEP the scores as they are.",
        "No round of the calibration helped",
        "the one that was tested (0 rounds",
    ):
        assert part in outcome.out
    assert outcome.out.splitlines()[-1] == f"The report: {tmp_path / 'out' / 'report.html'}"
    assert max(map(len, outcome.out.splitlines()[1:-2])) <= 100
    assert sorted(os.listdir(tmp_path / "out")) == sorted(FILES)


def test_sigmas_have_one_decimal_in_the_interval_too(evaluate):
    mce = next(line for line in evaluate("--drop=year,user").out.splitlines() if line.startswith("MCE"))
    assert not re.search(r"\d\.\d\d", mce)


def test_with_a_time_the_split_is_in_time_and_intervals_resample_groups(evaluate, visits):
    found = evaluate("--time=year", "--group=user", "--json", "--quiet").json
    assert (found["split"]["kind"], found["split"]["by"]) == ("time", "year")
    assert not {"year", "user"} & set(found["columns"]["features"])
    assert found["comparison"]["n_groups"] < found["comparison"]["n"]


def test_json_holds_all_of_it_and_so_does_the_file(evaluate, tmp_path, visits):
    found = evaluate("--group=user", "--json", "--quiet").json
    assert found["verdict"] == "keep"
    assert found["table"] == str(visits)
    assert found["split"]["kind"] == "group"
    assert found["comparison"]["n_groups"] == found["split"]["test"]["n_groups"]
    kept = json.loads((tmp_path / "out" / "evaluation.json").read_text(encoding="utf-8"))
    assert kept["split"] == found["split"]
    assert kept["about"]["options"]["group"] == "user"
    assert "user" not in kept["columns"]["features"]
    rows = pq.read_table(tmp_path / "out" / "scored.parquet")
    assert rows.column_names[-3:] == ["year", "user", "calibrated"]
    np.testing.assert_array_equal(trueup.load(found["files"]["model.trueup"]).calibrate(rows), rows["calibrated"])


def test_the_whole_flow_ships_what_is_worth_it(run, tmp_path):
    table = make_traffic(20_000, random_state=0).to_table().drop_columns(["true_probability"])
    pq.write_table(table, tmp_path / "visits.parquet")
    outcome = run("evaluate", tmp_path / "visits.parquet", *COLUMNS, "-o", tmp_path / "out", "--refit")
    assert outcome.code == 0
    assert "Verdict: SHIP the calibrated scores." in outcome.out
    assert "fitted again on all rows" in outcome.out
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "Evaluation of visits.parquet" in page
    assert "fitted again on all rows, not tested itself" in page


@pytest.mark.parametrize(("fail_on", "code"), [("keep", 5), ("not-ship", 5), ("inconclusive", 0)], ids=str)
def test_fail_on_ends_with_the_code_of_a_limit(evaluate, tmp_path, fail_on, code):
    outcome = evaluate(f"--fail-on={fail_on}", "--quiet")
    assert outcome.code == code
    assert outcome.out == ""
    assert ("failed: the verdict is keep" in outcome.err) == (code == 5)
    assert (tmp_path / "out" / "report.html").exists()  # who fails wants to know why


def test_strict_stops_before_the_fit_and_writes_nothing(evaluate, tmp_path, visits):
    table = pq.read_table(visits)
    place = table.column_names.index("score")
    pq.write_table(table.set_column(place, "score", pa.array(np.full(3000, 0.1))), tmp_path / "constant.parquet")
    outcome = evaluate("--strict", "--json", table=tmp_path / "constant.parquet")
    assert outcome.code == 5
    assert "constant_scores" in [finding["code"] for finding in outcome.json["diagnosis"]["findings"]]
    assert "warning: " in outcome.err
    assert "failed: the diagnosis of the data has warnings (--strict). Nothing was written." in outcome.err
    assert not (tmp_path / "out").exists()
    assert evaluate("--quiet", table=tmp_path / "constant.parquet").code == 0


def test_a_csv_file_is_read_with_its_dates(evaluate, tmp_path, visits):
    table = pq.read_table(visits)
    days = pa.array(np.datetime64("2024-01-01") + np.arange(3000) // 30)
    pv.write_csv(table.append_column("day", days), tmp_path / "visits.csv")
    found = evaluate("--time=day", "--json", "--quiet", table=tmp_path / "visits.csv").json
    assert (found["split"]["train"]["first"], found["split"]["test"]["last"]) == ("2024-01-01", "2024-04-09")
    assert found["comparison"]["n_groups"] == 30  # days of 100


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--time=yeer"], 3, "--time: {table} has no column 'yeer'. Did you mean 'year'?"),
        (["--group=usr"], 3, "--group: {table} has no column 'usr'. Did you mean 'user'?"),
        (["--weight=country"], 3, "The weights, column 'country'"),
        (["--time=country"], 3, "Column 'country' holds text such as"),
        (["--features=label"], 2, "--features names 'label', which is the column of --label"),
        (["--test-size=1.2"], 2, "--test-size must be a share between 0 and 1, got 1.2"),
        (["--manifest=models.json"], 2, "a folder of tables, or --manifest"),
    ],
)
def test_errors_name_options_and_columns_and_write_nothing(evaluate, tmp_path, visits, options, code, message):
    outcome = evaluate(*options)
    assert outcome.code == code
    assert message.format(table=repr(str(visits))) in " ".join(outcome.err.replace("│", " ").split())
    assert list(tmp_path.iterdir()) == []


def test_a_folder_of_other_files_is_refused_before_the_work(evaluate, tmp_path, monkeypatch):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.doc").write_text("mine")
    monkeypatch.setattr("trueup.cli._evaluate._evaluated", lambda *_, **__: pytest.fail("worked first"))
    outcome = evaluate()
    assert outcome.code == 3
    assert "The folder has other files in it (thesis.doc). Name a new one" in outcome.err


def test_ctrl_c_leaves_nothing(evaluate, tmp_path, monkeypatch):
    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(pq, "write_table", stop)  # the last of the files
    outcome = evaluate()
    assert outcome.code == 130
    assert outcome.err == "Stopped. Nothing was written.\n"
    assert list(tmp_path.iterdir()) == []


def test_another_teams_model_is_tested_on_the_last_year(run, tmp_path, monkeypatch, data_folder):
    path = data_folder / "acs_employment_MA_scored.parquet"
    if not path.exists():
        pytest.skip("the folder of real data has no acs_employment_MA_scored.parquet")
    columns = ["--label=employed", "--score=predicted_probability", "--drop=id,prediction"]
    monkeypatch.setattr(Evaluation, "to_html", lambda *_, **__: "a page")
    third = pq.read_table(path)  # of 277,677 rows, to be quick: all of them say the same
    pq.write_table(third.take(np.arange(0, third.num_rows, 3)), tmp_path / "third.parquet")
    found = run(
        "evaluate", tmp_path / "third.parquet", *columns, "--time=year", "--quiet", "--json", "-o", tmp_path / "out"
    ).json
    split = found["split"]
    assert (split["train"]["first"], split["train"]["last"]) == ("2015", "2017")
    assert (split["test"]["first"], split["test"]["last"]) == ("2018", "2018")
    assert "year" not in found["columns"]["features"]
    # The verdict is what the figures say: a log loss whose whole interval is below 0, no guardrail and no segment lost.
    metrics = {row["metric"]: row for row in found["comparison"]["metrics"]}
    assert metrics["log_loss"]["high"] < 0
    assert all(metrics[name]["low"] > 0 for name in ("prauc", "auroc"))
    assert found["comparison"]["n_harmed"] == 0
    assert found["verdict"] == "ship"
    rows = pq.read_table(tmp_path / "out" / "scored.parquet")
    assert set(rows["year"].to_pylist()) == {2018}
    losses = [trueup.metrics.log_loss(rows["employed"], rows[name]) for name in ("predicted_probability", "calibrated")]
    assert [metrics["log_loss"][name] for name in ("base", "candidate")] == pytest.approx(losses)


def test_the_rules_of_the_verdict_can_be_set_as_for_compare(evaluate):
    rules = ["--primary=brier", "--guardrail=auroc=0.1", "--guardrail=ece", "--significance=0.1"]
    found = evaluate("--json", "--drop=year,user", *rules).json["comparison"]
    roles = {row["metric"]: (row["role"], row["margin"]) for row in found["metrics"]}
    assert roles["brier"] == ("primary", None)
    assert roles["auroc"] == ("guardrail", 0.1)
    assert roles["ece"][0] == "guardrail"
    assert roles["prauc"] == ("shown", None)
    assert found["significance"] == 0.1


def test_a_guardrail_that_is_no_metric_is_refused_before_the_work(evaluate, tmp_path):
    outcome = evaluate("--guardrail=f1")
    assert outcome.code == 2
    assert "'f1' is none of" in " ".join(outcome.err.replace("│", " ").split())
    assert not (tmp_path / "out").exists()
