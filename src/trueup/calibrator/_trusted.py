"""The types that a fitted estimator is made of, for loaders that ask which ones to trust."""

from __future__ import annotations

from trueup.calibrator._classifier import MulticalibratedClassifier
from trueup.calibrator._mcgrad import MCGrad
from trueup.inference import Calibrator
from trueup.model import (
    CalibrationModel,
    Feature,
    FeatureSpec,
    FittedRound,
    RoundRecord,
    TrainingSummary,
    Trees,
    ValueKind,
)

__all__ = ["TRUSTED_TYPES"]

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
