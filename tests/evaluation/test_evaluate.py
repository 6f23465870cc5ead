"""The whole flow, on traffic whose truth is known."""

from __future__ import annotations

import dataclasses
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import trueup
from trueup import MCGrad
from trueup._data import to_arrow
from trueup.datasets import Traffic, make_traffic
from trueup.errors import ColumnError, DataError, DiagnosisError, LabelError, ParameterError, ScoreError, WeightError
from trueup.evaluation import FILES, Evaluation, Outcome, summarize
from trueup.evaluation._page import evaluation_page
from trueup.evaluation._verdict import judge

# Few rows: no round is fitted, and it takes a moment.
SMALL = {"estimator": MCGrad(max_rounds=0), "comparison": {"max_depth": 1, "n_bootstrap": 50, "null_samples": 20}}


def small(X: Any, y: Any, scores: Any, **options: Any) -> Evaluation:
    return trueup.evaluate(X, y, scores, **SMALL | options)


@pytest.fixture(scope="module")
def visits() -> Traffic:
    return make_traffic(1500, random_state=3)


def test_a_model_that_is_wrong_in_segments_is_found_worth_calibrating(evaluation: Evaluation, traffic: Traffic) -> None:
    assert evaluation.verdict == "ship"
    assert all(reason.holds for reason in evaluation.reasons)
    assert evaluation.model.n_rounds_ > 0
    assert (evaluation.split.kind, evaluation.split.train.rows, evaluation.split.test.rows) == ("random", 14_000, 6_000)
    # The truth is known: on the held-out rows the calibrated scores are nearer to it.
    test = evaluation._held_out.test
    truth, before = traffic.true_probability[test], traffic.scores[test]
    after = evaluation.held_out["calibrated"].to_numpy()
    assert ((after - truth) ** 2).mean() < ((before - truth) ** 2).mean()


def test_the_metrics_are_those_of_the_held_out_rows(evaluation: Evaluation) -> None:
    rows = evaluation.held_out
    labels = rows["label"].to_numpy()
    metrics = {row["metric"]: row for row in evaluation.comparison.to_dict(0)["metrics"]}
    for name, column in (("base", "score"), ("candidate", "calibrated")):
        assert metrics["log_loss"][name] == pytest.approx(trueup.metrics.log_loss(labels, rows[column].to_numpy()))
    assert evaluation.audits[0].n == evaluation.split.test.rows == rows.num_rows


def test_the_model_that_was_evaluated_never_saw_the_held_out_rows(evaluation: Evaluation, traffic: Traffic) -> None:
    train = ~evaluation._held_out.test
    table = traffic.to_table().drop_columns(["true_probability"]).filter(pa.array(train))
    again = MCGrad(score_column="score").fit(table.drop_columns(["label"]), table["label"])
    np.testing.assert_array_equal(again.calibrate(evaluation.held_out), evaluation.held_out["calibrated"].to_numpy())


def test_it_is_frozen_and_says_what_it_is(evaluation: Evaluation) -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        evaluation.verdict = "keep"  # type: ignore[misc]
    assert repr(evaluation) == ("Evaluation(ship: trained on 14,000 rows, tested on 6,000 (30 %), drawn at random)")
    facts = evaluation.to_dict()
    assert json.loads(json.dumps(facts, allow_nan=False)) == facts
    assert facts["model"]["n_rounds"] == evaluation.model.n_rounds_
    assert facts["saved_model"] == {"fitted_on": "training rows", "n_rounds": evaluation.model.n_rounds_}
    assert sum(facts["model"]["feature_shares"].values()) == pytest.approx(1)


