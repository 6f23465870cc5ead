"""Where bins of scores end, and how many of them a segment has."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

MOST_BINS = 4096  # more would hardly make any bound tighter than the noise
FEWEST_BINS = 8
BYTES_PER_BIN = 18  # in a file: its number, and two sums
_SHARE = 8  # each depth takes at most an eighth of what is left, because far more segments follow below it
_LARGEST_LOGIT = 14.0  # about a millionth

FloatArray: TypeAlias = npt.NDArray[np.float64]
Edges: TypeAlias = tuple[float, ...]


def bins_of(scores: FloatArray, edges: Edges) -> npt.NDArray[np.int64]:
    """The bin of each score: bin b holds scores above edge b - 1, up to edge b."""
    return np.searchsorted(np.array(edges, dtype=np.float64), scores, side="left")


def point_bins(edges: Edges) -> npt.NDArray[np.bool_]:
    """Which bins hold a single number, so that the running sum can't range inside them."""
    below = np.concatenate([[-np.inf], edges])
    above = np.concatenate([edges, [1.0]])
    first_above = np.nextafter(below, np.inf)
    first_above[0] = 0.0
    return np.asarray(first_above >= above)


def even_edges(scores: FloatArray, weights: FloatArray | None, n_bins: int) -> Edges:
    """At most `n_bins` bins of about the same noise each, for scores like these.

    Inside a bin, the running sum is known up to the bin's rises and falls, which are about ``Σ w p (1 - p)`` if the
    scores are true. So bins have equal shares of that, not of rows; a score with more than its share has its own bin.
    """
    mass = scores * (1 - scores) if weights is None else weights * scores * (1 - scores)
    distinct, place = np.unique(scores, return_inverse=True)
    if 2 * len(distinct) < n_bins:
        return _usable(np.concatenate([distinct, np.nextafter(distinct, -np.inf)]))
    if not mass.any():
        mass = np.ones(len(scores))
    running = np.cumsum(np.bincount(place, mass, len(distinct)))
    targets = running[-1] * np.arange(1, n_bins) / n_bins
    ends = np.minimum(np.searchsorted(running, targets), len(distinct) - 1)
    found, times = np.unique(distinct[ends], return_counts=True)
    # A score that was found twice fills a bin alone: a second edge, just below it, separates it.
    return _usable(np.concatenate([found, np.nextafter(found[times > 1], -np.inf)]))


def logit_edges(n_bins: int) -> Edges:
    """Bins that are equally wide in logits, for scores of which nothing is known."""
    if n_bins < 2:
        return ()
    return _usable(1 / (1 + np.exp(-np.linspace(-_LARGEST_LOGIT, _LARGEST_LOGIT, n_bins - 1))))


def bins_that_fit(n_cells: Sequence[int], max_cells: Sequence[int], max_bytes: int, most: int) -> list[int]:
    """How many bins a segment of each depth gets, so that all together take about `max_bytes`.

    Segments of few features are few and large, so many bins cost little; the deepest get what is left. `max_cells` and
    `most` limit what one combination may take.
    """
    left = float(max_bytes)
    found = []
    for depth, n in enumerate(n_cells):
        is_last = depth == len(n_cells) - 1
        fitting = left / (1 if is_last else _SHARE) / (n * BYTES_PER_BIN)
        bins = min(MOST_BINS, math.floor(fitting), most // max_cells[depth])
        found.append(bins)
        left -= n * bins * BYTES_PER_BIN
    return found


def _usable(edges: FloatArray) -> Edges:
    """Edges in order, without those that separate no scores."""
    return tuple(np.unique(edges[(edges >= 0) & (edges < 1)]).tolist())
