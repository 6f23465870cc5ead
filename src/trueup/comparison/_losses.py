"""By how much the candidate loses more than the base, row by row."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from trueup.comparison._rows import PairedRows
from trueup.metrics import clipped_scores

__all__ = ["LOSSES", "PairedLoss", "paired_loss"]

LOSSES = ("log_loss", "brier")
# Below, the difference of two softplus values has lost half of its digits; the mid-point is off by its square.
_CLOSE_LOGITS = 1e-4

FloatArray: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PairedLoss:
    """Two models' losses, row by row.

    Attributes
    ----------
    rows : PairedRows
        The rows.
    base : array of float64
        What the base loses.
    slope : array of float64
        By how much a label of 1 instead of 0 favours the candidate.
    neutral : array of float64
        The probability of a 1 at which both models lose the same on average; it lies between their scores.

    Notes
    -----
    For log loss and Brier score alike, the candidate's loss minus the base's is ``slope · (neutral - y)``: for log
    loss, slope is the difference of the logits, and neutral the mean of the sigmoid between them; for the
    Brier score, twice the difference of the scores, and the mid-point.
    """

    rows: PairedRows
    base: FloatArray
    slope: FloatArray
    neutral: FloatArray

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
        """Of the mean difference: what a bootstrap of whole groups gives without end; NaN for one group.

        Notes
        -----
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
