"""Losses and ranking metrics: by hand, and as scikit-learn has them."""

import math
import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest
import sklearn.metrics
from hypothesis import given
from hypothesis import strategies as st

import trueup.metrics
from trueup.errors import LabelError
from trueup.metrics import average_precision, brier_score, log_loss, roc_auc

ROWS = st.lists(
    st.tuples(st.sampled_from([0, 1]), st.floats(0, 1), st.floats(0.01, 10)), min_size=2, max_size=30
).filter(lambda rows: {label for label, _, _ in rows} == {0, 1})


def test_log_loss_of_a_coin_is_the_log_of_two() -> None:
    assert log_loss([0, 1, 1], [0.5, 0.5, 0.5]) == pytest.approx(math.log(2))


def test_log_loss_of_a_soft_label_is_its_cross_entropy() -> None:
    # -(0.25 log 0.5 + 0.75 log 0.5) = log 2; at p = 0.25: -(0.25 log 0.25 + 0.75 log 0.75).
    assert log_loss([0.25], [0.5]) == pytest.approx(math.log(2))
    assert log_loss([0.25], [0.25]) == pytest.approx(0.25 * math.log(4) + 0.75 * math.log(4 / 3))


def test_a_wrong_certainty_costs_a_finite_amount() -> None:
    # The smallest normal number is 2^-1022, the distance from 1 to the number before it 2^-53.
    assert log_loss([1], [0.0]) == pytest.approx(1022 * math.log(2))
    assert log_loss([0], [1.0]) == pytest.approx(53 * math.log(2))


def test_scores_below_the_machine_epsilon_cost_what_they_say_and_not_36_nats() -> None:
    assert log_loss([1, 1], [1e-300, 1e-20]) == pytest.approx(320 * math.log(10) / 2)


def test_a_right_certainty_costs_nothing() -> None:
    assert log_loss([0, 1], [0.0, 1.0]) == pytest.approx(0, abs=1e-15)


def test_log_loss_weighs_rows() -> None:
    # (3 log 2 + 1 log 4) / 4 = 5/4 log 2.
    assert log_loss([1, 1], [0.5, 0.25], sample_weight=[3, 1]) == pytest.approx(1.25 * math.log(2))


def test_brier_score_is_the_mean_square() -> None:
    # (0.25 + 0.0625) / 2, and with weights (3 × 0.25 + 0.0625) / 4.
    assert brier_score([1, 0], [0.5, 0.25]) == 0.15625
    assert brier_score([1, 0], [0.5, 0.25], sample_weight=[3, 1]) == 0.203125


def test_brier_score_of_a_soft_label_is_its_squared_distance() -> None:
    assert brier_score([0.25], [0.75]) == 0.25


def test_roc_auc_counts_pairs_in_order() -> None:
    # Positives 0.9 and 0.4 against negatives 0.6 and 0.4: in order yes, yes, no, tie = 2.5 of 4.
    assert roc_auc([1, 1, 0, 0], [0.9, 0.4, 0.6, 0.4]) == pytest.approx(0.625)


def test_average_precision_is_the_mean_precision_at_the_positives() -> None:
    # Ranks of the positives: 1 and 3; precision there 1/1 and 2/3; mean 5/6.
    assert average_precision([1, 0, 1], [0.9, 0.8, 0.7]) == pytest.approx(5 / 6)


@pytest.mark.parametrize("metric", [roc_auc, average_precision])
def test_a_soft_label_ranks_as_a_positive_and_a_negative_row(metric: Callable[..., float]) -> None:
    soft = metric([0.25, 1, 0], [0.3, 0.6, 0.1], sample_weight=[4, 1, 2])
    hard = metric([1, 0, 1, 0], [0.3, 0.3, 0.6, 0.1], sample_weight=[1, 3, 1, 2])
    assert soft == pytest.approx(hard)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (log_loss, sklearn.metrics.log_loss),
        (brier_score, sklearn.metrics.brier_score_loss),
        (roc_auc, sklearn.metrics.roc_auc_score),
        (average_precision, sklearn.metrics.average_precision_score),
    ],
)
@given(rows=ROWS)
def test_values_are_those_of_scikit_learn(
    ours: Callable[..., float], theirs: Callable[..., float], rows: list[tuple[int, float, float]]
) -> None:
    y, p, w = (np.array(column) for column in zip(*rows, strict=True))
    p = np.clip(p, 2.0**-52, 1 - 2.0**-52)  # where scikit-learn's log loss cuts them
    assert ours(y, p) == pytest.approx(theirs(y, p), rel=1e-9, abs=1e-12)
    assert ours(y, p, sample_weight=w) == pytest.approx(theirs(y, p, sample_weight=w), rel=1e-9, abs=1e-12)


def test_losses_need_only_one_class() -> None:
    assert brier_score([1, 1], [0.5, 0.5]) == 0.25
    assert log_loss([0, 0], [0.5, 0.5]) == pytest.approx(math.log(2))


def test_roc_auc_of_one_class_is_an_error_that_names_the_missing_one() -> None:
    with pytest.raises(LabelError, match="has label 0"):
        roc_auc([1, 1], [0.2, 0.8])
    with pytest.raises(LabelError, match="has label 1"):
        roc_auc([0, 0], [0.2, 0.8])


@pytest.mark.parametrize("metric", [roc_auc, average_precision])
def test_a_class_of_weight_zero_is_a_missing_class(metric: Callable[..., float]) -> None:
    with pytest.raises(LabelError, match="has label 1"):
        metric([1, 0], [0.2, 0.8], sample_weight=[0, 1])


def test_average_precision_of_positives_alone_is_one() -> None:
    assert average_precision([1, 1], [0.2, 0.8]) == 1


def test_every_metric_is_listed() -> None:
    assert trueup.metrics.__all__ == [
        "CumulativeCurve",
        "ReliabilityCurve",
        "ScoreDensity",
        "average_precision",
        "brier_calibration",
        "brier_refinement",
        "brier_score",
        "cumulative_curve",
        "ecce",
        "ecce_pvalue",
        "ecce_sigma",
        "ecce_standard_error",
        "expected_calibration_error",
        "log_loss",
        "maximum_over_segments",
        "multicalibration_error",
        "multicalibration_scorer",
        "regression_ecce",
        "regression_ecce_pvalue",
        "regression_ecce_sigma",
        "regression_ecce_standard_error",
        "reliability_curve",
        "roc_auc",
        "score_density",
        "smooth_calibration_error",
    ]


def test_importing_metrics_does_not_import_scikit_learn() -> None:
    code = "import sys, trueup.metrics; print([m for m in ('sklearn', 'scipy', 'pandas') if m in sys.modules])"
    output = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert output.strip() == "[]"
