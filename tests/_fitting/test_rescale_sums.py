"""A rescaling from sums: rows may be anywhere, as long as somebody adds up."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trueup import _native
from trueup._fitting import LOGIT_LIMIT, Rescaling, fit_rescaling, fit_theta, rescaling_from_sums, theta_from_sums


def rows(seed: int, n: int = 400) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=n) * 2
    labels = (rng.random(n) < 1 / (1 + np.exp(-(0.6 * logits + 0.3)))).astype(float)
    return logits, labels, rng.integers(1, 4, n) / 2


@given(st.integers(0, 2**32 - 1), st.lists(st.integers(0, 400), max_size=3))
def test_sums_over_parts_give_the_rescaling_of_all_rows(seed: int, cuts: list[int]) -> None:
    logits, labels, weights = rows(seed)
    parts = [
        (some, of_some, of_weights)
        for some, of_some, of_weights in zip(
            *(np.split(array, sorted(cuts)) for array in (logits, labels, weights)), strict=True
        )
        if len(some)
    ]

    def affine(theta: float, intercept: float) -> np.ndarray:
        """The loss of all parts and its derivatives."""
        return np.sum([_native.affine_sums(*part, theta, intercept, LOGIT_LIMIT, 1) for part in parts], axis=0)

    def scaled(theta: float) -> tuple[float, float]:
        """The derivatives of all parts' loss."""
        first, second = np.sum([_native.logistic_sums(*part, theta, LOGIT_LIMIT, 1) for part in parts], axis=0)
        return float(first), float(second)

    ours, theirs = rescaling_from_sums(affine), fit_rescaling(logits, labels, weights)
    assert ours.theta == pytest.approx(theirs.theta, rel=1e-9)
    assert ours.shift == pytest.approx(theirs.shift, rel=1e-9, abs=1e-9)
    assert theta_from_sums(scaled) == pytest.approx(fit_theta(logits, labels, weights), rel=1e-9)


def test_a_loss_that_does_not_depend_on_theta_leaves_all_as_it_is() -> None:
    assert theta_from_sums(lambda theta: (0.0, 0.0)) == 1.0
    assert rescaling_from_sums(lambda theta, intercept: (1.0, 0.0, 0.0, 0.0, 0.0, 0.0)) == Rescaling(1.0, 0.0)


def test_theta_of_a_parabola_is_at_its_foot() -> None:
    # (theta - 3)², of which the derivatives are 2 (theta - 3) and 2.
    assert theta_from_sums(lambda theta: (2 * (theta - 3), 2.0)) == pytest.approx(3.0)
    assert theta_from_sums(lambda theta: (2 * (theta - 30), 2.0)) == pytest.approx(10.0)  # the most it may be
