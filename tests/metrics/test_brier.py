"""The Brier score's two parts: by hand, and with scikit-learn's isotonic regression row by row."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression

from trueup.metrics import brier_calibration, brier_refinement, brier_score

SCORES = st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.5000001, 0.9, 1.0]) | st.floats(0, 1)
ROWS = st.lists(st.tuples(st.floats(0, 1), SCORES, st.floats(0.01, 100)), min_size=1, max_size=30)


def test_scores_in_the_wrong_order_are_pooled() -> None:
    # Labels 1, 0, 1 in order of score: the best rising scores are 0.5, 0.5, 1.
    # Brier(p) = (0.64 + 0.16 + 0.16) / 3 = 0.32, Brier(q) = (0.25 + 0.25 + 0) / 3 = 1/6.
    labels, scores = [1, 0, 1], [0.2, 0.4, 0.6]
    assert brier_refinement(labels, scores) == pytest.approx(1 / 6)
    assert brier_calibration(labels, scores) == pytest.approx(0.32 - 1 / 6)


def test_weights_pool_to_weighted_means() -> None:
    # Labels 1 and 0 with weights 1 and 3: both get 0.25. Brier(q) = (1 × 0.5625 + 3 × 0.0625) / 4 = 0.1875.
    assert brier_refinement([1, 0], [0.2, 0.4], sample_weight=[1, 3]) == 0.1875


@pytest.mark.parametrize("labels", [[0, 1], [1, 0]])
def test_rows_of_one_score_get_one_score(labels: list[int]) -> None:
    # Taken in order, 0 and 1 could become 0 and 1 at no loss. They share the score 0.5, and it is right.
    assert brier_refinement(labels, [0.5, 0.5]) == 0.25
    assert brier_calibration(labels, [0.5, 0.5]) == 0


def test_scores_that_separate_the_classes_leave_nothing() -> None:
    # (0.01 + 0.04 + 0.09) / 3 is calibration alone.
    assert brier_refinement([0, 0, 1], [0.1, 0.2, 0.7]) == 0
    assert brier_calibration([0, 0, 1], [0.1, 0.2, 0.7]) == pytest.approx(0.14 / 3)


def test_soft_labels_equal_to_their_scores_leave_nothing() -> None:
    assert brier_calibration([0.2, 0.7], [0.2, 0.7]) == 0
    assert brier_refinement([0.2, 0.7], [0.2, 0.7]) == 0


def test_refinement_depends_on_the_order_of_scores_alone() -> None:
    rng = np.random.default_rng(8)
    scores = rng.random(500)
    labels = rng.random(500) < scores
    assert brier_refinement(labels, scores**3 / 2) == brier_refinement(labels, scores)
    assert brier_calibration(labels, scores**3 / 2) > 5 * brier_calibration(labels, scores)


@given(ROWS)
def test_the_parts_add_up_to_the_brier_score(rows: list[tuple[float, float, float]]) -> None:
    labels, scores, weights = zip(*rows, strict=True)
    parts = [part(labels, scores, sample_weight=weights) for part in (brier_calibration, brier_refinement)]
    assert sum(parts) == pytest.approx(brier_score(labels, scores, sample_weight=weights), abs=1e-14)
    assert 0 <= parts[0] <= 1
    assert 0 <= parts[1] <= 0.25


@given(ROWS)
def test_refinement_is_the_brier_score_after_isotonic_regression(rows: list[tuple[float, float, float]]) -> None:
    labels, scores, weights = (np.array(column) for column in zip(*rows, strict=True))
    # scikit-learn takes scores closer than 1e-15 for one.
    scores = np.round(scores, 12)
    recalibrated = IsotonicRegression().fit_transform(scores, labels, sample_weight=weights)
    expected = np.average((labels - recalibrated) ** 2, weights=weights)
    assert brier_refinement(labels, scores, sample_weight=weights) == pytest.approx(expected, abs=1e-10)
