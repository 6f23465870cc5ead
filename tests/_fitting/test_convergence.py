"""What the paper's convergence analysis promises, on data where every term of it can be computed."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trueup import MCGrad
from trueup.metrics import multicalibration_error

Arrays = tuple[dict[str, Any], Any, Any]


def cells(seed: int, n: int = 3000) -> Arrays:
    """Two columns of few values, scores of few values, and labels that follow neither the scores nor a simple rule."""
    rng = np.random.default_rng(seed)
    X = {"city": rng.choice(list("abc"), n), "plan": rng.integers(0, 2, n).astype(float)}
    scores = rng.choice([0.1, 0.25, 0.5, 0.8], n)
    off = rng.normal(0, 1.2, (3, 2, 4))
    place = np.searchsorted([0.1, 0.25, 0.5, 0.8], scores)
    logits = np.log(scores / (1 - scores)) + off[np.searchsorted(list("abc"), X["city"]), X["plan"].astype(int), place]
    return X, (rng.random(n) < 1 / (1 + np.exp(-logits))).astype(int), scores


def numbers(seed: int, n: int = 2000) -> Arrays:
    """Numbers, gaps and skewed scores."""
    rng = np.random.default_rng(seed)
    X = {f"x{i}": np.where(rng.random(n) < 0.1, np.nan, rng.normal(size=n)) for i in range(4)}
    logits = rng.normal(-2, 1.5, n)
    wrong = np.nan_to_num(X["x0"]) * np.nan_to_num(X["x1"]) - 0.5 * (np.nan_to_num(X["x2"]) > 1)
    labels = (rng.random(n) < 1 / (1 + np.exp(-(0.7 * logits + wrong)))).astype(int)
    return X, labels, 1 / (1 + np.exp(-logits))


def fit(rows: Arrays, **more: Any) -> MCGrad:
    X, y, scores = rows
    parameters = {"max_rounds": 6, "validation": None, "n_jobs": 1, "min_sum_hessian_in_leaf": 1.0, **more}
    return MCGrad.paper(**parameters).fit(X, y, scores=scores)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6), make=st.sampled_from([cells, numbers]))
def test_the_training_loss_never_rises_from_round_to_round(seed: int, make: Any) -> None:
    # Proposition "Decreasing loss"; each round ends with the best theta, and 1 is one of those it may have.
    losses = [record.train_loss for record in fit(make(seed)).history_]
    assert len(losses) == 7
    assert all(after <= before + 1e-12 for before, after in itertools.pairwise(losses))
    assert losses[-1] < losses[0]


def log_losses(y: Any, p: Any) -> Any:
    return -np.where(y == 1, np.log(p), np.log1p(-p))


def groups_of(X: dict[str, Any]) -> dict[str, Any]:
    """All groups that the two columns make: the values of each, and of both."""
    cities = {city: X["city"] == city for city in "abc"}
    plans = {str(plan): X["plan"] == plan for plan in (0.0, 1.0)}
    both = {f"{c} {q}": cities[c] & plans[q] for c in cities for q in plans}
    return {"all": np.ones(len(X["plan"]), dtype=bool), **cities, **plans, **both}


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("learning_rate", [0.02873, 0.3])
def test_alpha_is_within_the_bound_of_the_appendix(seed: int, learning_rate: float) -> None:
    # alpha of f_T ≤ 2/sqrt(3) C_T sqrt(phi_T + epsilon_T), with
    #   C_T² = 1 / (least over groups of E[f (1 - f) | group]), the interval of all scores giving the largest;
    #   phi_T = 2 E|F_(T+1) - F_T| + E(F_(T+1) - F_T)² / 8;
    #   epsilon_T = loss of F_(T+1) less the least loss of any sum of weak learners. No such sum is better than the mean
    #   label of each cell of city, plan and score, so that the loss of those means stands for it, which makes
    #   epsilon_T no smaller.
    X, y, scores = rows = cells(seed)
    model = fit(rows, lightgbm_params={"learning_rate": learning_rate, "min_child_samples": 20})
    predictors = [scores, *model.staged_calibrate(X, scores)]
    groups = groups_of(X)
    _, cell = np.unique(np.column_stack([X["city"], X["plan"], scores]).astype(str), axis=0, return_inverse=True)
    cell = cell.ravel()
    best = np.clip((np.bincount(cell, y) / np.bincount(cell))[cell], 1e-12, 1 - 1e-12)
    least_loss = log_losses(y, best).mean()
    for before, after, record in zip(predictors, predictors[1:], model.history_[1:], strict=False):
        alpha = multicalibration_error(y, before, segments=groups, unit="alpha", min_rows=1, min_variance=0)
        largest_c = math.sqrt(1 / min((before * (1 - before))[mask].mean() for mask in groups.values()))
        step = np.abs(np.log(after / (1 - after)) - np.log(before / (1 - before)))
        phi = 2 * step.mean() + (step**2).mean() / 8
        epsilon = log_losses(y, after).mean() - least_loss
        assert epsilon >= 0
        assert alpha <= 2 / math.sqrt(3) * largest_c * math.sqrt(phi + epsilon)
        # What the history holds: the same phi, and the largest C that these probabilities allow.
        assert record.phi == pytest.approx(phi, rel=1e-9)
        assert record.alpha_bound >= 2 / math.sqrt(3) * largest_c * math.sqrt(phi) * (1 - 1e-9)


def test_the_bound_of_the_history_holds_once_the_trees_of_a_round_have_converged() -> None:
    # With many trees and large steps a round leaves almost nothing to gain, so epsilon is small beside phi.
    X, y, scores = rows = cells(3)
    growth = {"learning_rate": 0.3, "n_estimators": 300, "min_child_samples": 1, "min_gain_to_split": 0.0}
    model = fit(rows, max_rounds=1, min_sum_hessian_in_leaf=0.0, lightgbm_params={**growth, "num_leaves": 24})
    alpha = multicalibration_error(y, scores, segments=groups_of(X), unit="alpha", min_rows=1, min_variance=0)
    assert 0 < alpha <= model.history_[1].alpha_bound
