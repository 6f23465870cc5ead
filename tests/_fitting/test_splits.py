"""Which rows grow trees and which ones watch."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import GroupKFold, PredefinedSplit, TimeSeriesSplit

from trueup._fitting import make_splits
from trueup._fitting._splits import AUTO_FOLDS, AUTO_FOLDS_MAX_ROWS
from trueup.errors import ParameterError

LABELS = np.tile([0.0, 0.0, 0.0, 1.0], 25)


def test_folds_cover_every_row_once_and_keep_the_classes_in_proportion() -> None:
    splits = make_splits(5, LABELS, soft=False, seed=0)
    assert sorted(np.concatenate([valid for _, valid in splits])) == list(range(100))
    assert [LABELS[valid].mean() for _, valid in splits] == [0.25] * 5
    assert all(np.intersect1d(train, valid).size == 0 for train, valid in splits)


def test_a_fraction_holds_out_that_many_rows() -> None:
    ((train, valid),) = make_splits(0.2, LABELS, soft=False, seed=0)
    assert (len(train), len(valid)) == (80, 20)


def test_the_seed_decides_the_rows() -> None:
    a, b, c = (make_splits(0.2, LABELS, soft=False, seed=seed)[0][1] for seed in (1, 1, 2))
    assert a.tolist() == b.tolist() != c.tolist()


def test_auto_takes_folds_for_few_rows_and_a_hold_out_for_many() -> None:
    assert len(make_splits("auto", LABELS, soft=False, seed=0)) == AUTO_FOLDS
    many = np.tile([0.0, 1.0], AUTO_FOLDS_MAX_ROWS // 2 + 1)
    assert len(make_splits("auto", many, soft=False, seed=0)) == 1


def test_soft_labels_are_not_stratified() -> None:
    assert len(make_splits(4, np.linspace(0, 1, 40), soft=True, seed=0)) == 4


def test_a_splitter_is_taken_as_it_is() -> None:
    splits = make_splits(TimeSeriesSplit(3), LABELS, soft=False, seed=0)
    assert all(train.max() < valid.min() for train, valid in splits)
    predefined = make_splits(PredefinedSplit(np.repeat([-1, 0], 50)), LABELS, soft=False, seed=0)
    assert [(len(train), len(valid)) for train, valid in predefined] == [(50, 50)]
    pairs = make_splits([(np.arange(50), np.arange(50, 100))], LABELS, soft=False, seed=0)
    assert pairs[0][1].tolist() == list(range(50, 100))


@pytest.mark.parametrize("wrong", ["folds", 1, 0, -2, 1.5, 0.0, True, object()])
def test_nonsense_is_refused(wrong: object) -> None:
    with pytest.raises(ParameterError, match="validation"):
        make_splits(wrong, LABELS, soft=False, seed=0)


def test_a_splitter_that_needs_groups_says_so() -> None:
    with pytest.raises(ParameterError, match="groups"):
        make_splits(GroupKFold(3), LABELS, soft=False, seed=0)


def test_too_few_rows_of_a_class_are_a_reason_not_an_error() -> None:
    assert "one class has 3" in make_splits(5, np.repeat([0.0, 1.0], [50, 3]), soft=False, seed=0)
    assert "hold-out" in make_splits(0.2, np.array([0.0, 0.0, 1.0]), soft=False, seed=0)
    assert "one class only" in make_splits([(np.arange(3), np.arange(3, 9))], LABELS, soft=False, seed=0)
