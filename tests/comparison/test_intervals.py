"""Intervals of metrics that are not smooth, from halves of the rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trueup.comparison._input import PairedRows
from trueup.comparison._intervals import Intervals


def intervals(level: float = 0.05, n: int = 100) -> Intervals:
    cluster = np.arange(n, dtype=np.int32)
    return Intervals(PairedRows(*np.zeros((3, n)), np.ones(n), cluster, n, False), level)


@settings(max_examples=100, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    difference=st.floats(-4, 4),
    n_splits=st.integers(100, 130),
    level=st.sampled_from([0.01, 0.05, 0.2]),
)
def test_0_is_outside_exactly_if_the_p_value_is_at_most_the_level(
    seed: int, difference: float, n_splits: int, level: float
) -> None:
    halves = np.random.default_rng(seed).gamma(2, size=(n_splits, 2))
    low, high, p_value = intervals(level).of_halves(difference, halves)
    assert (low > 0 or high < 0) == (p_value <= level)


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 2**32), difference=st.floats(-4, 4))
def test_base_and_candidate_change_places_and_the_interval_is_mirrored(seed: int, difference: float) -> None:
    halves = np.random.default_rng(seed).gamma(2, size=(100, 2))
    low, high, p_value = intervals().of_halves(difference, halves)
    assert intervals().of_halves(-difference, -halves) == pytest.approx((-high, -low, p_value))
    assert intervals().of_halves(difference, halves[:, ::-1]) == pytest.approx((low, high, p_value))


def test_halves_that_err_by_noise_of_opposite_signs_give_the_normal_interval() -> None:
    # Halves of n rows differ from the sample by noise z and -z: half of what they differ by is z, as samples vary.
    noise = np.random.default_rng(0).normal(size=100_000)
    low, high, _ = intervals().of_halves(5.0, np.stack([3 + noise, 3 - noise], axis=1))
    assert (low, high) == pytest.approx((5 - 1.96, 5 + 1.96), abs=0.03)


def test_what_halves_share_counts_with_half_of_its_variance() -> None:
    # Independent halves, each of variance 2: half of the difference has variance 1, their mean has 1, and half of that.
    halves = np.random.default_rng(0).normal(scale=np.sqrt(2), size=(100_000, 2))
    low, high, _ = intervals().of_halves(0.0, halves)
    assert (low, high) == pytest.approx((-1.96 * np.sqrt(1.5), 1.96 * np.sqrt(1.5)), abs=0.05)


def test_the_interval_is_longer_to_the_side_that_halves_lean_to() -> None:
    leaning = np.random.default_rng(0).exponential(size=10_000)
    halves = np.stack([leaning, leaning], axis=1)
    # √½ (x - 1) of exponential x has its median at -0.217 and quantiles at -0.689 and 1.901.
    low, high, _ = intervals().of_halves(0.0, halves)
    assert (low, high) == pytest.approx((-0.689 + 0.651, 1.901 + 0.651), abs=0.1)
    low, high, _ = intervals().of_halves(0.0, halves, "mean")
    assert (low, high) == pytest.approx((-0.689, 1.901), abs=0.1)


def test_a_split_with_a_half_of_no_weight_is_left_out() -> None:
    halves = np.random.default_rng(0).normal(size=(100, 2))
    with_one = np.concatenate([halves, [[np.nan, 0.3]]])
    assert intervals().of_halves(0.1, with_one) == intervals().of_halves(0.1, halves)


@pytest.mark.parametrize(("n_splits", "n_clusters"), [(0, 100), (100, 1)])
def test_without_splits_or_clusters_there_is_no_interval(n_splits: int, n_clusters: int) -> None:
    assert np.isnan(intervals(n=n_clusters).of_halves(0.1, np.ones((n_splits, 2)))).all()
