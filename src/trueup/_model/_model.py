"""The narrow waist: all that a fit gives, and all that scoring needs."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from trueup._model._trees import Trees
from trueup._model._values import fields_of, finite


class ValueKind(enum.Enum):
    """What the values of a column are."""

    NUMBER = "numbers"
    STRING = "strings"
    BOOLEAN = "booleans"
    DATE = "dates"
    DATETIME = "datetimes"
    MIXED = "values of mixed or unusual types"
    EMPTY = "missing values only"

    def __reduce__(self) -> tuple[Any, ...]:
        return ValueKind, (self.value,)  # skops asks for this, pickle for Enum's own


@dataclass(frozen=True)
class Feature:
    """A column that segments are made of, as it was at fit."""

    name: str
    kind: ValueKind
    categories: tuple[Any, ...] | None = None  # sorted; a category's code is its place. None for a numerical feature

    @property
    def is_categorical(self) -> bool:
        """Whether the feature is split by category rather than by threshold."""
        return self.categories is not None


@dataclass(frozen=True)
class FeatureSpec:
    """All columns of the table at fit, and the features among them."""

    columns: tuple[str, ...]
    features: tuple[Feature, ...]  # in the order in which trees number them
    named: bool = True  # if not, columns are found by position
    score_column: str | None = None  # holds the base scores, and is no feature
    _by_name: dict[str, Feature] = field(init=False, repr=False, compare=False, default_factory=dict)

    def __post_init__(self) -> None:
        self._by_name.update((feature.name, feature) for feature in self.features)

    def __contains__(self, name: str) -> bool:
        return name in self._by_name

    def __getitem__(self, name: str) -> Feature:
        return self._by_name[name]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the features."""
        return tuple(feature.name for feature in self.features)


Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class LogitMap:
    """A closed form: the logit l becomes ``shift + slope l + bend l² + tilt ln(sigmoid(l))``.

    Slope alone is a temperature; with a shift it is Platt's map, with a bend the quadratic one. The beta map
    ``c + a ln p - b ln(1 - p)`` has slope b and tilt a - b.
    """

    shift: float = 0.0
    slope: float = 1.0
    bend: float = 0.0
    tilt: float = 0.0

    def largest(self, logit: float) -> float:
        """A bound on the mapped logits of all logits up to this size."""
        return abs(self.shift) + abs(self.slope) * logit + abs(self.bend) * logit**2 + abs(self.tilt) * (logit + 1.0)


@dataclass(frozen=True, eq=False)
class KnotMap:
    """Straight lines between knots, constant beyond them: scores in ascending order, and a probability for each."""

    scores: Floats
    values: Floats


ScoreMap: TypeAlias = LogitMap | KnotMap
_LOGIT_FIELDS = ("shift", "slope", "bend", "tilt")


def map_entry(score_map: ScoreMap | None) -> dict[str, Any] | None:
    """What the manifest says of a map; knots are arrays of their own."""
    if isinstance(score_map, LogitMap):
        return {"form": "logit", **{name: getattr(score_map, name) for name in _LOGIT_FIELDS}}
    return None if score_map is None else {"form": "knots"}


def read_map(entry: Any, scores: Floats | None, values: Floats | None) -> ScoreMap | None:
    """What `map_entry` has written, and the knots if the file has any."""
    if entry is None:
        return None
    if scores is not None and values is not None:
        fields_of(entry, ("form",))
        return _checked_knots(scores, values)
    entry = fields_of(entry, ("form", *_LOGIT_FIELDS))
    if entry["form"] != "logit":
        raise ValueError("the map of the score has no known form")
    return LogitMap(**{name: finite(entry[name]) for name in _LOGIT_FIELDS})


def _checked_knots(scores: Floats, values: Floats) -> KnotMap:
    if not len(scores) or len(scores) != len(values):
        raise ValueError("a map needs one value per knot")
    if not np.isfinite(scores).all() or not (scores[1:] > scores[:-1]).all():
        raise ValueError("the knots of a map must ascend")
    if not ((values >= 0) & (values <= 1)).all() or not (values[1:] >= values[:-1]).all():
        raise ValueError("the values of a map must be probabilities that never fall")
    return KnotMap(scores, values)


@dataclass(frozen=True)
class FittedRound:
    """A round: its trees are added to the logit, and the sum is multiplied by `theta`."""

    trees: Trees
    theta: float


@dataclass(frozen=True)
class RoundRecord:
    """What a round did; round 0 is the base model. Losses are NaN where there are no such rows.

    `phi` is ``2 E|F_t - F_(t-1)| + E(F_t - F_(t-1))² / 8``, phi of the predictor before the round in the convergence
    analysis of the MCGrad paper. `alpha_bound` is ``2/sqrt(3) C sqrt(phi)``, a bound on that predictor's
    multicalibration error alpha, with the largest C that its probabilities allow and the trees of the round taken as
    converged.
    """

    number: int
    train_loss: float  # mean log loss after the round on the training rows; with folds, of all folds
    validation_loss: float  # ... and on those that did not
    theta: float = 1.0  # the factor of the logits; with rescale="train", its mean over folds
    logit_change: float = 0.0  # the mean of |F_t - F_(t-1)| over the training rows
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
    """The positive class's column of ``predict_proba``: scikit-learn sorts classes, ours have the negative first."""
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
