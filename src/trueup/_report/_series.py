"""Curves of some rows, as a page draws them."""

from __future__ import annotations

from typing import Any

import numpy as np

from trueup._report._segment_values import Series
from trueup.metrics import Observations, cumulative_of, reliability_of

__all__ = ["series_of"]

_POINTS = 80
_MOST_BINS = 10
_FEWEST_BINS = 2
_ROWS_A_BIN = 25


def series_of(name: str, labels: Any, scores: Any, weights: Any = None) -> Series:
    """The curves of checked scores on some rows, predicted and observed, thinned for a page; few rows get few bins."""
    rows = Observations(np.asarray(labels, float), np.asarray(scores, float), np.ones(len(labels)))
    if weights is not None:
        counted = weights > 0
        rows = Observations(rows.labels[counted], rows.scores[counted], weights[counted])
    n_bins = min(_MOST_BINS, max(_FEWEST_BINS, len(labels) // _ROWS_A_BIN))
    return Series(name, reliability_of(rows, n_bins), cumulative_of(rows, _POINTS))
