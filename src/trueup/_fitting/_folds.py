"""One split of the rows, with their running logits, which are all that a round needs of the rounds before it."""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from trueup._fitting._data import Rows, TrainingData, are_all
from trueup._fitting._lightgbm import GrownRound, LightGBMGrower
from trueup._fitting._rescale import Rescaling, fit_rescaling, fit_theta
from trueup._model import RoundRecord, Trees
from trueup._scoring import apply_round

Floats = npt.NDArray[np.float64]
Rescale = Literal["honest", "train"] | None
HeldOutT_co = TypeVar("HeldOutT_co", covariant=True)


@dataclass(frozen=True)
class Step:
    """How far a round moved its training rows: quantities of the paper's convergence analysis."""

    logit_change: float  # E|F_t - F_(t-1)|
    phi: float  # phi_(t-1)
    alpha_bound: float  # the bound on alpha of f_(t-1)


class LossSums(NamedTuple):
    """Sums of log losses and of weights. Those of several folds make one mean."""

    train: float
    train_weight: float
    valid: float
    valid_weight: float


class Fold(Protocol[HeldOutT_co]):
    """Training and validation rows, wherever they are, with the logits of all."""

    @property
    def n_columns(self) -> int:
        """How many columns trees may split on, the logit among them."""

    def grow(self, n_threads: int) -> GrownRound:
        """Grow the trees of a round."""

    def held_out(self, n_threads: int) -> HeldOutT_co:
        """What an honest rescaling needs to know of the validation rows after the trees."""

    def own_rescaling(self, rescale: Rescale, n_threads: int) -> Rescaling:
        """Theta from the training rows; no rescaling if `rescale` is None."""

    def finish(self, rescaling: Rescaling, n_threads: int) -> Step:
        """Move the logits by the grown round."""

    def losses(self, n_threads: int) -> LossSums:
        """The log losses of the training rows and of the validation rows."""


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Validation rows, with their logits after the trees and before the rescaling."""

    logits: Floats
    labels: Floats
    weights: Floats | None


class LocalFold(Fold[HeldOut]):
    """Training and validation rows in this process, with the logits of all."""

    def __init__(
        self, data: TrainingData, grower: LightGBMGrower, train: Rows | None, valid: Rows, cancel: threading.Event
    ) -> None:
        if train is not None and are_all(train, data.n_rows):
            train = None
        self._data, self._valid = data, valid
        self._train: Rows | slice = slice(None) if train is None else train  # a slice copies nothing
        self._prepared = grower.prepare(train, cancel)
        self._logits = data.base_logits
        self._trees = Trees.constant(0.0)
        self._correction: Floats | None = None

    @property
    def n_columns(self) -> int:
        """How many columns trees may split on, the logit among them."""
        return self._data.n_features + 1

    def grow(self, n_threads: int) -> GrownRound:
        """Grow the trees of a round."""
        grown = self._prepared.grow(self._logits[self._train], n_threads)
        self._trees = grown.trees
        return grown

    def finish(self, rescaling: Rescaling, n_threads: int) -> Step:
        """Move the logits by the grown round."""
        moved = self._correction_of_all(n_threads) if self._correction is None else self._correction
        if rescaling.shift != 0.0:
            moved += rescaling.shift
        before, self._logits = self._logits, apply_round(self._logits, moved, rescaling.theta, out=moved)
        self._correction = None
        return self._step_from(before)

    def held_out(self, n_threads: int) -> HeldOut:
        """What an honest rescaling needs of the validation rows, after the trees."""
        # Only the validation rows: the corrections of all rows take a column of numbers per fold, and are not needed
        # before the folds have agreed on a rescaling.
        data, logits = self._data, self._logits[self._valid]
        moved = data.corrections(self._trees, logits, self._valid, n_threads)
        apply_round(logits, moved, 1.0, out=logits)
        return HeldOut(logits, data.labels[self._valid], data.weights_of(self._valid))

    def own_rescaling(self, rescale: Rescale, n_threads: int) -> Rescaling:
        """Theta from the training rows; nothing if nothing is rescaled."""
        if rescale is None:
            return Rescaling()
        self._correction, rows = self._correction_of_all(n_threads), self._train
        unscaled = apply_round(self._logits[rows], self._correction[rows], 1.0)
        return Rescaling(fit_theta(unscaled, self._data.labels[rows], self._data.weights_of(rows), n_threads))

    def losses(self, n_threads: int) -> LossSums:
        """The log loss of training and of validation rows."""
        train, valid = self._train, self._valid
        return LossSums(
            *self._data.loss_sums(self._logits[train], train, n_threads),
            *self._data.loss_sums(self._logits[valid], valid, n_threads),
        )

    def _correction_of_all(self, n_threads: int) -> Floats:
        return self._data.corrections(self._trees, self._logits, None, n_threads)

    def _step_from(self, before: Floats) -> Step:
        first = before[self._train]
        largest = max(float(first.max()), -float(first.min()))
        change = self._logits[self._train] - first
        del first
        np.abs(change, out=change)
        weights = self._data.weights_of(self._train)
        mean_change = float(np.average(change, weights=weights))
        phi = 2 * mean_change + float(np.average(np.square(change, out=change), weights=weights)) / 8
        return Step(mean_change, phi, convergence_bound(phi, largest))


def convergence_bound(phi: float, largest_logit: float) -> float:
    """The paper's bound on alpha before a round, from its phi and the largest distance of a logit from 0."""
    odds = math.exp(-min(largest_logit, 300.0))  # of the less likely class in the most certain row
    largest_c = (1 + odds) / math.sqrt(odds)  # C² is at most 1 / min p (1 - p)
    return 2 / math.sqrt(3) * largest_c * math.sqrt(phi)


