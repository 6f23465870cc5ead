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
        errors,
        evaluation,
        metrics,
        plot,
        segments,
        serving,
    )
    from trueup._data import Stream, open_stream
    from trueup._scoring import Calibrator, load
    from trueup._scoring._onnx._export import OnnxExport, export_onnx
    from trueup._scoring._scorer import BatchScorer
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

_HOME = {
    "AuditResult": "trueup.auditing",
    "BatchScorer": "trueup._scoring._scorer",
    "Calibrator": "trueup._scoring",
    "Comparison": "trueup.comparison",
    "Diagnosis": "trueup.evaluation",
    "Evaluation": "trueup.evaluation",
    "Finding": "trueup.evaluation",
    "MCGrad": "trueup.calibration",
    "MulticalibratedClassifier": "trueup.calibration",
    "OnnxExport": "trueup._scoring._onnx._export",
    "Stream": "trueup._data",
    "TRUSTED_TYPES": "trueup.calibration",
    "audit": "trueup.auditing",
    "compare": "trueup.comparison",
    "diagnose": "trueup.evaluation",
    "evaluate": "trueup.evaluation",
    "export_onnx": "trueup._scoring._onnx._export",
    "load": "trueup._scoring",
    "open_stream": "trueup._data",
}
_SUBPACKAGES = (
    "auditing",
    "baselines",
    "calibration",
    "comparison",
    "datasets",
    "errors",
    "evaluation",
    "metrics",
    "plot",
    "segments",
    "serving",
)


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(import_module(_HOME[name]), name)
    elif name in _SUBPACKAGES:
        value = import_module(f"trueup.{name}")
    elif name == "__version__":
        from importlib.metadata import version

        value = version("trueup")
    else:
        raise AttributeError(f"module 'trueup' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
