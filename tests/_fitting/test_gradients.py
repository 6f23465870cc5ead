"""The derivatives that trees are grown on, beside plain ones and LightGBM's."""

from __future__ import annotations

import threading

import lightgbm as lgb
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from trueup import _native
from trueup._fitting import TrainingData
from trueup._fitting._growing import trees_and_gains
from trueup._fitting._lightgbm import LightGBMGrower
from trueup._fitting._parameters import growth_parameters


def gradients(
    scores: np.ndarray, labels: np.ndarray, weights: np.ndarray | None, *, soft: bool, n_threads: int = 1
) -> tuple[np.ndarray, np.ndarray]:
    found = np.empty(len(scores), np.float32), np.empty(len(scores), np.float32)
    _native.logistic_gradients(scores, labels, weights, soft, *found, n_threads)
    return found


@given(
    arrays.arrays(float, 37, elements=st.floats(-900, 900)),
    arrays.arrays(np.float32, 37, elements=st.floats(0, 1, width=32)),
    st.booleans(),
    st.booleans(),
)
def test_they_are_the_derivatives_of_the_log_loss(
    scores: np.ndarray, labels: np.ndarray, soft: bool, weighted: bool
) -> None:
    if not soft:
        labels = np.round(labels)
    weights = np.linspace(0.5, 9, 37).astype(np.float32) if weighted else None
    found = gradients(scores, labels, weights, soft=soft)
    s = np.clip(scores, -700, 700)
    sign = -1.0 if soft else 2.0 * labels - 1
    p = 1 / (1 + np.exp(sign * s))
    first = p - labels if soft else -sign * p
    w = 1.0 if weights is None else weights.astype(float)
    exact = np.finfo(np.float32).smallest_subnormal
    # LightGBM takes a soft label from 1 in 32 bits, and a probability near 1 has lost the digits of what is missing.
    np.testing.assert_allclose(found[0], first * w, rtol=1.2e-7, atol=1e-6 if soft else exact)
    np.testing.assert_allclose(found[1], p * (1 - p) * w, rtol=1.2e-7, atol=1e-14 if soft else exact)


def test_they_are_rounded_as_lightgbm_rounds_them() -> None:
    rng = np.random.default_rng(0)
    scores, labels = 4 * rng.normal(size=100_000), (rng.random(100_000) < 0.3).astype(np.float32)
    sign = 2.0 * labels - 1
    missing = 1 / (1 + np.exp(sign * scores))
    found = gradients(scores, labels, None, soft=False)
    # One in millions may lie so near the middle of two floats that the last bit of the exponential decides.
    assert (found[0] != (-sign * missing).astype(np.float32)).sum() <= 1
    assert (found[1] != (missing * (1 - missing)).astype(np.float32)).sum() <= 1


def test_they_do_not_depend_on_the_number_of_threads() -> None:
    rng = np.random.default_rng(1)
    scores, labels = rng.normal(size=100_001), rng.random(100_001).astype(np.float32)
    for one, other in zip(
        gradients(scores, labels, labels, soft=True),
        gradients(scores, labels, labels, soft=True, n_threads=3),
        strict=True,
    ):
        np.testing.assert_array_equal(one, other)


def test_arrays_of_another_length_or_type_are_refused() -> None:
    scores, labels = np.zeros(3), np.zeros(3, np.float32)
    with pytest.raises(ValueError, match="labels differ"):
        gradients(scores, labels[:2], None, soft=False)
    with pytest.raises(ValueError, match="weights differ"):
        gradients(scores, labels, labels[:2], soft=False)
    with pytest.raises(ValueError, match="results differ"):
        _native.logistic_gradients(scores, labels, None, False, labels[:2].copy(), labels.copy())
    with pytest.raises(TypeError):
        _native.logistic_gradients(scores, np.zeros(3), None, False, labels.copy(), labels.copy())  # type: ignore[arg-type]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("soft", "objective"), [(False, "binary"), (True, "cross_entropy")])
def test_trees_are_those_of_lightgbms_own_objective(soft: bool, objective: str, weighted: bool) -> None:
    rng = np.random.default_rng(2)
    matrix = np.asfortranarray(rng.normal(size=(5000, 3)))
    p = 1 / (1 + np.exp(-matrix[:, 0] * (matrix[:, 1] > 0)))
    labels = p if soft else (rng.random(5000) < p).astype(float)
    weights = rng.integers(1, 6, 5000) / 2 if weighted else None
    base = 0.3 * rng.normal(size=5000)
    data = TrainingData(matrix, np.zeros(3, np.uint8), labels, base, weights, soft=soft)
    parameters = growth_parameters(None, min_sum_hessian_in_leaf=20.0, n_features=3, monotone_score=False, seed=5)
    ours = LightGBMGrower(data, parameters).prepare(None, threading.Event()).grow(base, 1).trees

    with_score = np.column_stack([matrix, base])
    training_set = lgb.Dataset(with_score, labels, weight=weights, init_score=base)
    booster = lgb.train(
        parameters.booster | {"objective": objective, "num_threads": 1}, training_set, parameters.n_trees
    )
    theirs, _ = trees_and_gains(booster.model_to_string(), 4)
    assert ours.n_trees > 10
    for field, array in theirs.arrays().items():
        np.testing.assert_array_equal(ours.arrays()[field], array, err_msg=field)