def test_saving_writes_a_folder_that_serves(
    evaluation: Evaluation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = evaluation.save(tmp_path / "a" / "clicks", title="Clicks", about={"made": "here"})
    assert sorted(files) == sorted(FILES) == sorted(os.listdir(tmp_path / "a" / "clicks"))
    rows = pq.read_table(files["scored.parquet"])
    served = trueup.load(files["model.trueup"]).calibrate(rows)  # it knows the column of the scores
    np.testing.assert_array_equal(served, rows["calibrated"].to_numpy())
    kept = json.loads(Path(files["evaluation.json"]).read_text(encoding="utf-8"))
    assert kept == evaluation.to_dict() | {"about": {"made": "here"}}
    page = Path(files["report.html"]).read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    for part in ("Clicks", "Ship", "round by round", "14,000 rows"):
        assert part in page
    monkeypatch.setattr(Evaluation, "to_html", lambda *_, **__: "a page")
    evaluation.save(tmp_path / "a" / "clicks")  # a second time, in the same place
    assert Path(files["report.html"]).read_text(encoding="utf-8") == "a page"
    (tmp_path / "a" / "clicks" / "notes.txt").write_text("mine")
    with pytest.raises(FileExistsError, match="other files"):
        evaluation.save(tmp_path / "a" / "clicks")


def test_an_interrupt_while_saving_leaves_nothing(
    evaluation: Evaluation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Evaluation, "to_html", lambda *_, **__: "a page")
    monkeypatch.setattr(pq, "write_table", stop)  # the last of the files
    with pytest.raises(KeyboardInterrupt):
        evaluation.save(tmp_path / "clicks")
    assert list(tmp_path.iterdir()) == []


def test_the_heading_says_what_to_ship(evaluation: Evaluation) -> None:
    assert evaluation.verdict == "ship"
    assert evaluation_page(evaluation, in_full=False).headline.verdict == "Ship the calibrated scores"


def test_a_notebook_shows_the_verdict(evaluation: Evaluation) -> None:
    html = evaluation._repr_html_()
    assert html is not None
    assert "Ship" in html
    assert "<script" not in html


def test_evaluations_are_summarized_by_name(evaluation: Evaluation) -> None:
    summary = summarize({"clicks": evaluation, "again": evaluation.to_dict()})
    assert summary.verdicts["ship"] == 2
    one, other = summary.models
    assert one.before == other.before
    assert summary.improved["log_loss"] == 1
    assert summary.percentiles["log_loss"] == pytest.approx((Outcome.of("x", evaluation).change("log_loss"),) * 5)


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, dict], ids=["pandas", "polars", "dict"])
def test_the_library_of_the_table_does_not_matter_and_rows_come_back_in_it(library: Any, visits: Traffic) -> None:
    columns = visits.to_table().drop_columns(["true_probability"]).to_pydict()
    one = small(library(columns), "label", "score", random_state=1)
    other = small(pa.table(columns), "label", "score", random_state=1)
    assert one.comparison.to_dict(0)["metrics"] == other.comparison.to_dict(0)["metrics"]
    assert type(one.held_out) is (pa.Table if library is dict else library)
    assert to_arrow(one.held_out).to_pydict() == other.held_out.to_pydict()


def test_rows_of_pandas_keep_their_index(visits: Traffic) -> None:
    table = visits.X.to_pandas().set_index(np.arange(1500) * 7 % 1500)
    evaluation = small(table, visits.y, visits.scores)
    test = evaluation._held_out.test
    np.testing.assert_array_equal(evaluation.held_out.index, table.index[test])
    np.testing.assert_array_equal(evaluation.held_out["score"], visits.scores[test])


