"""On which side of a split a row is, by a hash: the same in every process and in every partition of the rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from trueup._data import Hashes, mix_hashes
from trueup._fitting._splits import AUTO_FOLDS, AUTO_FOLDS_MAX_ROWS, AUTO_HOLDOUT
from trueup.errors import ParameterError

__all__ = ["Sides", "sides_for"]


@dataclass(frozen=True)
class Sides:
    """How rows are dealt.

    Attributes
    ----------
    n_folds : int
        How many folds there are; 1 is a hold-out, 0 is no validation.
    fraction : float
        The share of rows that a hold-out has.
    seed : int
        Another seed deals otherwise.
    """

    n_folds: int
    fraction: float
    seed: int

    def of_rows(self, hashes: Hashes) -> npt.NDArray[np.int8]:
        """The fold of each row; of a hold-out, 0 is held out and 1 is not."""
        even = (mix_hashes(hashes, self.seed) >> np.uint64(11)).astype(np.float64) * 2.0**-53
        if self.n_folds > 1:
            return np.asarray(np.floor(even * self.n_folds), dtype=np.int8)
        return np.asarray(even >= self.fraction, dtype=np.int8)

    @property
    def parts(self) -> range:
        """The folds that are held out, one after the other."""
        return range(self.n_folds)


def sides_for(validation: Any, n_rows: int, seed: int) -> Sides:
    """How rows are dealt for the validation that a user asked for.

    Parameters
    ----------
    validation : "auto", float, int or None
        A hold-out's fraction or a number of folds.
    n_rows : int
        How many rows there are.
    seed : int
        For the hash.

    Returns
    -------
    Sides
        How rows are dealt.

    Examples
    --------
    >>> sides_for("auto", 10_000_000, seed=0)
    Sides(n_folds=1, fraction=0.2, seed=0)
    """
    if validation is None:
        return Sides(0, 0.0, seed)
    if isinstance(validation, str) and validation == "auto":
        validation = AUTO_FOLDS if n_rows <= AUTO_FOLDS_MAX_ROWS else AUTO_HOLDOUT
    if isinstance(validation, (int, np.integer)) and not isinstance(validation, bool):
        if not 2 <= validation <= 100:
            raise ParameterError(f"validation={validation}: there must be from 2 to 100 folds.")
        return Sides(int(validation), 0.0, seed)
    if isinstance(validation, (float, np.floating)):
        if not 0 < validation < 1:
            raise ParameterError(f"validation={validation}: a hold-out's fraction must be between 0 and 1.")
        return Sides(1, float(validation), seed)
    raise ParameterError(
        f'validation must be "auto", a fraction, a number of folds or None where rows come in pieces, got '
        f"{validation!r}. To keep rows together that belong together, name their column with group=."
    )
