"""The largest value of a metric over segments, however the segments are given."""

import re
from functools import partial
from typing import Any

import numpy as np
import pandas as pd  # type: ignore[import-untyped,unused-ignore]
import polars as pl
import pyarrow as pa
import pytest

from trueup.errors import ColumnError, DataError, LabelError, ParameterError, ScoreError, TableError
from trueup.metrics import (
    ecce,
    expected_calibration_error,
    maximum_over_segments,
    regression_ecce,
    roc_auc,
    smooth_calibration_error,
)

# "a" promises 0.5 and gets 1: an error of 0.5. "b" promises 0.5 and gets 0.75: 0.25. "c" holds all: 0.375.
LABELS = [1, 1, 1, 1, 1, 1, 1, 0]
SCORES = [0.5] * 8
MASKS = {"a": [True] * 4 + [False] * 4, "b": [False] * 4 + [True] * 4, "c": [True] * 8}


@pytest.mark.parametrize(
    "segments",
    [
        MASKS,
        {name: np.array(mask) for name, mask in MASKS.items()},
        np.array(list(MASKS.values())).T,
        pd.DataFrame(MASKS),
        pd.DataFrame(MASKS, dtype="boolean"),
        pl.DataFrame(MASKS),
        pa.table(MASKS),
    ],
    ids=["mapping", "arrays", "2-D array", "pandas", "pandas nullable", "polars", "arrow"],
)
def test_segments_of_any_kind_are_read(segments: Any) -> None:
    assert maximum_over_segments(ecce, LABELS, SCORES, segments=segments, min_rows=4) == 0.5


def test_segments_with_fewer_rows_are_left_out() -> None:
    # Only "c" has 5 rows or more: 7/8 - 0.5.
    assert maximum_over_segments(ecce, LABELS, SCORES, segments=MASKS, min_rows=5) == 0.375


def test_rows_of_weight_zero_do_not_make_a_segment_larger() -> None:
    # "a" has 3 rows that count, "b" 4, of which 3 are positive.
    weights = [0, 1, 1, 1, 1, 1, 1, 1]
    segments = {name: MASKS[name] for name in ("a", "b")}
    assert maximum_over_segments(ecce, LABELS, SCORES, segments=segments, sample_weight=weights, min_rows=4) == 0.25


def test_weights_are_those_of_the_segment() -> None:
    # In "b" the negative row weighs as much as the three positives.
    weights = [1, 1, 1, 1, 1, 1, 1, 3]
    value = maximum_over_segments(ecce, LABELS, SCORES, segments={"b": MASKS["b"]}, sample_weight=weights, min_rows=1)
    assert value == 0


def test_metrics_with_options_and_of_outcomes_can_be_taken() -> None:
    one_bin = partial(expected_calibration_error, n_bins=1)
    assert maximum_over_segments(one_bin, LABELS, SCORES, segments=MASKS, min_rows=4) == 0.5
    smooth = maximum_over_segments(smooth_calibration_error, LABELS, SCORES, segments=MASKS, min_rows=4)
    assert smooth == pytest.approx(0.5)
    outcomes = [30, 30, 20, 20]
    halves = {"a": [True, True, False, False], "b": [False, False, True, True]}
    assert maximum_over_segments(regression_ecce, outcomes, [10, 10, 20, 20], segments=halves, min_rows=2) == 20


def test_no_segment_left_is_an_error_that_names_the_largest() -> None:
    message = "None of the 3 segments has 10 rows of weight above 0; the largest, 'c', has 8. Pass larger segments"
    with pytest.raises(TableError, match=re.escape(message)):
        maximum_over_segments(ecce, LABELS, SCORES, segments=MASKS)


@pytest.mark.parametrize("segments", [{}, np.zeros((8, 0), bool), pl.DataFrame()])
def test_no_segments_are_an_error(segments: Any) -> None:
    with pytest.raises(ParameterError, match="There are no segments"):
        maximum_over_segments(ecce, LABELS, SCORES, segments=segments)


@pytest.mark.parametrize(
    ("mask", "message"),
    [
        (
            [1, 0, 2, 0, 1, 0, 3, 0],
            "Segment 'odd': 2 of 8 rows are neither true nor false (first at row 2: 2)",
        ),
        (["x"] * 8, "Segment 'odd' holds strings. Pass true"),
        ([True, None] * 4, "Segment 'odd': 4 of 8 rows are neither true nor false (first at row 1: missing)"),
        ([None] * 8, "Segment 'odd' holds missing values only. Pass true"),
    ],
)
def test_a_mask_that_is_none_is_named(mask: list[Any], message: str) -> None:
    with pytest.raises(ColumnError, match=re.escape(message)):
        maximum_over_segments(ecce, LABELS, SCORES, segments={"c": MASKS["c"], "odd": mask}, min_rows=1)


def test_segments_of_another_length_are_an_error() -> None:
    with pytest.raises(TableError, match="Segment 'a' has 2 rows, but y has 8"):
        maximum_over_segments(ecce, LABELS, SCORES, segments={"a": [True, False]})


@pytest.mark.parametrize("segments", [np.ones(8, bool), pd.Series([True] * 8)])
def test_a_single_mask_needs_a_name(segments: Any) -> None:
    with pytest.raises(TableError, match="A mask needs a name"):
        maximum_over_segments(ecce, LABELS, SCORES, segments=segments)


def test_an_error_of_the_metric_names_the_segment() -> None:
    with pytest.raises(LabelError, match=r"Segment 'a', its 4 rows counted from 0: y_true: no row .* has label 0"):
        maximum_over_segments(roc_auc, LABELS, SCORES, segments=MASKS, min_rows=1)
    with pytest.raises(ScoreError, match="Segment 'segment 1', its 4 rows counted from 0: y_prob: 1 of 4"):
        maximum_over_segments(
            ecce, LABELS, [0.5] * 7 + [1.5], segments=np.array([MASKS["a"], MASKS["b"]]).T, min_rows=1
        )


def test_a_metric_that_gives_no_number_names_the_segment() -> None:
    with pytest.raises(DataError, match="Segment 'a': the metric of its 4 rows is NaN"):
        maximum_over_segments(lambda *_, **__: float("nan"), LABELS, SCORES, segments=MASKS, min_rows=1)


def test_rows_that_are_not_finite_are_counted_over_all_segments() -> None:
    with pytest.raises(ScoreError, match=re.escape("y_prob: 1 of 8 scores are missing (first at row 7")):
        maximum_over_segments(ecce, LABELS, [0.5] * 7 + [np.nan], segments={"a": MASKS["a"]})


@pytest.mark.parametrize("min_rows", [0, -3, 1.5, None])
def test_min_rows_must_count_rows(min_rows: Any) -> None:
    with pytest.raises(ParameterError, match="min_rows must be a whole number of at least 1, got"):
        maximum_over_segments(ecce, LABELS, SCORES, segments=MASKS, min_rows=min_rows)


def test_segments_may_be_conditions() -> None:
    halves = {"half": ["upper"] * 2 + ["lower"] * 2}
    assert maximum_over_segments(ecce, [1, 1, 0, 0], [0.5] * 4, segments=["half = upper"], X=halves, min_rows=2) == 0.5
