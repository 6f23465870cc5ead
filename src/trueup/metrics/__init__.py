"""Numbers that say how good probabilities are: losses, ranking, and calibration with its distribution.

Every metric is ``f(y_true, y_prob, *, sample_weight=None) -> float``; those of real-valued predictions begin with
``regression``.
"""

from trueup.metrics._binned import expected_calibration_error
from trueup.metrics._brier import brier_calibration, brier_refinement
from trueup.metrics._ecce import ecce, ecce_pvalue, ecce_sigma, ecce_standard_error
from trueup.metrics._groups import maximum_over_groups
from trueup.metrics._losses import average_precision, brier_score, log_loss, roc_auc
from trueup.metrics._multicalibration import multicalibration_error, multicalibration_scorer
from trueup.metrics._regression import (
    regression_ecce,
    regression_ecce_pvalue,
    regression_ecce_sigma,
    regression_ecce_standard_error,
)
from trueup.metrics._smooth import smooth_calibration_error

__all__ = [
    "average_precision",
    "brier_calibration",
    "brier_refinement",
    "brier_score",
    "ecce",
    "ecce_pvalue",
    "ecce_sigma",
    "ecce_standard_error",
    "expected_calibration_error",
    "log_loss",
    "maximum_over_groups",
    "multicalibration_error",
    "multicalibration_scorer",
    "regression_ecce",
    "regression_ecce_pvalue",
    "regression_ecce_sigma",
    "regression_ecce_standard_error",
    "roc_auc",
    "smooth_calibration_error",
]
