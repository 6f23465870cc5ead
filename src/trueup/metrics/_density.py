"""How the scores are distributed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from trueup._runtime import check_whole
from trueup.metrics._checks import FloatArray
from trueup.metrics._curve_rows import counted_scores

# Equal scores still get a bar that can be seen.
_LEAST_SPAN = 0.01


@dataclass(frozen=True, eq=False)
class ScoreDensity:
    """How the weight of all rows is spread over the scores: a histogram with bins of equal width.

    Attributes
    ----------
    edges, share : array of float64
        The borders of the bins, from the lowest score to the highest, and the share of all weight in each bin.

    Examples
    --------
    >>> from trueup.metrics import score_density
    >>> density = score_density([0.0, 0.1, 0.8, 1.0], n_bins=2)
    >>> density.edges.tolist(), density.share.tolist()
    ([0.0, 0.5, 1.0], [0.5, 0.5])
    """

    edges: FloatArray
    share: FloatArray

    @property
    def middle(self) -> FloatArray:
        """The middle of each bin."""
        return (self.edges[1:] + self.edges[:-1]) / 2

    def quantile(self, share: float) -> float:
        """The upper border of the first bin up to which at least this share of the weight lies.

        Parameters
        ----------
        share : float
            A share in [0, 1].

        Returns
        -------
        float
            A score.
        """
        # Sums of shares may end a rounding error below 1.
        reached = np.searchsorted(np.cumsum(self.share), share - 1e-12)
        return float(self.edges[min(int(reached), len(self.share) - 1) + 1])


def score_density(y_prob: Any, *, sample_weight: Any = None, n_bins: int = 100) -> ScoreDensity:
    """How the weight of all rows is spread over the scores.

    Parameters
    ----------
    y_prob, sample_weight : array-like of shape (n,)
        Probabilities of the positive class, and weights of at least 0, if any.
    n_bins : int, default=100
        How many bins.

    Returns
    -------
    ScoreDensity
        Bins of equal width between the lowest score and the highest, and the share of the weight in each.

    Examples
    --------
    >>> from trueup.metrics import score_density
    >>> score_density([0.0, 0.1, 0.8, 1.0], sample_weight=[3, 3, 1, 1], n_bins=2).share.tolist()
    [0.75, 0.25]
    """
    check_whole("n_bins", n_bins, 1)
    scores, weights = counted_scores(y_prob, sample_weight)
    return density_of(scores, weights, n_bins)


def density_of(scores: FloatArray, weights: FloatArray, n_bins: int = 100) -> ScoreDensity:
    """Compute a `score_density` from arrays that were checked."""
    low, high = float(scores.min()), float(scores.max())
    if high - low < _LEAST_SPAN:
        middle = min(max((low + high) / 2, _LEAST_SPAN / 2), 1 - _LEAST_SPAN / 2)
        low, high = middle - _LEAST_SPAN / 2, middle + _LEAST_SPAN / 2
    sums, edges = np.histogram(scores, bins=n_bins, range=(low, high), weights=weights)
    return ScoreDensity(edges=edges, share=sums / sums.sum())
