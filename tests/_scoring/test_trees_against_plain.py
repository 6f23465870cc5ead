"""The compiled trees agree with a walk that is written to be read."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from random_trees import N_FEATURES, random_trees
from trueup import _native
from trueup._model import Trees
from trueup._scoring import apply_round

CATEGORICAL = np.array([0, 0, 1], dtype=np.uint8)
SPECIAL = [0.0, -0.0, 1.0, -1.0, 2.5, 1e-36, np.nan, np.inf, -np.inf, 1e300]


def goes_left(trees: Trees, split: int, value: float) -> bool:
    """LightGBM's rules, one after the other."""
    decision = int(trees.decision_type[split])
    categorical, default_left, missing = decision & 1, bool(decision & 2), decision >> 2
    threshold = float(trees.threshold[split])
    if categorical:
        if np.isnan(value) or not -1 < value < 2**31:
            return False
        begin, end = trees.category_offsets[int(threshold)], trees.category_offsets[int(threshold) + 1]
        word, bit = divmod(int(value), 32)
        return word < end - begin and bool(int(trees.category_words[begin + word]) >> bit & 1)
    if np.isnan(value) and missing != 2:
        value = 0.0
    if (missing == 1 and abs(value) <= np.float64(np.float32(1e-35))) or (missing == 2 and np.isnan(value)):
        return default_left
    return value <= threshold


def plain_sum(trees: Trees, row: np.ndarray, logit: float) -> float:
    total = 0.0
    values = [*row, logit]
    for tree in range(trees.n_trees):
        begin, end = int(trees.node_offsets[tree]), int(trees.node_offsets[tree + 1])
        node = 0 if end > begin else -1
        while node >= 0:
            split = begin + node
            left = goes_left(trees, split, values[trees.split_feature[split]])
            node = int(trees.left_child[split] if left else trees.right_child[split])
        total += float(trees.leaf_values[begin + tree + ~node])
    return total


@settings(max_examples=150)
@given(trees=random_trees(), seed=st.integers(0, 2**32), n_rows=st.sampled_from([0, 1, 7, 40]))
def test_compiled_trees_agree_with_the_plain_walk(trees: Trees, seed: int, n_rows: int) -> None:
    rng = np.random.default_rng(seed)
    matrix = np.asfortranarray(rng.choice(SPECIAL, (n_rows, N_FEATURES)))
    matrix[:, 2] = rng.choice([*range(130), np.nan, -1, 2**31, -5.5], n_rows)
    logits = rng.choice([*SPECIAL, 0.3], n_rows)
    first = trees.n_trees // 2
    forest = _native.Forest(
        categorical=CATEGORICAL,
        round_offsets=np.array([0, first, trees.n_trees], dtype=np.int32),
        thetas=np.array([1.25, 0.75]),
        **trees.arrays(),
    )
    plain = logits
    for t, (begin, end) in enumerate([(0, first), (first, trees.n_trees)]):
        part = trees.slice(begin, end)
        sums = np.array([plain_sum(part, row, logit) for row, logit in zip(matrix, plain, strict=True)])
        np.testing.assert_array_equal(forest.corrections(matrix, plain, t), sums)
        plain = apply_round(plain, sums, [1.25, 0.75][t])
    np.testing.assert_array_equal(forest.advance(matrix, logits, 0, 2), plain)


@settings(max_examples=50)
@given(trees=random_trees(), seed=st.integers(0, 2**32))
def test_one_row_agrees_with_the_table_on_any_trees(trees: Trees, seed: int) -> None:
    rng = np.random.default_rng(seed)
    matrix = np.asfortranarray(rng.choice(SPECIAL, (5, N_FEATURES)))
    matrix[:, 2] = rng.choice([*range(130), np.nan], 5)
    scores = rng.random(5)
    offsets = np.array([0, trees.n_trees], dtype=np.int32)
    forest = _native.Forest(categorical=CATEGORICAL, round_offsets=offsets, thetas=np.array([0.9]), **trees.arrays())
    together = _native.sigmoid(forest.advance(matrix, _native.logit(scores), 0, 1))
    alone = [forest.probability_of_one(row.tolist(), score) for row, score in zip(matrix, scores, strict=True)]
    np.testing.assert_array_equal(alone, together)


