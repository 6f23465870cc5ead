"""How far a path of pure noise strays."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache

# Both series of the range's distribution converge for every x; here each needs fewer than so many terms on its side.
_RANGE_TERMS, _SERIES_SWITCH = 8, 2.0
_CERTAIN_BELOW = 0.3  # here the chance to stay below is under 1e-21, less than a float64 near 1 can show
_REACH_TERMS = 40


def brownian_range_survival(x: float) -> float:
    """Chance that the range of a standard Brownian motion on [0, 1] exceeds x.

    Feller's series, in `ecce_pvalue`, gives F and is best for small x. For large x, 1 - F would cancel to noise;
    integrating his density ``8 Σ_{k ≥ 1} (-1)^(k-1) k² φ(k r)`` from x to infinity gives it to full precision:
    ``1 - F(x) = 4 Σ_{k ≥ 1} (-1)^(k-1) k erfc(k x / √2)``.
    """
    if x < _CERTAIN_BELOW:
        return 1.0
    if x < _SERIES_SWITCH:
        squares = [((k + 0.5) * math.pi) ** 2 for k in range(_RANGE_TERMS)]
        below = sum((8 / x**2 + 2 / square) * math.exp(-2 * square / x**2) for square in squares)
        return min(1.0, max(0.0, 1 - below))
    tails = [k * math.erfc(k * x / math.sqrt(2)) for k in range(1, _RANGE_TERMS + 1)]
    return min(1.0, max(0.0, 4 * (sum(tails[0::2]) - sum(tails[1::2]))))


@cache
def brownian_reach(chance: float) -> float:
    """The distance from 0 within which a standard Brownian motion on [0, 1] always stays, with this chance.

    By the reflection principle ``P(sup |B| ≤ x) = 4/π Σ_{k ≥ 0} (-1)^k / (2k + 1) exp(-(2k + 1)² π² / (8 x²))``
    (Feller, "An introduction to probability theory and its applications", volume 2, X.5).
    """
    return _where(_chance_to_stay_within, chance)


@cache
def brownian_range_quantile(chance: float) -> float:
    """The size that the range of a standard Brownian motion on [0, 1] does not exceed, with this chance."""
    return _where(lambda x: 1 - brownian_range_survival(x), chance)


def _where(distribution: Callable[[float], float], chance: float) -> float:
    """Where a distribution reaches a chance, by bisection down to neighbouring floats."""
    low, high = 0.0, 40.0
    while True:
        middle = (low + high) / 2
        if middle in (low, high):
            return middle
        low, high = (middle, high) if distribution(middle) < chance else (low, middle)


def _chance_to_stay_within(x: float) -> float:
    odd = [2 * k + 1 for k in range(_REACH_TERMS)]
    signs = [1 - 2 * (k % 2) for k in range(_REACH_TERMS)]
    # For large x this series converges slowly, and 1 - 4 Σ ± P(B(1) > (2k + 1) x), the same function, at once.
    if x > 1:
        return 1 - 2 * sum(sign * math.erfc(m * x / math.sqrt(2)) for sign, m in zip(signs, odd, strict=True))
    terms = (sign / m * math.exp(-((m * math.pi / x) ** 2) / 8) for sign, m in zip(signs, odd, strict=True))
    return 4 / math.pi * sum(terms)
