"""The algorithm of Hébert-Johnson, Kim, Reingold and Rothblum: move cells until none is wrong."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]
Move: TypeAlias = tuple[int, int, float]  # segment, bin, and what is added to the probabilities of its rows
_ROUNDING = 1e-9  # 1 / 0.1 may be a little more than 10


def number_of_bins(width: float) -> int:
    """How many bins of a width there are from 0 to 1; the last one may be narrower."""
    return max(1, math.ceil(1 / width - _ROUNDING))


def bins_of(probabilities: Floats, width: float, n_bins: int) -> Ints:
    """The bin of each probability: bins are ``(k width, (k + 1) width]``, and 0 is in the first."""
    bins: Ints = np.clip(np.ceil(probabilities / width) - 1, 0, n_bins - 1).astype(np.int32)
    return bins


@dataclass(frozen=True, eq=False)
class CellUpdates:
    """Moves of the rows of a segment whose probabilities are in a bin, in order; then the mean that each bin gets.

    There are no means if bins are left as they are, and a mean is NaN if its bin was empty.
    """

    width: float
    segment: Ints
    bin: Ints
    delta: Floats
    bin_means: Floats

    @property
    def n_bins(self) -> int:
        """How many bins there are."""
        return number_of_bins(self.width)


@dataclass(frozen=True, eq=False)
class CellRows:
    """Rows to fit on: scores, labels, weights, and the rows of each segment."""

    scores: Floats
    labels: Floats
    weights: Floats | None
    masks: Sequence[npt.NDArray[np.bool_]]

    @property
    def n_segments(self) -> int:
        """How many segments there are."""
        return len(self.masks)


@dataclass(frozen=True, eq=False)
class CellFit:
    """The moves, how many times all cells were looked at, and whether none was left to move."""

    updates: CellUpdates
    n_iterations: int
    converged: bool


def fit_cells(
    rows: CellRows, *, alpha: float, width: float, max_iterations: int, average: bool, generator: Any
) -> CellFit:
    """Move cells until none is left whose mean error is at least half of alpha.

    A cell moves by its error and a uniform noise of up to a quarter of alpha; the generator, a RandomState, shuffles
    segments and bins and draws the noise. With `average`, each bin gets its mean in the end.
    """
    n_bins = number_of_bins(width)
    cells = _Cells(rows, width, n_bins)
    segments = generator.permutation(rows.n_segments)
    bins = generator.permutation(n_bins)
    noises = _Noises(generator, alpha / 4)
    moves: list[Move] = []
    n_iterations, converged = 0, False
    while n_iterations < max_iterations and not converged:
        moved = cells.look_once(segments, bins, alpha, noises.next(rows.n_segments * n_bins))
        noises.used(len(moved))
        moves += moved
        n_iterations, converged = n_iterations + 1, not moved
    means = _bin_means(cells.probabilities, rows.weights, width) if average else np.empty(0)
    segment, bin_, delta = zip(*moves, strict=True) if moves else ((), (), ())
    updates = CellUpdates(width, np.array(segment, np.int32), np.array(bin_, np.int32), np.array(delta, float), means)
    return CellFit(updates, n_iterations, converged)


class _Cells:
    """Rows whose cells, segments crossed with bins, are moved until none is wrong."""

    def __init__(self, rows: CellRows, width: float, n_bins: int) -> None:
        self._width, self._n_bins = width, n_bins
        self._weights = np.ones(len(rows.scores)) if rows.weights is None else rows.weights
        self._labels = rows.labels
        self._rows_of = [np.flatnonzero(mask) for mask in rows.masks]
        self._totals = [float(self._weights[own].sum()) for own in self._rows_of]
        # One bit per segment, so that the segments of many rows are found by one pass over a few bytes of each.
        self._members = np.packbits(np.stack(rows.masks, axis=1), axis=1)
        self._stale = np.ones(rows.n_segments, dtype=bool)  # whether a row has moved since the segment was looked at
        self.probabilities = rows.scores.copy()
        self._bins = bins_of(self.probabilities, width, n_bins)

    def look_once(self, segments: Any, bins: Any, alpha: float, noises: Floats) -> list[Move]:
        """Look at the cells of all segments in this order, and move those that are wrong, by the error and a noise."""
        moves: list[Move] = []
        for segment in segments.tolist():
            if not self._stale[segment]:
                continue  # its cells are as they were
            self._stale[segment] = False
            sums = self._sums(self._rows_of[segment])
            first = 0
            # A move changes the sums of other bins of the segment: whether they are wrong is asked after each.
            while len(later := np.flatnonzero(self._are_wrong(sums, segment, alpha)[bins[first:]])):
                first += int(later[0]) + 1
                bin_ = int(bins[first - 1])
                weight, predicted, observed = sums[:, bin_]
                delta = (observed - predicted) / weight + float(noises[len(moves)])
                self._move(segment, bin_, delta, sums)
                moves.append((segment, bin_, delta))
        return moves

    def _sums(self, rows: Any) -> Floats:
        """Weight, predicted and observed sums of each bin."""
        bins, weights = self._bins[rows], self._weights[rows]
        values = (weights, weights * self.probabilities[rows], weights * self._labels[rows])
        return np.stack([np.bincount(bins, value, self._n_bins) for value in values])

    def _are_wrong(self, sums: Floats, segment: int, alpha: float) -> npt.NDArray[np.bool_]:
        weight, predicted, observed = sums
        is_large = (weight > 0) & (weight >= alpha * self._width * self._totals[segment])
        is_wrong: npt.NDArray[np.bool_] = is_large & (np.abs(observed - predicted) >= alpha / 2 * weight)
        return is_wrong

    def _move(self, segment: int, bin_: int, delta: float, sums: Floats) -> None:
        own = self._rows_of[segment]
        rows = own[self._bins[own] == bin_]
        self.probabilities[rows] = np.clip(self.probabilities[rows] + delta, 0.0, 1.0)
        self._bins[rows] = bins_of(self.probabilities[rows], self._width, self._n_bins)
        touched = np.bitwise_or.reduce(self._members[rows], axis=0)
        self._stale |= np.unpackbits(touched, count=len(self._stale)).astype(bool)
        sums[:, bin_] = 0.0
        sums += self._sums(rows)


def apply_cells(updates: CellUpdates, scores: Floats, masks: Sequence[npt.NDArray[np.bool_]]) -> Floats:
    """The probabilities after all moves, in the order in which they were made."""
    moved, n_bins = scores.copy(), updates.n_bins
    bins, rows_of = bins_of(moved, updates.width, n_bins), [np.flatnonzero(mask) for mask in masks]
    for segment, bin_, delta in zip(
        updates.segment.tolist(), updates.bin.tolist(), updates.delta.tolist(), strict=True
    ):
        rows = rows_of[segment][bins[rows_of[segment]] == bin_]
        moved[rows] = np.clip(moved[rows] + delta, 0.0, 1.0)
        bins[rows] = bins_of(moved[rows], updates.width, n_bins)
    if not len(updates.bin_means):
        return moved
    means = updates.bin_means[bins]
    return np.where(np.isnan(means), moved, means)


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
    bins = bins_of(scores, width, n_bins)
    weight = np.bincount(bins, weights, n_bins).astype(np.float64)
    predicted = np.bincount(bins, scores if weights is None else weights * scores, n_bins)
    means: Floats = np.divide(predicted, weight, out=np.full(n_bins, np.nan), where=weight > 0)
    return means
