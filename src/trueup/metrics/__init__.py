"""Numbers that say how good probabilities are: losses, ranking, and calibration with its distribution.

Every metric is ``f(y_true, y_prob, *, sample_weight=None) -> float``; those of real-valued predictions begin with
``regression``.
"""

from trueup._runtime import pin_to
from trueup.metrics._binned import expected_calibration_error
from trueup.metrics._brier import brier_calibration, brier_refinement
from trueup.metrics._brownian import brownian_range_survival
from trueup.metrics._checks import Observations
from trueup.metrics._cumulative import CumulativeCurve, cumulative_curve, cumulative_of
from trueup.metrics._curve_rows import read_rows
from trueup.metrics._density import ScoreDensity, score_density
from trueup.metrics._ecce import ecce, ecce_pvalue, ecce_sigma, ecce_standard_error
from trueup.metrics._losses import average_precision, brier_score, clipped_scores, log_loss, roc_auc
from trueup.metrics._multicalibration import maximum_over_segments, multicalibration_error, multicalibration_scorer
from trueup.metrics._registry import METRICS, Better, Metric
from trueup.metrics._regression import (
    regression_ecce,
    regression_ecce_pvalue,
    regression_ecce_sigma,
    regression_ecce_standard_error,
)
from trueup.metrics._reliability import ReliabilityCurve, reliability_curve, reliability_of, wilson_interval
from trueup.metrics._smooth import smooth_calibration_error

__all__ = [
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

pin_to(__name__, __all__, globals())
