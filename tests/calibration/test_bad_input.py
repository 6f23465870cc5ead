"""Bad input is refused with what, where, how many and what to do; odd input that means something works."""

from __future__ import annotations

import datetime as dt
import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import trueup
from small_fits import quick
from trueup import MCGrad
from trueup.errors import (
    ColumnError,
    DataError,
    InsufficientDataWarning,
    LabelError,
    MissingScoreWarning,
    ScoreError,
    TableError,
    TrueupError,
    WeightError,
)

N = 40
X = pd.DataFrame({"city": ["Oslo", "Bergen", "Kiel", "Rome"] * 10, "age": np.arange(N) / 2})
Y = np.arange(N) % 2
P = np.linspace(0.1, 0.9, N)


def put(values: Any, rows: list[int], value: float) -> np.ndarray:
    changed = np.array(values, dtype=float)
    changed[rows] = value
    return changed


@pytest.fixture(scope="module")
def model() -> MCGrad:
    return quick().fit(X, Y, scores=P)


@pytest.mark.parametrize(
    ("change", "error", "facts"),
    [
        (
            {"scores": put(P, [3, 8], np.nan)},
            ScoreError,
            ["scores", "2 of 40", "missing", "first at row 3", "Drop those rows or fill"],
        ),
        ({"scores": [None] * N}, ScoreError, ["scores", "40 of 40", "missing", "row 0"]),
        (
            {"scores": put(P, [12], 1.7)},
            ScoreError,
            ["scores", "1 of 40", "outside [0, 1]", "row 12: 1.7", "Pass probabilities"],
        ),
        ({"scores": put(P, [2, 5], -0.1)}, ScoreError, ["2 of 40", "outside [0, 1]", "row 2: -0.1"]),
        ({"scores": put(P, [6], np.inf)}, ScoreError, ["1 of 40", "outside [0, 1]", "row 6: inf"]),
        ({"scores": P[:-1]}, ScoreError, ["scores has 39 rows", "X has 40"]),
        ({"scores": ["high"] * N}, ScoreError, ["scores holds strings", "pass probabilities"]),
        ({"scores": P > 0.5}, ScoreError, ["scores holds booleans", "pass probabilities"]),
        ({"scores": np.ones((N, 3)) / 3}, ScoreError, ["scores has 3 columns", "predict_proba"]),
        ({"scores": X}, ScoreError, ["scores is a DataFrame", "one-dimensional"]),
        ({"scores": 0.5}, ScoreError, ["scores is a float", "one-dimensional"]),
        ({"scores": [[0.1, 0.9]] * (N - 1) + [[0.5]]}, ScoreError, ["list of lists", "one score per row"]),
        ({"scores": [{}] * N}, ScoreError, ["scores can't be read", "dict"]),
        ({"y": put(Y, [4, 7, 9], np.nan)}, LabelError, ["y", "3 of 40", "missing", "row 4", "Drop those"]),
        ({"y": ["no", None] * 20}, LabelError, ["y", "20 of 40", "missing", "row 1", "Drop those rows"]),
        ({"y": put(Y, [5], np.inf)}, LabelError, ["y contains infinity", "1 of 40", "row 5: inf"]),
        ({"y": put(P, [2], 1.5)}, LabelError, ["fractions", "1 of 40", "outside [0, 1]", "row 2: 1.5"]),
        ({"y": Y + 0.5 + 1}, LabelError, ["fractions", "40 of 40", "outside [0, 1]", "row 0: 1.5"]),
        ({"y": [1] * N}, LabelError, ["y holds one class only", "all 40 labels are 1", "add rows"]),
        ({"y": [True] * N}, LabelError, ["y holds one class only", "all 40 labels are True"]),
        ({"y": ["yes"] * N}, LabelError, ["y holds one class only", "all 40 labels are 'yes'"]),
        ({"y": np.arange(N) % 3}, LabelError, ["3 classes", "0, 1, 2", "one class against the others"]),
        ({"y": ["a", 1] * 20}, LabelError, ["y mixes labels", "Use one type"]),
        ({"y": Y[:-1]}, LabelError, ["y has 39 rows", "X has 40"]),
        ({"y": None}, LabelError, ["y is None"]),
        ({"y": pd.DataFrame({"y": Y})}, LabelError, ["y is a DataFrame", "one-dimensional"]),
        (
            {"sample_weight": put(np.ones(N), [7, 8], -2)},
            WeightError,
            ["sample_weight", "2 of 40", "negative", "row 7: -2.0", "0 or more"],
        ),
        ({"sample_weight": np.zeros(N)}, WeightError, ["all 40 weights are zero", "At least one row"]),
        ({"sample_weight": put(P, [1], np.nan)}, WeightError, ["1 of 40", "missing or not", "row 1: nan"]),
        ({"sample_weight": put(P, [9], np.inf)}, WeightError, ["1 of 40", "not finite", "row 9: inf"]),
        ({"sample_weight": put(P, [9], 1e31)}, WeightError, ["above 1e+15", "row 9", "by their mean"]),
        ({"sample_weight": np.ones(3)}, WeightError, ["sample_weight has 3 rows", "X has 40"]),
        ({"sample_weight": 2.0}, WeightError, ["sample_weight is a float", "one-dimensional"]),
        ({"sample_weight": ["heavy"] * N}, WeightError, ["sample_weight holds strings", "pass numbers"]),
        ({"sample_weight": Y}, LabelError, ["one class only", "positive weight"]),
        ({"X": X[:0], "y": [], "scores": []}, DataError, ["X has no rows"]),
        ({"X": X[[]]}, TableError, ["0 feature(s)", "at least one column"]),
        ({"X": X.city}, TableError, ["Expected 2D array, got 1D", "reshape"]),
        ({"X": None}, TableError, ["X is a NoneType", "dict of arrays"]),
        ({"X": "table.csv"}, TableError, ["X is a str", "Pass a pandas, polars or pyarrow table"]),
        ({"X": pl.DataFrame({"a": Y}).lazy()}, TableError, ["X is lazy", ".collect()"]),
        ({"X": {"a": Y, "b": Y[:3]}}, TableError, ["differ in length", "'a' has 40 rows", "'b' has 3"]),
        ({"X": {"a": 1.0}}, TableError, ["Column 'a' is a single float", "calibrate_one"]),
        ({"X": {"a": np.ones((N, 2))}}, TableError, ["Column 'a' has 2 dimensions"]),
        ({"X": [[1, 2]] * (N - 1) + [[1]]}, TableError, ["X can't be read as a table"]),
        ({"X": pd.DataFrame(np.ones((N, 2)), columns=["a", "a"])}, ColumnError, ["'a' appears more than"]),
        ({"X": pa.table([Y, Y], names=["b", "b"])}, ColumnError, ["'b' appears more than once", "Rename"]),
        ({"X": {1: Y, "1": Y}}, ColumnError, ["'1' appears more than once"]),
        ({"X": {"a": [1j] * N}}, ColumnError, ["column 'a'", "complex"]),
        ({"X": {"a": np.ones(N) * 1j}}, ColumnError, ["column 'a'", "complex"]),
        ({"X": {"a": [[1]] * N}}, ColumnError, ["Column 'a'", "list", "features="]),
        ({"X": {"a": [{"b"}] * N}}, ColumnError, ["Column 'a'", "set", "features="]),
        ({"X": {"a": [np.ones(2)] * N}}, ColumnError, ["Column 'a'", "ndarray", "features="]),
        ({"X": pl.DataFrame({"a": [[1]] * N})}, ColumnError, ["Column 'a'", "list", "features="]),
        ({"X": pa.table({"a": [{"b": 1}] * N})}, ColumnError, ["Column 'a'", "struct", "features="]),
        ({"X": {"a": [object()] * N}}, ColumnError, ["Column 'a'", "address in memory"]),
        ({"X": {"a": [lambda: 1] * N}}, ColumnError, ["Column 'a'", "function", "address in memory"]),
        ({"X": {"a": [10**400] * N}}, ColumnError, ["Column 'a'", "too large"]),
        ({"X": {"a": ["x", 10**400] * 20}}, ColumnError, ["Column 'a'", "1,024 bits"]),
        ({"X": {"a": [dt.date(2024, 1, 1)] * N}}, ColumnError, ["Column 'a' holds dates", "features="]),
        ({"X": {"a": [dt.timedelta(1)] * N}}, ColumnError, ["Column 'a' holds durations", "features="]),
        ({"X": pl.DataFrame({"a": [dt.time(1)] * N})}, ColumnError, ["Column 'a' holds", "times of day"]),
    ],
)  # fmt: skip
def test_a_fit_says_what_is_wrong_and_where_and_what_to_do(
    change: dict[str, Any], error: type[TrueupError], facts: list[str]
) -> None:
    data = {"X": X, "y": Y, "scores": P, **change}
    with pytest.raises(error) as caught:
        quick().fit(data.pop("X"), data.pop("y"), **data)
    for fact in facts:
        assert fact in str(caught.value)