@given(st.integers(1, 5000), st.integers(1, 9))
def test_the_number_of_threads_does_not_change_a_bit(n_rows: int, n_threads: int) -> None:
    rng = np.random.default_rng(n_rows)
    logits, labels, weights = rng.normal(size=n_rows), rng.random(n_rows), rng.random(n_rows)
    one = _native.logistic_sums(logits, labels, weights, 1.3, 10.0, 1)
    assert _native.logistic_sums(logits, labels, weights, 1.3, 10.0, n_threads) == one
    assert _native.log_loss_sum(logits, labels, weights, n_threads) == _native.log_loss_sum(logits, labels, weights, 1)


@given(st.floats(0, 1))
@example(1e-300)
@example(1 - 1e-16)
@example(5e-324)
@example(1.0)
def test_logit_and_sigmoid_are_inverses_for_every_score_that_has_a_logit(probability: float) -> None:
    (logit,) = _native.logit(np.array([probability]))
    (back,) = _native.sigmoid(np.array([logit]))
    assert back == pytest.approx(min(max(probability, 2.0**-1022), 1 - 2.0**-53), rel=1e-12, abs=0)


def test_only_scores_without_a_finite_logit_are_moved() -> None:
    logits = _native.logit(np.array([0.0, 2.0**-1022, 1e-300, 1e-9, 1 - 1e-9, 1 - 1e-16, 1.0]))
    assert logits[0] == logits[1] == pytest.approx(-1022 * math.log(2))
    np.testing.assert_allclose(logits[2:4], [-300 * math.log(10), -9 * math.log(10)], rtol=1e-9)
    np.testing.assert_allclose(logits[4], 9 * math.log(10), rtol=1e-7)
    assert logits[5] == logits[6] == pytest.approx(53 * math.log(2))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_rows", [1, 7, 512, 20_003])
def test_sums_of_the_logistic_loss_are_those_of_the_formula(n_rows: int, weighted: bool) -> None:
    rng = np.random.default_rng(0)
    logits, labels, weights = 8 * rng.normal(size=n_rows), rng.random(n_rows), rng.random(n_rows)
    w, given_weights = (weights, weights) if weighted else (1.0, None)
    theta, intercept, z = 0.7, -0.4, logits
    share = np.minimum(1.0, 10.0 / np.abs(logits))  # of a row beyond the limit

    def sums(m: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Each row's loss, and its first two derivatives in the margin."""
        p = 1 / (1 + np.exp(-m))
        return w * (np.logaddexp(0, m) - labels * m), w * (p - labels), w * p * (1 - p)

    _, first, second = (values * share for values in sums(theta * z))
    found = _native.logistic_sums(logits, labels, given_weights, theta, 10.0)
    np.testing.assert_allclose(found, [(first * z).sum(), (second * z**2).sum()], rtol=1e-10)

    loss, first, second = (values * share for values in sums(theta * z + intercept))
    expected = [loss, first * z, first, second * z**2, second * z, second]
    found = _native.affine_sums(logits, labels, given_weights, theta, intercept, 10.0)
    np.testing.assert_allclose(found, [values.sum() for values in expected], rtol=1e-10, atol=1e-10)

    loss, _, _ = sums(logits)
    np.testing.assert_allclose(_native.log_loss_sum(logits, labels, given_weights), loss.sum(), rtol=1e-13)


@given(st.floats(-800, 800), st.sampled_from([0.0, 1.0]))
def test_a_rows_log_loss_is_right_to_the_last_digits(logit: float, label: float) -> None:
    sign = 1.0 if label == 0.0 else -1.0
    exact = np.logaddexp(0.0, sign * logit)
    found = _native.log_loss_sum(np.array([logit]), np.array([label]), None)
    # max(m, 0) - y m + log(1 + e) : the first two cancel exactly for a sure and right row.
    assert abs(found - exact) <= 4e-16 * max(exact, abs(logit))  # and e^-700 stands for all that is less
