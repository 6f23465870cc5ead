"""Level-set boosting."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from trueup._model import Trees
from trueup._scoring import correction
from trueup.baselines import LSBoost
from trueup.baselines._levels import joined_by_level, levels_of, nearest_levels
from trueup.errors import ParameterError


def wrong_rows(seed: int = 0, n: int = 6000) -> tuple[dict[str, Any], Any, Any]:
    rng = np.random.default_rng(seed)
    X = {
        "city": rng.choice(["Oslo", "Kiel", "Rom"], n).tolist(),
        "age": np.where(rng.random(n) < 0.1, np.nan, rng.uniform(18, 80, n)),
    }
    scores = rng.uniform(0.05, 0.95, n)
    north = np.array(X["city"]) == "Oslo"
    truth = np.clip(np.where(north, scores * 0.5, scores) + 0.2 * (X["age"] < 30), 0.02, 0.98)
    return X, (rng.random(n) < truth).astype(int), scores


def squared_error(y: Any, p: Any) -> float:
    return float(np.mean((y - p) ** 2))


def test_scores_are_rounded_to_the_middles_of_equal_intervals() -> None:
    # Four levels: 1/8, 3/8, 5/8, 7/8.
    asked = np.array([0.0, 0.2499, 0.25, 0.6, 1.0])
    assert nearest_levels(asked, 4).tolist() == [0.125, 0.125, 0.375, 0.625, 0.875]
    assert levels_of(asked, 4).tolist() == [0, 0, 1, 2, 3]
    # A level is its own nearest.
    levels = (np.arange(50) + 0.5) / 50
    assert nearest_levels(levels, 50).tolist() == levels.tolist()


def test_without_rounds_the_scores_are_rounded_and_nothing_else() -> None:
    X, y, p = wrong_rows()
    model = LSBoost(max_rounds=0, n_levels=10).fit(X, y, scores=p)
    assert model.n_rounds_ == 0
    assert model.calibrate(X, p).tolist() == nearest_levels(p, 10).tolist()


def test_it_lowers_the_squared_error_of_new_rows_where_the_scores_are_wrong() -> None:
    X, y, p = wrong_rows()
    V, vy, vp = wrong_rows(1)
    model = LSBoost().fit(X, y, scores=p)
    assert model.n_rounds_ >= 1
    assert squared_error(vy, model.calibrate(V, vp)) < squared_error(vy, vp) - 0.01


def test_it_stops_at_the_first_round_that_gains_nothing() -> None:
    X, y, p = wrong_rows()
    model = LSBoost().fit(X, y, scores=p)
    errors = model.validation_errors_
    assert len(errors) == model.n_rounds_ + 2  # of the rounded scores, of each round, and of the one that was dropped
    assert all(after < before for before, after in itertools.pairwise(errors[:-1]))
    assert errors[-1] >= errors[-2]


def test_a_tolerance_that_nothing_reaches_keeps_no_round() -> None:
    X, y, p = wrong_rows()
    assert LSBoost(tolerance=1.0).fit(X, y, scores=p).n_rounds_ == 0


def test_a_round_gives_each_level_set_its_own_tree() -> None:
    # One round of stumps, by hand: in the level set of 0.25 positives are where x is 1, in that of 0.75 where x is 0.
    x = np.tile([0.0, 1.0], 200)
    scores = np.repeat([0.25, 0.75], 200)
    y = np.where(scores < 0.5, x, 1 - x)
    model = LSBoost(n_levels=4, max_rounds=1, max_depth=1, min_child_samples=20).fit(
        {"x": x}, y.astype(int), scores=scores
    )
    found = model.calibrate({"x": [0.0, 1.0, 0.0, 1.0]}, [0.25, 0.25, 0.75, 0.75])
    # Means of 0 and 1, rounded to the levels 1/8 and 7/8.
    assert found.tolist() == [0.125, 0.875, 0.875, 0.125]


def test_joined_trees_do_what_each_does_on_its_level() -> None:
    rng = np.random.default_rng(0)

    def stump(threshold: float, low: float, high: float) -> Trees:
        return Trees(
            node_offsets=np.array([0, 1], np.int32),
            split_feature=np.array([0], np.int32),
            threshold=np.array([threshold]),
            decision_type=np.array([0], np.uint8),
            left_child=np.array([~0], np.int32),
            right_child=np.array([~1], np.int32),
            leaf_values=np.array([low, high]),
            category_offsets=np.array([0], np.int32),
            category_words=np.array([], np.uint32),
        )

    trees = [stump(0.5, 0.1, 0.2), Trees.constant(0.3), stump(0.2, 0.4, 0.5), Trees.constant(0.6)]
    levels = np.array([0.125, 0.375, 0.625, 0.875])
    joined = joined_by_level(trees, (levels[1:] + levels[:-1]) / 2, 1)
    x, which = rng.random(100), rng.integers(0, 4, 100)
    expected = [[0.1 if x[i] <= 0.5 else 0.2, 0.3, 0.4 if x[i] <= 0.2 else 0.5, 0.6][which[i]] for i in range(100)]
    matrix = np.asfortranarray(x.reshape(-1, 1))
    assert correction(joined, np.zeros(1, np.uint8), matrix, levels[which]).tolist() == expected
    assert joined_by_level([stump(0.5, 0.1, 0.2)], np.empty(0), 1).n_splits == 1


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_levels": 0}, "n_levels must be a whole number of at least 1, got 0"),
        ({"n_levels": 10**6}, "n_levels must be a number from 1 to 1e"),
        ({"max_depth": 40}, "max_depth must be a number from 1 to 12"),
        ({"validation": 1.5}, "validation must be a number from 0.01 to 0.99"),
        ({"tolerance": -1}, "tolerance must be a number from 0 to 1"),
        ({"max_rounds": 2.5}, "max_rounds must be a whole number"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(parameters: dict[str, Any], message: str) -> None:
    X, y, p = wrong_rows(n=100)
    with pytest.raises(ParameterError, match=message):
        LSBoost(**parameters).fit(X, y, scores=p)


def test_the_model_does_not_depend_on_the_number_of_threads() -> None:
    X, y, p = wrong_rows()
    one, two = (LSBoost(n_jobs=n, max_rounds=3).fit(X, y, scores=p).calibrate(X, p) for n in (1, 2))
    assert np.array_equal(one, two)