@pytest.mark.parametrize(
    ("change", "error", "facts"),
    [
        ({"scores": None}, ScoreError, ["fitted on scores", "pass"]),
        ({"scores": put(P, [12], 1.7)}, ScoreError, ["1 of 40", "outside [0, 1]", "row 12: 1.7"]),
        ({"scores": P[:5]}, ScoreError, ["scores has 5 rows", "X has 40"]),
        ({"scores": ["high"] * N}, ScoreError, ["scores holds strings"]),
        ({"X": X[["city"]]}, ColumnError, ["1 column that the model was fitted on is", "'age'", "Present: 'city'"]),
        ({"X": X.rename(columns=str.upper)}, ColumnError, ["2 columns that the model", "'city'", "'CITY'"]),
        ({"X": {}, "scores": []}, ColumnError, ["2 columns that the model was fitted on are", "Present: none"]),
        ({"X": np.ones((N, 3))}, ColumnError, ["X has 3 features", "expecting 2"]),
        (
            {"X": X.assign(city=1)},
            ColumnError,
            ["Column 'city' holds numbers", "at fit it was a categorical column of strings", "fit again"],
        ),
        (
            {"X": X.assign(age="old")},
            ColumnError,
            ["Column 'age' holds strings", "at fit it was a numerical column of numbers", "fit again"],
        ),
        ({"X": X.assign(age=pd.Categorical(["old"] * N))}, ColumnError, ["Column 'age' holds strings"]),
        ({"X": X.assign(age=X.age > 5)}, ColumnError, ["Column 'age' holds booleans", "numerical"]),
        ({"X": X.assign(city=X.city == "Oslo")}, ColumnError, ["Column 'city' holds booleans", "strings"]),
        ({"X": X.assign(city=pd.Timestamp("2024"))}, ColumnError, ["'city' holds datetimes", "strings"]),
        ({"X": X.assign(city=b"Oslo")}, ColumnError, ["Column 'city' holds bytes in 40 of 40 rows", "strings"]),
    ],
)  # fmt: skip
def test_scoring_says_what_is_wrong_and_where_and_what_to_do(
    change: dict[str, Any], error: type[TrueupError], facts: list[str], model: MCGrad
) -> None:
    data = {"X": X, "scores": P, **change}
    with pytest.raises(error) as caught:
        model.calibrate(data["X"], data["scores"])
    for fact in facts:
        assert fact in str(caught.value)


