"""Labels, scores and weights in order of score."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from trueup import _native

__all__ = ["ScoredRows", "sort_rows"]

FloatArray: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ScoredRows:
    """Rows in order of score."""

    order: npt.NDArray[np.int64]  # where each row stands in the table
    labels: FloatArray
    scores: FloatArray
    weights: FloatArray | None  # what each row counts, all above 0; None if all count the same
    score_ids: npt.NDArray[np.uint32]  # numbers of the distinct scores
    groups: npt.NDArray[np.int64] | None = None  # which rows belong together, numbered from 0; None if all are apart

    @property
    def n(self) -> int:
        """How many rows there are."""
        return len(self.order)

    @cached_property
    def total_weight(self) -> float:
        """The sum of the weights."""
        return float(self.n if self.weights is None else self.weights.sum())

    def residuals(self, scores: FloatArray | None = None) -> FloatArray:
        """Weight times label minus score, for these scores or others."""
        difference = self.labels - (self.scores if scores is None else scores)
        return difference if self.weights is None else difference * self.weights

    def variances(self) -> FloatArray:
        """Of each residual, if the scores are true."""
        bernoulli = self.scores * (1 - self.scores)
        return bernoulli if self.weights is None else bernoulli * self.weights**2

    def lanes(self) -> FloatArray:
        """What the kernel sums: residuals first, for their range is wanted, then scores, variances and labels."""
        lanes = np.empty((self.n, _native.SUM_LANES))
        lanes[:, 0] = self.residuals()
        lanes[:, 1] = self.scores if self.weights is None else self.scores * self.weights
        lanes[:, 2] = self.variances()
        lanes[:, 3] = self.labels if self.weights is None else self.labels * self.weights
        return lanes

    def certain_errors(self, scores: FloatArray | None = None) -> FloatArray:
        """Weight times distance from the label where a score is exactly 0 or 1, and 0 elsewhere."""
        scores = self.scores if scores is None else scores
        return np.where((scores == 0) | (scores == 1), np.abs(self.residuals(scores)), 0.0)

    def further_lanes(self) -> FloatArray | None:
        """What is summed besides: weights, their squares and certain errors; None where all weigh 1 and none erred."""
        certain = self.certain_errors()
        if self.weights is None and not certain.any():
            return None
        lanes = np.zeros((self.n, _native.SUM_LANES))
        lanes[:, 0] = 1.0 if self.weights is None else self.weights
        lanes[:, 1], lanes[:, 2] = lanes[:, 0] ** 2, certain
        return lanes


def sort_rows(
    labels: FloatArray,
    scores: FloatArray,
    weights: FloatArray | None = None,
    groups: npt.NDArray[np.int64] | None = None,
) -> ScoredRows:
    """Rows in order of score; among equal scores in an order that doesn't depend on where they stood.

    Then sums are the same to the last bit in whatever order the rows came.
    """
    order = np.argsort(scores)
    in_order = scores[order]
    is_new = in_order[1:] != in_order[:-1]
    if not is_new.all():
        order = np.lexsort([one for one in (groups, weights, labels, scores) if one is not None])
        in_order = scores[order]
        is_new = in_order[1:] != in_order[:-1]
    score_ids = np.zeros(len(scores), dtype=np.uint32)
    np.cumsum(is_new, out=score_ids[1:])
    sorted_weights = None if weights is None else weights[order]
    if groups is not None:  # numbered anew: groups of which no row is here are gone
        groups = np.unique(groups, return_inverse=True)[1].reshape(-1)[order]
    return ScoredRows(order, labels[order], in_order, sorted_weights, score_ids, groups)
