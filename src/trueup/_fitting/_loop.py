"""The loop of rounds: grow, rescale, look at the validation loss, stop, and fit again on all rows."""

from __future__ import annotations

import contextlib
import functools
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from trueup._fitting._data import Rows, TrainingData, are_all
from trueup._fitting._folds import Fold, LocalFold, Rescale, first_record, record_of_round, shared_rescaling
from trueup._fitting._growing import Cancelled
from trueup._fitting._lightgbm import GrownRound, LightGBMGrower
from trueup._fitting._rescale import Rescaling
from trueup._fitting._splits import Split
from trueup._model import FittedRound, RoundRecord, Trees
from trueup._runtime import Progress, Workers, has_idle_threads, shown_progress

Floats = npt.NDArray[np.float64]
HeldOutT = TypeVar("HeldOutT")
_Round = tuple[GrownRound, Rescaling]
_Agree = Callable[[Sequence[Any], int], Rescaling]


class RoundProgress:
    """Shows rounds and their losses on a progress bar."""

    def __init__(self, progress: Progress, max_rounds: int) -> None:
        self._progress = progress
        self._max_rounds = max_rounds

    def round_finished(self, record: RoundRecord) -> None:
        """Show a round that was grown and validated."""
        loss = f"train {record.train_loss:.5f}"
        if record.validation_loss == record.validation_loss:
            loss += f"  validation {record.validation_loss:.5f}"
        after = f"growing round {record.number + 1}" if record.number < self._max_rounds else "the last"
        self._progress.now(f"round {record.number}: {loss}, {after}")

    def refit_started(self, n_rounds: int) -> None:
        """Show that the number of rounds is chosen, and that they are fitted on all rows now."""
        self._progress.now(f"fitting {n_rounds} rounds on all rows", done=0, total=n_rounds)

    def refit_round_finished(self, number: int, n_rounds: int) -> None:
        """Show a round that was fitted on all rows."""
        self._progress.now(f"fitting on all rows: round {number} of {n_rounds}", done=number, total=n_rounds)


@contextlib.contextmanager
def shown_rounds(verbose: int, max_rounds: int) -> Iterator[RoundProgress]:
    """Show rounds and losses, if this is a terminal and the user wants it."""
    with shown_progress(verbose, "round 1") as progress:
        yield RoundProgress(progress, max_rounds)


@dataclass(frozen=True, eq=False)
class FitPlan:
    """How to search for the number of rounds, wherever the rows are."""

    validates: bool  # whether folds hold rows out; if not, exactly `max_rounds` are fitted
    max_rounds: int
    patience: int
    rescale: Rescale  # "honest": theta and a shift from validation rows; "train": theta from training rows; or neither
    n_threads: int
    cancel: threading.Event = field(default_factory=threading.Event)  # set when the fit is being stopped
    follows: bool = True  # whether to fit on all rows beside the search: faster, but both are in memory at once


@dataclass(frozen=True, eq=False)
class FitOutcome:
    """The rounds, and how they came about."""

    rounds: tuple[FittedRound, ...]
    history: tuple[RoundRecord, ...]
    gains: Floats  # the total of each feature, the logit last


def fit_rounds(
    data: TrainingData,
    grower: LightGBMGrower,
    splits: Sequence[Split],  # training and validation rows; empty if no row validates
    plan: FitPlan,
    listener: RoundProgress,
    *,
    refit_rows: Rows | None = None,  # the rows of the final fit; None is all rows
) -> FitOutcome:
    """Fit rounds until the validation loss stops falling, then that many on all rows.

    Where threads would be idle, the fit on all rows follows the search in one of them: it is at most one round ahead of
    what is decided, and what it grows beyond the last round is thrown away.
    """
    no_rows = np.empty(0, np.int32)
    searched: Sequence[tuple[Rows | None, Rows]] = splits or [(refit_rows, no_rows)]
    fits_all_rows = len(searched) == 1 and _are_same(searched[0][0], refit_rows, data.n_rows)

    def final_fold(cancel: threading.Event) -> LocalFold:
        """All rows, none of which validates."""
        return LocalFold(data, grower, refit_rows, no_rows, cancel)

    folds = (LocalFold(data, grower, train, valid, plan.cancel) for train, valid in searched)
    return fit_folds(folds, None if fits_all_rows else final_fold, plan, listener, shared_rescaling)


