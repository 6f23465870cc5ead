"""A model gives predictions: tables, rows and streams, without LightGBM, scikit-learn or pandas."""

from trueup._runtime import pin_to
from trueup._scoring._apply import apply_round, correction, map_scores, probabilities, score_logits
from trueup._scoring._calibrator import Calibrator
from trueup._scoring._load import load, load_bytes
from trueup._scoring._onnx import OnnxExport, export_onnx
from trueup._scoring._scorer import BatchScorer
from trueup._scoring._scores import Observed, observe_rows, observe_table, read_base_scores
from trueup._scoring._stream import ScoredBatch, check_columns, kinds_of, score_batches, with_probabilities

__all__ = [
    "BatchScorer",
    "Calibrator",
    "Observed",
    "OnnxExport",
    "ScoredBatch",
    "apply_round",
    "check_columns",
    "correction",
    "export_onnx",
    "kinds_of",
    "load",
    "load_bytes",
    "map_scores",
    "observe_rows",
    "observe_table",
    "probabilities",
    "read_base_scores",
    "score_batches",
    "score_logits",
    "with_probabilities",
]

pin_to("trueup", ["BatchScorer", "Calibrator", "OnnxExport", "export_onnx", "load"], globals())
