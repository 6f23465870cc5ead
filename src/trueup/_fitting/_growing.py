"""Grow the trees of a round on a LightGBM data set, and read them from LightGBM's text format."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator
from typing import Any

import lightgbm as lgb
import numpy as np
import numpy.typing as npt

from trueup import _native
from trueup._fitting._lightgbm_private import leave_network
from trueup._model import ARRAY_TYPES, Trees
from trueup.errors import TrainingError

Floats = npt.NDArray[np.float64]
Singles = npt.NDArray[np.float32]
_ROWS_A_THREAD = 20_000  # with fewer rows per thread, threads mostly wait for each other


class Cancelled(Exception):  # noqa: N818 (a signal, like KeyboardInterrupt)
    """Raised in a worker when the fit is being stopped."""


@contextlib.contextmanager
def naming_lightgbm() -> Iterator[None]:
    """Turn LightGBM's errors into our own."""
    try:
        yield
    except lgb.basic.LightGBMError as error:
        raise TrainingError(f"LightGBM could not grow a tree: {error}. Check lightgbm_params.") from error


def copy_bins(made: lgb.Dataset, rows: npt.NDArray[np.int32]) -> lgb.Dataset:
    """The bins of some of the rows of a data set."""
    copied = made.subset([])
    used: Any = rows  # `subset` would turn them into a list of Python integers
    copied.used_indices = used
    copied.construct().used_indices = []
    return copied


def grow_trees(
    training_set: lgb.Dataset,  # features and logit, binned, with labels and weights, and the logits as initial scores
    parameters: dict[str, Any],  # with "machines" among them, several processes grow the trees together
    *,
    n_trees: int,
    n_columns: int,  # the logit among them
    soft: bool,
    cancel: threading.Event,  # when it is set, growing ends with `Cancelled`
    gradient_unit: float | None = None,
) -> tuple[Trees, Floats]:
    """The trees of a round, and the gain of each column.

    With `gradient_unit`, derivatives are rounded to multiples of this power of two. Then their sums are exact, and
    don't depend on which process has which rows.
    """
    training_set.init_score = None  # LightGBM has its own copy, and nobody needs Python's
    if not any(training_set.feature_num_bin(column) for column in range(n_columns)):
        return Trees.constant(0.0), np.zeros(n_columns)  # no column has two different values
    gradients = Gradients(training_set, soft, int(parameters["num_threads"]), gradient_unit)
    try:
        booster = lgb.Booster(parameters, training_set)
        for _ in range(n_trees):
            if cancel.is_set():
                raise Cancelled
            if not add_tree(booster, gradients):
                break
        if booster.num_trees() == 0:
            return Trees.constant(0.0), np.zeros(n_columns)
        return trees_and_gains(booster.model_to_string(), n_columns)
    finally:
        if "machines" in parameters:
            leave_network()


def add_tree(booster: lgb.Booster, gradients: Gradients) -> bool:
    """Grow one more tree, and say whether another may follow.

    LightGBM sometimes chooses a split that leaves one side empty, notices, and gives up with an error (its issue 4739;
    very rare unless leaves may be tiny). The trees before it are kept, and the round ends with them.
    """
    try:
        return not booster.update(fobj=gradients)  # `update` says whether nothing was left to split
    except lgb.basic.LightGBMError as error:
        if "best_split_info" in str(error):
            return False
        raise


class Gradients:
    """The derivatives of the log loss at LightGBM's scores. LightGBM's own take a fifth of the time of a tree."""

    def __init__(self, training_set: lgb.Dataset, soft: bool, n_threads: int, unit: float | None) -> None:
        self._labels = np.asarray(training_set.get_label(), dtype=np.float32)
        weights = training_set.get_weight()
        self._weights = None if weights is None else np.asarray(weights, dtype=np.float32)
        self._soft, self._n_threads, self._unit = soft, n_threads, unit
        self._gradients, self._hessians = np.empty_like(self._labels), np.empty_like(self._labels)

    def __call__(self, scores: Floats, _: lgb.Dataset) -> tuple[Singles, Singles]:
        _native.logistic_gradients(
            scores, self._labels, self._weights, self._soft, self._gradients, self._hessians, self._n_threads
        )
        if self._unit is not None:
            for derivatives in (self._gradients, self._hessians):
                np.multiply(derivatives, np.float32(1 / self._unit), out=derivatives)
                np.multiply(np.rint(derivatives, out=derivatives), np.float32(self._unit), out=derivatives)
        return self._gradients, self._hessians


_threaded_in: set[int] = set()  # the processes in which LightGBM has started threads


def safe_threads(n_threads: int, n_rows: int | None = None) -> int:
    """How many threads to use: fewer if there are few rows, and at least one.

    The child of a process that had several gets just one, because OpenMP's threads don't survive a fork.
    """
    if n_rows is not None:
        n_threads = min(n_threads, n_rows // _ROWS_A_THREAD)
    forked = bool(_threaded_in) and os.getpid() not in _threaded_in
    if n_threads <= 1 or forked:
        return 1
    _threaded_in.add(os.getpid())
    return n_threads


_BY_NAME = {
    "split_feature": "split_feature",
    "threshold": "threshold",
    "decision_type": "decision_type",
    "left_child": "left_child",
    "right_child": "right_child",
    "leaf_value": "leaf_values",
    "cat_threshold": "category_words",
}

_NO_END = 1e300


def trees_and_gains(text: str, n_columns: int) -> tuple[Trees, npt.NDArray[np.float64]]:
    """The trees of a booster, and the total gain of each column.

    The text has 17 digits for each number that matters, so every bit is kept.
    """
    parts = [_one_tree(block) for block in text.split("\nTree=")[1:]]
    gains = np.zeros(n_columns)
    for tree, tree_gains in parts:
        np.add.at(gains, tree.split_feature, tree_gains)
    return Trees.concatenate([tree for tree, _ in parts]), gains


def _one_tree(block: str) -> tuple[Trees, npt.NDArray[np.float64]]:
    fields = dict(line.split("=", 1) for line in block.split("\n\n", maxsplit=1)[0].splitlines()[1:])
    if fields.get("is_linear", "0") != "0":
        raise NotImplementedError("trees with linear leaves can't be read")
    arrays: dict[str, npt.NDArray[Any]] = {
        ours: np.array(fields.get(theirs, "").split(), dtype=ARRAY_TYPES[ours]) for theirs, ours in _BY_NAME.items()
    }
    n_splits = int(fields["num_leaves"]) - 1
    if n_splits == 0:  # LightGBM writes a tree without splits with the fields of one split, or with none
        arrays.update({name: arrays[name][:0] for name in arrays if name != "leaf_values"})
    # LightGBM writes 1e300 for a threshold without an upper end, but infinity is above that.
    arrays["threshold"][arrays["threshold"] >= _NO_END] = np.inf
    offsets = np.array(fields.get("cat_boundaries", "0").split(), dtype=ARRAY_TYPES["category_offsets"])
    gains = np.array(fields.get("split_gain", "").split(), dtype=np.float64)[:n_splits]
    node_offsets = np.array([0, n_splits], dtype=ARRAY_TYPES["node_offsets"])
    return Trees(node_offsets=node_offsets, category_offsets=offsets, **arrays), gains
