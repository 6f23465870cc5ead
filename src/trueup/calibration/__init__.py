"""The estimators: they wire, they compute nothing."""

from trueup._runtime import pin_to
from trueup.calibration._classifier import MulticalibratedClassifier
from trueup.calibration._mcgrad import MCGrad
from trueup.calibration._trusted import TRUSTED_TYPES

__all__ = [
    "TRUSTED_TYPES",
    "MCGrad",
    "MulticalibratedClassifier",
]

pin_to(__name__, __all__, globals())
