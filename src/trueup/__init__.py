"""Make a classifier's probabilities true in every segment of its traffic, without listing the segments.

Names are loaded when they are first used: ``import trueup`` is quick, and scoring with `load` needs neither
LightGBM nor scikit-learn nor pandas.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trueup import (
        baselines,
        curves,
        datasets,
        errors,
        evaluation,
        metrics,
        plot,
        scorers,
        segments,
        serving,
        streams,
        summaries,
    )
    from trueup.auditing import AuditResult, audit
    from trueup.calibrator import TRUSTED_TYPES, MCGrad, MulticalibratedClassifier
    from trueup.comparison import Comparison, compare
    from trueup.diagnosis import Diagnosis, Finding, diagnose
    from trueup.evaluation import Evaluation, evaluate
    from trueup.exporting import OnnxExport, export_onnx
    from trueup.inference import Calibrator, load

__all__ = [
    "TRUSTED_TYPES",
    "AuditResult",
    "Calibrator",
    "Comparison",
    "Diagnosis",
    "Evaluation",
    "Finding",
    "MCGrad",
    "MulticalibratedClassifier",
    "OnnxExport",
    "__version__",
    "audit",
    "baselines",
    "compare",
    "curves",
    "datasets",
    "diagnose",
    "errors",
    "evaluate",
    "evaluation",
    "export_onnx",
    "load",
    "metrics",
    "plot",
    "scorers",
    "segments",
    "serving",
    "streams",
    "summaries",
]

_HOME = {
    "AuditResult": "trueup.auditing",
    "Calibrator": "trueup.inference",
    "Comparison": "trueup.comparison",
    "Diagnosis": "trueup.diagnosis",
    "Evaluation": "trueup.evaluation",
    "Finding": "trueup.diagnosis",
    "MCGrad": "trueup.calibrator",
    "MulticalibratedClassifier": "trueup.calibrator",
    "OnnxExport": "trueup.exporting",
    "TRUSTED_TYPES": "trueup.calibrator",
    "audit": "trueup.auditing",
    "compare": "trueup.comparison",
    "diagnose": "trueup.diagnosis",
    "evaluate": "trueup.evaluation",
    "export_onnx": "trueup.exporting",
    "load": "trueup.inference",
}
_SUBPACKAGES = (
    "baselines",
    "curves",
    "datasets",
    "errors",
    "evaluation",
    "metrics",
    "plot",
    "scorers",
    "segments",
    "serving",
    "streams",
    "summaries",
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
