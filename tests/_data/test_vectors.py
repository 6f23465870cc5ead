"""Scores, labels and weights as any library holds them."""

from __future__ import annotations

import datetime as dt
import enum
import math
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from trueup._data import Labels, read_labels, read_scores, read_table, read_weights
from trueup.errors import LabelError, ScoreError, WeightError

P = np.array([0.0, 0.125, 0.5, 1.0])
FORMS: dict[str, Callable[[np.ndarray], Any]] = {
    "list": list,
    "tuple": tuple,
    "float32": lambda p: p.astype(np.float32),
    "two columns": lambda p: np.column_stack([1 - p, p]),
    "one column": lambda p: p.reshape(-1, 1),
    "pairs": lambda p: np.column_stack([1 - p, p]).tolist(),
    "every second of more": lambda p: np.repeat(p, 2)[::2],
    "backwards": lambda p: p[::-1].copy()[::-1],
    "pandas": lambda p: pd.Series(p, index=[3, 3, 1, 0]),
    "pandas nullable": lambda p: pd.Series(p, dtype="Float64"),
    "pandas category": lambda p: pd.Series(p, dtype="category"),
    "polars": pl.Series,
    "pyarrow": pa.array,
    "pyarrow in chunks": lambda p: pa.chunked_array([p[:1], p[1:1], p[1:]]),
    "decimals": lambda p: [Decimal(value) for value in p.tolist()],
    "objects": lambda p: p.astype(object),
    "a column of a table": lambda p: read_table({"p": p}).column("p"),
}


@pytest.mark.parametrize("form", FORMS)
def test_scores_in_any_form_are_the_same_scores(form: str) -> None:
    found = read_scores(FORMS[form](P), 4)
    assert found.tobytes() == P.tobytes()
    assert found.flags.c_contiguous


def test_a_missing_score_is_nan_where_that_is_allowed() -> None:
    for gaps in ([None, 0.5], [np.nan, 0.5], pd.Series([pd.NA, 0.5], dtype="Float64"), pl.Series([None, 0.5])):
        np.testing.assert_array_equal(read_scores(gaps, 2, missing_allowed=True), [np.nan, 0.5])
    np.testing.assert_array_equal(read_scores([None, None], 2, missing_allowed=True), [np.nan, np.nan])


def test_a_message_about_scores_calls_them_what_the_caller_does() -> None:
    with pytest.raises(ScoreError, match=r"^Column '\{\}': 1 of 2 scores are missing \(first at row 1: nan\)"):
        read_scores([0.5, None], 2, name="Column '{}'")


@pytest.mark.parametrize(
    ("y", "classes", "values"),
    [
        ([0, 1, 1], (0, 1), [0, 1, 1]),
        ([-1, 1], (-1, 1), [0, 1]),
        ([2**60, 2**60 + 1], (2**60, 2**60 + 1), [0, 1]),
        ([2**70, 0], (0, 2**70), [1, 0]),
        (np.array([1.0, 2.0]), (1.0, 2.0), [0, 1]),
        ([True, False], (False, True), [1, 0]),
        (pd.Series([True, False], dtype="boolean"), (False, True), [1, 0]),
        (["yes", "no"], ("no", "yes"), [1, 0]),
        (np.array(["b", "a"]), ("a", "b"), [1, 0]),
        (pd.Categorical(["b", "a"], categories=["b", "a", "c"]), ("a", "b"), [1, 0]),
        (pd.Categorical([5, 3]), (3, 5), [1, 0]),
        (pl.Series(["b", "a"], dtype=pl.Categorical), ("a", "b"), [1, 0]),
        (pa.array(["b", "a"]).dictionary_encode(), ("a", "b"), [1, 0]),
        ([dt.date(2024, 1, 2), dt.date(2024, 1, 1)], (dt.date(2024, 1, 1), dt.date(2024, 1, 2)), [1, 0]),
        ([b"b", b"a"], (b"a", b"b"), [1, 0]),
    ],
)
def test_two_labels_of_any_type_are_two_classes(y: Any, classes: tuple[Any, ...], values: list[float]) -> None:
    labels = read_labels(y, len(values))
    assert labels.classes == classes
    assert labels.values.tolist() == values
    assert not labels.soft


