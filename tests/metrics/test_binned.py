"""ECE: bins, borders and ties by hand, and what debiasing takes away."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.calibration import calibration_curve

from trueup.errors import ParameterError
from trueup.metrics import expected_calibration_error
from trueup.metrics._binned import _added_by_noise

FloatArray = NDArray[np.float64]

HARD_ROWS = st.lists(st.tuples(st.sampled_from([0, 1]), st.floats(0, 1)), min_size=1, max_size=40)


def test_ece_is_the_weighted_mean_of_the_gaps() -> None:
    # Ten bins of width 0.1.
    # (0.1, 0.2]: scores 0.12, 0.18, labels 0, 1: mean score 0.15, mean label 0.5: a gap of 0.35 on 2 of 5 rows.
    # (0.6, 0.7]: scores 0.65, 0.65, 0.68, labels 1, 1, 0: mean score 0.66, mean label 2/3: 0.00667 on 3 of 5 rows.
    # 0.4 × 0.35 + 0.6 × 0.00667 = 0.144.
    labels, scores = [0, 1, 1, 1, 0], [0.12, 0.18, 0.65, 0.65, 0.68]
    assert expected_calibration_error(labels, scores) == pytest.approx(0.144)


def test_weights_count_in_the_gaps_and_between_them() -> None:
    # (0, 0.5]: score 0.25, labels 0 and 1 of weight 3 and 1: |0.25 - 0.25| = 0.
    # (0.5, 1]: score 0.75, label 1 of weight 4: a gap of 0.25 on half of the weight.
    labels, scores, weights = [0, 1, 1], [0.25, 0.25, 0.75], [3, 1, 4]
    assert expected_calibration_error(labels, scores, sample_weight=weights, n_bins=2) == 0.125


def test_errors_inside_a_bin_cancel() -> None:
    # One bin: mean score 0.5, mean label 0.5. Two bins: gaps of 0.75 each.
    assert expected_calibration_error([1, 0], [0.25, 0.75], n_bins=1) == 0
    assert expected_calibration_error([1, 0], [0.25, 0.75], n_bins=2) == 0.75


@pytest.mark.parametrize("border", [0.1, 0.3, 0.6, 0.7])
def test_a_score_on_a_border_belongs_to_the_lower_bin(border: float) -> None:
    # With a row 0.05 below, it shares a bin: |(0 - border + 0.05) + (1 - border)| / 2.
    below = expected_calibration_error([0, 1], [border - 0.05, border])
    assert below == pytest.approx(abs(1.05 - 2 * border) / 2)
    # With one 0.05 above, it doesn't: (|0 - border| + |1 - border - 0.05|) / 2 = 0.95 / 2.
    above = expected_calibration_error([0, 1], [border, border + 0.05])
    assert above == pytest.approx(0.475)


def test_a_score_of_zero_belongs_to_the_first_bin() -> None:
    # Mean score 0.05, mean label 0.5.
    assert expected_calibration_error([0, 1], [0, 0.1]) == pytest.approx(0.45)


@given(HARD_ROWS, st.integers(1, 12))
def test_bins_of_equal_width_are_those_of_scikit_learn(rows: list[tuple[int, float]], n_bins: int) -> None:
    labels, scores = (np.array(column) for column in zip(*rows, strict=True))
    share, promised = calibration_curve(labels, scores, n_bins=n_bins)
    counts = np.bincount(np.searchsorted(np.linspace(0, 1, n_bins + 1)[1:-1], scores))
    expected = np.sum(counts[counts > 0] * np.abs(share - promised)) / len(rows)
    assert expected_calibration_error(labels, scores, n_bins=n_bins) == pytest.approx(expected, abs=1e-12)


def test_bins_of_equal_mass_have_the_same_number_of_rows() -> None:
    # Six rows in three bins of two: (0.01, 0.02), (0.03, 0.9), (0.91, 0.92).
    # Sums of y - p: 1 - 0.03, 1 - 0.93, 0 - 1.83: (0.97 + 0.07 + 1.83) / 6.
    labels, scores = [1, 0, 0, 1, 0, 0], [0.01, 0.02, 0.03, 0.9, 0.91, 0.92]
    assert expected_calibration_error(labels, scores, n_bins=3, binning="mass") == pytest.approx(2.87 / 6)


def test_bins_of_equal_mass_count_weights() -> None:
    # Weights 2, 1, 1: the first row alone is half. Sums: 2 × -0.1, and (1 - 0.2) + (0 - 0.3) = 0.5: 0.7 / 4.
    mass = expected_calibration_error([0, 1, 0], [0.1, 0.2, 0.3], sample_weight=[2, 1, 1], n_bins=2, binning="mass")
    assert mass == pytest.approx(0.7 / 4)


@pytest.mark.parametrize("labels", [[0, 0, 1, 1, 1, 1], [1, 1, 0, 0, 1, 1], [0, 1, 0, 1, 1, 1]])
def test_bins_of_equal_mass_do_not_part_ties(labels: list[int]) -> None:
    # Four rows of 0.5, then 0.9 and 1, in three bins. The tie's middle is at 2 of 6, the start of the second bin;
    # 0.9 and 1 are the third. Half of the four are positive, in whatever order: (0 + 0.1 + 0) / 6.
    scores = [0.5, 0.5, 0.5, 0.5, 0.9, 1.0]
    assert expected_calibration_error(labels, scores, n_bins=3, binning="mass") == pytest.approx(0.1 / 6)


def test_more_bins_than_rows_leave_each_score_alone() -> None:
    # |1 - 0.25| and |0 - 0.5|, over 2.
    assert expected_calibration_error([1, 0], [0.25, 0.5], n_bins=1_000) == 0.625
    assert expected_calibration_error([1, 0], [0.25, 0.5], n_bins=1_000, binning="mass") == 0.625


@pytest.mark.parametrize("n_bins", [0, -1, 2.5, "10", None, True, np.nan])
def test_a_number_of_bins_that_is_none_is_an_error(n_bins: object) -> None:
    with pytest.raises(ParameterError, match="n_bins must be a whole number of at least 1, got"):
        expected_calibration_error([0, 1], [0.5, 0.5], n_bins=n_bins)  # type: ignore[arg-type]


def test_the_kinds_of_bins_are_listed() -> None:
    with pytest.raises(ParameterError, match="binning must be one of 'width', 'mass', got 'quantile'"):
        expected_calibration_error([0, 1], [0.5, 0.5], binning="quantile")  # type: ignore[arg-type]


def test_noise_adds_the_mean_of_a_folded_normal() -> None:
    # At 0 it adds √(2/π) sigmas; far from 0, nothing. In between as 400,000 normal numbers say, to 0.002 × 4 sigmas.
    noise = np.random.default_rng(0).normal(size=400_000)
    added = _added_by_noise(np.array([0.0, 1.0, 2.0, 50.0, 3.0]), np.array([1.0, 1.0, 4.0, 1.0, 0.0]))
    assert added[0] == pytest.approx(math.sqrt(2 / math.pi))
    assert added[1] == pytest.approx(np.abs(1 + noise).mean() - 1, abs=0.008)
    assert added[2] == pytest.approx(np.abs(2 + 4 * noise).mean() - 2, abs=0.032)
    assert added[3:].tolist() == [0, 0]


def test_without_noise_there_is_nothing_to_subtract() -> None:
    scores = np.linspace(0, 0.9, 1_000)
    plain = expected_calibration_error(scores + 0.1, scores)
    assert plain == pytest.approx(0.1)
    assert expected_calibration_error(scores + 0.1, scores, debiased=True) == pytest.approx(0.1)


def test_the_debiased_error_is_never_negative() -> None:
    assert expected_calibration_error([0, 1] * 50, [0.5] * 100, debiased=True) == 0


def mean_plain_and_debiased(share_of_score: float, rows: int) -> tuple[float, float]:
    """Draw labels with a chance of ``share_of_score * p`` 400 times; give the mean ECE, plain and debiased."""
    rng = np.random.default_rng(rows)
    values = []
    for _ in range(400):
        scores = rng.random(rows)
        labels = rng.random(rows) < share_of_score * scores
        values.append([expected_calibration_error(labels, scores, debiased=debiased) for debiased in (False, True)])
    plain, debiased = np.mean(values, axis=0)
    return float(plain), float(debiased)


def test_debiasing_leaves_six_tenths_of_the_error_of_true_scores() -> None:
    # A bin's error is s Z; E|s Z| is subtracted twice and E|s Z + s Z'| = √2 E|s Z| added, which leaves
    # (2 - √2) = 0.586 of it. With ten bins, s is about √(10/6 / 1000): the plain mean is √(2/π) s = 0.032.
    plain, debiased = mean_plain_and_debiased(1.0, 1_000)
    assert plain == pytest.approx(math.sqrt(2 / math.pi) * math.sqrt(10 / 6 / 1_000), rel=0.05)
    assert debiased / plain == pytest.approx(2 - math.sqrt(2), abs=0.04)


@pytest.mark.parametrize(("share", "rows"), [(0.9, 300), (0.9, 1_000), (0.8, 300)])
def test_debiasing_brings_the_error_of_wrong_scores_to_the_truth(share: float, rows: int) -> None:
    # The truth is (1 - share) E[p] = (1 - share) / 2. A bin's error is about one or two of its sigmas in all three;
    # with many more the plain ECE has next to no bias, and there is nothing to gain.
    plain, debiased = mean_plain_and_debiased(share, rows)
    truth = (1 - share) / 2
    assert abs(debiased - truth) < 0.6 * abs(plain - truth)
