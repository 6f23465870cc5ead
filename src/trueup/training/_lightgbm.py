"""Growing the trees of a round with LightGBM.

Binning the features is the larger part of making a `lightgbm.Dataset`, and it is the same in every round. So each
set of rows is binned once; a round copies the bins and adds one column, the new logit. Where this version of LightGBM
can't add a column, a round bins everything again and grows the same trees.
"""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass
from typing import Any, Protocol

import lightgbm as lgb
import numpy as np
import numpy.typing as npt

from trueup.errors import TrainingError
from trueup.model import Trees
from trueup.training._booster_text import trees_and_gains
from trueup.training._data import TrainingData
from trueup.training._lightgbm_private import ADDS_COLUMNS, add_columns
from trueup.training._parameters import GrowthParameters

__all__ = ["Cancelled", "GrownRound", "LightGBMGrower", "PreparedRows", "RoundGrower"]

Floats = npt.NDArray[np.float64]
_ROWS_A_THREAD = 20_000  # with fewer, threads spend their time waiting for each other


class Cancelled(Exception):  # noqa: N818 (a signal, as KeyboardInterrupt is)
    """Raised in a worker when the fit is being stopped."""


@dataclass(frozen=True, eq=False)
class GrownRound:
    """The trees of a round, and the gain of each feature, the logit last."""

    trees: Trees
    gains: Floats


class PreparedRows(Protocol):
    """Rows that are ready to grow trees in any number of rounds."""

    def grow(self, logits: Floats, n_threads: int) -> GrownRound:
        """The trees of a round that starts from these logits."""


class RoundGrower(Protocol):
    """Whoever grows trees: LightGBM here, or a cluster of them."""

    def prepare(self, rows: npt.NDArray[np.intp] | None) -> PreparedRows:
        """Get rows ready; None is all rows."""


class LightGBMGrower:
    """Grows trees with LightGBM in this process.

    Parameters
    ----------
    data : TrainingData
        All rows.
    parameters : GrowthParameters
        How trees are grown.
    cancel : threading.Event
        When it is set, growing stops after the current tree.
    """

    def __init__(self, data: TrainingData, parameters: GrowthParameters, cancel: threading.Event) -> None:
        self.data = data
        self.parameters = parameters
        self.cancel = cancel

    def prepare(self, rows: npt.NDArray[np.intp] | None) -> _BinnedRows:
        """Get rows ready; None is all rows."""
        return _BinnedRows(self, rows)


class _BinnedRows:
    """The bins of some rows' features, made when they are first needed."""

    def __init__(self, grower: LightGBMGrower, rows: npt.NDArray[np.intp] | None) -> None:
        self._grower = grower
        self._rows = rows
        self._bins: lgb.Dataset | None = None

    def grow(self, logits: Floats, n_threads: int) -> GrownRound:
        threads = _safe_threads(min(n_threads, len(logits) // _ROWS_A_THREAD))  # the trees don't depend on it
        parameters = {**self._grower.parameters.booster, "num_threads": threads}
        try:
            booster = lgb.Booster(parameters, self._training_set(logits, parameters))
            for _ in range(self._grower.parameters.n_trees):
                if self._grower.cancel.is_set():
                    raise Cancelled
                if booster.update():  # nothing left to split
                    break
        except lgb.basic.LightGBMError as error:
            raise TrainingError(f"LightGBM could not grow a tree: {error}. Check lightgbm_params.") from error
        n_columns = self._grower.data.matrix.shape[1] + 1
        trees, gains = trees_and_gains(booster.model_to_string(), n_columns)
        return GrownRound(trees, gains)

    def _training_set(self, logits: Floats, parameters: dict[str, Any]) -> lgb.Dataset:
        """The features and the logit, binned; the logit is the last column and the initial score."""
        n_features = self._grower.data.matrix.shape[1]
        if n_features == 0 or not ADDS_COLUMNS:
            matrix = np.column_stack([self._features(), logits])
            return self._dataset(matrix, parameters).set_init_score(logits)
        if self._bins is None:
            self._bins = self._dataset(self._features(), parameters).construct()
        all_rows: Any = range(len(logits))
        training_set = self._bins.subset(all_rows).construct()  # a copy of the bins
        score = lgb.Dataset(logits.reshape(-1, 1), params=parameters, feature_name=["score"]).construct()
        add_columns(training_set, score)
        return training_set.set_init_score(logits)

    def _features(self) -> Floats:
        matrix = self._grower.data.matrix
        return matrix if self._rows is None else _taken(matrix, self._rows)

    def _dataset(self, matrix: Floats, parameters: dict[str, Any]) -> lgb.Dataset:
        data, rows = self._grower.data, slice(None) if self._rows is None else self._rows
        return lgb.Dataset(
            matrix,
            label=data.labels[rows],
            weight=None if data.weights is None else data.weights[rows],
            categorical_feature=np.flatnonzero(data.categorical).tolist(),
            feature_name=[f"f{i}" for i in range(matrix.shape[1])],
            params=parameters,
        )


_threaded_in: set[int] = set()  # the processes in which LightGBM has started threads


def _safe_threads(n_threads: int) -> int:
    """At least one; and just one in a child of a process that had more: OpenMP's threads don't survive a fork."""
    forked = bool(_threaded_in) and os.getpid() not in _threaded_in
    if n_threads <= 1 or forked:
        return 1
    _threaded_in.add(os.getpid())
    return n_threads


def _taken(matrix: Floats, rows: npt.NDArray[np.intp]) -> Floats:
    """The rows of a matrix in Fortran order, in Fortran order; plain indexing would give C order."""
    taken = np.empty((len(rows), matrix.shape[1]), order="F")
    for column in range(matrix.shape[1]):
        taken[:, column] = matrix[rows, column]
    return taken
