"""Labels, two models' scores, weights and clusters, checked."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from trueup._data import CalibrationTable, read_clusters, read_labels, read_scores, read_table, read_weights
from trueup.errors import LabelError, TableError

__all__ = ["ComparisonInput", "PairedRows", "read_input"]

BoolArray: TypeAlias = npt.NDArray[np.bool_]
FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class PairedRows:
    """Rows that two models scored, in an order of their own.

    Attributes
    ----------
    labels, base, candidate : arrays of float64
        What happened, and what each model promised.
    weights : array of float64
        What each row counts, above 0.
    cluster : array of int32
        Which of the clusters, that are drawn as a whole, each row is in; a row is its own if none were given.
    n_clusters : int
        How many there are.
    is_clustered : bool
        Whether clusters were given.
    """

    labels: FloatArray
    base: FloatArray
    candidate: FloatArray
    weights: FloatArray
    cluster: npt.NDArray[np.int32]
    n_clusters: int
    is_clustered: bool

    @property
    def n(self) -> int:
        """How many rows there are."""
        return len(self.labels)

    @cached_property
    def total_weight(self) -> float:
        """The sum of the weights."""
        return float(self.weights.sum())

    def mean(self, values: FloatArray) -> float:
        """The weighted mean of a value a row."""
        return float(self.weights @ values) / self.total_weight


@dataclass(frozen=True, eq=False)
class ComparisonInput:
    """What is compared, in the order that it was given.

    Attributes
    ----------
    labels, base, candidate : arrays of float64
        Of the rows that count.
    weights : array of float64 or None
        What they count, all above 0.
    clusters : array of int64 or None
        Which cluster they are in.
    classes : tuple
        The two labels, negative first.
    table : CalibrationTable or None
        The features of all rows.
    rows : array of bool or None
        Which rows count; None for all.
    """

    labels: FloatArray
    base: FloatArray
    candidate: FloatArray
    weights: FloatArray | None
    clusters: IntArray | None
    classes: tuple[Any, ...]
    table: CalibrationTable | None
    rows: BoolArray | None

    @property
    def n(self) -> int:
        """How many rows count."""
        return len(self.labels)

    def order(self, parts: npt.NDArray[np.uint64]) -> IntArray:
        """An order of the rows that doesn't depend on the one they came in, clusters together.

        `parts` tells rows apart that the models don't.
        """
        keys: list[npt.NDArray[Any]] = [parts]
        keys += [] if self.weights is None else [self.weights]
        keys += [self.labels, self.candidate, self.base]
        keys += [] if self.clusters is None else [self.clusters]
        return np.lexsort(keys)

    def paired(self, order: IntArray) -> PairedRows:
        """The rows in an order."""
        if self.clusters is None:
            cluster = np.arange(self.n, dtype=np.int32)
        else:
            # Clusters all of whose rows weigh nothing are gone.
            cluster = np.unique(self.clusters[order], return_inverse=True)[1].reshape(-1).astype(np.int32)
        return PairedRows(
            labels=self.labels[order],
            base=self.base[order],
            candidate=self.candidate[order],
            weights=np.ones(self.n) if self.weights is None else self.weights[order],
            cluster=cluster,
            n_clusters=int(cluster.max()) + 1,
            is_clustered=self.clusters is not None,
        )


def read_input(
    y: Any, base: Any, candidate: Any, X: Any, *, sample_weight: Any, cluster: Any, pos_label: Any = None
) -> ComparisonInput:
    """Check what was given, and take out the rows of weight 0."""
    if y is None:
        raise LabelError("y is None. Pass what happened: a label a row.")
    table = None if X is None else read_table(X)
    n = _length(y) if table is None else table.n_rows
    if n == 0:
        raise TableError("There are no rows to compare. Pass at least one.")
    labels = read_labels(y, n, pos_label=pos_label)
    scores = [
        read_scores(given, n, name=name, positive=labels.positive_column)
        for given, name in ((base, "base"), (candidate, "candidate"))
    ]
    weights = read_weights(sample_weight, n)
    clusters = read_clusters(cluster, n)
    if weights is None or weights.all():
        return ComparisonInput(labels.values, scores[0], scores[1], weights, clusters, labels.classes, table, None)
    rows = weights > 0
    return ComparisonInput(
        labels=labels.values[rows],
        base=scores[0][rows],
        candidate=scores[1][rows],
        weights=weights[rows],
        clusters=None if clusters is None else clusters[rows],
        classes=labels.classes,
        table=table,
        rows=rows,
    )


def _length(y: Any) -> int:
    try:
        return len(y)
    except TypeError:
        raise LabelError(f"y is a {type(y).__name__}; pass a one-dimensional array.") from None
