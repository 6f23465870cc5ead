"""Make a classifier's probabilities true in every segment of its traffic, without listing the segments.

Names are loaded when they are first used: ``import trueup`` is quick, and scoring with `load` needs neither
LightGBM nor scikit-learn nor pandas.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trueup import (
        auditing,
        baselines,
        calibration,
        comparison,
        datasets,
        distributed,
        errors,
        evaluation,
        metrics,
        plot,
        segments,
        serving,
    )
    from trueup._data import Stream, open_stream
    from trueup._scoring import BatchScorer, Calibrator, OnnxExport, export_onnx, load
    from trueup.auditing import AuditResult, audit
    from trueup.calibration import TRUSTED_TYPES, MCGrad, MulticalibratedClassifier
    from trueup.comparison import Comparison, compare
    from trueup.evaluation import Diagnosis, Evaluation, Finding, diagnose, evaluate

__all__ = [
    "TRUSTED_TYPES",
    "AuditResult",
    "BatchScorer",
    "Calibrator",
    "Comparison",
    "Diagnosis",
    "Evaluation",
    "Finding",
    "MCGrad",
    "MulticalibratedClassifier",
    "OnnxExport",
    "Stream",
    "__version__",
    "audit",
    "auditing",
    "baselines",
    "calibration",
    "compare",
    "comparison",
    "datasets",
    "diagnose",
    "distributed",
    "errors",
    "evaluate",
    "evaluation",
    "export_onnx",
    "load",
    "metrics",
    "open_stream",
    "plot",
    "segments",
    "serving",
]

_NAMES_OF = {
    "_data": "Stream open_stream",
    "_scoring": "BatchScorer Calibrator OnnxExport export_onnx load",
    "auditing": "AuditResult audit",
    "calibration": "MCGrad MulticalibratedClassifier TRUSTED_TYPES",
    "comparison": "Comparison compare",
    "evaluation": "Diagnosis Evaluation Finding diagnose evaluate",
}
_HOME = {name: f"trueup.{package}" for package, names in _NAMES_OF.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'trueup' has no attribute {name!r}")
    if name == "__version__":
        from importlib.metadata import version

        value: Any = version("trueup")
    elif name in _HOME:
        value = getattr(import_module(_HOME[name]), name)
    else:
        value = import_module(f"trueup.{name}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
