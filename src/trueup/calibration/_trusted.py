"""The types that a fitted estimator is made of, for loaders that ask which ones to trust."""

from __future__ import annotations

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
from trueup.calibration._mcgrad import MCGrad

# The names are asked for while the package is still being imported, before it pins its own.
pin_to("trueup.calibration", ["MCGrad", "MulticalibratedClassifier"], globals())

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
