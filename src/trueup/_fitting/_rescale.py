"""Rescale a round's logits: move them by a shift and multiply them by theta."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from trueup import _native

# Rows with logits beyond this limit count less in this fit, so that a few wrong rows with near-certain scores don't
# decide it. Their logits are not cut off, because then rows that are right would look wrong.
LOGIT_LIMIT = 10.0
THETA_MAX = 10.0
THETA_MIN = 0.01  # only with a shift, because the shift is divided by theta
_TOLERANCE = 1e-12
_MAX_ITERATIONS = 100
_MAX_HALVINGS = 40
_ROUNDING = 1e-14  # near the minimum, a step changes the loss by less than its last digits
_SINGULAR = 1e-12  # below this, all logits are the same, and theta and shift can't be told apart

Floats = npt.NDArray[np.float64]


def fit_theta(logits: Floats, labels: Floats, weights: Floats | None = None, n_threads: int = 1) -> float:
    """The theta in [0, 10] with the least weighted log loss of ``theta * logits``.

    The loss is convex in theta, so its derivative has one zero. It is found by Newton's method, with a bisection
    whenever a step would leave the interval that holds the zero.

    Examples
    --------
    Three of four rows with a logit of 2 ln 3 are positive, so it should have been ln 3:

    >>> import numpy as np
    >>> round(fit_theta(np.full(4, 2 * np.log(3)), np.array([1.0, 1.0, 1.0, 0.0])), 6)
    0.5
    """
    return theta_from_sums(lambda theta: _native.logistic_sums(logits, labels, weights, theta, LOGIT_LIMIT, n_threads))


def theta_from_sums(sums: Callable[[float], tuple[float, float]]) -> float:
    """The theta in [0, 10] with the least loss, from its first two derivatives, wherever the rows are."""
    low, high = 0.0, THETA_MAX
    theta = 1.0
    for _ in range(_MAX_ITERATIONS):
        gradient, hessian = sums(theta)
        if gradient == 0.0:
            return theta
        low, high = (theta, high) if gradient < 0 else (low, theta)
        step = theta - gradient / hessian if hessian > 0 else math.nan
        if abs(step - theta) <= _TOLERANCE and low <= step <= high:
            return step
        proposed = step if low < step < high else (low + high) / 2
        if abs(proposed - theta) <= _TOLERANCE or high - low <= _TOLERANCE:
            return proposed
        theta = proposed
    return theta


@dataclass(frozen=True)
class Rescaling:
    """What happens to the logits of a round: ``theta * (logits + correction + shift)``."""

    theta: float = 1.0
    shift: float = 0.0


def fit_rescaling(logits: Floats, labels: Floats, weights: Floats | None = None, n_threads: int = 1) -> Rescaling:
    """The theta in [0.01, 10] and the shift with the least weighted log loss of ``theta * (logits + shift)``.

    The loss is convex in theta and in theta times shift, so Newton's method finds both; steps are halved until the loss
    falls.

    Examples
    --------
    A quarter of the rows at 50 % is positive, and three quarters of those at 90 %:

    >>> import numpy as np
    >>> logits = np.repeat([0.0, np.log(9)], 4)
    >>> fitted = fit_rescaling(logits, np.array([1.0, 0, 0, 0, 1, 1, 1, 0]))
    >>> round(fitted.theta, 6), round(fitted.shift, 6)
    (1.0, -1.098612)
    """

    def sums(theta: float, intercept: float) -> tuple[float, ...]:
        """The loss and its derivatives."""
        return _native.affine_sums(logits, labels, weights, theta, intercept, LOGIT_LIMIT, n_threads)

    return rescaling_from_sums(sums)


def rescaling_from_sums(sums: Callable[[float, float], Sequence[float]]) -> Rescaling:
    """The theta and the shift with the least loss, wherever the rows are.

    For a theta and an intercept, `sums` gives the loss, its first derivatives, and its second derivatives.
    """
    theta, intercept = 1.0, 0.0
    loss, *slopes = sums(theta, intercept)
    for _ in range(_MAX_ITERATIONS):
        step = _newton_step(theta, slopes)
        if max(map(abs, step)) <= _TOLERANCE:
            break
        for halving in range(_MAX_HALVINGS):
            factor = 0.5**halving
            proposed = (
                min(max(theta - factor * step[0], THETA_MIN), THETA_MAX),
                min(max(intercept - factor * step[1], -LOGIT_LIMIT), LOGIT_LIMIT),  # matters if there is one class
            )
            new_loss, *new_slopes = sums(*proposed)
            if new_loss <= loss + _ROUNDING * abs(loss):
                break
        else:
            break
        (theta, intercept), loss, slopes = proposed, new_loss, new_slopes
    return Rescaling(theta, intercept / theta)


def _newton_step(theta: float, slopes: list[float]) -> tuple[float, float]:
    """What to subtract from theta and from the intercept. Theta stays if the step would lead out of its bounds."""
    g_theta, g_intercept, h_theta, h_mixed, h_intercept = slopes
    determinant = h_theta * h_intercept - h_mixed**2
    if determinant > _SINGULAR * h_theta * h_intercept:
        step = (h_intercept * g_theta - h_mixed * g_intercept) / determinant
        if THETA_MIN < theta < THETA_MAX or THETA_MIN < theta - step < THETA_MAX:
            return step, (h_theta * g_intercept - h_mixed * g_theta) / determinant
    return 0.0, g_intercept / h_intercept if h_intercept > 0 else 0.0