def _are_same(rows: Rows | None, others: Rows | None, n_rows: int) -> bool:
    """Whether both are the same rows; None is all rows."""
    if rows is None or others is None:
        return all(some is None or are_all(some, n_rows) for some in (rows, others))
    return np.array_equal(rows, others)


def fit_folds(
    folds: Iterable[Fold[HeldOutT]],
    final_fold: Callable[[threading.Event], Fold[HeldOutT]] | None,
    plan: FitPlan,
    listener: RoundProgress,
    agree: Callable[[Sequence[HeldOutT], int], Rescaling],  # gives one rescaling for all folds from what they held out
) -> FitOutcome:
    """Fit rounds on folds, wherever their rows are, and forget the folds when the search is over.

    `final_fold` makes the fold of all rows, and gets an event that stops it. It is None if the only fold already trains
    on the rows of the final fit.
    """
    search = _Search(list(folds), plan, agree)
    if final_fold is None:
        with Workers(1, [plan.cancel]) as workers:
            search.run(listener, workers, plan.n_threads)
        return _outcome(search.rounds, search)
    final = _FinalFit(final_fold, plan)
    follows = plan.follows and has_idle_threads(search.n_folds, plan.n_threads)
    share = max(1, plan.n_threads // (search.n_folds + follows))
    with Workers(plan.n_threads, [plan.cancel, final.cancel]) as workers:
        search.run(listener, workers, share, (lambda: final.follow(search, workers, share)) if follows else None)
        search.forget_folds()
        final.complete(search, listener)
    return _outcome(final.rounds, search)


class _Search:
    """The search: rounds on each split until the validation loss stops falling."""

    def __init__(self, folds: Sequence[Fold[Any]], plan: FitPlan, agree: _Agree) -> None:
        self._folds, self._plan, self._agree = folds, plan, agree
        self.n_folds, self.n_columns = len(folds), folds[0].n_columns
        self.best = 0  # the round with the least validation loss; without validation, the last round
        self.history = [first_record(folds, plan.n_threads)]
        self.rounds: list[_Round] = []  # those of the first split

    def run(
        self, listener: RoundProgress, workers: Workers, share: int, beside: Callable[[], None] | None = None
    ) -> None:
        """Search with `share` threads per split. In each round, `beside` is called when its jobs are queued."""
        for number in range(1, self._plan.max_rounds + 1):
            self._round(number, workers, share, beside)
            record = self.history[-1]
            listener.round_finished(record)
            if not self._plan.validates or record.validation_loss < self.history[self.best].validation_loss:
                self.best = number
            elif number - self.best > self._plan.patience:
                break

    def forget_folds(self) -> None:
        """Give back the memory of the folds after the search."""
        self._folds = []

    def _round(self, number: int, workers: Workers, share: int, beside: Callable[[], None] | None) -> None:
        started, folds, plan = time.perf_counter(), self._folds, self._plan
        grown, rescalings = self._grow(workers, share, beside)
        record = record_of_round(number, folds, rescalings, plan.n_threads)
        self.rounds.append((grown, rescalings[0]))
        self.history.append(replace(record, seconds=time.perf_counter() - started))

    def _grow(
        self, workers: Workers, share: int, beside: Callable[[], None] | None
    ) -> tuple[GrownRound, list[Rescaling]]:
        """Grow the round in all folds. Return the first fold's trees, and how each fold is rescaled."""
        folds, plan = self._folds, self._plan

        def with_held_out(fold: Fold[Any]) -> tuple[GrownRound, Any]:
            """Grow, and return what the folds need to agree on a rescaling."""
            return fold.grow(share), fold.held_out(share)

        def with_own_rescaling(fold: Fold[Any]) -> _Round:
            """Grow and rescale, without waiting for other folds."""
            return fold.grow(share), fold.own_rescaling(plan.rescale, share)

        if plan.rescale == "honest" and plan.validates:
            validating = workers.all([functools.partial(with_held_out, fold) for fold in folds], then=beside)
            shared = self._agree([held_out for _, held_out in validating], plan.n_threads)
            return validating[0][0], [shared] * len(folds)
        grown = workers.all([functools.partial(with_own_rescaling, fold) for fold in folds], then=beside)
        return grown[0][0], [rescaling for _, rescaling in grown]


class _FinalFit:
    """The rounds on all rows."""

    def __init__(self, final_fold: Callable[[threading.Event], Fold[Any]], plan: FitPlan) -> None:
        self._plan = plan
        self.cancel = threading.Event()
        self._fold = final_fold(self.cancel)
        self._grown: GrownRound | None = None  # a round that is not rescaled yet
        self.rounds: list[_Round] = []
        self._wanted = plan.max_rounds
        self._following: Future[None] | None = None
        self._goes_on = False  # whether the following job had something to do when it looked last
        self._lock = threading.Lock()  # `follow` and `complete` run in the search's thread, `_follow` in workers

    def follow(self, search: _Search, workers: Workers, n_threads: int) -> None:
        """In another thread, catch up with the search and grow one more round."""
        with self._lock:
            if self._goes_on:
                return
            self._goes_on = True
        self._following = workers.start(lambda: self._follow(search, workers, n_threads))

    def complete(self, search: _Search, listener: RoundProgress) -> None:
        """After the search, wait for what is under way and grow the rounds that are missing."""
        with self._lock:
            self._wanted = search.best
            if len(self.rounds) >= search.best:
                self.cancel.set()
        waited_for = None
        while self._following is not None and self._following is not waited_for:
            waited_for = self._following
            with contextlib.suppress(Cancelled):
                waited_for.result()  # a step that ends may have queued the next one
        if len(self.rounds) < search.best:
            listener.refit_started(search.best)
        while len(self.rounds) < search.best:
            self._step(search, self._plan.n_threads)
            if self._grown is None:
                listener.refit_round_finished(len(self.rounds), search.best)

    def _follow(self, search: _Search, workers: Workers, n_threads: int) -> None:
        """Do one step, and queue the next one behind the jobs of the search, which come first."""
        if self._has_more(search):
            self._step(search, n_threads)
            self._following = workers.start(lambda: self._follow(search, workers, n_threads))

    def _has_more(self, search: _Search) -> bool:
        with self._lock:  # so a round that the search adds now is seen either here or by the next call of `follow`
            waits = self._grown is not None and len(self.rounds) == len(search.rounds)
            self._goes_on = len(self.rounds) < self._wanted and not waits
            return self._goes_on

    def _step(self, search: _Search, n_threads: int) -> None:
        """Grow a round, or rescale the one just grown: as the splits were if that was honest, else on its own rows."""
        if self._grown is None:
            self._grown = self._fold.grow(n_threads)
            return
        rescale = self._plan.rescale
        _, of_splits = search.rounds[len(self.rounds)]
        rescaling = of_splits if rescale == "honest" else self._fold.own_rescaling(rescale, n_threads)
        self._fold.finish(rescaling, n_threads)
        finished, self._grown = self._grown, None
        self.rounds.append((finished, rescaling))


def _outcome(rounds: Sequence[_Round], search: _Search) -> FitOutcome:
    """Keep the rounds up to the best."""
    kept = rounds[: search.best]
    fitted = tuple(_fitted(grown, rescaling) for grown, rescaling in kept)
    gains = sum((grown.gains for grown, _ in kept), start=np.zeros(search.n_columns))
    return FitOutcome(fitted, tuple(search.history), gains)


def _fitted(grown: GrownRound, rescaling: Rescaling) -> FittedRound:
    """A round as the model holds it: the shift becomes a last tree with one leaf."""
    if rescaling.shift == 0.0:
        return FittedRound(grown.trees, rescaling.theta)
    return FittedRound(Trees.concatenate([grown.trees, Trees.constant(rescaling.shift)]), rescaling.theta)
