"""ECCE of real-valued predictions: by hand, against plain twins, and at the level its p-values promise."""

import math
from collections.abc import Callable
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from trueup.errors import LabelError, ScoreError, TableError
from trueup.metrics import (
    ecce,
    regression_ecce,
    regression_ecce_pvalue,
    regression_ecce_sigma,
    regression_ecce_standard_error,
)

FloatArray = NDArray[np.float64]

METRICS = [regression_ecce, regression_ecce_standard_error, regression_ecce_sigma, regression_ecce_pvalue]


def plain_variance(weighted_residuals: FloatArray) -> float:
    """Take n / (n - 1) / 2 times the squared successive differences, of rows in the order given."""
    n = len(weighted_residuals)
    return n / (n - 1) / 2 * float(np.sum(np.diff(weighted_residuals) ** 2))


def test_errors_of_one_sign_add_up() -> None:
    # Residuals 2, 4: sums 2, 6; 6 / 2 rows.
    assert regression_ecce([12, 24], [10, 20]) == 3


def test_opposite_errors_at_different_predictions_do_not_cancel() -> None:
    # Residuals 4, -4 in order of prediction: sums 4, 0; 4 / 2 rows.
    assert regression_ecce([16, 14], [20, 10]) == 2


def test_opposite_errors_at_one_prediction_cancel() -> None:
    assert regression_ecce([6, 14], [10, 10]) == 0


def test_weights_count() -> None:
    # 3 × 1 - 1 × 1: sums 3, 2; 3 / 4.
    assert regression_ecce([11, 19], [10, 20], sample_weight=[3, 1]) == 0.75


@given(st.lists(st.tuples(st.sampled_from([0.0, 1.0]), st.floats(0, 1)), min_size=1, max_size=30))
def test_labels_are_outcomes_too(rows: list[tuple[float, float]]) -> None:
    labels, scores = zip(*rows, strict=True)
    assert regression_ecce(labels, scores) == pytest.approx(ecce(labels, scores), abs=1e-13)


def test_variance_comes_from_successive_differences() -> None:
    # Residuals 1, 3, 0 in order of prediction: differences 2, -3; V = 3/2 · ½ · (4 + 9) = 9.75.
    sigma = regression_ecce_standard_error([23, 11, 30], [20, 10, 30])
    assert sigma == pytest.approx(math.sqrt(9.75) / 3)


def test_variance_of_one_tie_is_the_sample_variance() -> None:
    outcomes = [1.0, 2.0, 4.0, 9.0]
    expected = math.sqrt(4 * np.var(outcomes, ddof=1)) / 4
    assert regression_ecce_standard_error(outcomes, [3] * 4) == pytest.approx(expected)


def test_variance_is_the_mean_over_all_orders_of_tied_rows() -> None:
    low, middle, high = [1.0, 2.0, 6.0], [5.0], [-2.0, 3.0]
    orders = [[*a, *middle, *b] for a in permutations(low) for b in permutations(high)]
    expected = np.mean([plain_variance(np.array(order)) for order in orders])
    predictions = np.array([10, 10, 10, 20, 30, 30])
    sigma = regression_ecce_standard_error(predictions + np.array(orders[5]), predictions)
    assert (6 * sigma) ** 2 == pytest.approx(expected)


def test_the_unit_of_outcomes_is_the_unit_of_the_error() -> None:
    outcomes, predictions = np.array([11.0, 22, 29, 43]), np.array([10.0, 20, 30, 40])
    for metric in METRICS[:2]:
        assert metric(1_000 * outcomes, 1_000 * predictions) == pytest.approx(1_000 * metric(outcomes, predictions))
    for metric in METRICS[2:]:
        assert metric(1_000 * outcomes, 1_000 * predictions) == pytest.approx(metric(outcomes, predictions))


@pytest.mark.parametrize("unit", [1e-300, 1e-160, 1e160, 1e300])
def test_outcomes_of_any_size_can_be_used(unit: float) -> None:
    outcomes, predictions = np.array([11.0, 22, 29, 43]), np.array([10.0, 20, 30, 40])
    sigmas = regression_ecce_sigma(outcomes, predictions)
    assert regression_ecce_sigma(unit * outcomes, unit * predictions) == pytest.approx(sigmas)
    assert regression_ecce(unit * outcomes, unit * predictions) / unit == pytest.approx(5 / 4)


def test_a_difference_too_large_for_a_float_is_no_accident() -> None:
    # Residuals ±3e308 are beyond the largest float64, 1.8e308; their means over 4 rows are not.
    outcomes, predictions = [1.5e308, 0, 0, -1.5e308], [-1.5e308, 0, 1, 1.5e308]
    assert regression_ecce(outcomes, predictions) == pytest.approx(7.5e307)


def test_predictions_that_are_right_to_the_last_bit_are_zero_sigmas() -> None:
    assert regression_ecce_sigma([1, 2, 3], [1, 2, 3]) == 0
    assert regression_ecce_pvalue([1, 2, 3], [1, 2, 3]) == 1


