"""Fitted calibrations that are not rounds over features, as data."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from trueup.model._features import FeatureSpec
from trueup.model._groups import Group
from trueup.model._model import FittedRound, TrainingSummary
from trueup.model._trees import Trees

__all__ = ["BaselineBody", "BaselineModel", "CellUpdates", "GroupRounds", "LevelTrees", "ScoreMap", "number_of_bins"]

_ROUNDING = 1e-9  # 1 / 0.1 may be a little more than 10
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]


def number_of_bins(width: float) -> int:
    """How many bins of a width there are from 0 to 1; the last one may be narrower."""
    return max(1, math.ceil(1 / width - _ROUNDING))


@dataclass(frozen=True, eq=False)
class ScoreMap:
    """A map from scores to probabilities: straight lines between its knots, level beyond them.

    Attributes
    ----------
    scores : float64 array
        The knots, ascending.
    values : float64 array
        The probability at each knot.
    """

    scores: Floats
    values: Floats


@dataclass(frozen=True, eq=False)
class CellUpdates:
    """Moves of the rows of a group whose probabilities are in a bin, in the order in which they are made.

    Attributes
    ----------
    bin_width : float
        Bins are ``(k bin_width, (k + 1) bin_width]``, and 0 is in the first.
    group, bin : int32 arrays
        The cell of each move.
    delta : float64 array
        What is added to the probabilities, which then stay within 0 and 1.
    bin_means : float64 array
        What all rows of a bin get in the end, NaN to leave them; empty to leave all.
    """

    bin_width: float
    group: Ints
    bin: Ints
    delta: Floats
    bin_means: Floats

    @property
    def n_bins(self) -> int:
        """How many bins there are from 0 to 1; the last one may be narrower."""
        return number_of_bins(self.bin_width)


@dataclass(frozen=True, eq=False)
class GroupRounds:
    """Rounds of trees whose features are the groups: 1 for the rows inside and 0 for the others."""

    rounds: tuple[FittedRound, ...]


@dataclass(frozen=True, eq=False)
class LevelTrees:
    """Trees that map features and a level to a probability, which is then rounded to the nearest level.

    Attributes
    ----------
    n_levels : int
        The levels are ``(k + 1/2) / n_levels``.
    trees : Trees
        One a round; the number of features stands for the probability before.
    """

    n_levels: int
    trees: Trees


BaselineBody: TypeAlias = ScoreMap | CellUpdates | GroupRounds | LevelTrees


@dataclass(frozen=True)
class BaselineModel:
    """A fitted calibration of another kind than `CalibrationModel`.

    Attributes
    ----------
    features : FeatureSpec
        The columns of the table at fit, and the features among them.
    groups : tuple of Group
        The groups that it was fitted on.
    body : ScoreMap, CellUpdates, GroupRounds or LevelTrees
        What is done to the scores.
    base_rate : float or None
        The score of every row, for a model that was fitted without scores.
    classes : tuple
        The two labels, negative first.
    summary : TrainingSummary
        How the model came about.
    """

    features: FeatureSpec
    groups: tuple[Group, ...]
    body: BaselineBody
    base_rate: float | None = None
    classes: tuple[Any, ...] = (0, 1)
    summary: TrainingSummary = field(default_factory=TrainingSummary)

    @property
    def mask_names(self) -> tuple[str, ...]:
        """The names of the groups whose rows must be passed with every table."""
        return tuple(group.name for group in self.groups if group.is_mask)

    @property
    def columns_read(self) -> tuple[str, ...]:
        """The columns of a table that scoring looks at: the features, and those that conditions are about."""
        of_conditions = (condition.column for group in self.groups for condition in group.conditions or ())
        return tuple(dict.fromkeys([*self.features.names, *of_conditions]))

    def __repr__(self) -> str:
        return f"<BaselineModel: {type(self.body).__name__}, {len(self.groups)} groups>"
