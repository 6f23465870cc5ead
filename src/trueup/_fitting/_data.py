"""What a fit works on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from trueup import _native
from trueup._fitting._packed import PackedMatrix
from trueup._model import Trees
from trueup._scoring import correction

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int32]  # LightGBM counts rows in 32 bits too
_MANY = 1_000_000  # one column of numbers for so many rows takes little memory
_CHUNK = 16_384  # rows that are turned into numbers at a time, before trees walk them


@dataclass(frozen=True, eq=False)
class TrainingData:
    """The rows of a fit, as numbers."""

    matrix: Floats | PackedMatrix  # values and category codes, NaN where missing, in Fortran order; or packed
    categorical: npt.NDArray[np.uint8]
    labels: Floats
    base_logits: Floats
    weights: Floats | None
    soft: bool  # whether the labels are probabilities

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return len(self.labels)

    @property
    def n_features(self) -> int:
        """How many features there are."""
        return int(self.matrix.shape[1])

    def corrections(self, trees: Trees, logits: Floats, rows: Rows | None, n_threads: int) -> Floats:
        """What trees add to the logits of some rows; None is all rows."""
        matrix = self.matrix
        if rows is None and not isinstance(matrix, PackedMatrix):
            return correction(trees, self.categorical, matrix, logits, n_threads)
        corrections = np.empty_like(logits)
        for first in range(0, len(logits), _CHUNK):
            chunk = slice(first, first + _CHUNK)
            numbers = take_rows(matrix, chunk if rows is None else rows[chunk])
            corrections[chunk] = correction(trees, self.categorical, numbers, logits[chunk], n_threads)
        return corrections

    def weights_of(self, rows: Rows | slice) -> Floats | None:
        """The weights of some rows."""
        return None if self.weights is None else self.weights[rows]

    def total_weight(self, rows: Rows | slice) -> float:
        """The sum of the weights of some rows."""
        return float(len(self.labels[rows]) if self.weights is None else self.weights[rows].sum())

    def loss_sums(self, logits: Floats, rows: Rows | slice, n_threads: int) -> tuple[float, float]:
        """The sums of log losses and of weights of some rows; their logits are given in the same order."""
        losses = _native.log_loss_sum(logits, self.labels[rows], self.weights_of(rows), n_threads)
        return losses, self.total_weight(rows)

    def hessian(self, rows: Rows | slice) -> float:
        """The sum of w p (1 - p) over some rows at the base scores: how much evidence there is to split."""
        total, n = 0.0, len(range(*rows.indices(self.n_rows))) if isinstance(rows, slice) else len(rows)
        for first in range(0, n, _MANY):
            some = slice(first, first + _MANY) if isinstance(rows, slice) else rows[first : first + _MANY]
            p = _native.sigmoid(self.base_logits[some])
            weights = self.weights_of(some)
            total += float((p * (1 - p) * (1.0 if weights is None else weights)).sum())
        return total


def are_all(rows: Rows, n_rows: int) -> bool:
    """Whether these are all rows, once each and in order. A splitter may also draw as many with repetition."""
    return len(rows) == n_rows and np.array_equal(rows, np.arange(n_rows, dtype=rows.dtype))


def take_rows(matrix: Floats | PackedMatrix, rows: Rows | slice) -> Floats:
    """Some rows as numbers, in Fortran order, which plain indexing would not keep."""
    if isinstance(matrix, PackedMatrix):
        return matrix.numbers_of(rows)
    if isinstance(rows, slice):
        return np.asfortranarray(matrix[rows])
    taken = np.empty((len(rows), matrix.shape[1]), order="F")
    for column in range(matrix.shape[1]):
        taken[:, column] = matrix[rows, column]
    return taken
