"""What an audit says, on numbers that can be checked by hand."""

from __future__ import annotations

import json
import math
import pickle
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import trueup
from simulated import PLANTED, scores_wrong_in, true_scores
from trueup.errors import DataWarning, LabelError
from trueup.metrics import (
    brownian_range_survival,
    ecce,
    ecce_pvalue,
    ecce_sigma,
    ecce_standard_error,
    multicalibration_error,
)
from trueup.segments import parse_segment

COLUMNS = [
    "segment",
    "rows",
    "weight",
    "share",
    "mean_score",
    "observed_rate",
    "observed_low",
    "observed_high",
    "direction",
    "ecce",
    "sigma",
    "ecce_sigma",
    "evidence",
    "p_value",
    "adjusted_p_value",
    "significant",
    "minimum_detectable",
    "is_pattern",
    "explained_by",
]


def two_halves() -> tuple[dict[str, list[str]], list[int], list[float]]:
    """64 rows that promise one half: of the upper ones 24 come true, of the lower ones 8."""
    labels = [1] * 24 + [0] * 8 + [1] * 8 + [0] * 24
    return {"half": ["upper"] * 32 + ["lower"] * 32}, labels, [0.5] * 64


def rows_of(result: trueup.AuditResult) -> dict[str, dict[str, Any]]:
    return {row["segment"]: row for row in result.segments.to_pylist()}


def test_all_rows_and_both_halves_are_measured() -> None:
    result = trueup.audit(*two_halves())
    assert (result.n, result.n_segments) == (64, 3)
    assert (result.prevalence, result.mean_score) == (0.5, 0.5)
    # On the whole 32 of 64 come true, as promised. In a half, 24 instead of 16: off by 8, where the standard
    # deviation is sqrt(32 / 4) = 2.83: 2.83 sigmas.
    assert (result.ecce, result.ecce_sigma, result.p_value) == (0, 0, 1)
    assert result.mce == pytest.approx(8 / math.sqrt(8))
    # Of all rows, the standard error is sqrt(64 / 4) / 64 = 1 / 16.
    assert result.sigma == 1 / 16
    assert result.mce_absolute == pytest.approx(result.mce / 16)
    assert result.alpha == pytest.approx(result.mce / 8)
    upper = rows_of(result)["half = upper"]
    assert (upper["rows"], upper["share"], upper["observed_rate"], upper["mean_score"]) == (32, 0.5, 0.75, 0.5)
    assert (upper["direction"], rows_of(result)["half = lower"]["direction"]) == ("under-estimates", "over-estimates")
    assert upper["ecce"] == pytest.approx(8 / 32)
    assert upper["sigma"] == pytest.approx(math.sqrt(8) / 32)
    # Wilson's interval of 24 in 32.
    assert (upper["observed_low"], upper["observed_high"]) == pytest.approx((0.5789, 0.8675), abs=1e-4)


def test_every_segment_is_what_the_metrics_say_of_its_rows() -> None:
    y, p, X = true_scores(0, n=600)
    result = trueup.audit(X, y, p, min_variance=0, null_samples=0)
    assert result.ecce == pytest.approx(ecce(y, p))
    assert result.sigma == pytest.approx(ecce_standard_error(y, p))
    assert result.p_value == pytest.approx(ecce_pvalue(y, p))
    assert result.mce == pytest.approx(multicalibration_error(y, p, X=X, min_variance=0))
    rows = result.segments.to_pylist()
    assert len(rows) == result.n_segments > 300
    for row in rows[::7]:
        inside = np.ones(len(y), dtype=bool) if row["segment"] == "all rows" else parse_segment(row["segment"]).mask(X)
        assert row["rows"] == inside.sum()
        assert row["ecce"] == pytest.approx(ecce(y[inside], p[inside]))
        assert row["ecce_sigma"] == pytest.approx(ecce_sigma(y[inside], p[inside]))
        assert row["p_value"] == pytest.approx(ecce_pvalue(y[inside], p[inside]), abs=1e-12)
        assert row["mean_score"] == pytest.approx(p[inside].mean())
        assert row["observed_rate"] == pytest.approx(y[inside].mean())
        assert row["observed_low"] <= row["observed_rate"] <= row["observed_high"]


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow", "dict", "numpy"])
def test_the_table_of_segments_is_of_the_library_of_the_input(library: str) -> None:
    X, y, p = two_halves()
    inputs: dict[str, tuple[Any, type]] = {
        "pandas": (pd.DataFrame(X), pd.DataFrame),
        "polars": (pl.DataFrame(X), pl.DataFrame),
        "pyarrow": (pa.table(X), pa.Table),
        "dict": (X, pa.Table),
        "numpy": (np.array([[0.0]] * 32 + [[1.0]] * 32), pa.Table),
    }
    table, kind = inputs[library]
    result = trueup.audit(table, y, p)
    assert isinstance(result.segments, kind)
    assert list(getattr(result.segments, "column_names", result.segments.columns)) == COLUMNS
    assert result.mce == pytest.approx(8 / math.sqrt(8))


