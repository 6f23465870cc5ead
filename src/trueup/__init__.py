"""Make a classifier's probabilities true in every segment of its traffic, without listing the segments.

Names are loaded when they are first used: ``import trueup`` is quick, and scoring with `load` needs neither
LightGBM nor scikit-learn nor pandas.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trueup import baselines, curves, datasets, errors, metrics, plot, segments, summaries
    from trueup.auditing import AuditResult, audit
    from trueup.calibrator import MCGrad, MulticalibratedClassifier
    from trueup.inference import BaselineCalibrator, Calibrator, load

__all__ = [
    "AuditResult",
    "BaselineCalibrator",
    "Calibrator",
    "MCGrad",
    "MulticalibratedClassifier",
    "__version__",
    "audit",
    "baselines",
    "curves",
    "datasets",
    "errors",
    "load",
    "metrics",
    "plot",
    "segments",
    "summaries",
]

_HOME = {
    "AuditResult": "trueup.auditing",
    "BaselineCalibrator": "trueup.inference",
    "Calibrator": "trueup.inference",
    "MCGrad": "trueup.calibrator",
    "MulticalibratedClassifier": "trueup.calibrator",
    "audit": "trueup.auditing",
    "load": "trueup.inference",
}
_SUBPACKAGES = ("baselines", "curves", "datasets", "errors", "metrics", "plot", "segments", "summaries")


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
