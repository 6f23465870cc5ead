"""DFMC and MCGrad on segments."""

from __future__ import annotations

from typing import Any

import lightgbm as lgb
import numpy as np
import pytest

from plain_baselines import plain_dfmc
from trueup import MCGrad
from trueup.baselines import DFMC, SegmentMCGrad
from trueup.errors import InsufficientDataWarning, ParameterError
from trueup.metrics import log_loss, multicalibration_error


def wrong_rows(seed: int = 0, n: int = 4000, n_segments: int = 6) -> tuple[dict[str, Any], Any, Any, dict[str, Any]]:
    rng = np.random.default_rng(seed)
    masks = {f"g{g}": rng.random(n) < 0.3 for g in range(n_segments)}
    scores = np.round(rng.uniform(0.02, 0.98, n), 3)
    logits = np.log(scores / (1 - scores)) + 0.8 * masks["g0"] - 0.6 * masks["g1"] * (scores > 0.4)
    return {"x": rng.random(n)}, (rng.random(n) < 1 / (1 + np.exp(-logits))).astype(int), scores, masks


def test_dfmc_is_one_lightgbm_of_depth_2_on_segments_and_logit() -> None:
    X, y, p, masks = wrong_rows()
    found = DFMC().fit(X, y, scores=p, segments=masks).calibrate(X, p, masks)
    logits = np.log(p / (1 - p))
    matrix = np.column_stack([*masks.values(), logits]).astype(float)
    parameters = {"objective": "binary", "max_depth": 2, "verbosity": -1, "boost_from_average": False}
    parameters |= {"deterministic": True, "force_col_wise": True, "num_threads": 1}
    booster = lgb.train(parameters, lgb.Dataset(matrix, y, init_score=logits), 100)
    peer = 1 / (1 + np.exp(-(logits + booster.predict(matrix, raw_score=True))))
    # Our gradients are in 32 bits as LightGBM's are, but are rounded elsewhere: a tie between two splits may fall
    # to the other side, and almost no row sees that.
    assert np.mean(np.abs(found - peer) < 1e-6) > 0.98
    assert abs(log_loss(y, found) - log_loss(y, peer)) < 1e-4


def test_dfmc_finds_what_its_plain_twin_finds() -> None:
    # The plain one tries 20 cuts of the score instead of 255, so they agree up to that.
    X, y, p, masks = wrong_rows(n=1500)
    fast = DFMC(n_estimators=15).fit(X, y, scores=p, segments=masks).calibrate(X, p, masks)
    plain = np.array(plain_dfmc(p.tolist(), y.tolist(), [mask.tolist() for mask in masks.values()], 15))
    assert np.abs(fast - plain).mean() < 0.02
    gain = log_loss(y, p) - log_loss(y, plain)
    assert abs(log_loss(y, fast) - log_loss(y, plain)) < 0.15 * gain


def test_dfmc_has_trees_of_depth_2_with_at_most_4_leaves() -> None:
    X, y, p, masks = wrong_rows()
    (fitted,) = DFMC(n_estimators=30).fit(X, y, scores=p, segments=masks).estimator_.model_.rounds
    assert fitted.theta == 1.0
    assert fitted.trees.n_trees == 30
    assert np.diff(fitted.trees.node_offsets).max() == 3  # splits


@pytest.mark.parametrize("method", [DFMC(), SegmentMCGrad(estimator=MCGrad(validation=0.3))])
def test_segments_become_right(method: Any) -> None:
    X, y, p, masks = wrong_rows(n=20_000)
    V, vy, vp, v_masks = wrong_rows(seed=1, n=20_000)
    after = method.fit(X, y, scores=p, segments=masks).calibrate(V, vp, v_masks)
    assert multicalibration_error(vy, vp, segments=v_masks) > 8
    assert multicalibration_error(vy, after, segments=v_masks) < 4


def test_mcgrad_on_segments_is_mcgrad_on_their_columns() -> None:
    X, y, p, masks = wrong_rows()
    template = MCGrad(max_rounds=3, validation=0.3, random_state=4)
    grouped = SegmentMCGrad(estimator=template).fit(X, y, scores=p, segments=masks)
    columns = {name: mask.astype(int) for name, mask in masks.items()}
    direct = MCGrad(max_rounds=3, validation=0.3, random_state=4).fit(columns, y, scores=p)
    assert np.array_equal(grouped.calibrate(X, p, masks), direct.calibrate(columns, p))
    assert not hasattr(template, "model_")


def test_an_estimator_that_names_features_is_refused() -> None:
    X, y, p, masks = wrong_rows(n=100)
    with pytest.raises(ParameterError, match="has the segments as its features"):
        SegmentMCGrad(estimator=MCGrad(features=["x"])).fit(X, y, scores=p, segments=masks)


@pytest.mark.parametrize("parameters", [{"n_estimators": 0}, {"n_estimators": 1.5}, {"learning_rate": 0}])
def test_parameters_that_make_no_sense_are_refused_by_their_name(parameters: dict[str, Any]) -> None:
    X, y, p, masks = wrong_rows(n=100)
    with pytest.raises(ParameterError, match=f"^{next(iter(parameters))} must be a"):
        DFMC(**parameters).fit(X, y, scores=p, segments=masks)


def test_few_rows_give_the_scores_back() -> None:
    X, y, p, masks = wrong_rows(n=30)
    with pytest.warns(InsufficientDataWarning, match="Too few rows"):
        model = DFMC().fit(X, y, scores=p, segments=masks)
    assert model.calibrate(X, p, masks).tolist() == p.tolist()