def test_without_a_table_the_library_of_the_labels_counts() -> None:
    _, y, p = two_halves()
    assert isinstance(trueup.audit(None, pd.Series(y), p).segments, pd.DataFrame)
    assert isinstance(trueup.audit(None, pl.Series(y), p).segments, pl.DataFrame)


def test_the_order_of_rows_and_the_number_of_threads_change_nothing() -> None:
    y, p, X = true_scores(3, n=2_000, kind="ties")
    weights = np.random.default_rng(0).random(len(y))
    order = np.random.default_rng(1).permutation(len(y))
    one = trueup.audit(X, y, p, sample_weight=weights, n_jobs=1)
    other = trueup.audit(
        {name: X[name][order] for name in X}, y[order], p[order], sample_weight=weights[order], n_jobs=2
    )
    assert one.to_dict(None) == other.to_dict(None)


def test_rows_of_weight_zero_are_not_there() -> None:
    y, p, X = true_scores(4, n=1_000)
    weights = np.where(np.arange(1_000) < 600, 2.0, 0.0)
    weighted = trueup.audit(X, y, p, sample_weight=weights)
    alone = trueup.audit({name: values[:600] for name, values in X.items()}, y[:600], p[:600])
    assert weighted.n == 600
    assert rows_of(weighted).keys() == rows_of(alone).keys()
    assert weighted.mce == pytest.approx(alone.mce)
    assert weighted.mce_p_value == alone.mce_p_value


def test_a_heavy_row_counts_as_its_formula_says() -> None:
    # Importance weights: variance adds up as w² p (1 - p), so one row of weight 8 is 8 / sqrt(8² + 31) of a sigma.
    _, y, p = two_halves()
    weights = [8.0] + [1.0] * 31
    result = trueup.audit(None, [1, *y[1:32]], p[:32], sample_weight=weights, null_samples=0)
    assert result.sigma == pytest.approx(math.sqrt((64 + 31) / 4) / 39)
    assert result.ecce_sigma == pytest.approx(ecce_sigma([1, *y[1:32]], p[:32], sample_weight=weights))


def test_soft_labels_and_labels_of_any_type_are_fine() -> None:
    X, y, p = two_halves()
    words = ["yes" if label else "no" for label in y]
    assert trueup.audit(X, words, p).classes == ("no", "yes")
    assert trueup.audit(X, words, p).mce == trueup.audit(X, y, p).mce
    soft = trueup.audit(X, [0.75] * 32 + [0.25] * 32, p)
    assert soft.mce == trueup.audit(X, y, p).mce


def test_scores_may_be_two_columns() -> None:
    X, y, p = two_halves()
    assert trueup.audit(X, y, np.column_stack([p, p])).mce == trueup.audit(X, y, p).mce


def test_a_segment_of_next_to_no_variance_is_tested_and_one_row_does_not_make_the_mce() -> None:
    X, y, p = two_halves()
    sure = [1e-9] * 20
    result = trueup.audit({"half": [*X["half"], *["sure"] * 20]}, [*y, *[0] * 19, 1], [*p, *sure])
    # The one positive among rows that promise none would be 1 / sqrt(20e-9) = 7,000 sigmas. It is 1, and significant.
    found = rows_of(result)["half = sure"]
    assert found["ecce_sigma"] == pytest.approx(1, rel=1e-6)
    assert found["significant"]
    assert result.mce < 10