def test_arrays_beside_the_table_are_kept_under_names_of_their_own(visits: Traffic) -> None:
    X = visits.X.append_column("label", pa.array(np.zeros(1500)))
    weights = np.linspace(0.5, 1.5, 1500)
    evaluation = small(X, visits.y, visits.scores, sample_weight=weights, groups=np.arange(1500) // 3)
    added = evaluation.held_out.column_names[X.num_columns :]
    assert added == ["label_", "score", "weight", "group", "calibrated"]
    test = evaluation._held_out.test
    np.testing.assert_array_equal(evaluation.held_out["label_"].to_numpy(), visits.y[test])
    np.testing.assert_array_equal(evaluation.held_out["weight"].to_numpy(), weights[test])


def test_numpy_tables_have_columns_by_place(visits: Traffic) -> None:
    matrix = np.column_stack([visits.X[name].to_numpy() for name in ("hour", "past_clicks")] + [np.arange(1500) // 100])
    evaluation = small(matrix, visits.y, visits.scores, time="x2", categorical_features=[0])
    assert evaluation.split.not_features == ("x2",)
    assert evaluation.model.features == ["x0", "x1"]
    assert evaluation.model.categorical_features == ["x0"]


def test_no_rounds_give_the_scores_back_and_the_verdict_keep(visits: Traffic) -> None:
    evaluation = small(visits.X, visits.y, visits.scores)
    assert evaluation.verdict == "keep"
    assert "no_rounds" in [reason.code for reason in evaluation.reasons if not reason.holds]
    np.testing.assert_array_equal(evaluation.held_out["calibrated"], evaluation.held_out["score"])


def test_in_time_the_earlier_rows_train_and_time_is_no_feature(visits: Traffic) -> None:
    year = np.repeat([2019, 2020, 2021], 500)
    shuffled = np.random.default_rng(0).permutation(1500)
    table = visits.X.append_column("year", pa.array(year)).take(shuffled)
    evaluation = small(table, visits.y[shuffled], visits.scores[shuffled], time="year")
    split = evaluation.split
    assert (split.train.first, split.train.last, split.test.first) == ("2019", "2020", "2021")
    assert split.not_features == ("year",)
    assert "year" not in evaluation.model.feature_names_in_
    assert str(split) == "trained on 1,000 rows of 2019 to 2020, tested on 500 (33 %) of 2021"
    assert split.test.positive_rate == pytest.approx(visits.y[1000:].mean())
    assert split.test.mean_score == pytest.approx(visits.scores[1000:].mean())
    named = small(table, visits.y[shuffled], visits.scores[shuffled], time="year", features=["year", "hour"])
    assert sorted(named.model.feature_names_in_) == ["hour", "year"]
    assert named.split.not_features == ()


def test_groups_stay_whole_and_are_resampled_for_the_intervals(visits: Traffic) -> None:
    users = np.random.default_rng(0).integers(0, 200, 1500)
    evaluation = small(visits.X, visits.y, visits.scores, groups=users)
    test = evaluation._held_out.test
    assert set(users[test]).isdisjoint(users[~test])
    assert evaluation.comparison.n_groups == evaluation.split.test.n_groups == len(set(users[test]))


def test_with_a_time_the_split_is_in_time_and_groups_are_resampled(visits: Traffic) -> None:
    users, days = np.random.default_rng(0).integers(0, 200, 1500), np.arange(1500) // 10
    evaluation = small(visits.X, visits.y, visits.scores, time=days, groups=users)
    test = evaluation._held_out.test
    np.testing.assert_array_equal(test, days >= 105)
    assert evaluation.split.kind == "time"
    assert evaluation.comparison.n_groups == evaluation.split.test.n_groups == len(set(users[test]))


def test_days_are_resampled_if_there_are_enough_of_them(visits: Traffic) -> None:
    days = np.arange(1500) // 10  # 150 days, of which 45 test
    assert small(visits.X, visits.y, visits.scores, time=days).comparison.n_groups == 45
    years = np.arange(1500) // 300
    few = small(visits.X, visits.y, visits.scores, time=years)
    assert few.comparison.n_groups == few.split.test.rows


@pytest.mark.parametrize(
    ("days", "validation", "kept_whole"),
    [
        (np.arange(1500) // 10, "auto", True),
        (np.arange(1500) // 400, 3, True),  # three days train, and no fold may be empty
        (np.arange(1500), "auto", False),  # folds of single rows keep the classes in proportion
        (np.arange(1500) // 1050, "auto", False),  # one day trains
    ],
)
def test_the_folds_of_the_fit_keep_days_whole(
    visits: Traffic, monkeypatch: pytest.MonkeyPatch, days: Any, validation: Any, kept_whole: bool
) -> None:
    seen: dict[str, Any] = {}
    monkeypatch.setattr(MCGrad, "fit", lambda self, *_, **given: seen.update(given, **self.get_params()) or _stop())
    with pytest.raises(_StoppedError):
        trueup.evaluate(visits.X, visits.y, visits.scores, time=days)
    assert seen["validation"] == validation
    if kept_whole:
        trained = days[: len(seen["groups"])]  # the last days test
        np.testing.assert_array_equal(seen["groups"], trained)
    else:
        assert seen["groups"] is None
    with pytest.raises(_StoppedError):
        trueup.evaluate(visits.X, visits.y, visits.scores, time=days, estimator=MCGrad(validation=0.5))
    assert seen["validation"] == 0.5


class _StoppedError(Exception):
    pass


def _stop() -> None:
    raise _StoppedError


def test_a_refit_has_all_rows_and_no_more_rounds() -> None:
    traffic = make_traffic(6000, random_state=1)
    quick = MCGrad(max_rounds=2, validation=0.3, min_sum_hessian_in_leaf=1, lightgbm_params={"min_child_samples": 20})
    evaluation = trueup.evaluate(
        traffic.X, traffic.y, traffic.scores, estimator=quick, refit=True, comparison=SMALL["comparison"]
    )
    refitted = evaluation.refitted
    assert refitted is not None
    assert evaluation.serving is refitted
    assert refitted.model_.summary.n_rows == 6000
    assert evaluation.model.model_.summary.n_rows == 4200
    assert refitted.n_rounds_ <= evaluation.model.n_rounds_
    assert evaluation.to_dict()["saved_model"]["fitted_on"] == "all rows"


def test_an_error_in_the_data_turns_ship_into_inconclusive(evaluation: Evaluation) -> None:
    # Both halves are of the same rows: a diagnosis finds every one of them leaked.
    visits = make_traffic(2000, random_state=5)
    leaked = trueup.diagnose(visits.X, visits.y, visits.scores, test=(visits.X, visits.y, visits.scores))
    assert leaked.findings[0].severity == "error"
    assert evaluation.comparison.verdict == "ship"
    verdict, reasons = judge(evaluation.comparison, leaked, n_rounds=3)
    assert verdict == "inconclusive"
    assert (reasons[-1].code, reasons[-1].holds) == ("diagnosis", False)
    assert reasons[:-1] == evaluation.comparison.reasons
    doubtful = dataclasses.replace(evaluation, verdict=verdict, reasons=reasons, diagnosis=leaked)
    html = doubtful._repr_html_()
    assert html is not None
    assert "Inconclusive" in html
    assert "The data are not fit for a decision" in html


def test_strict_makes_a_warning_an_error_before_anything_is_fitted(
    visits: Traffic, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(MCGrad, "fit", lambda *_, **__: _stop())
    with pytest.raises(DiagnosisError, match="strict makes that an error") as caught:
        trueup.evaluate(visits.X, visits.y, np.full(1500, 0.1), strict=True)
    assert "constant_scores" in [finding.code for finding in caught.value.diagnosis.findings]  # type: ignore[attr-defined]


def test_drift_in_time_is_a_warning_and_groups_that_are_recognised_a_note() -> None:
    traffic = make_traffic(4000, random_state=2)
    drift = np.arange(4000) / 10.0  # a column that grows with time
    table = traffic.X.append_column("mileage", pa.array(drift + np.random.default_rng(0).normal(0, 20, 4000)))
    day = np.arange(4000) // 20
    in_time = small(table, traffic.y, traffic.scores, time=day)
    found = {finding.code: finding.severity for finding in in_time.diagnosis.findings}
    assert found["different_populations"] == "warning"
    weather = np.random.default_rng(1).normal(size=(200, 3))[day]
    for i in range(3):
        table = table.append_column(f"weather_{i}", pa.array(weather[:, i]))
    by_day = small(table.drop_columns(["mileage"]), traffic.y, traffic.scores, groups=day)
    found = {finding.code: finding.severity for finding in by_day.diagnosis.findings}
    assert found["different_populations"] == "note"


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"time": "yeer"}, ColumnError, r"time: X has no column 'yeer'. Did you mean 'year'\?"),
        ({"y": "score"}, ParameterError, "y and scores both name the column 'score'"),
        ({"features": ["label"]}, ParameterError, "features names 'label', which is the column of y"),
        ({"features": []}, ParameterError, "There are no features: name some"),
        ({"y": "country"}, LabelError, "The labels, column 'country'"),
        ({"scores": "hour"}, ScoreError, r"Column 'hour': .* scores are outside \[0, 1\]"),
        ({"scores": None}, ScoreError, "scores is None"),
        ({"sample_weight": "country"}, WeightError, "The weights, column 'country'"),
        ({"groups": np.arange(3)}, DataError, "groups has 3 rows, but X has 1,500"),
        ({"test_size": 2}, ParameterError, "test_size must lie between 0 and 1"),
        ({"estimator": "MCGrad"}, ParameterError, "estimator must be an MCGrad, got a str"),
        ({"estimator": MCGrad(features=["hour"])}, ParameterError, "Name the features in evaluate"),
        ({"categorical_features": [99]}, ParameterError, "categorical_features names column 99, but X has"),
        ({"categorical_features": ["label"]}, ParameterError, "'label', which is not one of the features"),
        ({"comparison": {"primary": "accuracy"}}, ParameterError, "primary must be one of"),
    ],
)
def test_errors_are_in_the_users_own_names(
    visits: Traffic, change: dict[str, Any], error: type[Exception], message: str
) -> None:
    table = visits.to_table().append_column("year", pa.array(np.arange(1500) // 300))
    options: dict[str, Any] = {"y": "label", "scores": "score"} | SMALL | change
    with pytest.raises(error, match=message):
        trueup.evaluate(table, **options)


def test_a_side_of_one_class_is_an_error() -> None:
    labels = np.r_[np.zeros(90), np.ones(10)]
    with pytest.raises(DataError, match="All 70 rows to train on have the label 0"):
        small({"a": np.arange(100)}, labels, np.full(100, 0.1), time=np.arange(100))