def test_fractions_are_soft_labels() -> None:
    labels = read_labels([0.0, 0.25, 1.0], 3)
    assert labels.soft
    assert labels.classes == (0, 1)
    assert labels.values.tolist() == [0, 0.25, 1]
    assert read_labels([0.0, 1.0], 2, like=labels).soft  # a part of them may hold no fraction
    assert not read_labels([0.0, 1.0], 2).soft


def test_labels_like_others_may_lack_a_class_but_not_bring_one() -> None:
    like = Labels(np.zeros(0), ("no", "yes"), soft=False)
    assert read_labels(["yes", "yes"], 2, like=like).values.tolist() == [1, 1]
    with pytest.raises(LabelError, match=r"2 of 3 labels are neither 'no' nor 'yes' \(first at row 1: maybe\)"):
        read_labels(["yes", "maybe", "maybe"], 3, like=like)


def test_labels_that_a_file_could_not_hold_are_refused() -> None:
    class Side(enum.Enum):
        LEFT = 1
        RIGHT = 2

    with pytest.raises(LabelError, match=r"2 of 2 labels are of type .*Side, .* Use strings or numbers"):
        read_labels([Side.LEFT, Side.RIGHT], 2)


def test_weights_may_be_numbers_or_booleans_or_none() -> None:
    assert read_weights(None, 3) is None
    for weights in ([1, 0, 2.5], pd.Series([1, 0, 2.5]), pl.Series([1.0, 0.0, 2.5]), pa.array([1, 0, 2.5])):
        assert np.asarray(read_weights(weights, 3)).tolist() == [1, 0, 2.5]
    assert np.asarray(read_weights([True, False], 2)).tolist() == [1, 0]
    assert np.asarray(read_weights([], 0)).tolist() == []


@pytest.mark.parametrize(
    ("weights", "what"),
    [
        ([1.0, 1e16], r"1 of 2 weights are above 1e\+15 \(first at row 1: 1e\+16\). Divide all weights by their mean"),
        ([0.0, 1e-300, 1.0], r"1 of 3 weights are less than 1e-20 of the largest \(first at row 1: 1e-300\). Set them"),
        ([1e-40, 0.0], "all 2 weights are below 1e-15. Divide all weights by their mean"),
        ([None, 1.0], r"1 of 2 weights are missing or not finite \(first at row 0: nan\)"),
        ([[1.0], [2.0]], "sample_weight can't be read"),
    ],
)
def test_weights_that_sums_cannot_hold_are_refused(weights: list[Any], what: str) -> None:
    with pytest.raises(WeightError, match=what):
        read_weights(weights, len(weights))


def test_weights_at_the_ends_of_what_is_allowed_are_taken() -> None:
    for weights in ([1e15, 1e-5], [1e-15, 1e-35], [1.0, 1e-19, 0.0]):
        assert np.asarray(read_weights(weights, len(weights))).tolist() == weights


def test_infinity_is_no_class() -> None:
    for y in ([0, math.inf], np.array([0, math.inf], dtype=object), ["a", math.inf]):
        with pytest.raises(LabelError, match=r"infinity: 1 of 2 labels .* \(first at row 1: inf\)"):
            read_labels(y, 2)


def test_two_columns_that_are_no_probabilities_of_two_classes_are_refused() -> None:
    pairs = np.array([[0.2, 0.8], [0.2, 0.3], [0.5, 0.6]])
    what = r"scores: 2 of 3 rows of the two columns don't sum to 1 \(first at row 1: 0.2 \+ 0.3 = 0.5\)"
    for given in (pairs, pairs.tolist()):
        with pytest.raises(ScoreError, match=what):
            read_scores(given, 3)
    assert read_scores(pairs[:1].astype(np.float16), 1) == pytest.approx(0.8, abs=1e-3)
    assert np.isnan(read_scores(np.array([[np.nan, 0.4]]), 1, missing_allowed=True, positive=0)).all()


def test_scores_that_a_rounding_lifts_above_1_are_no_percentages() -> None:
    with pytest.raises(ScoreError, match="Pass probabilities of the positive class"):
        read_scores([0.2, 1.0001], 2)
    with pytest.raises(ScoreError, match="They look like percentages: divide them by 100"):
        read_scores([20.0, 0.5], 2)
