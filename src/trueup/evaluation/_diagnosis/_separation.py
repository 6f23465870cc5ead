"""How well a number, or a classifier, tells two sets of rows apart."""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass
from functools import partial
from statistics import NormalDist
from typing import Any

import numpy as np

from trueup.evaluation._diagnosis._joined import JoinedColumn, Measure
from trueup.evaluation._diagnosis._row_set import Floats, Sample

__all__ = ["Population", "Separation", "separation", "tell_apart"]

_NORMAL = NormalDist()
_FOLDS = 3
_TREES = 60
_WORTH_EXPLAINING = 0.53
_MOST_EXPLAINED = 8
_FEWEST_ROWS = 60


@dataclass(frozen=True)
class Separation:
    """The chance that a row of the second set has a higher number than one of the first, and its standard error."""

    auc: float
    standard_error: float

    @property
    def p_value(self) -> float:
        """The chance of at least as high a value if the number says nothing about the set."""
        if self.standard_error == 0:
            return 1.0 if self.auc <= 0.5 else 0.0
        return 1 - _NORMAL.cdf((self.auc - 0.5) / self.standard_error)

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """The interval that covers the value with that chance."""
        reach = _NORMAL.inv_cdf((1 + confidence) / 2) * self.standard_error
        return max(0.0, self.auc - reach), min(1.0, self.auc + reach)


def separation(numbers: Floats, of_first: Floats, of_second: Floats) -> Separation:
    """How often the second set has the higher number; a tie counts half.

    `of_first` and `of_second` hold each row's weight in the set that it is in, and 0 in the other. The standard error
    is DeLong's: a row's placement is the share of the other set below it, and the AUC is the mean of the placements
    in either set. With weights the variance of either mean is ``Σ w² (v - AUC)² / (Σ w)²``.
    """
    order = np.argsort(numbers, kind="stable")
    values, first, second = numbers[order], of_first[order], of_second[order]
    starts = np.flatnonzero(np.concatenate(([True], values[1:] != values[:-1])))
    sizes = np.diff(starts, append=len(values))
    first_total, second_total = float(first.sum()), float(second.sum())

    def share_below(weights: Floats, total: float) -> Floats:
        """Which share of a set lies below each row, a tie counting half."""
        tied = np.add.reduceat(weights, starts)
        return np.repeat((np.cumsum(tied) - tied / 2) / total, sizes)

    of_seconds = share_below(first, first_total)
    of_firsts = 1 - share_below(second, second_total)
    auc = float((second * of_seconds).sum() / second_total)
    variance = float((second**2 * (of_seconds - auc) ** 2).sum() / second_total**2)
    variance += float((first**2 * (of_firsts - auc) ** 2).sum() / first_total**2)
    return Separation(auc, math.sqrt(variance))


def _mean(folds: list[Separation]) -> Separation:
    """The mean of several folds, each of which was held out of what was learned on the others.

    The folds are not independent: where two of them differ from train to test in the same way by chance, either
    confirms what was learned on the other. If d_k is the chance difference of fold k along the direction that
    is learned, fold k's excess is d_k times the sum of the others, and the sum over k counts each product
    d_j d_k twice. That doubles the variance that independent folds would have.
    """
    auc = sum(fold.auc for fold in folds) / len(folds)
    return Separation(auc, math.sqrt(2 * sum(fold.standard_error**2 for fold in folds)) / len(folds))


@dataclass(frozen=True)
class Population:
    """How well a classifier tells train from test."""

    separation: Separation  # its AUC on rows that it was not trained on
    # What the AUC loses, on the rows held out, if a column's values are shuffled among them; the largest first. Columns
    # that the classifier hardly used are left out.
    importances: dict[str, float]


def tell_apart(columns: list[JoinedColumn], sample: Sample, n_threads: int, seed: int) -> Population | None:
    """Train a small classifier to tell train from test, on folds that leave one out.

    In each fold the scores of the rows left out don't depend on which of these are train's, if nothing
    does; so each fold's AUC has a mean of a half exactly, which that of all folds' scores together has not.
    """
    from trueup._runtime import Workers

    if not columns or min(sample.n_train, sample.n_test) < _FEWEST_ROWS:
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
    return Population(_mean([fold for fold, _ in results]), importances)


def _folds(is_test: Any, seed: int) -> Any:
    """The fold of each row; training rows and test rows are spread evenly over them."""
    rng = np.random.default_rng(seed)
    folds = np.empty(len(is_test), dtype=np.int64)
    for some in (is_test, ~is_test):
        folds[some] = rng.permutation(np.arange(int(some.sum())) % _FOLDS)
    return folds


def _held_out(
    matrix: Floats, categorical: list[int], is_test: Any, weights: Floats, held: Any
) -> tuple[Separation, Floats]:
    """The AUC on the rows held out of a classifier of the others, and what it loses without each column.

    The gains that LightGBM reports are those on its training rows, where columns of many categories gain by chance.
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
    of_train, of_test = (np.where(is_test[held] == which, weights[held], 0.0) for which in (False, True))

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
