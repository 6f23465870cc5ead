"""Bin the features once, and grow the trees of each round on those bins and the new logit.

Making a `lightgbm.Dataset` is mostly binning, and the features' bins are the same in every round. So each set of rows
is binned once; a round copies the bins and adds one column, the logit.

Large sets of rows may share one binning of all rows, as in `lightgbm.cv`; bins know nothing of labels. Packed rows
always share it, because their intervals came from all rows.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import lightgbm as lgb
import numpy as np
import numpy.typing as npt

from trueup._fitting._data import Rows, TrainingData, take_rows
from trueup._fitting._growing import copy_bins, grow_trees, naming_lightgbm, safe_threads
from trueup._fitting._lightgbm_private import add_columns
from trueup._fitting._packed import PACKED_PARAMETERS, PackedMatrix, packed_dataset, with_real_thresholds
from trueup._fitting._parameters import GrowthParameters
from trueup._model import Trees
from trueup._runtime import give_back_memory

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class GrownRound:
    """The trees of a round."""

    trees: Trees
    gains: Floats  # of each feature, the logit last


class LightGBMGrower:
    """Grows trees with LightGBM in this process. With `shares_bins`, all rows are binned at once."""

    def __init__(
        self, data: TrainingData, parameters: GrowthParameters, *, shares_bins: bool = False, n_threads: int = 1
    ) -> None:
        self.data = data
        self.parameters = parameters
        shares_bins = shares_bins or isinstance(data.matrix, PackedMatrix)
        self._bins_of_all = _Bins(data, None, n_threads) if shares_bins else None

    def prepare(self, rows: Rows | None, cancel: threading.Event) -> BinnedRows:
        """Get rows ready, None being all; when `cancel` is set, growing on them ends with `Cancelled`."""
        if self._bins_of_all is None:
            return BinnedRows(self, rows, _Bins(self.data, rows, 1), None, cancel)
        return BinnedRows(self, rows, self._bins_of_all, rows, cancel)


class _Bins:
    """The features of some rows, None being all, which are binned when they are first needed."""

    def __init__(self, data: TrainingData, rows: Rows | None, n_threads: int) -> None:
        self._data, self._rows, self._n_threads = data, rows, n_threads
        self._made: lgb.Dataset | None = None
        self._lock = threading.Lock()  # folds share bins and grow in several threads, and only one of them should bin

    def copy(self, rows: Rows, parameters: dict[str, Any]) -> lgb.Dataset:
        """The bins of some of the binned rows, which are numbered among themselves."""
        with self._lock:
            if self._made is None:
                self._made = self._make(parameters)
        return copy_bins(self._made, rows)

    def _make(self, parameters: dict[str, Any]) -> lgb.Dataset:
        matrix = self._data.matrix
        categorical = np.flatnonzero(self._data.categorical).tolist()
        parameters = {**parameters, "num_threads": safe_threads(self._n_threads)}
        if isinstance(matrix, PackedMatrix):
            return packed_dataset([matrix], parameters)
        if self._rows is not None:
            matrix = take_rows(matrix, self._rows)
        return _dataset(self._data, self._rows, matrix, parameters, categorical).construct()


class BinnedRows:
    """Training rows, and their places among the rows of some bins; None is all."""

    def __init__(
        self, grower: LightGBMGrower, rows: Rows | None, bins: _Bins, within_bins: Rows | None, cancel: threading.Event
    ) -> None:
        self._grower, self._rows, self._cancel = grower, rows, cancel
        self._bins, self._within_bins = bins, within_bins

    def grow(self, logits: Floats, n_threads: int) -> GrownRound:
        """The trees of a round that starts from these logits."""
        threads = safe_threads(n_threads, len(logits))  # the trees don't depend on it
        parameters = {**self._grower.parameters.booster, "num_threads": threads}
        data = self._grower.data
        if isinstance(data.matrix, PackedMatrix):
            parameters |= PACKED_PARAMETERS
        with naming_lightgbm():
            training_set = self._training_set(logits, parameters).construct()
            del logits  # LightGBM has copied them
            trees, gains = grow_trees(
                training_set,
                parameters,
                n_trees=self._grower.parameters.n_trees,
                n_columns=data.n_features + 1,
                soft=data.soft,
                cancel=self._cancel,
            )
        if isinstance(data.matrix, PackedMatrix):
            trees = with_real_thresholds(trees, data.matrix.columns)
            del training_set
            give_back_memory()  # or the next round's memory would come on top of what malloc keeps of this one's
        return GrownRound(trees, gains)

    def _training_set(self, logits: Floats, parameters: dict[str, Any]) -> lgb.Dataset:
        """The features and the logit, binned; the logit is the last column and the initial score."""
        data, column = self._grower.data, logits.reshape(-1, 1)
        if data.matrix.shape[1] == 0:
            return _dataset(data, self._rows, column, parameters).set_init_score(logits)
        within = np.arange(len(logits), dtype=np.int32) if self._within_bins is None else self._within_bins
        training_set = self._bins.copy(within, parameters)
        del within  # LightGBM has copied those rows
        if isinstance(data.matrix, PackedMatrix):  # their bins have no labels or weights, which would be held twice
            of_rows = slice(None) if self._rows is None else self._rows
            training_set.set_label(data.labels[of_rows]).set_weight(data.weights_of(of_rows))
        add_columns(training_set, lgb.Dataset(column, params=parameters, feature_name=["score"]).construct())
        return training_set.set_init_score(logits)


def _dataset(
    data: TrainingData, rows: Rows | None, matrix: Floats, parameters: dict[str, Any], categorical: Sequence[int] = ()
) -> lgb.Dataset:
    """Columns of some rows with their labels and weights, not yet binned."""
    of_rows = slice(None) if rows is None else rows
    return lgb.Dataset(
        matrix,
        label=data.labels[of_rows],
        weight=data.weights_of(of_rows),
        categorical_feature=list(categorical),
        feature_name=[f"f{i}" for i in range(matrix.shape[1])],
        params=parameters,
    )
