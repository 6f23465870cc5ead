"""What holds for every metric: the order of rows, the scale of weights and rows that weigh nothing don't matter."""

import math
from collections.abc import Callable
from functools import partial
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trueup.metrics import (
    average_precision,
    brier_calibration,
    brier_refinement,
    brier_score,
    ecce,
    ecce_pvalue,
    ecce_sigma,
    ecce_standard_error,
    expected_calibration_error,
    log_loss,
    regression_ecce,
    regression_ecce_pvalue,
    regression_ecce_sigma,
    regression_ecce_standard_error,
    roc_auc,
    smooth_calibration_error,
)

Metric = Callable[..., float]
Row = tuple[float, float, int]

# A row of weight k is k equal rows: with the largest value each can take.
OF_THE_DISTRIBUTION: dict[str, tuple[Metric, float]] = {
    "brier_calibration": (brier_calibration, 1),
    "brier_refinement": (brier_refinement, 0.25),
    "brier_score": (brier_score, 1),
    "ecce": (ecce, 1),
    "ece": (expected_calibration_error, 1),
    "ece of three bins": (partial(expected_calibration_error, n_bins=3), 1),
    "ece of equal mass": (partial(expected_calibration_error, binning="mass"), 1),
    "ece of three bins of equal mass": (partial(expected_calibration_error, binning="mass", n_bins=3), 1),
    "log_loss": (log_loss, 1022 * math.log(2)),
    "regression_ecce": (regression_ecce, 1),
    "smooth_calibration_error": (smooth_calibration_error, 1),
}
# A row of weight k is one observation that counts k times.
OF_THE_SAMPLE: dict[str, tuple[Metric, float]] = {
    "debiased ece": (partial(expected_calibration_error, debiased=True), 1),
    "debiased ece of equal mass": (partial(expected_calibration_error, binning="mass", debiased=True), 1),
    "ecce_pvalue": (ecce_pvalue, 1),
    "ecce_sigma": (ecce_sigma, math.inf),
    "ecce_standard_error": (ecce_standard_error, 0.5),
}
# The same, and they need two rows.
OF_PAIRS: dict[str, tuple[Metric, float]] = {
    "regression_ecce_pvalue": (regression_ecce_pvalue, 1),
    "regression_ecce_sigma": (regression_ecce_sigma, math.inf),
    "regression_ecce_standard_error": (regression_ecce_standard_error, math.inf),
}
# These need both classes.
OF_CLASSES: dict[str, tuple[Metric, float]] = {
    "average_precision": (average_precision, 1),
    "roc_auc": (roc_auc, 1),
}

# Few distinct scores, so that ties are the rule; borders of bins among them.
SCORES = st.sampled_from([0.0, 0.1, 0.25, 1 / 3, 0.5, 0.5000001, 0.9, 1.0])
LABELS = st.sampled_from([0.0, 0.0, 1.0, 1.0, 0.3])
ROWS = st.lists(st.tuples(LABELS, SCORES, st.integers(1, 4)), min_size=2, max_size=40)
BOTH_CLASSES = [(0.0, 0.1, 1), (1.0, 0.5, 2)]

ALL = OF_THE_DISTRIBUTION | OF_THE_SAMPLE | OF_PAIRS | OF_CLASSES

few_examples = settings(max_examples=40)  # each tries all metrics


def values(rows: list[Row], scale: float = 1.0, metrics: dict[str, tuple[Metric, float]] = ALL) -> dict[str, float]:
    """Give every metric's value on the rows, with their weights times the scale."""
    found = {}
    for name, (metric, _) in metrics.items():
        chosen = rows + BOTH_CLASSES if name in OF_CLASSES else rows
        labels, scores, weights = (np.array(column) for column in zip(*chosen, strict=True))
        found[name] = metric(labels, scores, sample_weight=scale * weights)
    return found


def same(expected: dict[str, float]) -> dict[str, Any]:
    """Allow for rounding, which is larger where nearly equal residuals are subtracted."""
    digits = {name: 1e-12 if name in OF_THE_DISTRIBUTION else 1e-8 for name in expected}
    return {name: pytest.approx(value, rel=digits[name], abs=1e-13) for name, value in expected.items()}


@few_examples
@given(rows=ROWS, random=st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(rows: list[Row], random: Random) -> None:
    assert values(random.sample(rows, len(rows))) == same(values(rows))


@few_examples
@given(rows=ROWS, scale=st.sampled_from([1e-300, 0.1, 7.0, 1e300]))
def test_the_scale_of_weights_does_not_matter(rows: list[Row], scale: float) -> None:
    assert values(rows, scale) == same(values(rows))


@few_examples
@given(rows=ROWS, nothing=st.lists(st.tuples(LABELS, SCORES, st.just(0)), min_size=1, max_size=5))
def test_rows_of_weight_zero_do_not_matter(rows: list[Row], nothing: list[Row]) -> None:
    assert values(nothing + rows) == same(values(rows))


@few_examples
@given(rows=ROWS)
def test_equal_rows_can_be_merged_into_their_weight(rows: list[Row]) -> None:
    repeated = [(label, score, 1) for label, score, weight in rows for _ in range(weight)]
    metrics = OF_THE_DISTRIBUTION | OF_CLASSES
    assert values(repeated, metrics=metrics) == same(values(rows, metrics=metrics))


@few_examples
@given(rows=ROWS)
def test_values_stay_in_their_range(rows: list[Row]) -> None:
    assert {name: value for name, value in values(rows).items() if not 0 <= value <= ALL[name][1]} == {}


@pytest.mark.parametrize("name", OF_THE_DISTRIBUTION | OF_THE_SAMPLE)
@pytest.mark.parametrize("score", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("label", [0, 1])
def test_one_row_is_enough(name: str, label: int, score: float) -> None:
    metric, largest = ALL[name]
    assert 0 <= metric([label], [score]) <= largest


@pytest.mark.parametrize("name", ["ecce", "ece", "ece of equal mass", "brier_calibration", "smooth_calibration_error"])
def test_half_positives_at_a_half_are_no_error(name: str) -> None:
    assert ALL[name][0]([0, 1] * 50, [0.5] * 100) == pytest.approx(0, abs=1e-15)
