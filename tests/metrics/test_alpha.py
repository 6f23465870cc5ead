"""The multicalibration error and alpha are one: MCE = alpha sqrt(n), with alpha by its definition."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import trueup
from trueup.metrics import multicalibration_error


def alpha_by_definition(y: np.ndarray, p: np.ndarray, groups: dict[str, np.ndarray]) -> float:
    """The largest |E h g (y - p)| / sqrt(E h p (1 - p)) over groups h and intervals g of scores, one by one."""
    worst = 0.0
    for mask in groups.values():
        scale = math.sqrt(float(np.mean(mask * p * (1 - p))))
        for low in np.unique(p):
            for high in np.unique(p):
                inside = mask & (low <= p) & (p <= high)
                worst = max(worst, abs(float(np.mean(inside * (y - p)))) / scale)
    return worst


def test_alpha_is_the_mce_over_the_root_of_the_rows_on_an_example() -> None:
    # 16 rows of one half, all positive: E h g (y - p) is 16/32 * 1/2 for the first half, and its scale is
    # sqrt(16/32 * 1/4), so alpha = (1/4) / sqrt(1/8) = 1/sqrt(2); and the MCE is sqrt(32) times that, 4.
    y, p = np.repeat([1, 0], 16), np.full(32, 0.5)
    groups = {"first": np.arange(32) < 16}
    assert alpha_by_definition(y, p, groups) == pytest.approx(1 / math.sqrt(2))
    assert multicalibration_error(y, p, segments=groups, unit="alpha") == pytest.approx(1 / math.sqrt(2))
    assert multicalibration_error(y, p, segments=groups) == pytest.approx(4.0)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(5, 60), n_scores=st.integers(1, 8))
def test_alpha_is_that_of_the_definition(seed: int, n: int, n_scores: int) -> None:
    rng = np.random.default_rng(seed)
    p = rng.choice(np.round(rng.uniform(0.05, 0.95, n_scores), 2), n)
    y = rng.integers(0, 2, n)
    groups = {name: rng.random(n) < share for name, share in (("a", 0.5), ("b", 0.8), ("c", 0.3))}
    groups = {name: mask for name, mask in groups.items() if mask.any()} | {"all": np.ones(n, dtype=bool)}
    expected = alpha_by_definition(y, p, groups)
    options = {"segments": groups, "min_rows": 1, "min_variance": 0}
    assert multicalibration_error(y, p, unit="alpha", **options) == pytest.approx(expected)
    assert multicalibration_error(y, p, **options) == pytest.approx(expected * math.sqrt(n))


def test_the_audit_says_the_same() -> None:
    rng = np.random.default_rng(1)
    X = {"city": rng.choice(list("ab"), 400), "plan": rng.choice(list("xyz"), 400)}
    p = rng.choice([0.2, 0.4, 0.7], 400)
    y = (rng.random(400) < np.clip(p + 0.2 * (X["city"] == "a"), 0, 1)).astype(int)
    result = trueup.audit(X, y, p, max_depth=1, min_variance=0, null_samples=20)
    groups = {f"{name} {value}": X[name] == value for name in X for value in np.unique(X[name])}
    groups["all"] = np.ones(400, dtype=bool)
    assert result.alpha == pytest.approx(alpha_by_definition(y, p, groups))
    assert result.mce == pytest.approx(result.alpha * math.sqrt(400))
