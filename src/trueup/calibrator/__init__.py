"""The estimators."""

from trueup.calibrator._classifier import MulticalibratedClassifier
from trueup.calibrator._mcgrad import MCGrad

__all__ = ["MCGrad", "MulticalibratedClassifier"]
