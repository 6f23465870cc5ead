"""Which rows are equal, by a number of 64 bits per row."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from trueup.evaluation._diagnosis._row_set import Floats

__all__ = ["Coincidence", "Prints", "coincidence", "mixed", "no_prints"]

Prints: TypeAlias = npt.NDArray[np.uint64]
Counts: TypeAlias = npt.NDArray[np.int64]

_MISSING = np.uint64(0x9E3779B97F4A7C15)


def no_prints(n: int) -> Prints:
    """The prints of rows of which nothing is known yet."""
    return np.zeros(n, dtype=np.uint64)


def mixed(prints: Prints, values: Floats) -> Prints:
    """The prints with one column more; equal only for rows that were equal before and have equal values.

    The finalizer of MurmurHash3, which maps 64 bits one to one and scatters them. Of two million different
    rows, two have the same print with a chance of one in ten million.
    """
    bits = (values + 0.0).view(np.uint64).copy()  # -0.0 is 0.0
    bits[np.isnan(values)] = _MISSING
    with np.errstate(over="ignore"):
        bits += prints * np.uint64(0x9E3779B97F4A7C15)
        for shift, factor in ((33, 0xFF51AFD7ED558CCD), (33, 0xC4CEB9FE1A85EC53)):
            bits ^= bits >> np.uint64(shift)
            bits *= np.uint64(factor)
    bits ^= bits >> np.uint64(33)
    return bits


@dataclass(frozen=True)
class Coincidence:
    """How many test rows have a property, and how many would if train and test had been drawn at random."""

    rows: int
    expected: float
    standard_error: float

    @property
    def excess(self) -> float:
        """Rows beyond what is expected."""
        return self.rows - self.expected

    @property
    def sigmas(self) -> float:
        """The excess in standard errors, of which there is at least 1 row."""
        return self.excess / max(self.standard_error, 1.0)


def coincidence(of_train: Counts, of_test: Counts, *, shared: bool) -> Coincidence:
    """How many test rows are also in train (`shared`) or are not, and how many would be if rows were dealt at random.

    `of_train` and `of_test` say how often each distinct value is there. If nothing but chance decided which rows are
    whose, a value that is m times in all rows, of which a share q is train's, has k rows in test with k
    binomial(m, 1 - q), and none in train only if k = m. The rows of test that are not in train thus number
    ``m (1 - q)^m`` on average, and have the variance of m times a coin. Tables of few coarse columns repeat
    themselves; this expects it, and needs no model of the columns.
    """
    together = of_train + of_test
    share = float(of_test.sum() / together.sum())
    sizes, counts = np.unique(together, return_counts=True)
    alone = share**sizes
    unseen_mean, unseen_square = float((counts * sizes * alone).sum()), float((counts * sizes**2 * alone).sum())
    if not shared:
        rows = int(of_test[of_train == 0].sum())
        variance = unseen_square - float((counts * (sizes * alone) ** 2).sum())
        return Coincidence(rows, unseen_mean, math.sqrt(max(variance, 0.0)))
    # k rows of test are shared unless k = m: the mean and the square of k, less what k = m adds to them.
    mean = sizes * share - sizes * alone
    square = sizes * share * (1 - share) + (sizes * share) ** 2 - sizes**2 * alone
    rows = int(of_test[of_train > 0].sum())
    variance = float((counts * (square - mean**2)).sum())
    return Coincidence(rows, float((counts * mean).sum()), math.sqrt(max(variance, 0.0)))
