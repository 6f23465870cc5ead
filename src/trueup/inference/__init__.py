"""Scoring: the one formula, plain and compiled, without LightGBM, scikit-learn or pandas."""

from trueup.inference._apply import apply_round, compile_rounds, correction, probabilities, score_logits
from trueup.inference._baseline import BaselineCalibrator
from trueup.inference._bodies import average_bins, compile_body, group_features, levels_of, nearest_levels
from trueup.inference._calibrator import Calibrator
from trueup.inference._load import load, load_bytes
from trueup.inference._members import masks_of_model, members_matrix, packed_members
from trueup.inference._observed import Observed, observe_rows, observe_table
from trueup.inference._stream import ScoredBatch, check_columns, kinds_of, score_batches, with_probabilities
from trueup.inference._threads import thread_count

__all__ = [
    "BaselineCalibrator",
    "Calibrator",
    "Observed",
    "ScoredBatch",
    "apply_round",
    "average_bins",
    "check_columns",
    "compile_body",
    "compile_rounds",
    "correction",
    "group_features",
    "kinds_of",
    "levels_of",
    "load",
    "load_bytes",
    "masks_of_model",
    "members_matrix",
    "nearest_levels",
    "observe_rows",
    "observe_table",
    "packed_members",
    "probabilities",
    "score_batches",
    "score_logits",
    "thread_count",
    "with_probabilities",
]
