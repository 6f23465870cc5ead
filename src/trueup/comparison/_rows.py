"""The rows that two models scored, in an order that doesn't depend on the one they came in."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from trueup._data import Rows

__all__ = ["FloatArray", "IntArray", "PairedRows", "order_of", "paired_rows"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class PairedRows:
    """Labels, what either model predicted, weights above 0, and the group that each row is drawn with."""

    labels: FloatArray
    base: FloatArray
    candidate: FloatArray
    weights: FloatArray
    group: npt.NDArray[np.int32]  # from 0; without groups, every row is its own
    n_groups: int
    is_grouped: bool

    @property
    def n(self) -> int:
        """How many rows there are."""
        return len(self.labels)

    @cached_property
    def total_weight(self) -> float:
        """The sum of the weights."""
        return float(self.weights.sum())

    def mean(self, values: FloatArray) -> float:
        """The weighted mean of one value per row."""
        return float(self.weights @ values) / self.total_weight


def order_of(rows: Rows, segments: npt.NDArray[np.uint64]) -> IntArray:
    """The rows that count by group, scores, labels and weights; `segments` tells apart what these don't."""
    values = (rows.weights, rows.labels.values, rows.scores["candidate"], rows.scores["base"], rows.groups)
    keys: list[npt.NDArray[Any]] = [segments, *(rows.of_counted(one) for one in values if one is not None)]
    return np.lexsort(keys)


def paired_rows(rows: Rows, order: IntArray) -> PairedRows:
    """The rows that count, in an order."""
    labels, base, candidate = (
        rows.of_counted(values)[order] for values in (rows.labels.values, rows.scores["base"], rows.scores["candidate"])
    )
    if rows.groups is None:
        group = np.arange(len(labels), dtype=np.int32)
    else:  # numbered anew: groups of which no row counts are gone
        group = np.unique(rows.of_counted(rows.groups)[order], return_inverse=True)[1].reshape(-1).astype(np.int32)
    weights = np.ones(len(labels)) if rows.weights is None else rows.of_counted(rows.weights)[order]
    return PairedRows(
        labels=labels,
        base=base,
        candidate=candidate,
        weights=weights,
        group=group,
        n_groups=int(group.max()) + 1,
        is_grouped=rows.groups is not None,
    )
