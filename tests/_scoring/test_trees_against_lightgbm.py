"""The compiled trees give LightGBM's raw scores, bit for bit."""

from __future__ import annotations

import lightgbm as lgb
import numpy as np
import pytest

from trueup import _native
from trueup._fitting._growing import trees_and_gains
from trueup._scoring import correction

N_ROWS = 3000
SHAPES = {
    "the paper's trees": {"num_leaves": 5},
    "a full byte of leaves": {"num_leaves": 8},
    "one leaf too many for a byte": {"num_leaves": 9},
    "large trees": {"num_leaves": 63, "min_data_in_leaf": 5},
    "zeros count as missing": {"num_leaves": 6, "zero_as_missing": True},
    "missing is not special": {"num_leaves": 6, "use_missing": False},
    "more thresholds than a byte can number": {
        "num_leaves": 5,
        "max_bin": 2000,
        "min_data_in_bin": 1,
        "num_trees": 400,
    },
    "one category against the rest": {"num_leaves": 5, "max_cat_to_onehot": 100},
    "nothing to split": {"num_leaves": 5, "min_data_in_leaf": 100_000},
}


def table(seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    matrix = np.asfortranarray(
        np.column_stack(
            [
                rng.normal(size=N_ROWS),
                rng.integers(0, 6, N_ROWS),  # few categories
                rng.integers(0, 700, N_ROWS),  # many categories
                rng.integers(-2, 3, N_ROWS),  # ties, and zeros
                np.exp(3 * rng.normal(size=N_ROWS)),
            ]
        ).astype(float)
    )
    matrix[rng.random(matrix.shape) < 0.15] = np.nan
    logits = rng.normal(size=N_ROWS)
    true = logits + np.nan_to_num(matrix[:, 0]) + (matrix[:, 1] == 2) + np.sin(np.nan_to_num(matrix[:, 2]))
    return matrix, logits, (rng.random(N_ROWS) < 1 / (1 + np.exp(-true))).astype(float)


@pytest.mark.parametrize("shape", SHAPES)
def test_sums_of_trees_are_the_same_bits_as_lightgbms(shape: str) -> None:
    matrix, logits, labels = table()
    params = {"objective": "binary", "verbosity": -1, "num_trees": 40, "learning_rate": 0.1, **SHAPES[shape]}
    n_trees = params.pop("num_trees")
    both = np.column_stack([matrix, logits])
    booster = lgb.train(params, lgb.Dataset(both, labels, init_score=logits, categorical_feature=[1, 2]), n_trees)
    trees, gains = trees_and_gains(booster.model_to_string(), both.shape[1])

    rng = np.random.default_rng(1)
    new = np.asfortranarray(rng.permuted(matrix, axis=0))
    new[:50, 2] = rng.integers(700, 10_000, 50)  # categories that were not there
    new[50:60, 1] = [-1, -0.5, 0.5, 2.7, 1e18, -1e18, np.inf, -np.inf, 2**31, -(2**31)]
    new[60:70, 0] = [np.inf, -np.inf, 1e-36, -1e-36, 0.0, -0.0, 1e300, -1e300, 5e-324, np.nan]
    new_logits = rng.permutation(logits)
    categorical = np.array([0, 1, 1, 0, 0], dtype=np.uint8)

    ours = correction(trees, categorical, new, new_logits, n_threads=2)
    theirs = booster.predict(np.column_stack([new, new_logits]), raw_score=True)
    # LightGBM reads a category as a 32-bit integer, and one that does not fit is undefined there; ours goes
    # right.
    defined = ~(np.abs(new[:, 1]) > 2**31 - 1)
    np.testing.assert_array_equal(ours[defined], theirs[defined])
    assert np.isfinite(ours).all()
    np.testing.assert_allclose(gains, booster.feature_importance("gain"), rtol=1e-4)


@pytest.mark.parametrize("shape", SHAPES)
def test_one_row_and_a_table_get_the_same_bits(shape: str) -> None:
    matrix, logits, labels = table(2)
    params = {"objective": "binary", "verbosity": -1, "num_trees": 40, **SHAPES[shape]}
    n_trees = params.pop("num_trees")
    both = np.column_stack([matrix, logits])
    booster = lgb.train(params, lgb.Dataset(both, labels, init_score=logits, categorical_feature=[1, 2]), n_trees)
    trees, _ = trees_and_gains(booster.model_to_string(), both.shape[1])
    forest = _native.Forest(
        categorical=np.array([0, 1, 1, 0, 0], dtype=np.uint8),
        round_offsets=np.array([0, trees.n_trees // 2, trees.n_trees], dtype=np.int32),
        thetas=np.array([1.1, 0.9]),
        **trees.arrays(),
    )
    scores = np.random.default_rng(3).random(300)
    advanced = forest.advance(np.asfortranarray(matrix[:300]), _native.logit(scores), 0, 2, n_threads=1)
    one = [forest.probability_of_one(row.tolist(), score) for row, score in zip(matrix[:300], scores, strict=True)]
    np.testing.assert_array_equal(_native.sigmoid(advanced), one)


def test_the_fast_path_takes_all_trees_of_at_most_eight_leaves() -> None:
    matrix, logits, labels = table()
    both = np.column_stack([matrix, logits])
    fast = {}
    for leaves in (8, 9):
        data = lgb.Dataset(both, labels, init_score=logits, categorical_feature=[1, 2])
        booster = lgb.train({"objective": "binary", "verbosity": -1, "num_leaves": leaves}, data, 10)
        trees, _ = trees_and_gains(booster.model_to_string(), both.shape[1])
        forest = _native.Forest(
            categorical=np.array([0, 1, 1, 0, 0], dtype=np.uint8),
            round_offsets=np.array([0, 10], dtype=np.int32),
            thetas=np.ones(1),
            **trees.arrays(),
        )
        fast[leaves] = forest.n_fast_trees
    assert fast == {8: 10, 9: 0}