def shared_rescaling(held_out: Sequence[HeldOut], n_threads: int) -> Rescaling:
    """One rescaling for all folds, from the rows that validate them."""
    weights = [fold.weights for fold in held_out if fold.weights is not None]
    return fit_rescaling(
        np.concatenate([fold.logits for fold in held_out]),
        np.concatenate([fold.labels for fold in held_out]),
        np.concatenate(weights) if weights else None,
        n_threads,
    )


def first_record(folds: Sequence[Fold[Any]], n_threads: int) -> RoundRecord:
    """The record of the base scores, before any round."""
    return _record(0, folds, [Rescaling()], [Step(0.0, 0.0, 0.0)], n_threads)


def record_of_round(
    number: int, folds: Sequence[Fold[Any]], rescalings: Sequence[Rescaling], n_threads: int
) -> RoundRecord:
    """Finish a grown round in all folds, and record it; the seconds are the caller's."""
    steps = [fold.finish(rescaling, n_threads) for fold, rescaling in zip(folds, rescalings, strict=True)]
    return _record(number, folds, rescalings, steps, n_threads)


def _record(
    number: int, folds: Sequence[Fold[Any]], rescalings: Sequence[Rescaling], steps: Sequence[Step], n_threads: int
) -> RoundRecord:
    # The losses are means over all rows, not means of the folds' means: folds differ in size, and the loss before the
    # first round must be the log loss of the base scores.
    train, train_weight, valid, valid_weight = np.sum([fold.losses(n_threads) for fold in folds], axis=0)
    return RoundRecord(
        number=number,
        train_loss=float(train / train_weight),
        validation_loss=float(valid / valid_weight) if valid_weight else math.nan,
        theta=float(np.mean([rescaling.theta for rescaling in rescalings])),
        logit_change=float(np.mean([step.logit_change for step in steps])),
        phi=float(np.mean([step.phi for step in steps])),
        alpha_bound=float(np.mean([step.alpha_bound for step in steps])),
        seconds=0.0,
    )
