"""Rows whose scores are true, or wrong in one known segment, for statistical tests."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

Floats = npt.NDArray[np.float64]
Kind = Literal["plain", "rare", "ties"]
Rows = tuple[npt.NDArray[np.int64], Floats, dict[str, Any]]


def true_scores(seed: int, n: int = 5_000, kind: Kind = "plain") -> Rows:
    """Labels drawn from scores, the scores, and six features: about 700 segments to depth 3.

    Of rare rows 1.6 % are positive; tied scores are multiples of 0.1.
    """
    rng = np.random.default_rng(seed)
    features = {
        "site": rng.choice(list("uvwxyz"), n, p=[0.35, 0.25, 0.2, 0.1, 0.06, 0.04]),
        "device": rng.choice(["phone", "desktop"], n, p=[0.7, 0.3]),
        "plan": rng.choice(["free", "basic", "pro"], n),
        "income": rng.normal(size=n),
        "tenure": np.where(rng.random(n) < 0.1, np.nan, rng.exponential(size=n)),
        "age": rng.integers(0, 60, n).astype(np.float64),
    }
    logits = rng.normal(size=n) + 0.5 * (features["device"] == "phone") + 0.3 * features["income"]
    scores = 1 / (1 + np.exp(-(logits - (5.05 if kind == "rare" else 0.5))))
    if kind == "ties":
        scores = np.clip(np.round(scores, 1), 0.05, 0.95)
    return (rng.random(n) < scores).astype(np.int64), scores, features


# Segments of 2 % of the rows, made of one, two and three columns.
PLANTED = {
    "region = north": {"region": "north"},
    "device = desktop and plan = pro": {"device": "desktop", "plan": "pro"},
    "device = desktop and browser = y and member = no": {"device": "desktop", "browser": "y", "member": "no"},
}


def scores_wrong_in(words: str, off_by: float, seed: int, n: int = 50_000) -> Rows:
    """Labels, scores and features; the scores are true but in one of the planted segments."""
    rng = np.random.default_rng(seed)
    features = {
        "region": rng.choice(["south", "east", "north"], n, p=[0.5, 0.48, 0.02]),
        "device": rng.choice(["phone", "desktop"], n, p=[0.8, 0.2]),
        "plan": rng.choice(["free", "basic", "pro"], n, p=[0.5, 0.4, 0.1]),
        "income": rng.normal(size=n),
        "browser": rng.choice(["x", "y", "z"], n, p=[0.34, 0.33, 0.33]),
        "member": rng.choice(["yes", "no"], n, p=[0.7, 0.3]),
    }
    scores = 1 / (1 + np.exp(-(0.8 * rng.normal(size=n) - 0.5 + 0.3 * features["income"])))
    inside = np.ones(n, dtype=bool)
    for column, value in PLANTED[words].items():
        inside &= features[column] == value
    truth = np.where(inside, np.clip(scores + off_by, 0.005, 0.995), scores)
    return (rng.random(n) < truth).astype(np.int64), scores, features


def rows_of_users(
    seed: int, n_users: int = 500, rows_per_user: int = 10, off: float = 0.0
) -> tuple[Rows, npt.NDArray[np.int64]]:
    """Rows whose labels are drawn from the scores, but strongly correlated within a user, and the users.

    The scores are true, or too low by `off` where the site is w. Correlated normal numbers are compared with them:
    half of their variance is the user's.
    """
    rng = np.random.default_rng(seed)
    users = np.repeat(np.arange(n_users), rows_per_user)
    of_users = {
        "site": rng.choice(list("uvwxyz"), n_users, p=[0.35, 0.25, 0.2, 0.1, 0.06, 0.04]),
        "plan": rng.choice(["free", "basic", "pro"], n_users),
        "income": rng.normal(size=n_users),
    }
    features = {name: values[users] for name, values in of_users.items()}
    n = len(users)
    features["device"] = rng.choice(["phone", "desktop"], n, p=[0.7, 0.3])
    features["age"] = rng.integers(0, 60, n).astype(np.float64)
    scores = 1 / (1 + np.exp(0.5 - rng.normal(size=n) - 0.3 * features["income"]))
    truth = np.clip(scores + off * (features["site"] == "w"), 0.005, 0.995)
    numbers = np.sqrt(0.5) * (rng.normal(size=n_users)[users] + rng.normal(size=n))
    return ((ndtr(numbers) < truth).astype(np.int64), scores, features), users
