"""`trueup.compare`: what it gives, on what, and what it refuses."""

from __future__ import annotations

import json
import math
import pickle
import re
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import trueup
from simulated_pairs import better_model, equal_models, sigmoid
from trueup.comparison import Comparison
from trueup.errors import CostWarning, DataError, LabelError, ParameterError, ScoreError, TableError, WeightError

QUICK: dict[str, Any] = {"n_bootstrap": 100, "null_samples": 40, "max_depth": 2, "n_jobs": 1}


def compared(n: int = 4_000, **options: Any) -> Comparison:
    pair = better_model(0, n)
    return trueup.compare(pair.X, pair.y, pair.base, pair.candidate, **(QUICK | options))


def same(one: Comparison, other: Comparison, *, but_for: tuple[str, ...] = ()) -> None:
    """Both say the same, to rounding."""
    for name in ("metrics", "segments", "reasons"):
        first, second = one.to_dict(None)[name], other.to_dict(None)[name]
        assert len(first) == len(second)
        for left, right in zip(first, second, strict=True):
            for key, value in left.items():
                if key in but_for or key in ("text", "values"):
                    continue
                assert right[key] == (pytest.approx(value, rel=1e-6, abs=1e-9) if isinstance(value, float) else value)
    assert one.verdict == other.verdict


def test_the_order_of_rows_does_not_matter() -> None:
    pair = equal_models(3, 2_000, "grouped")
    shuffled = np.random.default_rng(0).permutation(2_000)
    base = np.round(pair.base, 1)  # ties
    for group in (None, pair.groups):
        one = trueup.compare(pair.X, pair.y, base, pair.candidate, groups=group, **QUICK)
        other = trueup.compare(
            {name: values[shuffled] for name, values in pair.X.items()},
            pair.y[shuffled],
            base[shuffled],
            pair.candidate[shuffled],
            groups=None if group is None else group[shuffled],
            **QUICK,
        )
        same(one, other)


def test_a_row_of_weight_two_is_a_row_that_comes_twice_in_one_group() -> None:
    pair = better_model(1, 1_000)
    weights = np.random.default_rng(0).integers(0, 4, 1_000)
    rows = np.repeat(np.arange(1_000), weights)
    X = {name: values[rows] for name, values in pair.X.items()}
    # Terciles are of rows, not of weights, and so is the number of rows.
    options = QUICK | {"features": ["region", "device"], "min_rows": 1}
    once = trueup.compare(
        pair.X, pair.y, pair.base, pair.candidate, sample_weight=weights, groups=np.arange(1_000), **options
    )
    twice = trueup.compare(X, pair.y[rows], pair.base[rows], pair.candidate[rows], groups=rows, **options)
    assert once.n_groups == twice.n_groups == np.count_nonzero(weights)
    first, second = once.to_dict()["metrics"], twice.to_dict()["metrics"]
    for left, right in zip(first[:6], second[:6], strict=True):  # MCE takes rows for independent
        for key in ("base", "candidate", "difference", "low", "high", "p_value"):
            assert right[key] == pytest.approx(left[key], abs=1e-9)
    by_name = {row["segment"]: row for row in twice.to_dict()["segments"]}
    for row in once.to_dict()["segments"]:
        assert by_name[row["segment"]]["difference"] == pytest.approx(row["difference"], abs=1e-9)


def test_the_number_of_threads_does_not_matter() -> None:
    same(compared(n_jobs=1), compared(n_jobs=3))


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
def test_tables_come_back_in_the_library_that_they_came_in(library: Any) -> None:
    pair = better_model(0, 1_000)
    result = trueup.compare(library(pair.X), pair.y, pair.base, pair.candidate, **QUICK)
    for table in (result.metrics, result.segments):
        assert type(table) is type(library({"a": [1]}))
    same(result, compared(1_000))


def test_soft_labels_count_as_shares_of_both_classes() -> None:
    pair = better_model(0, 2_000)
    soft = np.clip(pair.y * 0.9 + 0.05, 0, 1)
    found = trueup.compare(None, soft, pair.base, pair.candidate, **QUICK).to_dict()
    split = trueup.compare(
        None,
        np.repeat([1, 0], 2_000),
        np.tile(pair.base, 2),
        np.tile(pair.candidate, 2),
        sample_weight=np.concatenate([soft, 1 - soft]),
        groups=np.tile(np.arange(2_000), 2),
        **QUICK,
    ).to_dict()
    for left, right in zip(found["metrics"], split["metrics"], strict=True):
        if left["metric"] not in ("brier",):  # (y - p)² is not linear in y
            assert (left["base"], left["candidate"]) == pytest.approx((right["base"], right["candidate"]))
    assert found["classes"] == [0, 1]


def test_identical_scores_are_inconclusive_and_said_so() -> None:
    pair = better_model(0, 1_000)
    result = trueup.compare(pair.X, pair.y, pair.base, pair.base, **QUICK)
    assert result.verdict == "inconclusive"
    assert result.reasons[-1].code == "identical_scores"
    assert "same score" in result.reasons[-1].text
    assert (result.n_segments, result.segments.num_rows) == (0, 0)
    assert {row["difference"] for row in result.metrics.to_pylist()} == {0.0}


