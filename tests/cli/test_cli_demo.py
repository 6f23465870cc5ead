"""`trueup demo`."""

import re
import shlex

import numpy as np
import pyarrow.parquet as pq
import pytest

import trueup
from trueup.cli._demo import SEGMENTS_IN_WORDS, measure
from trueup.datasets import make_traffic

ROWS = 16_000


@pytest.fixture
def there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_screen_fits_and_its_commands_work(run, there, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    outcome = run("demo", "--rows", ROWS)
    assert (outcome.code, outcome.err) == (0, "")
    lines = outcome.out.splitlines()
    assert len(lines) <= 48
    assert max(map(len, lines)) <= 100
    for part in (
        "Log loss",
        "PRAUC",
        "ECCE",
        "MCE",
        "σ",
        "The audit, without being told",
        "Videos at the weekend",
        "trueup-demo/report.html",
    ):
        assert part in outcome.out
    commands = [shlex.split(line)[1:] for line in lines if line.startswith("  trueup ")]
    assert [command[0] for command in commands] == ["inspect", "audit", "apply"]
    for command in commands:
        assert run(*command).code == 0


def test_the_files_hold_what_the_screen_shows(run, there):
    found = run("demo", "--rows", ROWS, "--json", "--seed=3", "-o", there / "my demo").json
    assert (found["fit_rows"], found["test_rows"]) == (ROWS // 2, ROWS // 2)
    files = found["files"]
    assert sorted(path.name for path in (there / "my demo").iterdir()) == sorted(files)
    scored, calibrated = (pq.read_table(files[name]) for name in ("scored.parquet", "calibrated.parquet"))
    assert calibrated.drop_columns(["calibrated"]).equals(scored)
    again = trueup.load(files["model.trueup"]).calibrate(scored)
    np.testing.assert_array_equal(again, calibrated["calibrated"].to_numpy())
    labels = scored["label"].to_numpy()
    assert found["metrics"]["log_loss"]["after"] == trueup.metrics.log_loss(labels, again)
    X = scored.drop_columns(["label", "score", "true_probability"])
    for when, scores in (("before", scored["score"]), ("after", calibrated["calibrated"])):
        audit = trueup.audit(labels, scores, X)
        assert found["metrics"]["mce"][when] == pytest.approx(audit.mce)
        assert found["audit"][when]["n_segments"] == audit.n_segments
        assert (found["audit"][when]["n_significant"] > 0) == audit.significant
        assert len(found["audit"][when]["stories"]) == min(4, found["audit"][when]["n_stories"])
    with open(files["report.html"], encoding="utf-8") as file:
        page = file.read()
    assert "<title>trueup demo" in page
    assert "Videos at the weekend" in page
    assert "MCE" in page
    assert not re.search(r"\{\w+\}", page)


def test_every_segment_of_the_traffic_has_a_name_in_words():
    assert make_traffic(1000).segments.keys() == SEGMENTS_IN_WORDS.keys()


def test_errors_are_mean_scores_minus_true_rates():
    traffic = make_traffic(4000, random_state=1)
    half_way = (traffic.scores + traffic.true_probability) / 2
    result = measure(traffic, half_way[2000:], 2000, rounds=1, seconds=0.0)
    assert result.test_rows == 2000
    assert len(result.segments) == 7
    for segment in result.segments:
        assert segment.error_after == pytest.approx(segment.error_before / 2)
        assert segment.rows == traffic.segments[segment.condition][2000:].sum()
    harm = [abs(segment.error_before) * segment.rows for segment in result.segments]
    assert harm == sorted(harm, reverse=True)


def test_the_audit_sees_the_errors_go():
    traffic = make_traffic(40_000, random_state=2)
    before, after = measure(traffic, traffic.true_probability[20_000:], 20_000, rounds=1, seconds=0.0).audits
    assert before.n_significant > 0
    assert before.shown[0].segment == "is_logged_in = false and referrer is missing"
    assert after.n_significant == 0


def test_a_file_in_the_place_of_the_folder_is_an_error(run, there):
    (there / "taken").write_text("")
    outcome = run("demo", "--rows", ROWS, "-o", "taken")
    assert outcome.code == 3
    assert "'taken' is not a folder" in outcome.err


def test_stopping_while_files_are_written_leaves_none(run, there, monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("trueup.cli._demo_screen.report_html", stop)  # the last of the files
    outcome = run("demo", "--rows", 4000)
    assert outcome.code == 130
    assert "Stopped. Nothing was written." in outcome.err
    assert list((there / "trueup-demo").iterdir()) == []
