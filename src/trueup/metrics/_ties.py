"""Rows in order of score, with rows of equal score taken together."""

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from trueup.metrics._checks import FloatArray

_Scalar = TypeVar("_Scalar", bound=np.generic)


@dataclass(frozen=True, eq=False)
class Ties:
    """Which rows share a score."""

    scores: FloatArray  # the distinct scores, lowest first
    order: NDArray[np.intp]  # the rows in order of score
    starts: NDArray[np.intp]  # where in that order each distinct score starts

    @property
    def counts(self) -> NDArray[np.intp]:
        """How many rows have each score."""
        return np.diff(self.starts, append=len(self.order))

    def sums(self, values: FloatArray) -> FloatArray:
        """Sum one value per row over the rows of each score."""
        summed: FloatArray = np.add.reduceat(values[self.order], self.starts)
        return summed

    def of_rows(self, values: NDArray[_Scalar]) -> NDArray[_Scalar]:
        """Spread one value per score over the rows."""
        spread = np.empty(len(self.order), dtype=values.dtype)
        spread[self.order] = np.repeat(values, self.counts)
        return spread


def find_ties(scores: FloatArray) -> Ties:
    """Sort rows by score and find those that share one."""
    order = np.argsort(scores, kind="stable")
    in_order = scores[order]
    starts = np.flatnonzero(np.concatenate(([True], in_order[1:] != in_order[:-1])))
    return Ties(in_order[starts], order, starts)


def range_of_sums(steps: FloatArray) -> float:
    """Highest minus lowest value of the running sum of the steps, which starts at 0."""
    path = np.cumsum(steps)
    return max(0.0, float(path.max())) - min(0.0, float(path.min()))
