"""Scoring: the one formula, plain and compiled, without LightGBM, scikit-learn or pandas."""

from trueup.inference._apply import apply_round, compile_rounds, correction, probabilities, score_logits
from trueup.inference._calibrator import Calibrator
from trueup.inference._load import load, load_bytes
from trueup.inference._observed import Observed, observe_rows, observe_table
from trueup.inference._scores import read_base_scores
from trueup.inference._stream import ScoredBatch, check_columns, kinds_of, score_batches, with_probabilities
from trueup.inference._threads import thread_count

__all__ = [
    "Calibrator",
    "Observed",
    "ScoredBatch",
    "apply_round",
    "check_columns",
    "compile_rounds",
    "correction",
    "kinds_of",
    "load",
    "load_bytes",
    "observe_rows",
    "observe_table",
    "probabilities",
    "read_base_scores",
    "score_batches",
    "score_logits",
    "thread_count",
    "with_probabilities",
]
