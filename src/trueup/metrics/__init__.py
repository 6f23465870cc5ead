"""Numbers that say how good probabilities are: losses, ranking, and calibration with its distribution.

Every metric is ``f(y_true, y_prob, *, sample_weight=None) -> float``.
"""

from trueup.metrics._ecce import ecce, ecce_pvalue, ecce_sigma, ecce_standard_error
from trueup.metrics._losses import average_precision, brier_score, log_loss, roc_auc

__all__ = [
    "average_precision",
    "brier_score",
    "ecce",
    "ecce_pvalue",
    "ecce_sigma",
    "ecce_standard_error",
    "log_loss",
    "roc_auc",
]
