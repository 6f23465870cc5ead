"""Reliability curves: bins that don't part ties, weights, and bands that cover."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trueup.errors import DataError, LabelError, ParameterError, ScoreError, TableError, WeightError
from trueup.metrics import expected_calibration_error, reliability_curve

ROWS = st.lists(
    st.tuples(st.sampled_from([0.0, 1.0]), st.sampled_from([0.0, 0.1, 0.3, 0.5, 0.8, 1.0]), st.integers(1, 4)),
    min_size=1,
    max_size=30,
)


def test_each_bin_says_what_was_promised_and_what_happened() -> None:
    # Two bins of four: scores 0.1, 0.1, 0.3, 0.3 with one positive; 0.6, 0.6, 0.8, 0.8 with three.
    curve = reliability_curve([0, 0, 1, 0, 1, 0, 1, 1], [0.1, 0.1, 0.3, 0.3, 0.6, 0.6, 0.8, 0.8], n_bins=2)
    np.testing.assert_allclose(curve.score, [0.2, 0.7])
    np.testing.assert_allclose(curve.rate, [0.25, 0.75])
    assert curve.rows.tolist() == [4, 4]
    assert curve.weight.tolist() == [4, 4]
    assert (curve.lowest.tolist(), curve.highest.tolist()) == ([0.1, 0.6], [0.3, 0.8])


def test_the_band_is_wilsons() -> None:
    # Wilson's interval for 0 of 10 at 95 %: z² = 3.8415, high = z² / (n + z²) = 0.27753.
    curve = reliability_curve([0] * 10, [0.2] * 10)
    assert curve.low[0] == pytest.approx(0, abs=1e-15)
    assert curve.high[0] == pytest.approx(3.841458820694124 / 13.841458820694124)


def test_rows_of_one_score_are_never_parted() -> None:
    curve = reliability_curve([0, 1] * 50, [0.5] * 100, n_bins=10)
    assert len(curve) == 1
    assert curve.score.tolist() == [0.5]


@given(ROWS)
def test_points_don_t_depend_on_the_order_of_rows(rows: list[tuple[float, float, int]]) -> None:
    y, p, w = map(np.array, zip(*rows, strict=True))
    there, back = reliability_curve(y, p, sample_weight=w), reliability_curve(y[::-1], p[::-1], sample_weight=w[::-1])
    np.testing.assert_allclose(there.score, back.score)
    np.testing.assert_allclose(there.rate, back.rate)


@given(ROWS)
def test_a_weight_moves_a_point_as_repeated_rows_do(rows: list[tuple[float, float, int]]) -> None:
    y, p, w = map(np.array, zip(*rows, strict=True))
    weighted = reliability_curve(y, p, sample_weight=w)
    repeated = reliability_curve(np.repeat(y, w), np.repeat(p, w))
    np.testing.assert_allclose(weighted.score, repeated.score)
    np.testing.assert_allclose(weighted.rate, repeated.rate, atol=1e-12)
    np.testing.assert_allclose(weighted.weight, repeated.weight)
    assert np.all(weighted.low <= repeated.low + 1e-12)  # two rows say more than one of weight 2
    assert np.all(weighted.high >= repeated.high - 1e-12)


@given(ROWS)
def test_the_distances_of_its_points_add_up_to_the_ece(rows: list[tuple[float, float, int]]) -> None:
    y, p, w = map(np.array, zip(*rows, strict=True))
    curve = reliability_curve(y, p, sample_weight=w, n_bins=4)
    distance = np.sum(curve.weight * np.abs(curve.rate - curve.score)) / curve.weight.sum()
    ece = expected_calibration_error(y, p, sample_weight=w, n_bins=4, binning="mass")
    assert distance == pytest.approx(ece, abs=1e-12)


@given(ROWS)
def test_every_number_is_where_it_can_be(rows: list[tuple[float, float, int]]) -> None:
    y, p, w = map(np.array, zip(*rows, strict=True))
    curve = reliability_curve(y, p, sample_weight=w)
    assert np.all((curve.lowest <= curve.score) & (curve.score <= curve.highest))
    assert np.all((curve.low >= 0) & (curve.low <= curve.rate + 1e-15) & (curve.rate <= curve.high + 1e-15))
    assert np.all((curve.high <= 1) & (curve.weight > 0))
    assert np.all(np.diff(curve.score) > 0)
    assert curve.rows.sum() == len(y)


def test_the_scale_of_weights_changes_nothing_but_the_weights() -> None:
    y, p, w = [0, 1, 1, 0], [0.2, 0.4, 0.6, 0.8], np.array([1.0, 2, 3, 4])
    one, other = reliability_curve(y, p, sample_weight=w), reliability_curve(y, p, sample_weight=w * 1e9)
    np.testing.assert_allclose(one.low, other.low)
    np.testing.assert_allclose(one.rate, other.rate)


def test_rows_of_weight_0_are_not_there() -> None:
    curve = reliability_curve([1, 0, 1], [0.9, 0.2, 0.4], sample_weight=[0, 1, 1])
    assert curve.score.tolist() == [0.2, 0.4]
    assert curve.rows.sum() == 2
    assert curve.density.edges[-1] == pytest.approx(0.4)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_band_covers_the_true_rate_as_often_as_it_says(weighted: bool) -> None:
    # True scores: in each bin the true rate is the mean score. 400 data sets of 10 bins: 4,000 bands, of which 95 %
    # cover; the standard deviation of that share is 0.34 points, and a bit less than a point is lost or won because
    # counts are whole numbers and rates differ within a bin.
    random = np.random.default_rng(5)
    covered = []
    for _ in range(400):
        p = random.beta(2, 4, 1000)
        y = random.random(1000) < p
        w = random.exponential(size=1000) if weighted else None
        curve = reliability_curve(y, p, sample_weight=w)
        covered.append((curve.low <= curve.score) & (curve.score <= curve.high))
    assert 0.935 <= np.mean(covered) <= 0.965


def test_a_higher_level_gives_a_wider_band() -> None:
    narrow, wide = (reliability_curve([0, 1, 1, 0], [0.4] * 4, confidence=confidence) for confidence in (0.8, 0.99))
    assert wide.low[0] < narrow.low[0] < narrow.high[0] < wide.high[0]


def test_one_row_is_a_curve() -> None:
    curve = reliability_curve([1], [0.3])
    assert (curve.score.tolist(), curve.rate.tolist()) == ([0.3], [1.0])
    assert curve.low[0] < 0.3  # one toss of a coin says little


def test_soft_labels_and_labels_of_any_kind_are_read() -> None:
    assert reliability_curve([0.25, 0.75], [0.4, 0.4]).rate.tolist() == [0.5]
    assert reliability_curve(["no", "yes", "yes", "yes"], [0.4] * 4).rate.tolist() == [0.75]


def test_two_columns_of_predict_proba_are_read() -> None:
    assert reliability_curve([0, 1], np.array([[0.6, 0.4], [0.6, 0.4]])).score.tolist() == [0.4]


def test_what_is_wrong_is_said_in_the_users_own_names() -> None:
    with pytest.raises(TableError, match=r"y_true has 2 rows and y_prob has 3"):
        reliability_curve([0, 1], [0.1, 0.2, 0.3])
    with pytest.raises(TableError, match=r"y_true has 2 rows and sample_weight has 1"):
        reliability_curve([0, 1], [0.1, 0.2], sample_weight=[1])
    with pytest.raises(ScoreError, match=r"y_prob: 1 of 2 scores are outside \[0, 1\]"):
        reliability_curve([0, 1], [0.1, 1.2])
    with pytest.raises(LabelError, match="NaN"):
        reliability_curve([0, np.nan], [0.1, 0.2])
    with pytest.raises(DataError):
        reliability_curve(np.ma.masked_array([0, 1], [False, True]), [0.1, 0.2])
    with pytest.raises(WeightError, match="all 2 weights are zero"):
        reliability_curve([0, 1], [0.1, 0.2], sample_weight=[0, 0])
    with pytest.raises(TableError, match="y_true has no rows"):
        reliability_curve([], [])
    with pytest.raises(LabelError, match="y_true is a int"):
        reliability_curve(1, [0.5])
    with pytest.raises(ParameterError, match="n_bins must be a whole number"):
        reliability_curve([0, 1], [0.1, 0.2], n_bins=0)
    with pytest.raises(ParameterError, match="confidence must lie between 0 and 1"):
        reliability_curve([0, 1], [0.1, 0.2], confidence=95)
