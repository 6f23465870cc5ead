"""Two models of one truth, for statistical tests of comparisons."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from simulated import true_scores

Floats = npt.NDArray[np.float64]
Kind = Literal["noisy", "rare", "skewed", "low", "grouped"]


class Pair(NamedTuple):
    """Labels, the scores of two models, features, and groups if there are any."""

    y: npt.NDArray[np.int64]
    base: Floats
    candidate: Floats
    X: dict[str, Any]
    groups: npt.NDArray[np.int64] | None = None


def sigmoid(logits: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-logits)))


def logit(scores: Floats) -> Floats:
    return np.asarray(np.log(scores / (1 - scores)))


def equal_models(seed: int, n: int = 5_000, kind: Kind = "noisy") -> Pair:
    """Two models that are equally good in every segment, though their scores differ.

    Noisy ones each add noise of their own to the true logits, of 45 % positives, or 1.6 % if rare. Of skewed ones,
    the base is always too low and the candidate too high, each costing the same, with 1.6 % positives. Low ones add
    noise to logits that are too low by 1 all over, so that there are 2.7 times the positives that they promise.
    Clustered ones err together for ten rows at a time, whose labels agree more than chance has it.
    """
    rng = np.random.default_rng([seed, 1])
    labels, truth, X = true_scores(seed, n, "rare" if kind in ("rare", "skewed", "low") else "plain")
    if kind == "skewed":
        return Pair(labels, *_around(truth, 0.8), X)
    if kind == "grouped":
        groups = np.arange(n) // 10
        X = {name: values[groups * 10] for name, values in X.items()}  # a user's features are the user's
        truth = sigmoid(logit(truth[groups * 10]) + rng.normal(size=n // 10)[groups])
        labels = (rng.random(n) < truth).astype(np.int64)
        noise = 0.5 * rng.normal(size=(2, n // 10))[:, groups]
        return Pair(labels, sigmoid(logit(truth) + noise[0]), sigmoid(logit(truth) + noise[1]), X, groups)
    noise = 0.5 * rng.normal(size=(2, n)) - (kind == "low")
    return Pair(labels, sigmoid(logit(truth) + noise[0]), sigmoid(logit(truth) + noise[1]), X)


def _around(truth: Floats, distance: float) -> tuple[Floats, Floats]:
    """Scores below and above the truth, a distance apart in logits, whose log losses are equal on average.

    The difference of the softplus of the two logits is then the distance times the truth: bisection.
    """
    low, high = logit(truth) - distance, logit(truth)
    for _ in range(50):
        middle = (low + high) / 2
        slope = (np.logaddexp(0, middle + distance) - np.logaddexp(0, middle)) / distance
        low, high = np.where(slope < truth, middle, low), np.where(slope < truth, high, middle)
    return sigmoid(low), sigmoid(low + distance)


def better_model(seed: int, n: int = 50_000, harmed_by: float = 0.0) -> Pair:
    """A base whose logits are too steep, and wrong in one segment, and a candidate that is right.

    With `harmed_by`, the candidate's logits are too high by that much in the north, 5 % of the rows.
    """
    rng = np.random.default_rng([seed, 2])
    X = {
        "region": rng.choice(["south", "east", "north"], n, p=[0.5, 0.45, 0.05]),
        "device": rng.choice(["phone", "desktop"], n, p=[0.7, 0.3]),
        "age": rng.integers(18, 80, n).astype(np.float64),
    }
    logits = rng.normal(size=n) - 1.5
    base = sigmoid(-1.5 + 1.25 * (logits + 1.5) + 0.3 * (X["device"] == "desktop"))
    candidate = sigmoid(logits + harmed_by * (X["region"] == "north"))
    return Pair((rng.random(n) < sigmoid(logits)).astype(np.int64), base, candidate, X)


def blurred_model(seed: int, n: int, steep: float = 1.6) -> Pair:
    """A base whose logits are too steep, and a candidate that is right but knows less: its log loss is better.

    With 14 % positives, the base's PRAUC of 0.431 falls to 0.417, by 3 %, and its AUROC from 0.797 to 0.789.
    """
    rng = np.random.default_rng([seed, 3])
    X = {"region": rng.choice(["south", "east", "north"], n), "device": rng.choice(["phone", "desktop"], n)}
    middle, spread, noise = -2.3, 1.3, 0.3
    logits = middle + spread * rng.normal(size=n)
    seen = logits + noise * rng.normal(size=n)
    known = spread**2 / (spread**2 + noise**2)
    unknown = spread**2 * (1 - known)  # of the logits' variance; a sigmoid's mean over it is a flatter sigmoid
    candidate = sigmoid((middle + known * (seen - middle)) / np.sqrt(1 + np.pi * unknown / 8))
    y = (rng.random(n) < sigmoid(logits)).astype(np.int64)
    return Pair(y, sigmoid(middle + steep * (logits - middle)), candidate, X)


def off_in_a_segment(seed: int, n: int, base_off: float, candidate_off: float = 0.0, *, apart: bool = False) -> Pair:
    """Two models that are right but know different things, each off by so many sigmas in a segment.

    It is the desktops for both; if `apart`, the candidate is off in the plan "pro".
    """
    rng = np.random.default_rng([seed, 7])
    _, truth, X = true_scores(seed, n)
    known = 0.4 * np.minimum(truth, 1 - truth) * rng.uniform(-1, 1, (2, n))  # by either model
    labels = (rng.random(n) < truth + known.sum(axis=0)).astype(np.int64)
    desktop = X["device"] == "desktop"
    base = _moved(truth + known[0], desktop, base_off)
    return Pair(labels, base, _moved(truth + known[1], X["plan"] == "pro" if apart else desktop, candidate_off), X)


def _moved(scores: Floats, inside: npt.NDArray[np.bool_], sigmas: float) -> Floats:
    by = sigmas * np.sqrt(np.sum((scores * (1 - scores))[inside])) / inside.sum()
    return np.where(inside, np.clip(scores + by, 0.002, 0.998), scores) if sigmas else scores
