"""ECCE and its standard error, on numbers that can be done in the head and against a plain twin."""

import math
from collections.abc import Callable
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from trueup.errors import DataError
from trueup.metrics import ecce, ecce_pvalue, ecce_sigma, ecce_standard_error

# Few distinct scores, so that ties are the rule.
SCORES = st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.5000001, 0.9, 1.0])
HARD_ROWS = st.lists(st.tuples(st.sampled_from([0.0, 1.0]), SCORES, st.integers(1, 4)), min_size=1, max_size=40)
SOFT_ROWS = st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1), st.floats(0.01, 100)), min_size=1, max_size=30)


def ecce_over_all_intervals(y: NDArray[np.float64], p: NDArray[np.float64], w: NDArray[np.float64]) -> float:
    """Take the definition word for word: the largest error of any closed interval of scores, O(n²)."""
    return max(
        abs(float(np.sum(w * (y - p), where=(p >= low) & (p <= high)))) for low in p for high in p if low <= high
    ) / float(w.sum())


def test_a_single_surprise_is_its_whole_residual() -> None:
    # S = 0, 0.75: (0.75 - 0) / 1.
    assert ecce([1], [0.25]) == 0.75


def test_errors_of_one_sign_add_up() -> None:
    # S = 0, 0.5, 1.25: 1.25 / 2.
    assert ecce([1, 1], [0.25, 0.5]) == 0.625


def test_opposite_errors_at_different_scores_do_not_cancel() -> None:
    # In order of score: 0.25 has label 1, 0.5 has label 0. S = 0, 0.75, 0.25: the largest error is the first
    # row's, 0.75 / 2. The mean error is only 0.125.
    assert ecce([0, 1], [0.5, 0.25]) == 0.375


def test_opposite_errors_at_one_score_cancel() -> None:
    # The only stop is after both rows: 0.5 - 0.5 = 0. Stopping inside the tie would give 0.25.
    assert ecce([0, 1], [0.5, 0.5]) == 0
    assert ecce([1, 0], [0.5, 0.5]) == 0


def test_three_in_ten_at_a_score_of_three_tenths_is_no_error_at_all() -> None:
    assert ecce([1] * 3 + [0] * 7, [0.3] * 10) == pytest.approx(0, abs=1e-16)


def test_a_soft_label_equal_to_its_score_is_no_error() -> None:
    assert ecce([0.2, 0.7, 0.9], [0.2, 0.7, 0.9]) == 0


def test_standard_error_of_four_fair_coins_is_a_quarter() -> None:
    # sqrt(4 × 0.25) / 4.
    assert ecce_standard_error([0, 0, 1, 1], [0.5] * 4) == 0.25


def test_standard_error_grows_when_one_row_dominates() -> None:
    # sqrt((9 + 1) × 0.25) / 4.
    assert ecce_standard_error([0, 1], [0.5, 0.5], sample_weight=[3, 1]) == pytest.approx(math.sqrt(2.5) / 4)


def test_sigmas_are_the_error_over_its_standard_error() -> None:
    # ECCE = 0.5, sigma = 0.25.
    assert ecce_sigma([1, 1, 1, 1], [0.5] * 4) == 2


def test_certain_scores_that_come_true_are_zero_sigmas() -> None:
    assert ecce_sigma([0, 1, 1], [0, 1, 1]) == 0
    assert ecce_pvalue([0, 1, 1], [0, 1, 1]) == 1


def test_certain_scores_that_fail_are_infinitely_many_sigmas() -> None:
    assert ecce_sigma([1, 1, 1], [0, 1, 1]) == math.inf
    assert ecce_pvalue([1, 1, 1], [0, 1, 1]) == 0


@pytest.mark.parametrize("metric", [ecce, ecce_sigma, ecce_pvalue, ecce_standard_error])
def test_no_rows_are_an_error(metric: Callable[..., float]) -> None:
    with pytest.raises(DataError, match="no rows"):
        metric([], [])


@given(HARD_ROWS, st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_change_a_bit(rows: list[tuple[float, float, int]], random: Random) -> None:
    shuffled = rows.copy()
    random.shuffle(shuffled)
    y, p, w = zip(*rows, strict=True)
    y2, p2, w2 = zip(*shuffled, strict=True)
    assert ecce(y, p, sample_weight=w) == ecce(y2, p2, sample_weight=w2)


@given(HARD_ROWS)
def test_a_weight_of_k_is_the_row_repeated_k_times(rows: list[tuple[float, float, int]]) -> None:
    y, p, w = (np.array(column) for column in zip(*rows, strict=True))
    assert ecce(y, p, sample_weight=w) == pytest.approx(ecce(y.repeat(w), p.repeat(w)), abs=1e-14)


@given(SOFT_ROWS)
def test_ecce_is_the_largest_error_of_any_interval_of_scores(rows: list[tuple[float, float, float]]) -> None:
    y, p, w = (np.array(column) for column in zip(*rows, strict=True))
    assert ecce(y, p, sample_weight=w) == pytest.approx(ecce_over_all_intervals(y, p, w), abs=1e-12)


@given(SOFT_ROWS)
def test_values_stay_in_their_ranges(rows: list[tuple[float, float, float]]) -> None:
    y, p, w = zip(*rows, strict=True)
    assert 0 <= ecce(y, p, sample_weight=w) <= 1
    assert 0 <= ecce_standard_error(y, p, sample_weight=w) <= 0.5
    assert ecce_sigma(y, p, sample_weight=w) >= 0
    assert 0 <= ecce_pvalue(y, p, sample_weight=w) <= 1


@given(SOFT_ROWS, st.sampled_from([1e-300, 0.1, 7.0, 1e300]))
def test_the_scale_of_weights_does_not_matter(rows: list[tuple[float, float, float]], scale: float) -> None:
    y, p, w = (np.array(column) for column in zip(*rows, strict=True))
    assert ecce(y, p, sample_weight=w * scale) == pytest.approx(ecce(y, p, sample_weight=w), abs=1e-12)
    assert ecce_standard_error(y, p, sample_weight=w * scale) == pytest.approx(
        ecce_standard_error(y, p, sample_weight=w), abs=1e-12
    )


def test_a_row_of_weight_zero_changes_nothing() -> None:
    with_it = ecce_sigma([1, 0, 1], [0.2, 0.4, 0.9], sample_weight=[1, 1, 0])
    assert with_it == ecce_sigma([1, 0], [0.2, 0.4])
