"""Bad input to a metric: the message says what, where, how many, and what to do."""

import re
from decimal import Decimal

import numpy as np
import pandas as pd  # type: ignore[import-untyped,unused-ignore]
import polars as pl
import pyarrow as pa
import pytest

import trueup.metrics
from trueup.errors import DataError, LabelError, ScoreError, TableError, WeightError
from trueup.metrics import brier_score

CURVES = (
    "CumulativeCurve",
    "ReliabilityCurve",
    "ScoreDensity",
    "cumulative_curve",
    "reliability_curve",
    "score_density",
)
NOT_ALONE = ("maximum_over_segments", "multicalibration_scorer", *CURVES)
OF_PROBABILITIES = [
    name for name in trueup.metrics.__all__ if name not in NOT_ALONE and not name.startswith("regression")
]
OF_OUTCOMES = [name for name in trueup.metrics.__all__ if name.startswith("regression")]


@pytest.mark.parametrize("name", OF_PROBABILITIES)
@pytest.mark.parametrize(
    ("labels", "scores", "error", "message"),
    [
        ([0, 1], [0.5, 1.7], ScoreError, "y_prob: 1 of 2 scores are outside [0, 1] (first at row 1: 1.7)"),
        ([0, 1], [0.5, np.nan], ScoreError, "y_prob: 1 of 2 scores are missing (first at row 1: nan)"),
        ([0, 2], [0.5, 0.5], LabelError, "y_true: 1 of 2 labels are outside [0, 1] (first at row 1: 2)"),
        ([0, None], [0.5, 0.5], LabelError, "y_true: 1 of 2 labels are missing (first at row 1: nan)"),
        (["no", "yes"], [0.5, 0.5], LabelError, "y_true must hold numbers"),
        ([0, 1, 1], [0.5, 0.5], TableError, "y_true has 3 rows and y_prob has 2"),
        ([0, 1], [[0.5, 0.5]] * 2, TableError, "Of predict_proba, pass the column of the positive class"),
        ([], [], TableError, "y_true and y_prob have no rows"),
    ],
)
def test_every_metric_of_probabilities_checks_its_rows(
    name: str, labels: list[object], scores: list[object], error: type[DataError], message: str
) -> None:
    with pytest.raises(error, match=re.escape(message)):
        getattr(trueup.metrics, name)(labels, scores)


@pytest.mark.parametrize("name", OF_PROBABILITIES + OF_OUTCOMES)
@pytest.mark.parametrize(
    ("weights", "error"), [([1, -2], WeightError), ([0, 0], WeightError), ([np.inf, 1], WeightError), ([1], TableError)]
)
def test_every_metric_checks_its_weights(name: str, weights: list[float], error: type[DataError]) -> None:
    with pytest.raises(error, match="sample_weight"):
        getattr(trueup.metrics, name)([0, 1], [0.25, 0.5], sample_weight=weights)


@pytest.mark.parametrize("name", OF_OUTCOMES)
@pytest.mark.parametrize(
    ("outcomes", "error", "message"),
    [
        (["low", "high"], LabelError, "y_true must hold numbers, got"),
        ([[1], [2]], TableError, "y_true must be 1-D, got shape (2, 1)"),
        ([1, None], LabelError, "y_true: 1 of 2 outcomes are missing (first at row 1: nan). Drop these rows"),
    ],
)
def test_every_metric_of_outcomes_checks_its_rows(
    name: str, outcomes: list[object], error: type[DataError], message: str
) -> None:
    with pytest.raises(error, match=re.escape(message)):
        getattr(trueup.metrics, name)(outcomes, [1.0, 2.0])


def test_scores_out_of_range_are_counted_and_the_first_is_shown() -> None:
    message = "y_prob: 2 of 4 scores are outside [0, 1] (first at row 1: 1.7). Pass probabilities"
    with pytest.raises(ScoreError, match=re.escape(message)):
        brier_score([0, 1, 1, 0], [0.5, 1.7, 0.2, -0.1])


def test_missing_scores_are_counted() -> None:
    with pytest.raises(ScoreError, match=re.escape("1 of 2 scores are missing (first at row 1: nan). Drop")):
        brier_score([0, 1], [0.5, np.nan])


