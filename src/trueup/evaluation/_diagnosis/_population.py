"""Whether train and test come from one population: a classifier that tries to tell them apart."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from trueup.evaluation._diagnosis._joined import JoinedColumn, Measure
from trueup.evaluation._diagnosis._separation import Separation, mean_separation, separation
from trueup.evaluation._diagnosis._sides import Floats
from trueup.evaluation._diagnosis._survey import Sample

__all__ = ["Population", "tell_apart"]

_FOLDS = 3
_TREES = 60
_WORTH_EXPLAINING = 0.53
_MOST_EXPLAINED = 8
FEWEST_ROWS = 60


@dataclass(frozen=True)
class Population:
    """How well a classifier tells train from test.

    Attributes
    ----------
    separation : Separation
        Its AUC on rows that it was not trained on.
    importances : dict of str to float
        What the AUC loses, on the rows held out, if a column's values are shuffled among them; the largest first.
        Columns that the classifier hardly used are left out.
    """

    separation: Separation
    importances: dict[str, float]


def tell_apart(columns: list[JoinedColumn], sample: Sample, n_threads: int, seed: int) -> Population | None:
    """Train a small classifier to tell train from test, on folds that leave one out.

    Notes
    -----
    In each fold the scores of the rows left out don't depend on which of these are train's, if nothing
    does; so each fold's AUC has a mean of a half exactly, which that of all folds' scores together has not.
    """
    from trueup._runtime import Workers

    if not columns or min(sample.n_train, sample.n_test) < FEWEST_ROWS:
        return None
    matrix = np.column_stack([column.values for column in columns])
    categorical = [i for i, column in enumerate(columns) if column.measure is Measure.CATEGORY]
    is_test = np.arange(len(sample.rows)) >= sample.n_train
    folds = _folds(is_test, seed)
    jobs = [partial(_held_out, matrix, categorical, is_test, sample.weights, folds == k) for k in range(_FOLDS)]
    with Workers(min(n_threads, _FOLDS), [threading.Event()]) as workers:
        results = workers.all(jobs)
    losses = np.mean([loss for _, loss in results], axis=0)
    order = np.argsort(-losses, kind="stable")
    importances = {columns[i].name: float(losses[i]) for i in order if losses[i] > 0}
    return Population(mean_separation([part for part, _ in results]), importances)


def _folds(is_test: Any, seed: int) -> Any:
    """The fold of each row; either side is spread evenly over them."""
    rng = np.random.default_rng(seed)
    folds = np.empty(len(is_test), dtype=np.int64)
    for side in (is_test, ~is_test):
        folds[side] = rng.permutation(np.arange(int(side.sum())) % _FOLDS)
    return folds


def _held_out(
    matrix: Floats, categorical: list[int], is_test: Any, weights: Floats, held: Any
) -> tuple[Separation, Floats]:
    """The AUC on the rows held out of a classifier of the others, and what it loses without each column.

    The gains that LightGBM tells are those on its training rows, where columns of many categories gain by chance.
    """
    import lightgbm as lgb

    parameters = {
        "objective": "binary",
        "learning_rate": 0.1,
        "num_leaves": 8,
        "min_data_in_leaf": 20,
        "max_bin": 127,
        "num_threads": 1,  # folds run side by side, and one thread survives a fork
        "deterministic": True,
        "seed": 0,
        "verbosity": -1,
    }
    training_set = lgb.Dataset(
        matrix[~held],
        label=is_test[~held].astype(np.float64),
        weight=weights[~held],
        categorical_feature=categorical,
        feature_name=[f"f{i}" for i in range(matrix.shape[1])],
        params=parameters,
    )
    booster = lgb.train(parameters, training_set, _TREES)
    of_train, of_test = (np.where(is_test[held] == side, weights[held], 0.0) for side in (False, True))

    def measured(rows: Floats) -> Separation:
        """How well the classifier does on the rows held out, as they are or with a column shuffled."""
        return separation(np.asarray(booster.predict(rows, num_threads=1), dtype=np.float64), of_train, of_test)

    rows = matrix[held]
    whole, losses = measured(rows), np.zeros(matrix.shape[1])
    if whole.auc >= _WORTH_EXPLAINING:
        gains = np.asarray(booster.feature_importance("gain"), dtype=np.float64)
        order = np.random.default_rng(0).permutation(len(rows))
        for column in np.argsort(-gains, kind="stable")[:_MOST_EXPLAINED]:
            kept = rows[:, column].copy()
            rows[:, column] = kept[order]
            losses[column] = whole.auc - measured(rows).auc
            rows[:, column] = kept
    return whole, losses
