"""The estimators: they wire, they compute nothing."""

from trueup._model import (
    CalibrationModel,
    Feature,
    FeatureSpec,
    FittedRound,
    RoundRecord,
    TrainingSummary,
    Trees,
    ValueKind,
)
from trueup._runtime import pin_to
from trueup._scoring import Calibrator
from trueup.calibration._classifier import MulticalibratedClassifier
from trueup.calibration._mcgrad import MCGrad, fitted_by

__all__ = ["TRUSTED_TYPES", "MCGrad", "MulticalibratedClassifier"]

pin_to(__name__, ["MCGrad", "MulticalibratedClassifier"], globals())

# The types that a fitted estimator is made of, for loaders that ask which ones to trust.
_TYPES: tuple[type, ...] = (
    CalibrationModel,
    Calibrator,
    Feature,
    FeatureSpec,
    FittedRound,
    MCGrad,
    MulticalibratedClassifier,
    RoundRecord,
    TrainingSummary,
    Trees,
    ValueKind,
)

TRUSTED_TYPES: tuple[str, ...] = tuple(sorted(f"{kind.__module__}.{kind.__qualname__}" for kind in _TYPES))