def test_labels_out_of_range_are_counted() -> None:
    with pytest.raises(LabelError, match=re.escape("y_true: 1 of 3 labels are outside [0, 1] (first at row 2: 2)")):
        brier_score([0, 1, 2], [0.5, 0.5, 0.5])


def test_missing_labels_are_counted() -> None:
    with pytest.raises(LabelError, match=r"1 of 2 labels are missing \(first at row 0"):
        brier_score(np.array([None, 1]), [0.5, 0.5])


@pytest.mark.parametrize("labels", [["no", "yes"], np.array(["no", "yes"], dtype=object), ["0", "1"]])
def test_labels_in_words_are_not_guessed(labels: object) -> None:
    with pytest.raises(LabelError, match=r"y_true must hold numbers, got .*Pass 0 and 1"):
        brier_score(labels, [0.5, 0.5])  # type: ignore[arg-type]


def test_objects_without_a_number_are_an_error() -> None:
    with pytest.raises(ScoreError, match="y_prob must hold numbers: "):
        brier_score([0, 1], np.array([0.5, object()], dtype=object))


@pytest.mark.parametrize("scores", [[0.5 + 1j, 0.5], np.array([1, 2], dtype="datetime64[s]")])
def test_scores_of_another_kind_are_an_error(scores: object) -> None:
    with pytest.raises(ScoreError, match="must hold numbers"):
        brier_score([0, 1], scores)  # type: ignore[arg-type]


def test_lengths_that_differ_are_named() -> None:
    with pytest.raises(TableError, match="y_true has 3 rows and y_prob has 2"):
        brier_score([0, 1, 0], [0.5, 0.5])
    with pytest.raises(TableError, match="y_true has 2 rows and sample_weight has 1"):
        brier_score([0, 1], [0.5, 0.5], sample_weight=[1])


def test_two_columns_of_predict_proba_are_told_which_to_pass() -> None:
    with pytest.raises(TableError, match=re.escape("got shape (3, 2). Of predict_proba, pass the column")):
        brier_score([0, 1, 0], np.full((3, 2), 0.5))


@pytest.mark.parametrize("labels", [1, [[0], [1]]])
def test_labels_must_be_one_dimensional(labels: object) -> None:
    with pytest.raises(TableError, match="y_true must be 1-D"):
        brier_score(labels, [0.5, 0.5])  # type: ignore[arg-type]


def test_no_rows_are_an_error_of_the_table() -> None:
    with pytest.raises(TableError, match="no rows"):
        brier_score([], [], sample_weight=[])


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, -2], "1 of 2 weights are negative (first at row 1: -2)"),
        ([np.inf, 1], "1 of 2 weights are not finite (first at row 0: inf)"),
        ([np.nan, np.nan], "2 of 2 weights are not finite (first at row 0: nan)"),
        ([0, 0], "all 2 weights are 0"),
    ],
)
def test_weights_that_can_not_be_used_are_named(weights: list[float], message: str) -> None:
    with pytest.raises(WeightError, match=re.escape(message)):
        brier_score([0, 1], [0.5, 0.5], sample_weight=weights)


def test_a_masked_score_is_a_missing_score() -> None:
    with pytest.raises(ScoreError, match=re.escape("1 of 2 scores are missing (first at row 1")):
        brier_score([0, 1], np.ma.masked_array([0.5, 0.5], mask=[False, True]))


@pytest.mark.parametrize(
    "column",
    [tuple, np.array, pa.array, lambda values: pa.chunked_array([values]), pl.Series, pd.Series],
    ids=["tuple", "numpy", "arrow", "chunked arrow", "polars", "pandas"],
)
def test_columns_of_any_library_are_read(column: type) -> None:
    assert brier_score(column([True, False]), column([0.5, 0.25]), sample_weight=column([3, 1])) == 0.203125


def test_decimals_and_small_types_are_read() -> None:
    assert brier_score([1, 0], np.array([Decimal("0.5"), Decimal("0.25")])) == 0.15625
    assert brier_score(np.array([1, 0], np.int8), np.array([0.5, 0.25], np.float16)) == 0.15625


def test_the_arrays_given_are_left_alone() -> None:
    weights = np.array([3.0, 1.0])
    brier_score([1, 0], [0.5, 0.25], sample_weight=weights)
    assert weights.tolist() == [3, 1]
