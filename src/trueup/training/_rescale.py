"""The factor theta that a round's logits are multiplied by."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from trueup import _native

__all__ = ["LOGIT_LIMIT", "THETA_MAX", "fit_theta"]

LOGIT_LIMIT = 10.0  # logits beyond it are cut off for this fit only: a few certain rows must not decide
THETA_MAX = 10.0
_TOLERANCE = 1e-12
_MAX_ITERATIONS = 100

Floats = npt.NDArray[np.float64]


def fit_theta(logits: Floats, labels: Floats, weights: Floats | None = None, n_threads: int = 1) -> float:
    """The theta in [0, 10] with the least weighted log loss of ``theta * logits``.

    The loss is convex in theta, so its derivative has one zero: Newton's steps, and a bisection wherever a
    step would leave the interval that is known to hold the zero or gains too little.

    Parameters
    ----------
    logits, labels : float64 arrays
        What is rescaled, and what happened.
    weights : float64 array, optional
        Sample weights.
    n_threads : int
        Threads for the sums; the result does not depend on it.

    Returns
    -------
    float
        Theta; 1 if the loss does not depend on it.

    Examples
    --------
    Three of four rows with a logit of 2 ln 3 are positive, so it should have been ln 3:

    >>> import numpy as np
    >>> round(fit_theta(np.full(4, 2 * np.log(3)), np.array([1.0, 1.0, 1.0, 0.0])), 6)
    0.5
    """
    low, high = 0.0, THETA_MAX
    theta = 1.0
    for _ in range(_MAX_ITERATIONS):
        _, gradient, hessian = _native.logistic_sums(logits, labels, weights, theta, LOGIT_LIMIT, n_threads)
        if gradient == 0.0:
            return theta
        low, high = (theta, high) if gradient < 0 else (low, theta)
        step = theta - gradient / hessian if hessian > 0 else math.nan
        proposed = step if low < step < high else (low + high) / 2
        if abs(proposed - theta) <= _TOLERANCE or high - low <= _TOLERANCE:
            return proposed
        theta = proposed
    return theta
