"""A map of the score before the rounds: its closed form, its knots, and the same answer by every door."""

from __future__ import annotations

import numpy as np
import pytest

from trueup import Calibrator
from trueup._model import CalibrationModel, FeatureSpec, FittedRound, KnotMap, LogitMap, ScoreMap, Trees

SPEC = FeatureSpec(("x",), ())
SCORES = np.array([0.1, 0.5, 0.9])
ODDS = SCORES / (1 - SCORES)


def calibrate(score_map: ScoreMap, scores: np.ndarray = SCORES, rounds: tuple[FittedRound, ...] = ()) -> np.ndarray:
    calibrator = Calibrator(CalibrationModel(SPEC, rounds, score_map=score_map))
    found = calibrator.calibrate({"x": [0] * len(scores)}, scores)
    one_by_one = [calibrator.calibrate_one({"x": 0}, score) for score in scores.tolist()]
    assert one_by_one == found.tolist()
    return found


def test_a_shift_multiplies_the_odds_and_a_slope_is_their_power() -> None:
    found = calibrate(LogitMap(shift=np.log(3), slope=2.0))
    np.testing.assert_allclose(found / (1 - found), 3 * ODDS**2, rtol=1e-13)


def test_a_bend_is_of_the_squared_logit() -> None:
    found = calibrate(LogitMap(bend=0.5))
    np.testing.assert_allclose(np.log(found / (1 - found)), np.log(ODDS) + 0.5 * np.log(ODDS) ** 2, rtol=1e-12)


def test_the_beta_map_is_a_slope_and_a_tilt() -> None:
    a, b, c = 1.7, 0.6, -0.2
    found = calibrate(LogitMap(shift=c, slope=b, tilt=a - b))
    expected = c + a * np.log(SCORES) - b * np.log(1 - SCORES)
    np.testing.assert_allclose(np.log(found / (1 - found)), expected, rtol=1e-12)


def test_knots_are_joined_by_straight_lines_and_level_beyond() -> None:
    knots = KnotMap(np.array([0.2, 0.4]), np.array([0.0, 1.0]))
    found = calibrate(knots, np.array([0.0, 0.2, 0.25, 0.4, 1.0]))
    np.testing.assert_allclose(found, [0, 0, 0.25, 1, 1], atol=1e-12)


@pytest.mark.parametrize("score_map", [LogitMap(shift=1.0), KnotMap(np.array([0.0, 1.0]), np.array([0.2, 0.8]))])
def test_rounds_begin_where_the_map_ends(score_map: ScoreMap) -> None:
    mapped = calibrate(score_map)
    doubled = calibrate(score_map, rounds=(FittedRound(Trees.constant(0.25), 2.0),))
    expected = 2 * (np.log(mapped / (1 - mapped)) + 0.25)
    np.testing.assert_allclose(np.log(doubled / (1 - doubled)), expected, rtol=1e-12)


def test_a_map_that_changes_nothing_keeps_extreme_scores_in_order() -> None:
    found = calibrate(LogitMap(), np.array([1e-5, 1e-4, 0.5, 1 - 1e-4, 1 - 1e-5]))
    assert (np.diff(found) > 0).all()
