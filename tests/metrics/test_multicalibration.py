"""The multicalibration error: on a dozen rows, against its definition, and as Meta's package mcgrad computes it."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pandas as pd  # type: ignore[import-untyped,unused-ignore]
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score

from metrics.golden.make_mcgrad_values import CASES, CATEGORICAL, NUMERICAL, draw, measure
from trueup._data import read_table
from trueup.errors import ColumnError, DataError, ParameterError, TableError
from trueup.metrics import (
    brownian_range_survival,
    ecce_pvalue,
    ecce_sigma,
    maximum_over_segments,
    multicalibration_error,
    multicalibration_scorer,
)
from trueup.segments import cross_columns, enumerate_segments, grid_of, measure_segments, sort_rows

# Each row has a variance of 3/16. Sums of label minus score at 0.25 and at 0.75:
#   left   2 of 3 positive: 2 - 0.75 =  1.25   2 of 3: 2 - 2.25 = -0.25   path 0, 1.25, 1:     range 1.25
#   right  0 of 3:                    -0.75   1 of 3: 1 - 2.25 = -1.25   path 0, -0.75, -2:   range 2
#   all                                0.5                     -1.5      path 0, 0.5, -1:     range 1.5
# Sigmas: 1.25 / √(18/16) = 1.18; 2 / √(18/16) = 4√2 / 3 = 1.89; 1.5 / √(36/16) = 1. The MCE is that on the right.
SIDES = {"side": ["left"] * 6 + ["right"] * 6}
LABELS = [1, 1, 0, 1, 1, 0, 0, 0, 0, 0, 0, 1]
SCORES = ([0.25] * 3 + [0.75] * 3) * 2
ALL, LEFT, RIGHT = 1.0, 1.25 / math.sqrt(18 / 16), 4 * math.sqrt(2) / 3


def mce(**options: Any) -> float:
    return multicalibration_error(LABELS, SCORES, **{"X": SIDES, "min_rows": 6, **options})


def test_the_mce_is_the_error_of_the_worst_segment_in_its_own_sigmas() -> None:
    assert mce() == pytest.approx(RIGHT, rel=1e-14)
    assert mce(X=None) == pytest.approx(ALL, rel=1e-14)
    assert mce(max_depth=0) == pytest.approx(ALL, rel=1e-14)


def test_the_mce_in_other_units() -> None:
    # Sigma of all rows is √(36/16) / 12 = 1/8.
    assert mce(unit="absolute") == pytest.approx(RIGHT / 8, rel=1e-14)
    assert mce(unit="alpha") == pytest.approx(RIGHT / math.sqrt(12), rel=1e-14)


def test_segments_combine_columns() -> None:
    # Sums of label minus score, low and high: left 2.25, -1.25; right -0.75, -0.25. The left: 2.25 / √(18/16) = 2.1;
    # the right, the low, the high and all rows are less. The low on the left alone: 2.25 / √(9/16) = 3.
    labels = [1, 1, 1, 1, 0, 0, 0, 0, 0, 1, 1, 0]
    X = {**SIDES, "high": [score > 0.5 for score in SCORES]}
    options: Any = {"X": X, "min_rows": 3, "min_variance": 0.5}
    values = [multicalibration_error(labels, SCORES, max_depth=depth, **options) for depth in (1, 2)]
    assert values == pytest.approx([2.25 / math.sqrt(18 / 16), 3], rel=1e-14)


@pytest.mark.parametrize(("most", "value"), [(1, ALL), (2, LEFT), (3, RIGHT), (100, RIGHT), (None, RIGHT)])
def test_the_first_segments_only_can_be_taken(most: int | None, value: float) -> None:
    # All rows, then the left, then the right.
    assert mce(max_segments=most) == pytest.approx(value, rel=1e-14)


def test_segments_of_few_rows_do_not_count() -> None:
    assert mce(min_rows=7) == pytest.approx(ALL, rel=1e-14)
    assert math.isnan(mce(min_rows=13))


def test_a_segment_of_little_variance_counts_in_sigmas_of_the_least() -> None:
    # The left and the right have a variance of 18/16 each, and the right is worse.
    assert mce(min_variance=18 / 16) == pytest.approx(RIGHT, rel=1e-14)
    assert mce(min_variance=4 * 18 / 16) == pytest.approx(RIGHT / 2, rel=1e-14)


def test_scores_of_0_and_1_have_an_error_of_0_if_they_are_right_and_a_finite_one_if_not() -> None:
    scores, X = [0.0] * 10 + [1.0] * 10, {"half": ["a"] * 10 + ["b"] * 10}
    assert multicalibration_error([0] * 10 + [1] * 10, scores, X=X) == 0
    assert multicalibration_error([0] * 10 + [1] * 10, scores, X=X, min_variance=0) == 0
    # Ten rows promise no positive and have ten. A sigma is that of one row: 10; of 20 rows they are a half.
    assert multicalibration_error([1] * 20, scores, X=X) == 10
    assert multicalibration_error([1] * 20, scores, X=X, unit="absolute") == 0.5
    assert math.isfinite(multicalibration_error([1] * 20, scores, X=X, min_variance=0))


@pytest.mark.parametrize(
    "X",
    [
        pd.DataFrame(SIDES),
        pd.DataFrame(SIDES, dtype="category"),
        pd.DataFrame(SIDES, index=range(12, 0, -1)),
        pl.DataFrame(SIDES),
        pl.DataFrame(SIDES, schema={"side": pl.Categorical}),
        pa.table(SIDES),
        pa.table({"side": pa.array(SIDES["side"]).dictionary_encode()}),
        np.array([[0.0]] * 6 + [[1.0]] * 6),
        np.array([SIDES["side"]], dtype=object).T,
        [["left"]] * 6 + [["right"]] * 6,
        {"side": [None] * 6 + ["right"] * 6},
        {"side": [True] * 6 + [False] * 6, "constant": [5] * 12, "empty": [None] * 12},
    ],
    ids=lambda X: type(X).__module__.split(".")[0],
)
def test_tables_of_any_kind_give_the_same_number(X: Any) -> None:
    assert mce(X=X) == mce()


@pytest.mark.parametrize(
    "segments",
    [
        {"right": [False] * 6 + [True] * 6},
        np.array([[False]] * 6 + [[True]] * 6),
        pl.DataFrame({"right": [0] * 6 + [1] * 6}),
        ["side = right"],
        "side = right",
        {"right": "side = right", "left": "side = left"},
    ],
    ids=["mask", "array", "table", "conditions", "condition", "named"],
)
def test_segments_that_are_given_are_the_segments(segments: Any) -> None:
    assert mce(segments=segments) == mce()


def test_beside_given_segments_there_are_all_rows_and_no_other_segments() -> None:
    assert mce(segments=["side = left"], max_segments=1) == pytest.approx(ALL, rel=1e-14)
    assert mce(segments=["side = left"]) == pytest.approx(LEFT, rel=1e-14)
    assert mce(segments={"nobody": [False] * 12}) == pytest.approx(ALL, rel=1e-14)


def test_weights_move_sums_and_variances() -> None:
    # The right counts twice. Its own sigmas stay; all rows: 1.25 - 1.5, then -0.25 - 2.5: a range of 3, and a variance
    # of 18/16 + 4 × 18/16 = 90/16. Weights sum to 18, their squares to 30.
    weights = [1] * 6 + [2] * 6
    assert mce(sample_weight=weights) == pytest.approx(RIGHT, rel=1e-14)
    assert mce(sample_weight=weights, max_depth=0) == pytest.approx(3 / math.sqrt(90 / 16), rel=1e-14)
    assert mce(sample_weight=weights, unit="absolute") == pytest.approx(RIGHT * math.sqrt(90 / 16) / 18, rel=1e-14)
    assert mce(sample_weight=weights, unit="alpha") == pytest.approx(RIGHT * math.sqrt(30) / 18, rel=1e-14)


@pytest.mark.parametrize("unit", ["sigma", "absolute", "alpha"])
def test_the_scale_of_weights_does_not_matter(unit: Any) -> None:
    for scale in (1e-200, 0.5, 1.0, 4.0, 1e200):
        assert mce(sample_weight=[scale] * 12, unit=unit) == pytest.approx(mce(unit=unit), rel=1e-14)


def test_rows_of_weight_zero_are_rows_that_are_not_there() -> None:
    # They would be a third side, and enough rows for a segment, and they shift all others.
    labels, scores = [*[1] * 9, *LABELS], [*[0.01] * 9, *SCORES]
    X = {"side": [*["middle"] * 9, *SIDES["side"]], "age": [*range(9), *[30] * 12]}
    weights = [0.0] * 9 + [1.0] * 12
    for options in ({"X": X}, {"X": X, "segments": ["side = right", "side = middle"]}):
        value = multicalibration_error(labels, scores, sample_weight=weights, min_rows=6, **options)
        assert value == mce()


def test_soft_labels_are_labels() -> None:
    # Each side's share of positives at each score, instead of the labels: the sums are the same.
    soft = [2 / 3] * 6 + [0] * 3 + [1 / 3] * 3
    assert multicalibration_error(soft, SCORES, X=SIDES, min_rows=6) == pytest.approx(RIGHT, rel=1e-12)
    assert multicalibration_error(SCORES, SCORES, X=SIDES, min_rows=6) == 0


@pytest.mark.parametrize("n_jobs", [1, 2, 3, -1, None])
def test_threads_change_nothing(n_jobs: int | None) -> None:
    y, p, X, w = rows_of(200, 0)
    assert multicalibration_error(y, p, X=X, sample_weight=w, n_jobs=n_jobs) == multicalibration_error(
        y, p, X=X, sample_weight=w, n_jobs=1
    )


def rows_of(n: int, seed: int) -> tuple[Any, Any, dict[str, Any], Any]:
    rng = np.random.default_rng(seed)
    p = rng.choice([0.1, 0.3, 0.5, 0.9], n) if seed % 2 else rng.uniform(0.05, 0.95, n)
    X = {
        "color": [["red", "blue", "green", "grey", None][i] for i in rng.integers(0, 5, n)],
        "age": np.where(rng.random(n) < 0.1, np.nan, np.round(rng.uniform(18, 80, n), seed % 3)),
        "kids": rng.integers(0, 3, n),
    }
    return (rng.random(n) < p).astype(float), p, X, rng.integers(1, 4, n) * 0.7


@settings(max_examples=40)
@given(st.integers(1, 80), st.integers(0, 9), st.booleans(), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_change_a_bit(n: int, seed: int, weighted: bool, random: Random) -> None:
    y, p, X, w = rows_of(n, seed)
    order = list(range(n))
    random.shuffle(order)
    shuffled = {name: [column[place] for place in order] for name, column in X.items()}
    for unit in ("sigma", "absolute", "alpha"):
        options: Any = {"min_rows": 2, "min_variance": 0.2, "unit": unit}
        one = multicalibration_error(y, p, X=X, sample_weight=w if weighted else None, **options)
        options["sample_weight"] = w[order] if weighted else None
        other = multicalibration_error(y[order], p[order], X=shuffled, **options)
        assert one == other or (math.isnan(one) and math.isnan(other))


@settings(max_examples=25)
@given(st.integers(10, 80), st.integers(0, 9), st.booleans(), st.integers(0, 3))
def test_the_mce_is_the_largest_ecce_sigma_of_all_segments(n: int, seed: int, weighted: bool, max_depth: int) -> None:
    y, p, X, weights = rows_of(n, seed)
    w = weights if weighted else None
    masks = {str(segment): segment.mask(X) for segment in enumerate_segments(X, max_depth=max_depth, min_rows=5)}
    expected = maximum_over_segments(ecce_sigma, y, p, segments=masks, sample_weight=w, min_rows=5)
    options: Any = {"sample_weight": w, "max_depth": max_depth, "min_rows": 5, "min_variance": 0}
    assert multicalibration_error(y, p, X=X, **options) == pytest.approx(expected, rel=1e-12)
    assert multicalibration_error(y, p, segments=masks, **options) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"unit": "percent"}, ParameterError, "unit must be one of 'sigma', 'absolute', 'alpha', got 'percent'"),
        ({"min_rows": 0}, ParameterError, "min_rows must be a whole number of at least 1, got 0"),
        ({"min_rows": 2.5}, ParameterError, "min_rows must be a whole number of at least 1, got 2.5"),
        ({"max_segments": 0}, ParameterError, "max_segments must be a whole number of at least 1, got 0"),
        ({"max_segments": -1}, ParameterError, "max_segments must be a whole number of at least 1, got -1"),
        ({"min_variance": -1}, ParameterError, "min_variance must be a number of at least 0, got -1"),
        ({"min_variance": math.nan}, ParameterError, "min_variance must be a number of at least 0, got nan"),
        ({"min_variance": "1"}, ParameterError, "min_variance must be a number of at least 0, got '1'"),
        ({"max_depth": -1}, ParameterError, "max_depth must be a whole number from 0 to 16, got -1"),
        ({"max_depth": "x", "segments": ["side = left"]}, ParameterError, "max_depth must be a whole number"),
        ({"max_values": 1}, ParameterError, "max_values must be a whole number from 2 to 255, got 1"),
        ({"n_jobs": 0}, ParameterError, "n_jobs must not be 0"),
        ({"X": {"side": ["left"]}}, TableError, "X has 1 rows and y_true has 12. They must be the same rows."),
        (
            {"X": None, "segments": ["side = left"]},
            ParameterError,
            "is a condition on columns, so X must be passed too",
        ),
        ({"segments": ["sides = left"]}, ColumnError, "X has no column 'sides'. Its columns are 'side'."),
        ({"segments": {"left": [True]}}, TableError, "Segment 'left' has 1 rows, but y has 12"),
        ({"features": ["sides"]}, ColumnError, "Did you mean 'side'?"),
        ({"sample_weight": [-1] * 12}, DataError, "sample_weight: 12 of 12 weights are negative"),
    ],
)
def test_what_makes_no_sense_is_refused(options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=re.escape(message)):
        mce(**options)


def test_the_scorer_is_minus_the_mce_of_the_table_it_is_given() -> None:
    X = np.random.default_rng(1).normal(size=(120, 2))
    y = np.where(np.random.default_rng(2).random(120) < 1 / (1 + np.exp(-X[:, 0])), "yes", "no")
    scorer = multicalibration_scorer(max_depth=1)
    scores = cross_val_score(LogisticRegression(), X, y, scoring=scorer, cv=3)
    assert scores.shape == (3,)
    assert (scores < 0).all()
    model = LogisticRegression().fit(X, y)
    probabilities = model.predict_proba(X)[:, 1]
    assert scorer(model, X, y) == -multicalibration_error(y == "yes", probabilities, X=X, max_depth=1)
    weights = np.random.default_rng(3).uniform(0, 2, 120)
    weighted = multicalibration_error(y == "yes", probabilities, X=X, max_depth=1, sample_weight=weights)
    assert scorer(model, X, y, sample_weight=weights) == -weighted


def test_numbers_that_are_mostly_one_value_are_cut_around_it_unless_they_shall_stay_whole() -> None:
    # 60 rows at 0 that are right, and 20 above that promise one half and are all positive: 10 / sqrt(5) sigmas.
    X = {"amount": [0.0] * 60 + [float(1 + i) for i in range(20)]}
    y, p = [0, 1] * 30 + [1] * 20, [0.5] * 80
    assert multicalibration_error(y, p, X=X) == pytest.approx(10 / math.sqrt(5))
    assert multicalibration_error(y, p, X=X, splits_lumps=False) == pytest.approx(10 / math.sqrt(20))  # all rows


MCGRAD = json.loads((Path(__file__).parent / "golden" / "mcgrad_values.json").read_text())


def our_values(name: str) -> dict[str, Any]:
    """What mcgrad measures, with trueup."""
    options = CASES[name]
    rows = draw(**options)
    X = {column: rows[column] for column in CATEGORICAL + NUMERICAL}
    w = rows["weight"] if "max_weight" in options else None
    shape: Any = {"max_depth": options["max_depth"], "max_values": options.get("max_values", 3)}
    partitions = cross_columns(read_table(X), **shape, splits_lumps=False)
    grid = grid_of(partitions, max_depth=options["max_depth"])
    in_order = sort_rows(rows["label"], rows["score"], w)
    cells = grid.cells(in_order, grid.codes_in_order(in_order))
    limits: Any = {"min_rows": 10, "min_variance": 0.0, "max_segments": None, "n_threads": 1}
    sums = measure_segments(in_order, grid, cells, **limits)
    errors = {
        unit: multicalibration_error(
            rows["label"], rows["score"], X=X, sample_weight=w, unit=unit, **shape, min_variance=0, splits_lumps=False
        )
        for unit in ("sigma", "absolute")
    }
    everywhere: Any = (rows["label"], rows["score"])
    return {
        "mce_sigma": errors["sigma"],
        "mce": errors["absolute"],
        "mce_pvalue": brownian_range_survival(errors["sigma"]),
        "global_ecce": sums.range[0] / sums.weight[0],
        "global_ecce_sigma": ecce_sigma(*everywhere, sample_weight=w),
        "global_ecce_pvalue": ecce_pvalue(*everywhere, sample_weight=w),
        "segments": sorted(zip(sums.rows.tolist(), sums.range / sums.weight, sums.sigmas, strict=True)),
    }


def assert_same(ours: dict[str, Any], theirs: dict[str, Any]) -> None:
    assert len(ours["segments"]) == len(theirs["segments"])
    for mine, other in zip(ours["segments"], theirs["segments"], strict=True):
        assert mine[0] == other[0]
        assert mine[1:] == pytest.approx(other[1:], rel=1e-9)
    for name in ("mce_sigma", "mce", "global_ecce", "global_ecce_sigma"):
        assert ours[name] == pytest.approx(theirs[name], rel=1e-9)
    for name in ("mce_pvalue", "global_ecce_pvalue"):  # mcgrad's are differences from 1
        assert ours[name] == pytest.approx(theirs[name], rel=1e-9, abs=1e-14)


@pytest.mark.parametrize("name", CASES)
def test_every_segment_has_the_values_of_mcgrad(name: str) -> None:
    assert_same(our_values(name), MCGRAD["values"][name])


def test_every_case_of_the_golden_file_is_tested() -> None:
    assert list(MCGRAD["values"]) == list(CASES)
    assert MCGRAD["mcgrad"] == "0.1.5"
    assert [len(case["segments"]) for case in MCGRAD["values"].values()] == [76, 150, 79, 104]


@pytest.mark.filterwarnings("ignore")  # of other packages, about each other
@pytest.mark.parametrize("name", CASES)
def test_the_mcgrad_that_is_installed_still_agrees(name: str) -> None:
    pytest.importorskip("mcgrad", reason="Meta's package is not installed")
    assert_same(our_values(name), measure(name))
