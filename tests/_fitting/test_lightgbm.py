"""What LightGBM does at its edges, and what becomes of a round then."""

from __future__ import annotations

import threading
from typing import Any

import lightgbm as lgb
import numpy as np
import pytest

from trueup._fitting import TrainingData
from trueup._fitting._growing import Cancelled
from trueup._fitting._lightgbm import GrownRound, LightGBMGrower
from trueup._fitting._parameters import growth_parameters
from trueup.errors import TrainingError


def grow(cancel: threading.Event | None = None) -> GrownRound:
    """A round of five trees on one column that matters."""
    rng = np.random.default_rng(0)
    matrix = np.asfortranarray(rng.normal(size=(2000, 2)))
    labels = (rng.random(2000) < 1 / (1 + np.exp(-matrix[:, 0]))).astype(float)
    data = TrainingData(matrix, np.zeros(2, np.uint8), labels, np.zeros(2000), None, soft=False)
    parameters = growth_parameters(
        {"n_estimators": 5}, min_sum_hessian_in_leaf=20.0, n_features=2, monotone_score=False, seed=0
    )
    return LightGBMGrower(data, parameters).prepare(None, cancel or threading.Event()).grow(np.zeros(2000), 1)


def fail_after(n_trees: int, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    update = lgb.Booster.update

    def failing(self: lgb.Booster, *args: Any, **options: Any) -> bool:
        if self.num_trees() == n_trees:
            raise lgb.basic.LightGBMError(message)
        return update(self, *args, **options)

    monkeypatch.setattr(lgb.Booster, "update", failing)


def test_a_round_ends_with_the_trees_before_one_that_lightgbm_gives_up(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = grow().trees
    assert whole.n_trees == 5
    fail_after(3, "Check failed: (best_split_info.left_count) > (0)", monkeypatch)
    shorter = grow().trees
    assert shorter.n_trees == 3
    np.testing.assert_array_equal(shorter.leaf_values, whole.leaf_values[: len(shorter.leaf_values)])


def test_a_round_without_any_tree_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    fail_after(0, "Check failed: (best_split_info.right_count) > (0)", monkeypatch)
    grown = grow()
    assert grown.trees.leaf_values.tolist() == [0.0]
    assert grown.gains.tolist() == [0.0, 0.0, 0.0]


def test_other_errors_of_lightgbm_are_ours_with_advice(monkeypatch: pytest.MonkeyPatch) -> None:
    fail_after(2, "out of luck", monkeypatch)
    with pytest.raises(TrainingError, match=r"out of luck.*lightgbm_params"):
        grow()


def test_growing_stops_after_the_tree_at_which_it_is_cancelled() -> None:
    cancel = threading.Event()
    cancel.set()
    with pytest.raises(Cancelled):
        grow(cancel)
