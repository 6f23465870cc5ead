"""When the loop stops, what it keeps, and what it costs."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from trueup._fitting import FitOutcome, FitPlan, Split, TrainingData
from trueup._fitting._growing import Cancelled
from trueup._fitting._lightgbm import GrownRound
from trueup._fitting._loop import fit_rounds
from trueup._model import RoundRecord, Trees

ROWS = np.arange(4)


def stump(value: float) -> Trees:
    """A tree without splits that adds the same to every logit."""
    none = np.empty(0)
    return Trees(
        node_offsets=np.array([0, 0], dtype=np.int32),
        split_feature=none.astype(np.int32),
        threshold=none,
        decision_type=none.astype(np.uint8),
        left_child=none.astype(np.int32),
        right_child=none.astype(np.int32),
        leaf_values=np.array([value]),
        category_offsets=np.zeros(1, dtype=np.int32),
        category_words=none.astype(np.uint32),
    )


class ScriptedGrower:
    """Grows stumps by a script, and notes the rows and logits that it was given."""

    def __init__(self, values: Sequence[float]) -> None:
        self.values, self.prepared, self.seen = values, [], []

    def prepare(self, rows: np.ndarray | None, cancel: threading.Event) -> ScriptedRows:
        self.prepared.append(rows)
        return ScriptedRows(self)


class ScriptedRows:
    def __init__(self, grower: ScriptedGrower) -> None:
        self.grower, self.round = grower, 0

    def grow(self, logits: np.ndarray, n_threads: int) -> GrownRound:
        self.grower.seen.append(logits.copy())
        self.round += 1
        return GrownRound(stump(self.grower.values[self.round - 1]), np.zeros(2))


class Notes:
    def __init__(self) -> None:
        self.records: list[RoundRecord] = []
        self.refits: list[tuple[int, int]] = []

    def round_finished(self, record: RoundRecord) -> None:
        self.records.append(record)

    def refit_started(self, n_rounds: int) -> None:
        self.refits.append((0, n_rounds))

    def refit_round_finished(self, number: int, n_rounds: int) -> None:
        self.refits.append((number, n_rounds))


def data(base: float = 0.0) -> TrainingData:
    """Three of four rows are positive, so the best logit is ln 3 = 1.0986."""
    matrix = np.zeros((4, 1), order="F")
    labels = np.array([1.0, 1.0, 1.0, 0.0])
    return TrainingData(matrix, np.zeros(1, np.uint8), labels, np.full(4, base), None, soft=False)


def plan(splits: list[Split] | None = None, **changes: Any) -> tuple[list[Split], FitPlan]:
    splits = [(ROWS, ROWS)] if splits is None else splits
    defaults = {"validates": bool(splits), "max_rounds": 10, "patience": 0, "rescale": None, "n_threads": 1}
    return splits, FitPlan(**{**defaults, **changes})


def test_it_stops_at_the_first_round_that_does_not_lower_the_loss() -> None:
    # Logits 0 -> 0.5 -> 1.0 -> 2.0: the third is farther from ln 3 than the second.
    outcome = fit_rounds(data(), ScriptedGrower([0.5, 0.5, 1.0, 9.0]), *plan(), Notes())
    assert [record.number for record in outcome.history] == [0, 1, 2, 3]
    assert len(outcome.rounds) == 2


def test_with_patience_it_looks_further_and_keeps_the_best() -> None:
    # 0.5, 2.0 (worse), 1.0 (best), then no more.
    grower = ScriptedGrower([0.5, 1.5, -1.0, 3.0, 3.0])
    outcome = fit_rounds(data(), grower, *plan(patience=1), Notes())
    assert len(outcome.rounds) == 3
    assert [record.number for record in outcome.history] == [0, 1, 2, 3, 4, 5]


def test_a_round_that_changes_nothing_is_not_kept() -> None:
    assert fit_rounds(data(), ScriptedGrower([0.0]), *plan(), Notes()).rounds == ()


def test_the_right_base_scores_are_left_alone() -> None:
    outcome = fit_rounds(data(np.log(3)), ScriptedGrower([0.1]), *plan(), Notes())
    assert outcome.rounds == ()
    assert len(outcome.history) == 2


def test_without_validation_exactly_max_rounds_are_fitted() -> None:
    outcome = fit_rounds(data(), ScriptedGrower([5.0] * 3), *plan(splits=[], max_rounds=3), Notes())
    assert len(outcome.rounds) == 3
    assert all(np.isnan(record.validation_loss) for record in outcome.history)


def test_each_round_starts_from_the_logits_of_the_one_before() -> None:
    grower = ScriptedGrower([0.5, 0.5, 1.0])
    fit_rounds(data(), grower, *plan(), Notes())
    assert [logits[0] for logits in grower.seen] == [0.0, 0.5, 1.0]


def test_trees_are_not_grown_again_where_the_training_rows_are_those_of_the_final_fit() -> None:
    grower, notes = ScriptedGrower([0.5, 0.5, 1.0]), Notes()
    fit_rounds(data(), grower, *plan(), notes)
    assert len(grower.prepared) == 1
    assert notes.refits == []


def test_folds_are_followed_by_a_fit_on_all_rows() -> None:
    folds = [(np.array([0, 3]), np.array([1, 2])), (np.array([1, 2]), np.array([0, 3]))]
    grower, notes = ScriptedGrower([0.25, -1.0]), Notes()
    fit_rounds(data(), grower, *plan(splits=folds), notes)
    assert [None if rows is None else rows.tolist() for rows in grower.prepared] == [[0, 3], [1, 2], None]
    assert notes.refits == [(0, 1), (1, 1)]


class Choreographed(ScriptedGrower):
    """Rounds that begin when an event is set, and set one when they are grown; of the split, then of all rows."""

    def __init__(self, values: Sequence[float]) -> None:
        super().__init__(values)
        self.waits_for: dict[tuple[str, int], threading.Event] = {}
        self.sets: dict[tuple[str, int], threading.Event] = {}
        self.cancelled: list[tuple[str, int]] = []

    def prepare(self, rows: np.ndarray | None, cancel: threading.Event) -> ScriptedRows:
        who, scripted, outer = "all" if rows is None else "split", super().prepare(rows, cancel), self

        class Rows(ScriptedRows):
            def grow(self, logits: np.ndarray, n_threads: int) -> GrownRound:
                turn = (who, scripted.round + 1)
                if turn in outer.sets and turn == ("all", 2):
                    outer.sets[turn].set()
                    assert cancel.wait(20)
                    outer.cancelled.append(turn)
                    raise Cancelled
                if turn in outer.waits_for:
                    assert outer.waits_for[turn].wait(20)
                grown = scripted.grow(logits, n_threads)
                if turn in outer.sets:
                    outer.sets[turn].set()
                return grown

        return Rows(self)


HELD_OUT = [(np.array([0, 3]), np.array([1, 2]))]


def outcome_of_one_thread(values: Sequence[float]) -> FitOutcome:
    return fit_rounds(data(), ScriptedGrower(values), *plan(splits=HELD_OUT), Notes())


def assert_same(one: FitOutcome, other: FitOutcome) -> None:
    assert len(one.rounds) == len(other.rounds)
    for a, b in zip(one.rounds, other.rounds, strict=True):
        assert a.theta == b.theta
        np.testing.assert_array_equal(a.trees.leaf_values, b.trees.leaf_values)


def test_a_final_fit_that_is_ahead_is_stopped_when_the_search_is_over() -> None:
    grower, notes = Choreographed([0.25, -1.0]), Notes()
    second_begun = threading.Event()
    grower.sets["all", 2] = grower.waits_for["split", 2] = second_begun
    outcome = fit_rounds(data(), grower, *plan(splits=HELD_OUT, n_threads=2), notes)
    assert grower.cancelled == [("all", 2)]
    assert notes.refits == []
    assert_same(outcome, outcome_of_one_thread([0.25, -1.0]))


def test_a_final_fit_that_lags_behind_is_completed_after_the_search() -> None:
    over = threading.Event()

    class UntilRoundThree(Notes):
        def round_finished(self, record: RoundRecord) -> None:
            super().round_finished(record)
            if record.number == 3:
                over.set()

    values = [0.25, 0.5, -1.0]
    grower, notes = Choreographed(values), UntilRoundThree()
    grower.waits_for["all", 1] = over
    outcome = fit_rounds(data(), grower, *plan(splits=HELD_OUT, n_threads=2), notes)
    assert_same(outcome, outcome_of_one_thread(values))
    assert len(outcome.rounds) == 2


def test_with_more_splits_than_threads_the_final_fit_comes_after() -> None:
    folds = [(np.array([0, 3]), np.array([1, 2])), (np.array([1, 2]), np.array([0, 3]))]
    notes = Notes()
    fit_rounds(data(), ScriptedGrower([0.25, -1.0]), *plan(splits=folds, n_threads=2), notes)
    assert notes.refits == [(0, 1), (1, 1)]


def test_as_many_rows_drawn_with_repetition_are_not_taken_for_all_rows() -> None:
    drawn = np.array([0, 0, 1, 3])
    grower = ScriptedGrower([0.25, -1.0])
    fit_rounds(data(), grower, *plan(splits=[(drawn, np.array([2]))], max_rounds=1), Notes())
    assert grower.prepared[0].tolist() == [0, 0, 1, 3]


def test_the_loss_of_a_round_is_the_mean_over_the_rows_of_all_folds_and_not_over_folds() -> None:
    # Fold 1 validates on a positive, fold 2 on the negative and two positives: at logit 0 every loss is ln 2,
    # so the mean is too; at logit 0.25 it is (3 l(0.25) + l(-0.25)) / 4 with l(x) = ln(1 + e^-x).
    folds = [(np.array([1, 2, 3]), np.array([0])), (np.array([0, 3]), np.array([1, 2, 3]))]
    outcome = fit_rounds(data(), ScriptedGrower([0.25, 0.0]), *plan(splits=folds), Notes())
    positive, negative = np.log1p(np.exp(-0.25)), np.log1p(np.exp(0.25))
    assert outcome.history[0].validation_loss == pytest.approx(np.log(2))
    assert outcome.history[1].validation_loss == pytest.approx((3 * positive + negative) / 4)


def test_honest_theta_comes_from_the_rows_that_did_not_grow() -> None:
    # Train on rows 0, 1, 2 and validate on 1, 2, 3: at logit 1 the validation rows have 2 of 3 positive, so
    # theta = ln 2.
    split = [(np.array([0, 1, 2]), np.array([1, 2, 3]))]
    honest = fit_rounds(data(), ScriptedGrower([1.0]), *plan(splits=split, rescale="honest", max_rounds=1), Notes())
    # All logits are 1 after the trees, so that theta and shift can't be told apart: 1 is moved to ln 2.
    assert honest.rounds[0].theta == 1
    assert 1 + honest.rounds[0].trees.leaf_values[-1] == pytest.approx(np.log(2))
    # Fitted on all rows, three of four positive: ln 3.
    train = fit_rounds(data(), ScriptedGrower([1.0]), *plan(rescale="train", max_rounds=1), Notes())
    assert train.rounds[0].theta == pytest.approx(np.log(3))


def test_history_holds_the_convergence_quantities_of_the_paper() -> None:
    record = fit_rounds(data(), ScriptedGrower([0.5, 9.0]), *plan(), Notes()).history[1]
    # |F1 - F0| = 1/2 everywhere: phi = 2/2 + 1/4/8 = 33/32; f0 = 1/2, so C² = 4 and the bound is 2/sqrt(3) 2
    # sqrt(33/32).
    assert record.logit_change == pytest.approx(0.5)
    assert record.phi == pytest.approx(33 / 32)
    assert record.alpha_bound == pytest.approx(4 / np.sqrt(3) * np.sqrt(33 / 32))


def test_an_interrupt_in_one_fold_stops_the_others() -> None:
    class Interrupted(ScriptedGrower):
        def prepare(self, rows: np.ndarray | None, cancel: threading.Event) -> object:
            class Rows:
                def grow(self, logits: np.ndarray, n_threads: int) -> GrownRound:
                    raise KeyboardInterrupt

            return Rows()

    folds = [(np.array([0, 3]), np.array([1, 2])), (np.array([1, 2]), np.array([0, 3]))]
    splits, stopped = plan(splits=folds, n_threads=2)
    with pytest.raises(KeyboardInterrupt):
        fit_rounds(data(), Interrupted([]), splits, stopped, Notes())
    assert stopped.cancel.is_set()
