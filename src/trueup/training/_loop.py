"""The loop of rounds: grow, rescale, look at the rows that did not grow, stop, fit again on all."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from trueup.inference import apply_round, correction
from trueup.model import FittedRound, RoundRecord, Trees
from trueup.training._data import TrainingData
from trueup.training._lightgbm import GrownRound, PreparedRows, RoundGrower
from trueup.training._rescale import Rescaling, fit_rescaling, fit_theta
from trueup.training._splits import Split

__all__ = ["FitOutcome", "FitPlan", "Listener", "fit_rounds"]

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.intp]
Rescale = Literal["honest", "train"] | None
T = TypeVar("T")


class Listener(Protocol):
    """Whoever wants to see a fit go on."""

    def round_finished(self, record: RoundRecord) -> None:
        """A round was grown and validated."""

    def refit_started(self, n_rounds: int) -> None:
        """The number of rounds is chosen, and they are fitted on all rows now."""

    def refit_round_finished(self, number: int, n_rounds: int) -> None:
        """A round of the fit on all rows was grown."""


@dataclass(frozen=True, eq=False)
class FitPlan:
    """What to fit on which rows.

    Attributes
    ----------
    splits : sequence of pairs of index arrays
        Training and validation rows; empty to fit exactly `max_rounds`.
    refit_rows : index array
        The rows of the final fit.
    max_rounds, patience : int
        When to stop.
    rescale : "honest", "train" or None
        Theta and shift from rows that did not grow the trees, theta alone from those that did, or neither.
    n_threads : int
        How many threads there are.
    cancel : threading.Event
        Set when the fit is being stopped.
    """

    splits: Sequence[Split]
    refit_rows: Rows
    max_rounds: int
    patience: int
    rescale: Rescale
    n_threads: int
    cancel: threading.Event = field(default_factory=threading.Event)


@dataclass(frozen=True, eq=False)
class FitOutcome:
    """The rounds, how they came about, and the total gain of each feature, the logit last."""

    rounds: tuple[FittedRound, ...]
    history: tuple[RoundRecord, ...]
    gains: Floats


def fit_rounds(data: TrainingData, grower: RoundGrower, plan: FitPlan, listener: Listener) -> FitOutcome:
    """Fit rounds until the validation loss stops falling, then that many on all rows.

    Parameters
    ----------
    data : TrainingData
        All rows.
    grower : RoundGrower
        Who grows the trees.
    plan : FitPlan
        What to fit on which rows.
    listener : Listener
        Is told of every round.

    Returns
    -------
    FitOutcome
        The rounds of the final fit.
    """
    if not plan.splits:
        return _fit_fixed(data, grower, plan, listener)
    chosen = _choose_rounds(data, grower, plan, listener)
    if chosen.reusable is not None:
        kept = chosen.reusable[: chosen.n_rounds]
        rounds = [_fitted(grown, rescaling) for grown, rescaling in zip(kept, chosen.rescalings, strict=False)]
        return FitOutcome(tuple(rounds), chosen.history, _total_gains(kept, data))
    listener.refit_started(chosen.n_rounds)
    part = _Part(data, grower, plan.refit_rows, plan.refit_rows)
    grown_all, rounds = [], []
    for number, honest in enumerate(chosen.rescalings[: chosen.n_rounds], start=1):
        grown, fitted = _next_round(part, plan, honest if plan.rescale == "honest" else None)
        grown_all.append(grown)
        rounds.append(fitted)
        listener.refit_round_finished(number, chosen.n_rounds)
    return FitOutcome(tuple(rounds), chosen.history, _total_gains(grown_all, data))


@dataclass(frozen=True, eq=False)
class _Choice:
    n_rounds: int
    rescalings: list[Rescaling]
    history: tuple[RoundRecord, ...]
    reusable: list[GrownRound] | None  # the trees, where the rows that grew them are those of the final fit


def _choose_rounds(data: TrainingData, grower: RoundGrower, plan: FitPlan, listener: Listener) -> _Choice:
    """Rounds on the training rows of each split until the mean validation loss stops falling."""
    parts = [_Part(data, grower, train, valid) for train, valid in plan.splits]
    reusable: list[GrownRound] | None = (
        [] if len(parts) == 1 and np.array_equal(parts[0].train, plan.refit_rows) else None
    )
    history = [_record(0, parts, [Rescaling()], 0.0, plan.n_threads)]
    rescalings: list[Rescaling] = []
    best = 0
    for number in range(1, plan.max_rounds + 1):
        started = time.perf_counter()
        grown = _side_by_side([part.grow for part in parts], plan)
        of_parts = _rescalings(parts, plan)
        for part, rescaling in zip(parts, of_parts, strict=True):
            part.finish(rescaling)
        rescalings.append(of_parts[0])
        if reusable is not None:
            reusable.append(grown[0])
        history.append(_record(number, parts, of_parts, time.perf_counter() - started, plan.n_threads))
        listener.round_finished(history[-1])
        if history[-1].validation_loss < history[best].validation_loss:
            best = number
        elif number - best > plan.patience:
            break
    return _Choice(best, rescalings, tuple(history), reusable)


def _fit_fixed(data: TrainingData, grower: RoundGrower, plan: FitPlan, listener: Listener) -> FitOutcome:
    """Exactly `max_rounds` rounds on all rows."""
    part = _Part(data, grower, plan.refit_rows, plan.refit_rows[:0])
    history = [_record(0, [part], [Rescaling()], 0.0, plan.n_threads)]
    grown_all, rounds = [], []
    for number in range(1, plan.max_rounds + 1):
        started = time.perf_counter()
        grown, fitted = _next_round(part, plan)
        grown_all.append(grown)
        rounds.append(fitted)
        history.append(
            _record(number, [part], [Rescaling(fitted.theta)], time.perf_counter() - started, plan.n_threads)
        )
        listener.round_finished(history[-1])
    return FitOutcome(tuple(rounds), tuple(history), _total_gains(grown_all, data))


def _next_round(part: _Part, plan: FitPlan, rescaling: Rescaling | None = None) -> tuple[GrownRound, FittedRound]:
    """Grow a round on the final rows and rescale it: as given, or by a theta fitted on those rows."""
    grown = part.grow(plan.n_threads)
    rescaling = part.rescaling_on_train(plan.rescale, plan.n_threads) if rescaling is None else rescaling
    part.finish(rescaling)
    return grown, _fitted(grown, rescaling)


def _fitted(grown: GrownRound, rescaling: Rescaling) -> FittedRound:
    """A round as the model holds it: the shift is a tree of one leaf, the last."""
    if rescaling.shift == 0.0:
        return FittedRound(grown.trees, rescaling.theta)
    return FittedRound(Trees.concatenate([grown.trees, Trees.constant(rescaling.shift)]), rescaling.theta)


class _Part:
    """The running logits of one split: all that a round needs of the rounds before it."""

    def __init__(self, data: TrainingData, grower: RoundGrower, train: Rows, valid: Rows) -> None:
        self.data, self.train, self.valid = data, train, valid
        all_rows = np.array_equal(train, np.arange(data.n_rows))  # a splitter may also draw as many with repetition
        self.prepared: PreparedRows = grower.prepare(None if all_rows else train)
        self.before = self.logits = data.base_logits
        self.correction = np.zeros(0)

    def grow(self, n_threads: int) -> GrownRound:
        grown = self.prepared.grow(self.logits[self.train], n_threads)
        data = self.data
        self.correction = correction(grown.trees, data.categorical, data.matrix, self.logits, n_threads)
        return grown

    def finish(self, rescaling: Rescaling) -> None:
        if rescaling.shift != 0.0:
            self.correction += rescaling.shift
        self.before, self.logits = self.logits, apply_round(self.logits, self.correction, rescaling.theta)

    def unscaled(self, rows: Rows) -> Floats:
        """The logits of some rows after the trees and before the rescaling."""
        return apply_round(self.logits[rows], self.correction[rows], 1.0)

    def rescaling_on_train(self, rescale: Rescale, n_threads: int) -> Rescaling:
        if rescale is None:
            return Rescaling()
        rows = self.train
        return Rescaling(fit_theta(self.unscaled(rows), self.data.labels[rows], self.data.weights_of(rows), n_threads))


def _rescalings(parts: Sequence[_Part], plan: FitPlan) -> list[Rescaling]:
    """One for all parts, from the rows that did not grow the trees, or one each from those that did."""
    if plan.rescale != "honest":
        return [part.rescaling_on_train(plan.rescale, plan.n_threads) for part in parts]
    data = parts[0].data
    held_out = np.concatenate([part.valid for part in parts])
    logits = np.concatenate([part.unscaled(part.valid) for part in parts])
    fitted = fit_rescaling(logits, data.labels[held_out], data.weights_of(held_out), plan.n_threads)
    return [fitted] * len(parts)


def _record(
    number: int, parts: Sequence[_Part], rescalings: Sequence[Rescaling], seconds: float, n_threads: int
) -> RoundRecord:
    train = [part.data.mean_loss(part.logits[part.train], part.train, n_threads) for part in parts]
    valid = [
        part.data.mean_loss(part.logits[part.valid], part.valid, n_threads) if len(part.valid) else math.nan
        for part in parts
    ]
    change, phi, bound = np.mean([_convergence(part) for part in parts], axis=0) if number else (0.0, 0.0, 0.0)
    return RoundRecord(
        number=number,
        train_loss=float(np.mean(train)),
        validation_loss=float(np.mean(valid)),
        theta=float(np.mean([rescaling.theta for rescaling in rescalings])),
        logit_change=float(change),
        phi=float(phi),
        alpha_bound=float(bound),
        seconds=seconds,
    )


def _convergence(part: _Part) -> tuple[float, float, float]:
    """E|F_t - F_(t-1)|, phi_(t-1), and the bound on alpha of f_(t-1), by the paper's convergence analysis."""
    before = part.before[part.train]
    change = np.abs(part.logits[part.train] - before)
    weights = part.data.weights_of(part.train)
    mean_change = float(np.average(change, weights=weights))
    phi = 2 * mean_change + float(np.average(change**2, weights=weights)) / 8
    odds = math.exp(-min(float(np.abs(before).max()), 300.0))  # of the least certain side of the most certain row
    largest_c = (1 + odds) / math.sqrt(odds)  # C² is at most 1 / min p (1 - p)
    return mean_change, phi, 2 / math.sqrt(3) * largest_c * math.sqrt(phi)


def _total_gains(grown: Sequence[GrownRound], data: TrainingData) -> Floats:
    total = np.zeros(data.matrix.shape[1] + 1)
    for round_ in grown:
        total += round_.gains
    return total


def _side_by_side(jobs: Sequence[Callable[[int], T]], plan: FitPlan) -> list[T]:
    """The results of independent jobs, each given its share of the threads."""
    workers = min(len(jobs), plan.n_threads)
    share = max(1, plan.n_threads // len(jobs))
    if workers == 1:
        return [job(share) for job in jobs]
    with ThreadPoolExecutor(workers, thread_name_prefix="trueup") as pool:
        futures = [pool.submit(job, share) for job in jobs]
        try:
            return [future.result() for future in futures]
        except BaseException:
            plan.cancel.set()  # the other workers stop after their current tree
            for future in futures:
                future.cancel()
            raise