@pytest.mark.parametrize(
    ("row", "error", "facts"),
    [
        (
            {"city": "Oslo"},
            ColumnError,
            ["1 column that the model was fitted on is missing", "'age'", "Present: 'city'"],
        ),
        ({}, ColumnError, ["2 columns that the model was fitted on are missing", "'city', 'age'", "Present: none"]),
        ({"city": 7, "age": 1.0}, ColumnError, ["Column 'city' holds numbers", "categorical column of strings"]),
        ({"city": True, "age": 1.0}, ColumnError, ["Column 'city' holds booleans"]),
        ({"city": ["Oslo"], "age": 1.0}, ColumnError, ["Column 'city'", "list"]),
        (
            {"city": "Oslo", "age": "old"},
            ColumnError,
            ["Column 'age' holds strings", "numerical column of numbers"],
        ),
        ({"city": "Oslo", "age": True}, ColumnError, ["Column 'age' holds booleans"]),
        ({"city": "Oslo", "age": 10**400}, ColumnError, ["Column 'age'", "too large"]),
        (["Oslo", 1.0], TableError, ["dict", "list"]),
    ],
)
def test_a_row_is_refused_as_a_table_of_it_is(
    row: Any, error: type[TrueupError], facts: list[str], model: MCGrad
) -> None:
    with pytest.raises(error) as caught:
        trueup.Calibrator(model.model_).calibrate_one(row, 0.5)
    for fact in facts:
        assert fact in str(caught.value)


def test_a_score_column_is_named_where_it_is_wrong() -> None:
    for name in ("p", "{p}", "p {} \n'\""):
        bad = X.assign(**{name: put(P, [3, 5], 2)})
        with pytest.raises(ScoreError, match=re.escape(f"Column {name!r}: 2 of 40 scores are outside [0, 1]")):
            quick(score_column=name).fit(bad, Y)


