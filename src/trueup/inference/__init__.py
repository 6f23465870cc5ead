"""Scoring: the one formula, plain and compiled, without LightGBM, scikit-learn or pandas."""

from trueup.inference._apply import apply_round, compile_rounds, correction, probabilities, score_logits
from trueup.inference._calibrator import Calibrator, load
from trueup.inference._threads import thread_count

__all__ = [
    "Calibrator",
    "apply_round",
    "compile_rounds",
    "correction",
    "load",
    "probabilities",
    "score_logits",
    "thread_count",
]
