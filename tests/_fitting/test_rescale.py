"""Theta is the argument of the least loss."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.special import expit

from trueup._fitting import fit_rescaling, fit_theta
from trueup._fitting._rescale import LOGIT_LIMIT, THETA_MAX, THETA_MIN


def share_of(logits: np.ndarray) -> np.ndarray:
    """What rows count: less beyond the limit."""
    return np.minimum(1.0, LOGIT_LIMIT / np.abs(logits))


def test_overconfident_logits_are_halved() -> None:
    # Three of four rows at logit 2 ln 3 are positive: the right logit is ln 3.
    assert abs(fit_theta(np.full(4, 2 * np.log(3)), np.array([1.0, 1, 1, 0])) - 0.5) < 1e-9


def test_weights_count_as_repetitions() -> None:
    logits, labels = np.array([1.0, 1.0, -2.0]), np.array([1.0, 0.0, 0.0])
    weighted = fit_theta(logits, labels, np.array([2.0, 1.0, 3.0]))
    repeated = fit_theta(np.repeat(logits, [2, 1, 3]), np.repeat(labels, [2, 1, 3]))
    assert abs(weighted - repeated) < 1e-9


def test_logits_of_zero_say_nothing_and_theta_stays_one() -> None:
    assert fit_theta(np.zeros(10), np.ones(10)) == 1.0


def test_separable_rows_reach_the_bound_and_no_further() -> None:
    assert abs(fit_theta(np.array([-1.0, 1.0]), np.array([0.0, 1.0])) - THETA_MAX) < 1e-6


def test_logits_that_point_the_wrong_way_are_switched_off_not_turned_around() -> None:
    assert abs(fit_theta(np.array([-1.0, 1.0]), np.array([1.0, 0.0]))) < 1e-6


@given(st.integers(0, 2**32), st.integers(3, 400), st.floats(0.3, 6), st.booleans())
def test_theta_agrees_with_scipys_minimiser(seed: int, n: int, spread: float, weighted: bool) -> None:
    rng = np.random.default_rng(seed)
    logits = spread * rng.normal(size=n)
    labels = (rng.random(n) < 1 / (1 + np.exp(-0.8 * logits))).astype(float)
    weights = rng.random(n) + 0.01 if weighted else None
    counted = share_of(logits) * (1.0 if weights is None else weights)

    def slope_squared(theta: float) -> float:
        # Of the loss itself a minimiser sees only half of the digits; of its slope, all.
        return float(np.average((expit(theta * logits) - labels) * logits, weights=counted)) ** 2

    def loss(theta: float) -> float:
        z = theta * logits
        return float(np.average(np.logaddexp(0, z) - labels * z, weights=counted))

    theta = fit_theta(logits, labels, weights)
    rough = minimize_scalar(loss, bounds=(0, THETA_MAX), method="bounded", options={"xatol": 1e-12}).x
    assert loss(theta) <= loss(rough) + 1e-12
    if 1e-3 < theta < THETA_MAX - 1e-3:
        low, high = max(0, theta - 0.01), theta + 0.01
        exact = minimize_scalar(slope_squared, bounds=(low, high), method="bounded", options={"xatol": 1e-12}).x
        assert abs(theta - exact) < 1e-6


def test_a_rescaling_moves_the_mean_and_the_spread() -> None:
    # A quarter of the rows at logit 0 is positive, three quarters of those at ln 9: they should be -ln 3 and ln 3.
    fitted = fit_rescaling(np.repeat([0.0, np.log(9)], 4), np.array([1.0, 0, 0, 0, 1, 1, 1, 0]))
    assert abs(fitted.theta - 1) < 1e-9
    assert abs(fitted.shift + np.log(3)) < 1e-9


def test_rows_of_one_class_are_moved_no_further_than_the_limit() -> None:
    fitted = fit_rescaling(np.zeros(10), np.ones(10))
    assert fitted.theta == 1
    assert fitted.shift == LOGIT_LIMIT


def test_logits_that_point_the_wrong_way_are_all_but_switched_off() -> None:
    fitted = fit_rescaling(np.array([-1.0, 1.0]), np.array([1.0, 0.0]))
    assert fitted.theta == THETA_MIN
    assert abs(fitted.shift) < 1e-6


@given(st.integers(0, 2**32), st.integers(8, 400), st.floats(0.3, 6), st.floats(-3, 3), st.booleans())
def test_a_rescaling_has_no_slope_left(seed: int, n: int, spread: float, centre: float, weighted: bool) -> None:
    rng = np.random.default_rng(seed)
    logits = spread * rng.normal(size=n) + centre
    labels = (rng.random(n) < expit(0.8 * logits - 0.4)).astype(float)
    weights = rng.random(n) + 0.01 if weighted else None
    fitted = fit_rescaling(logits, labels, weights)
    intercept = fitted.theta * fitted.shift
    if not (THETA_MIN < fitted.theta < THETA_MAX and abs(intercept) < LOGIT_LIMIT):
        return  # at a bound a slope may be left
    counted = share_of(logits) * (1.0 if weights is None else weights)
    residuals = expit(fitted.theta * logits + intercept) - labels
    assert abs(np.average(residuals, weights=counted)) < 1e-8
    assert abs(np.average(residuals * logits, weights=counted)) < 1e-7


def test_logits_beyond_the_limit_that_are_right_are_not_taken_for_wrong_ones() -> None:
    # Labels are the very probabilities. Cut off at -10, most rows would look too likely, and theta be larger than 1.
    logits = np.linspace(-20, -8, 1001)
    fitted = fit_rescaling(logits, expit(logits))
    assert abs(fitted.theta - 1) < 1e-9
    assert abs(fitted.shift) < 1e-9


def test_a_wrong_row_of_a_logit_of_700_pulls_at_theta_no_more_than_one_of_10() -> None:
    logits, labels = np.tile([-1.0, 1.0], 500), np.tile([0.0, 0, 1, 1, 0, 1, 0, 1], 125)
    thetas = [fit_theta(np.append(logits, far), np.append(labels, 1.0)) for far in (-10.0, -700.0)]
    assert abs(thetas[0] - thetas[1]) < 0.02
