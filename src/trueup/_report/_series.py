"""Curves of some rows, as a page draws them."""

from __future__ import annotations

from typing import Any

from trueup._report._segment_values import Series
from trueup.metrics import cumulative_curve, reliability_curve

__all__ = ["series_of"]

_POINTS = 80
_MOST_BINS = 10
_FEWEST_BINS = 2
_ROWS_A_BIN = 25


def series_of(name: str, labels: Any, scores: Any, weights: Any = None) -> Series:
    """The curves of a set of scores on some rows, thinned for a page; few rows get few bins.

    Parameters
    ----------
    name : str
        Whose scores they are.
    labels, scores : array of float64
        What happened, and what was promised.
    weights : array of float64, optional
        What each row counts.

    Returns
    -------
    Series
        The curves.

    Examples
    --------
    >>> from trueup._report import series_of
    >>> len(series_of("scores", [0.0, 1.0] * 50, [0.2, 0.7] * 50).reliability)
    2
    """
    n_bins = min(_MOST_BINS, max(_FEWEST_BINS, len(labels) // _ROWS_A_BIN))
    return Series(
        name,
        reliability_curve(labels, scores, sample_weight=weights, n_bins=n_bins),
        cumulative_curve(labels, scores, sample_weight=weights, max_points=_POINTS),
    )
