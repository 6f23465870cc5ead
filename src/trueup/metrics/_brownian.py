"""How far a path of pure noise strays."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

from trueup.metrics._ecce import brownian_range_survival

__all__ = ["brownian_range_quantile", "brownian_reach"]

_TERMS = 40


@cache
def brownian_reach(chance: float) -> float:
    """The distance from 0 within which a standard Brownian motion on [0, 1] stays all the time, with this chance.

    Notes
    -----
    By the reflection principle ``P(sup |B| ≤ x) = 4/π Σ_{k ≥ 0} (-1)^k / (2k + 1) exp(-(2k + 1)² π² / (8 x²))``
    (Feller, "An introduction to probability theory and its applications", volume 2, X.5).
    """
    return _where(_chance_to_stay_within, chance)


@cache
def brownian_range_quantile(chance: float) -> float:
    """The size that the range of a standard Brownian motion on [0, 1] doesn't exceed, with this chance."""
    return _where(lambda x: 1 - brownian_range_survival(x), chance)


def _where(distribution: Callable[[float], float], chance: float) -> float:
    """Where a distribution reaches a chance, by bisection until floats end."""
    low, high = 0.0, 40.0
    while True:
        middle = (low + high) / 2
        if middle in (low, high):
            return middle
        low, high = (middle, high) if distribution(middle) < chance else (low, middle)


def _chance_to_stay_within(x: float) -> float:
    odd = [2 * k + 1 for k in range(_TERMS)]
    signs = [1 - 2 * (k % 2) for k in range(_TERMS)]
    # For large x this series falls slowly; there 1 - 4 Σ ± P(B(1) > (2k + 1) x), the same function, falls at once.
    if x > 1:
        return 1 - 2 * sum(sign * math.erfc(m * x / math.sqrt(2)) for sign, m in zip(signs, odd, strict=True))
    terms = (sign / m * math.exp(-((m * math.pi / x) ** 2) / 8) for sign, m in zip(signs, odd, strict=True))
    return 4 / math.pi * sum(terms)
