"""Rows drawn at random from a table in batches, the same rows in whatever order the batches come."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from trueup._data import Hashes, mix_hashes

__all__ = ["RowSample", "row_hashes"]

Array: TypeAlias = npt.NDArray[Any]
_SEED = 0x5A3B1E


def row_hashes(first_row: int, n_rows: int) -> Hashes:
    """A number a row that depends on which row of the table it is."""
    return mix_hashes(np.arange(first_row, first_row + n_rows, dtype=np.uint64), _SEED)


class RowSample:
    """The rows whose hashes are the least: each row is as likely to be among them as any other."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._hashes: Hashes = np.empty(0, np.uint64)
        self._columns: dict[str, Array] = {}
        self._cut = np.uint64(np.iinfo(np.uint64).max)

    def __len__(self) -> int:
        return len(self._hashes)

    def candidates(self, hashes: Hashes) -> npt.NDArray[np.intp]:
        """The rows that are worth adding."""
        return np.flatnonzero(hashes <= self._cut)

    def add(self, hashes: Hashes, columns: Mapping[str, Array]) -> None:
        """Add rows; a column that was not there before, or is not there now, is NaN in the others."""
        n_before, n_more = len(self._hashes), len(hashes)
        names = dict.fromkeys([*self._columns, *columns])
        joined = {
            name: np.concatenate([_or_nan(self._columns, name, n_before), _or_nan(columns, name, n_more)])
            for name in names
        }
        self._hashes, self._columns = np.concatenate([self._hashes, hashes]), joined
        if len(self._hashes) > 2 * self._most:
            self._prune()

    def merge(self, other: RowSample) -> None:
        """Add the rows of another sample, of other batches."""
        self.add(other._hashes, other._columns)

    def columns(self) -> dict[str, Array]:
        """The sample, in an order that doesn't depend on how it came together."""
        self._prune()
        return self._columns

    def _prune(self) -> None:
        order = np.argsort(self._hashes, kind="stable")[: self._most]
        self._hashes = self._hashes[order]
        self._columns = {name: values[order] for name, values in self._columns.items()}
        if len(self._hashes) == self._most:
            self._cut = self._hashes[-1]


def _or_nan(columns: Mapping[str, Array], name: str, n: int) -> Array:
    return columns[name] if name in columns else np.full(n, np.nan)
