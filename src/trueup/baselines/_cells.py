"""The algorithm of Hébert-Johnson, Kim, Reingold and Rothblum: move cells until none is wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from trueup import _native
from trueup.model import CellUpdates, number_of_bins

__all__ = ["CellFit", "CellRows", "fit_cells"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class CellRows:
    """Rows to fit on.

    Attributes
    ----------
    scores, labels : float64 arrays
        What the base model said, and what happened.
    weights : float64 array or None
        Sample weights.
    members : uint8 array
        Which rows are in which groups, packed as `trueup.inference.packed_members` does.
    n_groups : int
        How many groups there are.
    """

    scores: Floats
    labels: Floats
    weights: Floats | None
    members: npt.NDArray[np.uint8]
    n_groups: int


@dataclass(frozen=True, eq=False)
class CellFit:
    """The moves, how many times all cells were looked at, and whether none was left to move."""

    updates: CellUpdates
    n_iterations: int
    converged: bool


def fit_cells(
    rows: CellRows, *, alpha: float, width: float, max_iterations: int, average: bool, generator: Any
) -> CellFit:
    """Move cells whose mean error is too large, until there is none.

    Parameters
    ----------
    rows : CellRows
        What to fit on.
    alpha : float
        How large a mean error may be: a cell moves if it is at least half of this, by the error and a uniform
        noise of up to a quarter of it.
    width : float
        The width of a bin.
    max_iterations : int
        How many times to look at all cells at the most.
    average : bool
        Whether each bin gets its mean in the end.
    generator : numpy.random.RandomState
        Shuffles groups and bins, and draws the noise.

    Returns
    -------
    CellFit
        The moves.
    """
    n_bins = number_of_bins(width)
    cells = _native.CellRows(
        probabilities=rows.scores,
        labels=rows.labels,
        weights=rows.weights,
        members=rows.members,
        n_groups=rows.n_groups,
        width=width,
        n_bins=n_bins,
    )
    groups = generator.permutation(rows.n_groups).astype(np.int32)
    bins = generator.permutation(n_bins).astype(np.int32)
    noises = _Noises(generator, alpha / 4)
    moves: list[tuple[Ints, Ints, Floats]] = []
    while len(moves) < max_iterations:
        moves.append(cells.look_once(groups, bins, alpha, noises.next(len(groups) * len(bins))))
        n_moved = len(moves[-1][0])
        noises.used(n_moved)
        if not n_moved:
            break
    means = _bin_means(cells.probabilities(), rows.weights, width) if average else np.empty(0)
    group, bin_, delta = (np.concatenate(parts) for parts in zip(*moves, strict=True))
    return CellFit(CellUpdates(width, group, bin_, delta, means), len(moves), n_moved == 0)


class _Noises:
    """Uniform noise, drawn ahead: what one look leaves is there for the next, as if each were drawn when needed."""

    def __init__(self, generator: Any, size: float) -> None:
        self._generator, self._size = generator, size
        self._drawn = np.empty(0)

    def next(self, n: int) -> Floats:
        """At least so many of those that come next."""
        lacking = n - len(self._drawn)
        if lacking > 0:
            fresh = self._generator.uniform(-self._size, self._size, lacking)
            self._drawn = np.concatenate([self._drawn, fresh])
        return self._drawn

    def used(self, n: int) -> None:
        """The first so many are gone."""
        self._drawn = self._drawn[n:]


def _bin_means(scores: Floats, weights: Floats | None, width: float) -> Floats:
    """The mean of each bin; NaN if it is empty."""
    n_bins = number_of_bins(width)
    bins = _native.bins_of(scores, width, n_bins)
    weight = np.bincount(bins, weights, n_bins).astype(np.float64)
    promised = np.bincount(bins, scores if weights is None else weights * scores, n_bins)
    means: Floats = np.divide(promised, weight, out=np.full(n_bins, np.nan), where=weight > 0)
    return means