def test_an_error_without_noise_is_infinitely_many_sigmas() -> None:
    assert regression_ecce_sigma([1.1, 2.1, 3.1], [1, 2, 3]) == math.inf
    assert regression_ecce_pvalue([1.1, 2.1, 3.1], [1, 2, 3]) == 0


def test_the_variance_of_one_row_can_not_be_told() -> None:
    assert regression_ecce([3], [1]) == 2
    for metric in METRICS[1:]:
        with pytest.raises(TableError, match=r"1 row of weight above 0, .* Pass at least 2 rows"):
            metric([3], [1])
        with pytest.raises(TableError, match="1 row of weight above 0"):
            metric([3, 4], [1, 2], sample_weight=[1, 0])


@pytest.mark.parametrize("metric", METRICS)
def test_what_is_not_finite_is_counted(metric: Callable[..., float]) -> None:
    with pytest.raises(LabelError, match=r"y_true: 1 of 2 outcomes are missing \(first at row 1: nan\)\. Drop"):
        metric([1, np.nan], [1, 2])
    with pytest.raises(LabelError, match=r"1 of 2 outcomes are infinite \(first at row 0: inf\)\. Pass finite"):
        metric([np.inf, 1], [1, 2])
    with pytest.raises(ScoreError, match=r"y_pred: 2 of 2 predictions are infinite \(first at row 0: -inf\)"):
        metric([1, 2], [-np.inf, np.inf])
    with pytest.raises(TableError, match="y_true has 2 rows and y_pred has 1"):
        metric([1, 2], [1])
    with pytest.raises(TableError, match="y_true and y_pred have no rows"):
        metric([], [])


def draw_true(kind: str, rng: np.random.Generator, rows: int) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Draw outcomes whose mean is the prediction, the predictions, weights, and the variance of each outcome."""
    predictions, weights = rng.normal(50, 10, rows), np.ones(rows)
    sigmas = np.full(rows, 3.0)
    if kind in ("uneven noise", "weights"):
        sigmas = 0.5 + 0.01 * np.abs(predictions - 40) ** 1.5
    noise = rng.exponential(size=rows) - 1 if kind == "skewed noise" else rng.normal(size=rows)
    if kind == "weights":
        # The noisier, the lighter, as is usual; and some luck.
        weights = rng.uniform(0.5, 2, rows) / sigmas
    if kind == "ties":
        predictions = np.round(predictions / 4) * 4
    return predictions + sigmas * noise, predictions, weights, sigmas**2


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["even noise", "uneven noise", "skewed noise", "weights"])
def test_one_true_model_in_twenty_is_rejected_at_five_percent(kind: str) -> None:
    # Of 1,500, 5 % ± 0.6 %. A path of 1,000 rows misses the extremes between them: the range is short by 0.037
    # sigmas, which makes it 4.5 %.
    rng = np.random.default_rng(5)
    draws = (draw_true(kind, rng, 1_000)[:3] for _ in range(1_500))
    rejected = [regression_ecce_pvalue(y, f, sample_weight=weights) < 0.05 for y, f, weights in draws]
    assert 0.03 < np.mean(rejected) < 0.07


@pytest.mark.slow
def test_ties_make_rejections_rarer_never_more_frequent() -> None:
    # About 15 distinct predictions: the path stops 15 times, and misses more of its extremes.
    rng = np.random.default_rng(6)
    draws = (draw_true("ties", rng, 1_000) for _ in range(1_000))
    rejected = [regression_ecce_pvalue(y, f) < 0.05 for y, f, _, _ in draws]
    assert 0.005 < np.mean(rejected) < 0.05


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["even noise", "uneven noise", "skewed noise", "weights", "ties"])
def test_the_estimated_variance_has_the_mean_it_should(kind: str) -> None:
    # One estimate from 300 rows is off by √(3/300) = 10 % for even normal noise, up to 25 % for the others; the
    # mean of 600 by 0.4 % to 1 %.
    rng = np.random.default_rng(7)
    ratios = []
    for _ in range(600):
        outcomes, predictions, weights, variances = draw_true(kind, rng, 300)
        sigma = regression_ecce_standard_error(outcomes, predictions, sample_weight=weights)
        ratios.append((sigma * weights.sum()) ** 2 / np.sum(weights**2 * variances))
    assert np.mean(ratios) == pytest.approx(1, abs=0.025)


def test_errors_do_not_pass_for_noise() -> None:
    # Predictions 20 % too low, by 10 on average, beside noise of 3. Squared residuals would say √(9 + 100) = 10.4.
    rng = np.random.default_rng(9)
    predictions = rng.normal(50, 10, 5_000)
    outcomes = 1.2 * predictions + rng.normal(scale=3, size=5_000)
    sigma = regression_ecce_standard_error(outcomes, predictions)
    assert sigma == pytest.approx(3 / math.sqrt(5_000), rel=0.05)
    # The mean error over sigma: 10 / 0.0424 = 236.
    assert regression_ecce_sigma(outcomes, predictions) == pytest.approx(236, rel=0.06)
    assert regression_ecce_pvalue(outcomes, predictions) == 0
