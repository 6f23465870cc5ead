"""What a fit must not hold: at twenty million rows, a column of numbers is 160 MB."""

from __future__ import annotations

import threading
import weakref

import numpy as np
import pytest

from trueup._fitting import FitPlan, TrainingData
from trueup._fitting._lightgbm import GrownRound
from trueup._fitting._loop import fit_rounds
from trueup._model import RoundRecord, Trees

N = 40


class OneStump:
    """Moves every logit by a half in each round."""

    def prepare(self, rows: np.ndarray | None, cancel: threading.Event) -> OneStump:
        return self

    def grow(self, logits: np.ndarray, n_threads: int) -> GrownRound:
        return GrownRound(Trees.constant(0.5), np.zeros(2))


class LooksAtTheParts:
    """Counts the parts of the search that are still there when the fit on all rows begins."""

    def __init__(self, parts: list[weakref.ref[object]]) -> None:
        self.parts, self.alive = parts, -1

    def round_finished(self, record: RoundRecord) -> None:
        pass

    def refit_started(self, n_rounds: int) -> None:
        self.alive = sum(part() is not None for part in self.parts)

    def refit_round_finished(self, number: int, n_rounds: int) -> None:
        pass


@pytest.mark.parametrize("n_threads", [1, 2])
def test_the_search_is_forgotten_before_the_fit_on_all_rows_begins(
    monkeypatch: pytest.MonkeyPatch, n_threads: int
) -> None:
    from trueup._fitting import _loop

    made: list[weakref.ref[object]] = []

    class Remembered(_loop.LocalFold):
        def __init__(self, *arguments: object) -> None:
            super().__init__(*arguments)  # type: ignore[arg-type]
            if len(self._valid):
                made.append(weakref.ref(self))

    monkeypatch.setattr(_loop, "LocalFold", Remembered)
    labels = (np.arange(N) % 4 > 0).astype(float)
    data = TrainingData(np.zeros((N, 1), order="F"), np.zeros(1, np.uint8), labels, np.zeros(N), None, soft=False)
    rows = np.arange(N, dtype=np.int32)
    listener = LooksAtTheParts(made)
    plan = FitPlan(validates=True, max_rounds=2, patience=0, rescale=None, n_threads=n_threads, follows=False)
    outcome = fit_rounds(data, OneStump(), [(rows[:32], rows[32:])], plan, listener)
    assert len(outcome.rounds) == 2
    assert len(made) == 1
    assert listener.alive == 0