def test_too_few_rows_say_how_many_would_do() -> None:
    pair = better_model(0, 300)
    result = trueup.compare(None, pair.y, pair.base, pair.candidate, **QUICK)
    assert result.verdict == "inconclusive"
    reason = result.reasons[-1]
    assert reason.code == "too_little_data"
    metric = result.to_dict()["metrics"][0]
    half = (metric["high"] - metric["low"]) / 2
    # (1.96 + 0.84) standard errors are found in 80 % of cases, and rows go with the square of the ratio.
    assert reason.values["minimum_detectable"] == pytest.approx(half * 2.8016 / 1.96, rel=1e-3)
    needed = 300 * (reason.values["minimum_detectable"] / metric["difference"]) ** 2
    assert reason.values["n_needed"] == math.ceil(needed)
    assert "it takes about" in reason.text


def test_one_group_shows_no_spread() -> None:
    pair = better_model(0, 300)
    result = trueup.compare(None, pair.y, pair.base, pair.candidate, groups=["one"] * 300, **QUICK)
    assert result.verdict == "inconclusive"
    assert result.reasons[-1].code == "too_little_data"
    assert result.to_dict()["metrics"][0]["low"] is None


def test_a_guardrail_that_fails_clearly_keeps_the_base() -> None:
    # Squares of right scores rank rows as before, and are all too low.
    pair = better_model(0, 30_000)
    worse = pair.candidate**2
    result = trueup.compare(None, pair.y, pair.candidate, worse, guardrails=["ecce"], primary="auroc", **QUICK)
    assert [reason.code for reason in result.reasons[:2]] == ["primary_unclear", "guardrail_fails"]
    assert result.verdict == "keep"
    assert result.reasons[1].values["margin"] == pytest.approx(0.05 * result.prevalence)


def test_a_margin_can_be_set_and_rows_that_are_too_few_for_it_are_told_of() -> None:
    result = compared(margins={"auroc": 0.0}, guardrails=["auroc"])
    auroc = next(row for row in result.metrics.to_pylist() if row["metric"] == "auroc")
    assert (auroc["role"], auroc["margin"]) == ("guardrail", 0.0)
    tight = trueup.compare(None, *_wiggled(), guardrails=["auroc"], margins={"auroc": 0.0}, **QUICK)
    assert tight.reasons[1].code in ("guardrail_unclear", "guardrail_fails")
    assert tight.verdict != "ship"


