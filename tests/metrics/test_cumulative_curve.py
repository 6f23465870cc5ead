"""The cumulative curve: ECCE is its range, thinning keeps what matters, and its band covers the whole of it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trueup.errors import ParameterError
from trueup.metrics import cumulative_curve, ecce, ecce_pvalue, ecce_sigma, ecce_standard_error
from trueup.metrics._brownian import brownian_reach

SCORES = st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.5000001, 0.9, 1.0]) | st.floats(0, 1)
ROWS = st.lists(st.tuples(st.sampled_from([0.0, 1.0]), SCORES, st.integers(1, 4)), min_size=1, max_size=40)
SOFT_ROWS = st.lists(st.tuples(st.floats(0, 1), SCORES, st.floats(0.01, 100)), min_size=1, max_size=30)


def test_the_curve_stops_at_distinct_scores_only() -> None:
    # Scores 0.2, 0.5, 0.5: S = 0, −0.2, −0.2 + (1 − 1) = −0.2; over 3.
    curve = cumulative_curve([1, 0, 0], [0.5, 0.2, 0.5])
    np.testing.assert_allclose(curve.difference, [0, -0.2 / 3, -0.2 / 3])
    np.testing.assert_allclose(curve.share, [0, 1 / 3, 1])
    assert curve.score.tolist() == [0.2, 0.2, 0.5]
    assert (curve.low_at, curve.high_at, curve.n) == (1, 0, 3)


@given(ROWS | SOFT_ROWS)
def test_its_range_is_the_ecce(rows: list[tuple[float, float, float]]) -> None:
    y, p, w = map(np.array, zip(*rows, strict=True))
    curve = cumulative_curve(y, p, sample_weight=w)
    assert curve.ecce == ecce(y, p, sample_weight=w)
    assert curve.sigma == ecce_standard_error(y, p, sample_weight=w)
    assert curve.ecce_sigma == ecce_sigma(y, p, sample_weight=w)
    assert curve.p_value == ecce_pvalue(y, p, sample_weight=w)
    drawn = curve.difference[curve.high_at] - curve.difference[curve.low_at]
    assert drawn == pytest.approx(curve.ecce, abs=4e-16)
    assert (curve.difference[curve.low_at], curve.difference[curve.high_at]) == (
        curve.difference.min(),
        curve.difference.max(),
    )


@given(ROWS)
def test_a_weight_is_a_number_of_equal_rows(rows: list[tuple[float, float, int]]) -> None:
    y, p, w = map(np.array, zip(*rows, strict=True))
    weighted, repeated = cumulative_curve(y, p, sample_weight=w), cumulative_curve(np.repeat(y, w), np.repeat(p, w))
    np.testing.assert_allclose(weighted.difference, repeated.difference, atol=1e-12)
    np.testing.assert_allclose(weighted.share, repeated.share)
    np.testing.assert_array_equal(weighted.score, repeated.score)


@given(ROWS)
def test_it_ends_at_the_mean_error(rows: list[tuple[float, float, int]]) -> None:
    y, p, w = map(np.array, zip(*rows, strict=True))
    curve = cumulative_curve(y, p, sample_weight=w)
    assert (curve.difference[0], curve.share[0], curve.share[-1]) == (0, 0, 1)
    assert curve.difference[-1] == pytest.approx(np.average(y - p, weights=w), abs=1e-12)
    assert np.all(np.diff(curve.share) > 0)


@given(st.integers(0, 2**32 - 1), st.integers(1, 300), st.integers(4, 60))
def test_thinning_keeps_the_ends_and_the_extremes_and_adds_nothing(seed: int, n: int, max_points: int) -> None:
    random = np.random.default_rng(seed)
    p = random.random(n) ** 2
    y = random.random(n) < random.random(n)
    whole, thin = cumulative_curve(y, p), cumulative_curve(y, p, max_points=max_points)
    assert len(thin) <= max_points
    kept = np.searchsorted(whole.share, thin.share)
    np.testing.assert_array_equal(whole.share[kept], thin.share)
    np.testing.assert_array_equal(whole.difference[kept], thin.difference)
    np.testing.assert_array_equal(whole.score[kept], thin.score)
    assert (kept[0], kept[-1]) == (0, len(whole) - 1)
    assert thin.difference[thin.low_at] == whole.difference[whole.low_at]
    assert thin.difference[thin.high_at] == whole.difference[whole.high_at]
    assert (thin.ecce, thin.sigma, thin.n) == (whole.ecce, whole.sigma, whole.n)


def test_a_thin_curve_is_close_to_the_whole_one_everywhere() -> None:
    random = np.random.default_rng(0)
    p = random.random(100_000)
    y = random.random(100_000) < p**1.1
    whole, thin = cumulative_curve(y, p), cumulative_curve(y, p, max_points=400)
    # 198 stretches of 505 rows: within one, noise moves the curve by about √505 · 0.4 / 100,000 = 0.0001.
    assert np.abs(np.interp(whole.share, thin.share, thin.difference) - whole.difference).max() < 0.0004


def test_rows_of_weight_0_are_not_there() -> None:
    curve = cumulative_curve([1, 0, 1], [0.1, 0.2, 0.4], sample_weight=[0, 1, 1])
    assert curve.n == 2
    np.testing.assert_allclose(curve.difference, [0, -0.1, 0.2])


def test_one_row_and_constant_scores_are_curves() -> None:
    assert cumulative_curve([1], [0.25]).difference.tolist() == [0, 0.75]
    constant = cumulative_curve([0, 1, 1, 1], [0.5] * 4)
    assert (constant.share.tolist(), constant.difference.tolist()) == ([0, 1], [0, 0.25])
    certain = cumulative_curve([1, 0], [1.0, 0.0])
    assert (certain.ecce, certain.sigma, certain.band, certain.p_value) == (0, 0, 0, 1)


@pytest.mark.parametrize(("level", "reach"), [(0.9, 1.95996), (0.95, 2.24140), (0.99, 2.80703)])
def test_the_reach_of_brownian_motion_is_the_known_one(level: float, reach: float) -> None:
    # For large x the chance to leave is 2 P(|B(1)| > x), so that the 95 % reach is nearly the normal's 97.5 %.
    assert brownian_reach(level) == pytest.approx(reach, abs=2e-5)


@pytest.mark.parametrize("level", [1e-9, 0.1, 0.37, 0.3708, 0.5, 0.9, 0.999])
def test_the_reach_solves_the_series_of_the_other_side(level: float) -> None:
    # With enough terms, Feller's series gives the chance to stay within x for any x; above 1 the code sums another.
    x = brownian_reach(level)
    terms = [(-1) ** k / (2 * k + 1) * math.exp(-(((2 * k + 1) * math.pi / x) ** 2) / 8) for k in range(200)]
    assert 4 / math.pi * sum(terms) == pytest.approx(level, rel=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
def test_true_scores_stay_within_the_band_as_often_as_it_says(weighted: bool) -> None:
    # 1,000 paths at 90 %: the standard deviation is 0.95 points. The walk misses its extremes between rows by about
    # 0.58 steps of 1/√3000 = 0.018 sigmas, which adds half a point: 89 to 93 in a hundred and a bit.
    random = np.random.default_rng(1)
    inside = []
    for _ in range(1000):
        p = random.beta(2, 5, 3000)
        y = random.random(3000) < p
        w = random.choice([1.0, 2.0, 3.0], 3000) if weighted else None
        curve = cumulative_curve(y, p, sample_weight=w, confidence=0.9)
        inside.append(np.abs(curve.difference).max() <= curve.band)
    assert 0.875 <= np.mean(inside) <= 0.935


def test_bad_options_are_named() -> None:
    with pytest.raises(ParameterError, match="max_points must be at least 4, or None for all; got 3"):
        cumulative_curve([0, 1], [0.1, 0.2], max_points=3)
    with pytest.raises(ParameterError, match="confidence must lie between 0 and 1"):
        cumulative_curve([0, 1], [0.1, 0.2], confidence=True)


@given(ROWS)
def test_the_ecce_exceeds_what_noise_makes_just_when_its_p_value_is_small(rows: list[tuple[float, float, int]]) -> None:
    y, p, w = map(np.array, zip(*rows, strict=True))
    for level in (0.5, 0.95):
        curve = cumulative_curve(y, p, sample_weight=w, confidence=level)
        if abs(curve.p_value - (1 - level)) > 1e-9:
            assert (curve.ecce > curve.noise) == (curve.p_value < 1 - level)


def test_the_range_of_noise_is_the_known_one() -> None:
    # Above 2.4977 sigmas one time in twenty.
    fair = cumulative_curve([0, 1] * 50, [0.5] * 100)
    assert fair.noise / fair.sigma == pytest.approx(2.4977, abs=1e-4)
    assert fair.band / fair.sigma == pytest.approx(2.2414, abs=1e-4)
