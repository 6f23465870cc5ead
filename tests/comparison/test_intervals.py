"""Intervals of metrics that are not smooth, from halves of the rows or from draws."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trueup.comparison._intervals import Intervals
from trueup.comparison._rows import PairedRows


def intervals(level: float = 0.05, n: int = 100) -> Intervals:
    group = np.arange(n, dtype=np.int32)
    return Intervals(PairedRows(*np.zeros((3, n)), np.ones(n), group, n, False), level)


NOISE, MORE_THAN_NOISE = 0.0, 5.0  # sigmas


@settings(max_examples=100, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    difference=st.floats(-4, 4),
    n_splits=st.integers(100, 130),
    level=st.sampled_from([0.01, 0.05, 0.2]),
    sigmas=st.floats(0, 5),
)
def test_0_is_outside_exactly_if_the_p_value_is_below_the_level(
    seed: int, difference: float, n_splits: int, level: float, sigmas: float
) -> None:
    halves = np.random.default_rng(seed).gamma(2, size=(n_splits, 2))
    for low, high, p_value in (
        intervals(level).of_halves(difference, halves, sigmas),
        intervals(level).around(difference, halves[:, 0]) if n_splits > 2 / level else (0.0, 0.0, 1.0),
    ):
        assert (low > 0 or high < 0) == (p_value < level)


def test_the_p_value_is_the_level_where_an_end_of_the_interval_is_0() -> None:
    drawn = np.random.default_rng(0).gamma(2, size=333)
    low, high, _ = intervals().around(0.0, drawn)
    for difference in (-low, -high):
        assert intervals().around(difference, drawn)[2] == pytest.approx(0.05)
    # With 0 in the middle of the draws, and with 0 beyond all of them.
    assert intervals().around(drawn.mean() - np.median(drawn), drawn)[2] == pytest.approx(1)
    assert intervals().around(100.0, drawn)[2] == pytest.approx(2 / 334)


@pytest.mark.parametrize("sigmas", [NOISE, MORE_THAN_NOISE])
@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 2**32), difference=st.floats(-4, 4))
def test_base_and_candidate_change_places_and_the_interval_is_mirrored(
    sigmas: float, seed: int, difference: float
) -> None:
    halves = np.random.default_rng(seed).gamma(2, size=(100, 2))
    low, high, p_value = intervals().of_halves(difference, halves, sigmas)
    assert intervals().of_halves(-difference, -halves, sigmas) == pytest.approx((-high, -low, p_value))
    assert intervals().of_halves(difference, halves[:, ::-1], sigmas) == pytest.approx((low, high, p_value))


def test_halves_that_err_by_noise_of_opposite_signs_give_the_normal_interval() -> None:
    # Halves of n rows differ from the sample by noise z and -z: half of what they differ by is z, as samples vary.
    noise = np.random.default_rng(0).normal(size=100_000)
    for sigmas in (NOISE, MORE_THAN_NOISE):
        low, high, _ = intervals().of_halves(5.0, np.stack([3 + noise, 3 - noise], axis=1), sigmas)
        assert (low, high) == pytest.approx((5 - 1.96, 5 + 1.96), abs=0.03)


@pytest.mark.parametrize(("sigmas", "variance"), [(1.75, 1.0), (2.25, 1.5), (2.75, 2.0), (9.0, 2.0)])
def test_what_halves_share_counts_the_more_the_clearer_an_error_is(sigmas: float, variance: float) -> None:
    # Independent halves, each of variance 2: half of the difference has variance 1, and so has their mean.
    halves = np.random.default_rng(0).normal(scale=np.sqrt(2), size=(100_000, 2))
    low, high, _ = intervals().of_halves(0.0, halves, sigmas)
    assert (low, high) == pytest.approx((-1.96 * np.sqrt(variance), 1.96 * np.sqrt(variance)), abs=0.05)


def test_the_interval_is_longer_to_the_side_that_halves_lean_to() -> None:
    leaning = np.random.default_rng(0).exponential(size=10_000)
    # Exponential x has mean 1, median 0.693, and quantiles 0.025 and 3.689: three medians of x - 1 are -0.921.
    low, high, _ = intervals().of_halves(0.0, np.stack([leaning, leaning], axis=1), MORE_THAN_NOISE)
    assert (low, high) == pytest.approx((-0.975 + 0.921, 2.689 + 0.921), abs=0.12)
    low, high, _ = intervals().around(0.0, leaning)
    assert (low, high) == pytest.approx((-0.975, 2.689), abs=0.12)


def test_a_split_with_a_half_of_no_weight_is_left_out() -> None:
    halves = np.random.default_rng(0).normal(size=(100, 2))
    with_one = np.concatenate([halves, [[np.nan, 0.3]]])
    assert intervals().of_halves(0.1, with_one, 2.0) == intervals().of_halves(0.1, halves, 2.0)


@pytest.mark.parametrize(("n_splits", "n_groups"), [(0, 100), (100, 1)])
def test_without_splits_or_groups_there_is_no_interval(n_splits: int, n_groups: int) -> None:
    halves = np.ones((n_splits, 2))
    assert np.isnan(intervals(n=n_groups).of_halves(0.1, halves, 2.0)).all()
    assert np.isnan(intervals(n=n_groups).around(0.1, halves[:, 0])).all()
