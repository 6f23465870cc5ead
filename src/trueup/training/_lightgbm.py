"""Growing the trees of a round with LightGBM.

Binning the features is the larger part of making a `lightgbm.Dataset`, and it is the same in every round. So each
set of rows is binned once; a round copies the bins and adds one column, the new logit.

Large sets of rows may share one binning of all rows, as `lightgbm.cv` does it: a round then copies the bins of its
rows. Bins don't know labels. Packed rows always do: what they are cut into came from all rows.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import lightgbm as lgb
import numpy as np
import numpy.typing as npt

from trueup import _native
from trueup.errors import TrainingError
from trueup.model import Trees
from trueup.training._booster_text import trees_and_gains
from trueup.training._data import Rows, TrainingData, take_rows
from trueup.training._lightgbm_private import add_columns
from trueup.training._packed import PackedMatrix
from trueup.training._packed_bins import packed_dataset
from trueup.training._parameters import GrowthParameters

__all__ = ["Cancelled", "GrownRound", "LightGBMGrower", "PreparedRows", "RoundGrower"]

Floats = npt.NDArray[np.float64]
Singles = npt.NDArray[np.float32]
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

    def prepare(self, rows: Rows | None, cancel: threading.Event) -> PreparedRows:
        """Get rows ready, None being all rows; when `cancel` is set, growing on them ends with `Cancelled`."""


class LightGBMGrower:
    """Grows trees with LightGBM in this process.

    Parameters
    ----------
    data : TrainingData
        All rows.
    parameters : GrowthParameters
        How trees are grown.
    shares_bins : bool
        Whether all rows are binned once, instead of each set of rows for itself.
    n_threads : int
        How many threads there are for that; everybody waits for it.
    """

    def __init__(
        self, data: TrainingData, parameters: GrowthParameters, *, shares_bins: bool = False, n_threads: int = 1
    ) -> None:
        self.data = data
        self.parameters = parameters
        shares_bins = shares_bins or isinstance(data.matrix, PackedMatrix)
        self._bins_of_all = _Bins(data, None, n_threads) if shares_bins else None

    def prepare(self, rows: Rows | None, cancel: threading.Event) -> _BinnedRows:
        """Get rows ready, None being all rows; when `cancel` is set, growing on them ends with `Cancelled`."""
        if self._bins_of_all is None:
            return _BinnedRows(self, rows, _Bins(self.data, rows, 1), None, cancel)
        return _BinnedRows(self, rows, self._bins_of_all, rows, cancel)


class _Bins:
    """The features of some rows, None being all, binned when they are first needed."""

    def __init__(self, data: TrainingData, rows: Rows | None, n_threads: int) -> None:
        self._data, self._rows, self._n_threads = data, rows, n_threads
        self._made: lgb.Dataset | None = None
        self._lock = threading.Lock()  # other sets of rows may need the same bins

    def copy(self, rows: Rows, parameters: dict[str, Any]) -> lgb.Dataset:
        """The bins of some of the rows, counted among those that are binned."""
        with self._lock:
            if self._made is None:
                self._made = self._make(parameters)
        copied = self._made.subset([])
        used: Any = rows  # given to `subset`, they would become a list of Python's integers
        copied.used_indices = used
        copied.construct().used_indices = []
        return copied

    def _make(self, parameters: dict[str, Any]) -> lgb.Dataset:
        matrix = self._data.matrix
        categorical = np.flatnonzero(self._data.categorical).tolist()
        parameters = {**parameters, "num_threads": _safe_threads(self._n_threads)}
        if isinstance(matrix, PackedMatrix):
            made = packed_dataset(matrix, parameters)
            made.set_label(self._data.labels)
            return made.set_weight(self._data.weights)
        if self._rows is not None:
            matrix = take_rows(matrix, self._rows)
        return _dataset(self._data, self._rows, matrix, parameters, categorical).construct()


class _BinnedRows:
    """Rows that grow trees, and which of some bins are theirs; None is all."""

    def __init__(
        self,
        grower: LightGBMGrower,
        rows: Rows | None,
        bins: _Bins,
        within_bins: Rows | None,
        cancel: threading.Event,
    ) -> None:
        self._grower, self._rows, self._cancel = grower, rows, cancel
        self._bins, self._within_bins = bins, within_bins

    def grow(self, logits: Floats, n_threads: int) -> GrownRound:
        threads = _safe_threads(min(n_threads, len(logits) // _ROWS_A_THREAD))  # the trees don't depend on it
        parameters = {**self._grower.parameters.booster, "num_threads": threads}
        matrix = self._grower.data.matrix
        n_columns = matrix.shape[1] + 1
        try:
            training_set = self._training_set(logits, parameters).construct()
            del logits  # LightGBM has copied them
            training_set.init_score = None  # ... and its copy back to Python is nobody's
            if not any(training_set.feature_num_bin(column) for column in range(n_columns)):
                return GrownRound(Trees.constant(0.0), np.zeros(n_columns))  # no column has two values to tell apart
            gradients = _Gradients(training_set, self._grower.data.soft, threads)
            booster = lgb.Booster(parameters, training_set)
            for _ in range(self._grower.parameters.n_trees):
                if self._cancel.is_set():
                    raise Cancelled
                if not _add_tree(booster, gradients):
                    break
        except lgb.basic.LightGBMError as error:
            raise TrainingError(f"LightGBM could not grow a tree: {error}. Check lightgbm_params.") from error
        if booster.num_trees() == 0:
            return GrownRound(Trees.constant(0.0), np.zeros(n_columns))
        trees, gains = trees_and_gains(booster.model_to_string(), n_columns)
        return GrownRound(matrix.with_real_thresholds(trees) if isinstance(matrix, PackedMatrix) else trees, gains)

    def _training_set(self, logits: Floats, parameters: dict[str, Any]) -> lgb.Dataset:
        """The features and the logit, binned; the logit is the last column and the initial score."""
        data, column = self._grower.data, logits.reshape(-1, 1)
        if data.matrix.shape[1] == 0:
            return _dataset(data, self._rows, column, parameters).set_init_score(logits)
        within = np.arange(len(logits), dtype=np.int32) if self._within_bins is None else self._within_bins
        training_set = self._bins.copy(within, parameters)
        add_columns(training_set, lgb.Dataset(column, params=parameters, feature_name=["score"]).construct())
        return training_set.set_init_score(logits)


def _add_tree(booster: lgb.Booster, gradients: _Gradients) -> bool:
    """Grow one tree more; say whether another may follow.

    LightGBM sometimes chooses a split that leaves one side empty, notices, and gives the tree up with an error (its
    issue 4739; all but unheard of unless leaves may be tiny). The trees before it stand, and the round ends with them.
    """
    try:
        return not booster.update(fobj=gradients)  # it says whether nothing was left to split
    except lgb.basic.LightGBMError as error:
        if "best_split_info" in str(error):
            return False
        raise


class _Gradients:
    """The derivatives of the log loss at LightGBM's scores. Its own take a fifth of the time that a tree takes."""

    def __init__(self, training_set: lgb.Dataset, soft: bool, n_threads: int) -> None:
        self._labels = np.asarray(training_set.get_label(), dtype=np.float32)
        weights = training_set.get_weight()
        self._weights = None if weights is None else np.asarray(weights, dtype=np.float32)
        self._soft, self._n_threads = soft, n_threads
        self._gradients, self._hessians = np.empty_like(self._labels), np.empty_like(self._labels)

    def __call__(self, scores: Floats, _: lgb.Dataset) -> tuple[Singles, Singles]:
        _native.logistic_gradients(
            scores, self._labels, self._weights, self._soft, self._gradients, self._hessians, self._n_threads
        )
        return self._gradients, self._hessians


def _dataset(
    data: TrainingData,
    rows: Rows | None,
    matrix: Floats,
    parameters: dict[str, Any],
    categorical: Sequence[int] = (),
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


_threaded_in: set[int] = set()  # the processes in which LightGBM has started threads


def _safe_threads(n_threads: int) -> int:
    """At least one; and just one in a child of a process that had more: OpenMP's threads don't survive a fork."""
    forked = bool(_threaded_in) and os.getpid() not in _threaded_in
    if n_threads <= 1 or forked:
        return 1
    _threaded_in.add(os.getpid())
    return n_threads
