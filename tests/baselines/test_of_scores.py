"""Isotonic, Platt's and temperature scaling."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.isotonic import IsotonicRegression

from trueup.baselines import IsotonicCalibrator, PlattCalibrator, TemperatureCalibrator
from trueup.errors import MissingScoreWarning

RNG = np.random.default_rng(3)
N = 2000
SCORES = np.round(RNG.uniform(0.01, 0.99, N), 2)  # with ties
LOGITS = np.log(SCORES / (1 - SCORES))
LABELS = (RNG.random(N) < 1 / (1 + np.exp(-(0.6 * LOGITS - 0.8)))).astype(int)
WEIGHTS = RNG.integers(0, 4, N).astype(float)
X = {"x": np.arange(N)}


def test_isotonic_is_scikit_learns_within_rounding_also_between_and_beyond_the_knots() -> None:
    model = IsotonicCalibrator().fit(X, LABELS, scores=SCORES, sample_weight=WEIGHTS)
    peer = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip").fit(SCORES, LABELS, sample_weight=WEIGHTS)
    asked = np.concatenate([[0.0, 1.0, 0.005, 0.995], np.linspace(0.01, 0.99, N - 4)])
    np.testing.assert_allclose(model.calibrate(X, asked), peer.predict(asked), rtol=0, atol=1e-12)


def test_isotonic_merges_what_falls() -> None:
    # The labels of the scores in order are 0, 1, 0, 1: the two in the middle fall, and share their mean.
    rows = {"x": [0] * 4}
    model = IsotonicCalibrator().fit(rows, [0, 1, 0, 1], scores=[0.1, 0.2, 0.3, 0.9])
    assert model.calibrate(rows, [0.1, 0.2, 0.3, 0.9]).tolist() == [0.0, 0.5, 0.5, 1.0]
    # Half-way between the knots 0.3 and 0.9, half-way between their values.
    assert model.calibrate({"x": [0]}, [0.6])[0] == pytest.approx(0.75)


def loss(parameters: np.ndarray) -> float:
    theta, intercept = parameters
    logits = theta * LOGITS + intercept
    return float(np.average(np.logaddexp(0, logits) - LABELS * logits, weights=WEIGHTS))


def test_platt_has_the_least_log_loss_of_all_lines() -> None:
    model = PlattCalibrator().fit(X, LABELS, scores=SCORES, sample_weight=WEIGHTS)
    best = minimize(loss, np.array([1.0, 0.0]), tol=1e-12)
    found = np.array([model.theta_, model.theta_ * model.shift_])
    np.testing.assert_allclose(found, best.x, atol=1e-4)
    after = 1 / (1 + np.exp(-(found[0] * LOGITS + found[1])))
    np.testing.assert_allclose(model.calibrate(X, SCORES), after, rtol=1e-12)


def test_a_temperature_has_the_least_log_loss_of_all_factors() -> None:
    model = TemperatureCalibrator().fit(X, LABELS, scores=SCORES, sample_weight=WEIGHTS)
    beside = [loss(np.array([model.theta_ + step, 0.0])) for step in (-1e-4, 0.0, 1e-4)]
    assert beside[1] < min(beside[0], beside[2])
    after = 1 / (1 + np.exp(-model.theta_ * LOGITS))
    np.testing.assert_allclose(model.calibrate(X, SCORES), after, rtol=1e-12)


@pytest.mark.parametrize("method", [IsotonicCalibrator, PlattCalibrator, TemperatureCalibrator])
def test_a_row_of_weight_2_is_a_row_that_stands_twice(method: type) -> None:
    whole = WEIGHTS.astype(int)
    repeated = {"x": np.repeat(X["x"], whole)}
    weighted = method().fit(X, LABELS, scores=SCORES, sample_weight=WEIGHTS)
    twice = method().fit(repeated, np.repeat(LABELS, whole), scores=np.repeat(SCORES, whole))
    np.testing.assert_allclose(weighted.calibrate(X, SCORES), twice.calibrate(X, SCORES), atol=1e-9)


@pytest.mark.parametrize("method", [IsotonicCalibrator, PlattCalibrator, TemperatureCalibrator])
def test_a_missing_score_gives_nan_and_a_warning(method: type) -> None:
    model = method().fit(X, LABELS, scores=SCORES)
    with pytest.warns(MissingScoreWarning, match=r"1 of 3 scores are missing \(first at row 1\)"):
        found = model.calibrate({"x": [0, 0, 0]}, [0.2, np.nan, 0.4])
    assert np.isnan(found).tolist() == [False, True, False]


@pytest.mark.parametrize("method", [IsotonicCalibrator, PlattCalibrator])
def test_without_scores_every_row_gets_the_base_rate(method: type) -> None:
    model = method().fit({"x": [0] * 4}, [1, 0, 0, 0])
    np.testing.assert_allclose(model.calibrate({"x": [0, 0]}), [0.25, 0.25])


def test_soft_labels_are_taken_as_they_are() -> None:
    # Both rows of a score of 0.4 promise what their labels say on the mean: (0.2 + 0.6) / 2.
    rows = {"x": [0, 0]}
    assert IsotonicCalibrator().fit(rows, [0.2, 0.6], scores=[0.4, 0.4]).calibrate(rows, [0.4, 0.4])[0] == 0.4