def _steep_and_blurred(n: int, noise: float, seed: int) -> tuple[Any, Any, Any]:
    """Labels, a base that is too sure of itself, and a candidate that is about right and ranks a little worse."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=n) - 2
    candidate = sigmoid(logits + noise * rng.normal(size=n))
    return (rng.random(n) < sigmoid(logits)).astype(int), sigmoid(-2 + 2 * (logits + 2)), candidate


def test_a_guardrail_that_rows_are_too_few_for_says_how_many_would_do() -> None:
    result = trueup.compare(None, *_steep_and_blurred(3_000, 0.1, seed=0), guardrails=["prauc"], **QUICK)
    primary, prauc = result.reasons[:2]
    assert (primary.code, prauc.code, result.verdict) == ("primary_improves", "guardrail_unclear", "inconclusive")
    found = prauc.values
    assert found["low"] < -found["margin"] < found["difference"] < 0
    # An interval that is 1.96 / 2.8016 as long as the way to the margin ends there in 80 % of cases.
    half = found["difference"] - found["low"]
    needed = 3_000 * (half * 2.8016 / 1.96 / (found["difference"] + found["margin"])) ** 2
    assert found["n_needed"] == pytest.approx(needed, rel=1e-3)
    assert found["unit"] == "rows"
    assert re.search(r"About [\d,]+ rows would tell\.$", prauc.text)


def test_a_metric_that_rises_does_not_stop_shipping_because_a_fall_cannot_be_ruled_out() -> None:
    result = trueup.compare(None, *_steep_and_blurred(1_000, 0.2, seed=2), guardrails=["prauc"], **QUICK)
    prauc = result.reasons[1]
    assert prauc.values["low"] < -prauc.values["margin"] < 0 < prauc.values["difference"]
    assert (prauc.code, prauc.holds, result.verdict) == ("guardrail_not_worse", True, "ship")
    assert re.search(r"^PRAUC does not get worse on these rows.* takes about [\d,]+ rows\.$", prauc.text)


def _wiggled() -> tuple[Any, Any, Any]:
    pair = better_model(0, 4_000)
    wiggle = np.random.default_rng(0).normal(size=4_000)
    return pair.y, pair.base, np.clip(pair.base + 0.05 * wiggle, 0.001, 0.999)


def test_without_a_table_no_segments_are_tested_and_a_better_model_ships() -> None:
    pair = better_model(0, 50_000)
    result = trueup.compare(None, pair.y, pair.base, pair.candidate, **QUICK)
    assert (result.verdict, result.n_segments, result.segments.num_rows) == ("ship", 0, 0)
    assert result.metrics["metric"].to_pylist() == ["log_loss", "brier", "prauc", "auroc", "ecce", "ece"]


def test_without_draws_only_losses_are_judged() -> None:
    result = compared(n_bootstrap=0, guardrails=["brier"])
    rows = {row["metric"]: row for row in result.metrics.to_pylist()}
    assert rows["brier"]["role"] == "guardrail"
    assert math.isnan(rows["auroc"]["low"])
    with pytest.raises(ParameterError, match="n_bootstrap=0 gives no intervals, by which auroc must be judged"):
        compared(n_bootstrap=0, guardrails=["auroc"])


def test_the_mce_and_the_audits_are_those_of_audit() -> None:
    result = compared()
    pair = better_model(0, 4_000)
    for audited, name in zip(result.audits, ("base", "candidate"), strict=True):
        alone = trueup.audit(pair.X, pair.y, getattr(pair, name), null_samples=40, max_depth=2)
        assert audited.to_dict() == alone.to_dict()
        assert result.metrics.to_pylist()[-1][name] == pytest.approx(alone.mce)


def test_json_can_hold_the_result_and_so_can_a_pickle() -> None:
    result = compared()
    text = json.dumps(result.to_dict(), allow_nan=False)
    assert json.loads(text)["reasons"][0]["code"].startswith("primary_")
    assert pickle.loads(pickle.dumps(result)).to_dict() == result.to_dict()
    assert len(result.to_dict(3)["segments"]) == 3
    assert repr(result).startswith(f"Comparison({result.verdict}: 4,000 rows, log_loss ")
    with pytest.raises(ParameterError, match="n_segments"):
        result.to_dict(-1)


Y, P = [0, 1] * 20, [0.5] * 40


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((None, P, P), LabelError, "y is None"),
        (([], [], []), TableError, "no rows"),
        (([1] * 40, P, P), LabelError, "one class only"),
        ((Y, [1.5, *P[1:]], P), ScoreError, r"base: 1 of 40 scores are outside \[0, 1\] \(first at row 0: 1.5\)"),
        ((Y, P, P[:-1]), ScoreError, "candidate has 39 rows"),
        ((Y, P, [None, *P[1:]]), ScoreError, "candidate: 1 of 40 scores are missing"),
    ],
)
def test_bad_rows_are_refused(arguments: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        trueup.compare(None, *arguments)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"sample_weight": [-1] * 40}, WeightError, "negative"),
        ({"groups": [None, *range(39)]}, DataError, r"groups: 1 of 40 rows belong to no group \(first at row 0"),
        ({"groups": [math.nan, *range(39)]}, DataError, "1 of 40 rows belong to no group"),
        ({"groups": range(39)}, DataError, "groups has 39 rows"),
        ({"features": ["a"]}, ParameterError, "X is None. Pass X"),
        ({"primary": "accuracy"}, ParameterError, "primary must be one of log_loss"),
        ({"primary": "mce"}, ParameterError, "primary must be one of log_loss"),
        ({"guardrails": "auroc"}, ParameterError, "must be a list"),
        ({"guardrails": ["f1"]}, ParameterError, "'f1' must be one of"),
        ({"margins": {"brier": 0.1}}, ParameterError, "not among the guardrails"),
        ({"margins": {"auroc": -0.1}}, ParameterError, "at least 0"),
        ({"significance": 0}, ParameterError, "significance must lie between 0 and 1"),
        ({"n_bootstrap": 10}, ParameterError, "pass at least 40"),
        ({"null_samples": 10}, ParameterError, "pass at least 19"),
        ({"min_rows": 0}, ParameterError, "min_rows"),
    ],
)
def test_bad_options_are_refused(options: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        trueup.compare(None, Y, P, [0.4] * 40, **options)


@pytest.mark.parametrize("scores", [[0.0] * 40, [1.0] * 40, [0.0, 1.0] * 20, [1.0, 0.0] * 20])
def test_scores_of_exactly_0_and_1_give_numbers(scores: list[float]) -> None:
    result = trueup.compare({"a": ["x", "y"] * 20}, Y, P, scores, **QUICK)
    assert all(math.isfinite(row["difference"]) for row in result.metrics.to_pylist()[:6])


@pytest.mark.parametrize(
    "group",
    [list("ab") * 20, pd.Series(["a", "b"] * 20, dtype="category"), pa.array([1.5, 2.5] * 20), [True, False] * 20],
)
def test_groups_may_be_of_any_type(group: Any) -> None:
    result = trueup.compare(None, Y, P, np.linspace(0.3, 0.6, 40), groups=group, **QUICK)
    assert result.n_groups == 2


def test_a_search_that_takes_long_says_so_beforehand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trueup.segments._grid._SECONDS_BEFORE_WARNING", 0.0)
    with pytest.warns(CostWarning, match=r"This comparison takes about .* for 7 combinations of features on 500 rows"):
        compared(500)
    monkeypatch.setattr("trueup.segments._grid._MOST_SEGMENTS", 3)
    with pytest.raises(ParameterError, match="more than the 3 that fit"):
        compared(500)
