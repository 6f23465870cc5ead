"""scikit-learn's own checks of an estimator."""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

from trueup import MCGrad, MulticalibratedClassifier


# The checks fit on a few dozen rows, on which MCGrad rightly gives the base rate back and says so.
@pytest.mark.filterwarnings("ignore::trueup.errors.InsufficientDataWarning")
@pytest.mark.filterwarnings("ignore::trueup.errors.SuspiciousDataWarning")  # clusters that each coordinate tells apart
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.filterwarnings("ignore:can't check dok sparse matrix:UserWarning")
@pytest.mark.filterwarnings("ignore:The least populated class in y:UserWarning")  # a check of older versions
@parametrize_with_checks(
    [MCGrad(), MulticalibratedClassifier(LogisticRegression())],
    expected_failed_checks=lambda estimator: (
        {"check_parameters_default_constructible": "the default calibrator is an estimator, copied for each classifier"}
        if isinstance(estimator, MulticalibratedClassifier)
        else {}
    ),
)
def test_scikit_learns_checks_pass(estimator: Any, check: Any) -> None:
    check(estimator)


# The same where trees really grow: the paper's 160 rows a leaf would leave the checks' tables alone.
GROWING = MCGrad(
    max_rounds=2,
    validation=2,
    min_sum_hessian_in_leaf=0.1,
    lightgbm_params={"min_child_samples": 2, "n_estimators": 10, "min_gain_to_split": 0.0},
)
RESAMPLED = "folds are drawn by row, so a row of weight 2 and the row written twice fall into different folds"


def expected_failures(estimator: Any) -> dict[str, str]:
    return {"check_sample_weight_equivalence_on_dense_data": RESAMPLED} if isinstance(estimator, MCGrad) else {}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::trueup.errors.InsufficientDataWarning")
@pytest.mark.filterwarnings("ignore::trueup.errors.SuspiciousDataWarning")  # clusters that each coordinate tells apart
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.filterwarnings("ignore:can't check dok sparse matrix:UserWarning")
@parametrize_with_checks([GROWING], expected_failed_checks=expected_failures)
def test_they_pass_where_trees_grow_too(estimator: Any, check: Any) -> None:
    check(estimator)