def test_rows_to_watch_are_checked_as_the_others() -> None:
    for eval_set, error, what in (
        ((X, Y, put(P, [3], 2)), ScoreError, "1 of 40 scores are outside"),
        ((X, Y + 1, P), LabelError, "20 of 40 labels are neither 0 nor 1 (first at row 1: 2)"),
        ((X[["age"]], Y, P), ColumnError, "1 column that the model was fitted on is missing"),
        ((X, Y, P, -P), WeightError, "40 of 40 weights are negative"),
    ):
        with pytest.raises(error, match=re.escape(what)):
            quick().fit(X, Y, scores=P, eval_set=eval_set)


def test_missing_feature_values_work_in_every_form(model: MCGrad) -> None:
    one = trueup.Calibrator(model.model_).calibrate_one
    expected = one({"city": None, "age": None}, 0.5)
    for missing in (
        None,
        np.nan,
        float("nan"),
        pd.NA,
        pd.NaT,
        Decimal("NaN"),
        Decimal("sNaN"),
        np.float32("nan"),
    ):
        assert one({"city": missing, "age": missing}, 0.5) == expected
        assert model.calibrate({"city": [missing], "age": [missing]}, [0.5]) == [expected]
        rest = {"city": ["Oslo", missing], "age": [1.0, missing]}
        assert model.calibrate(rest, [0.5, 0.5])[1] == expected


def test_a_column_that_is_all_missing_may_have_any_type(model: MCGrad) -> None:
    expected = model.calibrate({"city": [None], "age": [None]}, [0.5])
    for empty in (
        pd.Series([np.nan]),
        pd.Series([None], dtype="str"),
        pd.Series([None], dtype="category"),
        pd.Series([pd.NaT]),
        pd.Series([None], dtype="Int64"),
        pl.Series([None]),
        pl.Series([None], dtype=pl.Boolean),
        pa.array([None], pa.dictionary(pa.int8(), pa.float64())),
    ):
        np.testing.assert_array_equal(model.calibrate({"city": empty, "age": empty}, [0.5]), expected)


def test_a_category_that_is_unseen_is_one_that_is_missing(model: MCGrad) -> None:
    one = trueup.Calibrator(model.model_).calibrate_one
    unseen = {one({"city": city, "age": 3.0}, 0.5) for city in ("Atlantis", "", "oslo", "Oslo ")}
    assert unseen == {one({"city": None, "age": 3.0}, 0.5)}
    assert len({one({"city": city, "age": 3.0}, 0.5) for city in X.city}) > 1
    rows = {"city": ["Atlantis", None, "oslo"], "age": [3.0] * 3}
    assert set(model.calibrate(rows, [0.5] * 3)) == unseen


def test_constant_and_empty_columns_change_nothing(model: MCGrad) -> None:
    expected = model.calibrate(X, P)
    more = X.assign(one=1.0, word="x", none=None, nan=np.nan, yes=True)
    np.testing.assert_array_equal(quick().fit(more, Y, scores=P).calibrate(more, P), expected)
    lonely = quick().fit(more[["one", "word", "none", "nan", "yes"]], Y, scores=P)
    assert lonely.calibrate(more, P).shape == (N,)


@pytest.mark.parametrize("seed", range(3))
def test_rows_without_weight_are_rows_that_are_not_there(seed: int) -> None:
    rng = np.random.default_rng(seed)
    weights = rng.choice([0.0, 0.5, 2.0], N)
    counts = weights > 0
    table = X.assign(age=np.where(counts, X.age, 1e6))  # would be a bin of its own
    with_all = quick(validation=2, rescale="honest").fit(table, Y, scores=P, sample_weight=weights)
    without = quick(validation=2, rescale="honest").fit(
        table[counts], Y[counts], scores=P[counts], sample_weight=weights[counts]
    )
    assert with_all.history_ == without.history_
    np.testing.assert_array_equal(with_all.calibrate(X, P), without.calibrate(X, P))


def test_a_category_of_rows_without_weight_alone_is_not_learned(tmp_path: Path) -> None:
    weights = np.where(X.city == "Rome", 0.0, 1.5)
    counts = weights > 0
    quick().fit(X, Y, scores=P, sample_weight=weights).save(tmp_path / "all")
    quick().fit(X[counts], Y[counts], scores=P[counts], sample_weight=weights[counts]).save(tmp_path / "part")
    assert (tmp_path / "all").read_bytes() == (tmp_path / "part").read_bytes()


