"""The narrow waist: all that a fit gives, and all that scoring needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from trueup._model._features import FeatureSpec
from trueup._model._score_map import ScoreMap
from trueup._model._trees import Trees

__all__ = ["CalibrationModel", "FittedRound", "RoundRecord", "TrainingSummary"]


@dataclass(frozen=True)
class FittedRound:
    """A round: its trees are added to the logit, and the sum is multiplied by `theta`."""

    trees: Trees
    theta: float


@dataclass(frozen=True)
class RoundRecord:
    """What a round did; round 0 is the base model.

    Attributes
    ----------
    number : int
        The round, counted from 1; 0 is the base model.
    train_loss, validation_loss : float
        Mean log losses after the round on the rows that grew the trees and on those that did not; with folds,
        the mean over folds. NaN where there are no such rows.
    theta : float
        The factor that the logits were rescaled by; with ``rescale="train"``, its mean over folds.
    logit_change : float
        The mean of ``|F_t - F_(t-1)|`` over the training rows.
    phi : float
        ``2 E|F_t - F_(t-1)| + E(F_t - F_(t-1))² / 8``, phi of the predictor before the round in the
        convergence analysis of the MCGrad paper.
    alpha_bound : float
        The bound ``2/sqrt(3) C sqrt(phi)`` on the multicalibration error alpha of the predictor before the
        round, with the largest C that its probabilities allow, and the trees of the round taken as converged.
    seconds : float
        How long the round took; NaN for a model from a file.
    """

    number: int
    train_loss: float
    validation_loss: float
    theta: float = 1.0
    logit_change: float = 0.0
    phi: float = 0.0
    alpha_bound: float = 0.0
    seconds: float = field(default=float("nan"), compare=False)


@dataclass(frozen=True)
class TrainingSummary:
    """What a person asks about a model years later."""

    n_rows: int = 0
    positive_rate: float = float("nan")  # weighted
    history: tuple[RoundRecord, ...] = ()  # round 0 and every round that was tried, also those after the best
    gains: tuple[float, ...] = ()  # of each feature's splits over all rounds; the last is the logit's
    parameters: Mapping[str, Any] = field(default_factory=dict)  # the estimator's, as far as JSON can hold them
    versions: Mapping[str, str] = field(default_factory=dict)  # of the packages that took part


def positive_column(classes: tuple[Any, ...]) -> int:
    """Which column of ``predict_proba`` is the positive class's: scikit-learn sorts classes, we put the negative first.

    Examples
    --------
    >>> positive_column((0, 1)), positive_column(("stay", "churn"))
    (1, 0)
    """
    negative, positive = classes
    return int(negative < positive)


@dataclass(frozen=True)
class CalibrationModel:
    """A fitted calibration, as data."""

    features: FeatureSpec
    rounds: tuple[FittedRound, ...]  # with none and no map, the base scores are given back as they are
    base_rate: float | None = None  # the score of every row, for a model that was fitted without scores
    classes: tuple[Any, ...] = (0, 1)  # negative first
    summary: TrainingSummary = TrainingSummary()
    score_map: ScoreMap | None = None

    @property
    def positive_column(self) -> int:
        """Which column of ``predict_proba`` is the positive class's."""
        return positive_column(self.classes)

    def __repr__(self) -> str:
        return f"<CalibrationModel: {len(self.rounds)} rounds, {len(self.features.features)} features>"
