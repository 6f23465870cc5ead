"""Metrics as scikit-learn's scorers."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import make_scorer
from sklearn.model_selection import cross_val_score

import trueup.metrics

CURVES = (
    "CumulativeCurve",
    "ReliabilityCurve",
    "ScoreDensity",
    "cumulative_curve",
    "reliability_curve",
    "score_density",
)
# Segments are needed, it is a scorer itself, or it gives no number.
NOT_ALONE = ("maximum_over_segments", "multicalibration_scorer", *CURVES)
ALONE = [name for name in trueup.metrics.__all__ if name not in NOT_ALONE]
X = np.random.default_rng(1).normal(size=(90, 2))
LABELS = (np.random.default_rng(2).random(90) < 1 / (1 + np.exp(-X[:, 0]))).astype(int)


@pytest.mark.parametrize("name", ALONE)
def test_every_metric_scores_probabilities(name: str) -> None:
    scorer = make_scorer(getattr(trueup.metrics, name), response_method="predict_proba", greater_is_better=False)
    scores = cross_val_score(LogisticRegression(), X, LABELS, scoring=scorer, cv=3)
    assert scores.shape == (3,)
    assert np.all(np.isfinite(scores) & (scores <= 0))


@pytest.mark.parametrize("name", [name for name in ALONE if name.startswith("regression")])
def test_metrics_of_outcomes_score_predictions(name: str) -> None:
    scorer = make_scorer(getattr(trueup.metrics, name), greater_is_better=False)
    scores = cross_val_score(LinearRegression(), X, 100 * X[:, 0] + LABELS, scoring=scorer, cv=3)
    assert np.all(np.isfinite(scores) & (scores <= 0))
