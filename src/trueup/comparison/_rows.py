"""The rows that two models scored, in an order that doesn't depend on the one they came in, and their losses."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from trueup._data import Rows
from trueup.metrics import clipped_scores

__all__ = ["LOSSES", "PairedLoss", "PairedRows", "order_of", "paired_loss", "paired_rows"]

LOSSES = ("log_loss", "brier")
# Below, the difference of two softplus values has lost half of its digits; the mid-point is off by its square.
_CLOSE_LOGITS = 1e-4

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


@dataclass(frozen=True, eq=False)
class PairedLoss:
    """Two models' losses, row by row.

    For log loss and Brier score alike, the candidate's loss minus the base's is ``slope · (neutral - y)``: for log
    loss, slope is the difference of the logits, and neutral the mean of the sigmoid between them; for the
    Brier score, twice the difference of the scores, and the mid-point.
    """

    rows: PairedRows
    base: FloatArray  # what the base loses
    slope: FloatArray  # by how much a label of 1 instead of 0 favours the candidate
    neutral: FloatArray  # the probability of a 1 at which both lose the same on average; it is between their scores

    @cached_property
    def difference(self) -> FloatArray:
        """The candidate's loss minus the base's."""
        return self.slope * (self.neutral - self.rows.labels)

    @cached_property
    def mean_difference(self) -> float:
        """Its weighted mean."""
        return self.rows.mean(self.difference)

    @cached_property
    def mean_base(self) -> float:
        """The weighted mean of the base's loss."""
        return self.rows.mean(self.base)

    @cached_property
    def standard_error(self) -> float:
        """Of the mean difference: what an endless bootstrap of whole groups would give; NaN for one group.

        The mean is a ratio of sums over groups, so that to first order its variance is
        ``C / (C - 1) · Σ_c (Σ_{i in c} w_i (d_i - mean))² / (Σ w)²``.
        """
        rows = self.rows
        if rows.n_groups < 2:
            return math.nan
        steps = rows.weights * (self.difference - self.mean_difference)
        of_groups = np.bincount(rows.group, steps) if rows.is_grouped else steps
        variance = float(of_groups @ of_groups) * rows.n_groups / (rows.n_groups - 1)
        return math.sqrt(variance) / rows.total_weight


def paired_loss(rows: PairedRows, loss: str) -> PairedLoss:
    """The models' log losses or Brier scores."""
    if loss == "brier":
        base = (rows.labels - rows.base) ** 2
        return PairedLoss(rows, base, 2 * (rows.candidate - rows.base), (rows.base + rows.candidate) / 2)
    logits = [np.log(scores) - np.log1p(-scores) for scores in map(clipped_scores, (rows.base, rows.candidate))]
    softplus = [np.logaddexp(0, logit) for logit in logits]
    slope = logits[1] - logits[0]
    close = np.abs(slope) < _CLOSE_LOGITS
    mean_sigmoid = (softplus[1] - softplus[0]) / np.where(close, 1.0, slope)
    at_middle = 1 / (1 + np.exp(-(logits[0] + logits[1]) / 2))
    neutral = np.where(close, at_middle, np.clip(mean_sigmoid, 0, 1))
    return PairedLoss(rows, softplus[0] - rows.labels * logits[0], slope, neutral)
