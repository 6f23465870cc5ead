"""Where the scores are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trueup.errors import ParameterError, TableError
from trueup.metrics import reliability_curve, score_density


def test_shares_are_of_the_weight() -> None:
    # Bins [0, 0.25), [0.25, 0.5), [0.5, 0.75), [0.75, 1]: weights 1, 0, 2, 5 of 8.
    density = score_density([0.0, 0.5, 1.0, 0.9], sample_weight=[1, 2, 4, 1], n_bins=4)
    assert density.share.tolist() == [0.125, 0, 0.25, 0.625]
    assert density.middle.tolist() == [0.125, 0.375, 0.625, 0.875]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_shares_add_up_to_one_and_bins_hold_all_scores(scores: list[float]) -> None:
    density = score_density(scores, n_bins=7)
    assert density.share.sum() == pytest.approx(1)
    assert 0 <= density.edges[0] <= min(scores)
    assert max(scores) <= density.edges[-1] <= 1
    assert np.all(np.diff(density.edges) > 0)


@pytest.mark.parametrize("score", [0.0, 0.3, 1.0])
def test_scores_that_are_all_the_same_have_a_bin(score: float) -> None:
    density = score_density([score] * 5, n_bins=3)
    assert density.share.max() == 1
    assert density.edges[-1] - density.edges[0] == pytest.approx(0.01)


def test_a_quantile_is_the_border_up_to_which_the_weight_lies() -> None:
    density = score_density([0.0, 0.1, 0.2, 1.0], n_bins=4)
    assert density.quantile(0.75) == 0.25
    assert density.quantile(0.76) == 1
    assert density.quantile(1) == 1
    assert density.quantile(0) == 0.25


def test_a_reliability_curve_carries_the_same_density() -> None:
    p, w = [0.2, 0.4, 0.9], [1, 2, 3]
    carried, own = reliability_curve([0, 1, 1], p, sample_weight=w).density, score_density(p, sample_weight=w)
    np.testing.assert_array_equal(carried.share, own.share)
    np.testing.assert_array_equal(carried.edges, own.edges)


def test_bad_input_is_named() -> None:
    with pytest.raises(TableError, match="y_prob has no rows"):
        score_density([])
    with pytest.raises(TableError, match="y_prob has 2 rows and sample_weight has 1"):
        score_density([0.1, 0.2], sample_weight=[1])
    with pytest.raises(ParameterError, match="n_bins"):
        score_density([0.1], n_bins=0)