@pytest.mark.parametrize("wrong", [True, "0.5"])
def test_a_score_column_of_another_type_is_refused_when_scoring(wrong: Any) -> None:
    model = quick(score_column="p").fit(X.assign(p=P), Y)
    with pytest.raises(ScoreError, match=r"Column 'p' holds (booleans|strings)"):
        model.calibrate(X.assign(p=wrong))


@pytest.mark.parametrize("score", ["0.5", [0.5], 1j])
def test_a_score_of_one_row_must_be_a_number(score: Any, model: MCGrad) -> None:
    with pytest.raises(ScoreError, match="probability"):
        trueup.Calibrator(model.model_).calibrate_one({"city": "Oslo", "age": 1.0}, score)


def test_one_row_and_no_row_are_scored(model: MCGrad) -> None:
    expected = model.calibrate(X, P)
    np.testing.assert_array_equal(model.calibrate(X[5:6], P[5:6]), expected[5:6])
    for empty in (X[:0], {"city": [], "age": []}, pl.DataFrame(X[:0]), pa.table({"city": [], "age": []})):
        assert model.calibrate(empty, []).shape == (0,)
        assert model.predict_proba(empty, scores=[]).shape == (0, 2)
        assert model.predict(empty, scores=[]).shape == (0,)


def test_scores_of_0_and_1_are_scores() -> None:
    certain = np.where(P < 0.5, 0.0, 1.0)
    model = quick().fit(X, Y, scores=certain)
    found = model.calibrate(X, certain)
    assert ((found >= 0) & (found <= 1)).all()
    one = trueup.Calibrator(model.model_).calibrate_one
    assert [one(row, score) for row, score in zip(X.to_dict("records"), certain, strict=True)] == found.tolist()


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({}, r"320 training rows .* there are 32"),
        (
            {"lightgbm_params": {"min_child_samples": 1}},
            r"a sum of w·p·\(1−p\) of 40 \(min_sum_hessian_in_leaf .* have 6",
        ),
        ({"validation": 30}, r"30 folds need .*30 rows of each class, .* 20"),
        ({"validation": 0.01}, r"a hold-out needs .*2 rows of each class"),
        ({"validation": None, "rescale": "train"}, r"320 training rows .* there are 40"),
    ],
)
def test_too_few_rows_give_the_base_scores_and_one_warning_that_says_why(options: dict[str, Any], reason: str) -> None:
    with pytest.warns(InsufficientDataWarning, match=reason) as caught:
        model = MCGrad(**options).fit(X, Y, scores=P)
    assert len(caught) == 1
    assert model.n_rounds_ == 0
    assert model.calibrate(X, P).tobytes() == P.tobytes()


def test_no_rounds_give_the_scores_back_bit_for_bit(tmp_path: Path) -> None:
    model = quick(max_rounds=0).fit(X, Y, scores=P)
    model.save(tmp_path / "model")
    loaded = trueup.load(tmp_path / "model")
    scores = np.array([0.0, 1.0, 5e-324, 1 - 2**-53, 0.1, -0.0] + [0.3] * (N - 6))
    assert model.calibrate(X, scores).tobytes() == scores.tobytes()
    assert loaded.calibrate(X, scores).tobytes() == scores.tobytes()
    ones = [loaded.calibrate_one(row, score) for row, score in zip(X.to_dict("records"), scores.tolist(), strict=True)]
    assert np.array(ones).tobytes() == scores.tobytes()


@pytest.mark.parametrize("rounds", [0, 2])
def test_a_missing_score_gives_nan_and_one_warning_with_the_count(rounds: int) -> None:
    model = quick(max_rounds=rounds).fit(X, Y, scores=P)
    gaps = put(P, [4, 5, 30], np.nan)
    with pytest.warns(MissingScoreWarning, match=re.escape("3 of 40 scores are missing (first at row 4)")) as caught:
        found = model.calibrate(X, gaps)
    assert len(caught) == 1
    np.testing.assert_array_equal(np.isnan(found), np.isnan(gaps))
    there = ~np.isnan(gaps)
    np.testing.assert_array_equal(found[there], model.calibrate(X[there], P[there]))
    assert np.isnan(trueup.Calibrator(model.model_).calibrate_one({"city": "Oslo", "age": 1.0}, np.nan))