def test_a_segment_of_little_variance_that_is_all_wrong_is_found_and_stands_first() -> None:
    # 240 rows scored 0.004 have a variance of 0.956; all of them are positive.
    for seed in range(10):
        rng = np.random.default_rng(seed)
        flag = np.repeat(["yes", "no"], [240, 20_000])
        X = {"flag": flag, "device": rng.choice(["phone", "desktop"], len(flag)), "income": rng.normal(size=len(flag))}
        p = np.where(flag == "yes", 0.004, rng.uniform(0.05, 0.6, len(flag)))
        y = np.where(flag == "yes", True, rng.random(len(flag)) < p)
        result = trueup.audit(X, y, p, max_depth=2, null_samples=19, random_state=seed, n_jobs=1)
        assert result.significant
        assert result.segments.to_pylist()[0]["segment"] == "flag = yes"


def test_right_scores_of_0_and_1_have_an_error_of_0() -> None:
    result = trueup.audit(None, [0, 1] * 10, [0.0, 1.0] * 10)
    assert (result.ecce_sigma, result.mce, result.p_value, result.mce_p_value) == (0, 0, 1, 1)
    assert not result.significant
    json.dumps(result.to_dict(), allow_nan=False)


def test_wrong_scores_of_0_and_1_are_significant_and_finite() -> None:
    result = trueup.audit(None, [1, 0] * 10, [0.0, 1.0] * 10)
    assert result.significant
    assert (result.ecce_sigma, result.mce, result.mce_absolute) == (10, 10, 0.5)
    json.dumps(result.to_dict(), allow_nan=False)


@pytest.mark.parametrize("null_samples", [0, 100])
def test_a_single_wrong_score_of_0_is_a_certain_error_and_its_segment_stands_first(null_samples: int) -> None:
    y, p = [0, 1] * 1_600 + [1] + [0] * 19, [0.5] * 3_200 + [0.0] * 20
    result = trueup.audit({"rows": ["coin"] * 3_200 + ["sure"] * 20}, y, p, null_samples=null_samples)
    first = result.segments.to_pylist()[0]
    assert (first["segment"], first["significant"]) == ("rows = sure", True)
    assert 8 < first["evidence"] < 9


def test_rows_that_expect_no_positive_and_have_none_are_no_alarm() -> None:
    # All draws show what the data show, but in single precision, in which 200,000 tiny scores sum up to less.
    result = trueup.audit(
        None, np.append(np.zeros(200_000), 1), np.append(np.full(200_000, 1e-9), 1.0), null_samples=20
    )
    assert result.mce_p_value == 1
    assert not result.significant


def test_too_few_rows_are_said_to_be_too_few() -> None:
    with pytest.warns(trueup.errors.InsufficientDataWarning, match="there are 4 rows, fewer than min_rows=10"):
        result = trueup.audit(None, [0, 1, 0, 1], [0.5] * 4)
    assert result.ecce == 0


def test_without_draws_p_values_are_adjusted_by_holms_rule() -> None:
    result = trueup.audit(*two_halves(), null_samples=0)
    rows = rows_of(result)
    # The halves are 2.83 sigmas off. Times 3 segments that is no longer significant at 5 %.
    alone = brownian_range_survival(rows["half = upper"]["evidence"])
    assert rows["half = upper"]["adjusted_p_value"] == pytest.approx(3 * alone)
    assert 0.05 < 3 * alone < 1
    assert rows["all rows"]["adjusted_p_value"] == 1
    assert result.mce_p_value == rows["half = upper"]["adjusted_p_value"]
    assert not result.significant


def test_a_planted_error_is_significant_and_a_true_score_is_not() -> None:
    words = next(iter(PLANTED))
    y, p, X = scores_wrong_in(words, 0.1, seed=1, n=20_000)
    result = trueup.audit(X, y, p)
    assert result.significant
    assert result.mce_p_value == 1 / 201
    rows = result.segments.to_pylist()
    assert result.n_significant == sum(row["significant"] for row in rows) > 1
    assert result.n_patterns == sum(row["significant"] and row["is_pattern"] for row in rows) == 1
    y, p, X = true_scores(5)
    assert not trueup.audit(X, y, p).significant


def test_the_first_segments_can_be_asked_for_alone() -> None:
    y, p, X = true_scores(0, n=1_000)
    result = trueup.audit(X, y, p, max_segments=4)
    assert result.n_segments == 4
    assert rows_of(result).keys() == {"all rows", "site = u", "site = v", "site not in {u, v}"}


def test_features_and_categories_can_be_named() -> None:
    y, p, X = true_scores(0, n=1_000)
    result = trueup.audit(X, y, p, features=["device"])
    assert rows_of(result).keys() == {"all rows", "device = phone", "device = desktop"}
    named = trueup.audit(X, y, p, features=["age"], categorical_features=["age"], max_values=4)
    assert sum("age = " in words for words in rows_of(named)) == 3


def test_a_column_can_have_a_number_of_values_of_its_own() -> None:
    y, p, X = true_scores(0, n=2_000)
    result = trueup.audit(X, y, p, features=["site", "age"], max_values={"site": 6}, max_depth=1)
    assert sum("site = " in words for words in rows_of(result)) == 6
    assert sum("age" in words for words in rows_of(result)) == 3


def test_groups_are_audited_instead_of_the_grid() -> None:
    X, y, p = two_halves()
    mask = [half == "upper" for half in X["half"]]
    by_mask = trueup.audit(None, y, p, segments={"the upper ones": mask})
    assert rows_of(by_mask).keys() == {"all rows", "the upper ones"}
    by_words = trueup.audit(X, y, p, segments=["half = upper"])
    assert rows_of(by_words)["half = upper"]["ecce_sigma"] == rows_of(by_mask)["the upper ones"]["ecce_sigma"]


def test_the_result_as_a_dict_is_plain_json() -> None:
    result = trueup.audit(*two_halves())
    facts = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert facts["schema_version"] == 1
    assert facts["mce"] == result.mce
    assert facts["classes"] == [0, 1]
    assert [row["segment"] for row in facts["segments"]] == result.segments["segment"].to_pylist()
    upper = next(row for row in facts["segments"] if row["segment"] == "half = upper")
    assert upper["conditions"] == [{"column": "half", "values": ["upper"], "excluded": False, "or_missing": False}]
    assert result.to_dict(1)["segments"] == result.to_dict()["segments"][:1]


def test_a_result_can_be_pickled() -> None:
    result = trueup.audit(*two_halves())
    again = pickle.loads(pickle.dumps(result))
    assert again.to_dict() == result.to_dict()


def test_a_result_says_in_one_line_what_it_found() -> None:
    words = repr(trueup.audit(*two_halves()))
    assert words.startswith("AuditResult(64 rows, 3 segments: ECCE 0.0 σ (p = 1), MCE 2.8 σ (p = 0.")


def test_the_same_seed_gives_the_same_p_values() -> None:
    y, p, X = true_scores(6, n=800)
    one, again, other = (trueup.audit(X, y, p, random_state=seed) for seed in (0, 0, 1))
    assert one.to_dict() == again.to_dict()
    assert one.to_dict() != other.to_dict()


def test_labels_scores_and_weights_may_be_columns_and_are_then_no_features() -> None:
    X, y, p = two_halves()
    weights = [1.0, 2.0] * 32
    table = X | {"paid": y, "score": p, "w": weights}
    by_name = trueup.audit(table, "paid", "score", sample_weight="w")
    assert by_name.to_dict() == trueup.audit(X, y, p, sample_weight=weights).to_dict()
    with pytest.raises(LabelError, match="The labels, column 'half'"):
        trueup.audit({"half": ["a", "b", "c", "d"] * 16}, "half", p)


def test_by_takes_every_value_and_every_combination_of_columns() -> None:
    country, version = ["NO", "SE", "DK", "FI", None] * 40, [1, 2, 3, 4] * 50
    X = {"country": country, "version": version, "other": ["a", "b"] * 100}
    result = trueup.audit(X, [0, 1] * 100, [0.5] * 200, by=["country", "version"], min_rows=5)
    # 4 countries and none, 4 versions, 20 pairs, and all rows.
    assert result.n_segments == 5 + 4 + 20 + 1
    assert {"country = FI", "version = 4", "country is missing and version = 1"} <= set(rows_of(result))


def test_by_takes_days_one_by_one_and_cuts_many_numbers_into_ranges() -> None:
    rng = np.random.default_rng(0)
    days = np.datetime64("2024-01-01") + np.arange(400) % 3
    X = {"day": days, "amount": rng.random(400), "id": [f"{i % 150}" for i in range(400)]}
    y = rng.integers(0, 2, 400)
    assert trueup.audit(X, y, [0.5] * 400, by=["day"]).n_segments == 1 + 3
    assert trueup.audit(X, y, [0.5] * 400, by=["amount"]).n_segments == 1 + 5
    with pytest.warns(DataWarning, match="by: column 'id' has 150 values. The 99 most frequent get a segment each"):
        trueup.audit(X, y, [0.5] * 400, by=["id"], min_rows=1, null_samples=0)
