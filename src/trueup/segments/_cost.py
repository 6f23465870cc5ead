"""Saying beforehand what a search of all segments takes."""

from __future__ import annotations

import math
import warnings

from trueup import _native
from trueup.errors import CostWarning, ParameterError, callers_level
from trueup.segments._grid import SegmentGrid

__all__ = ["n_passes", "tell_cost"]

# Measured: visiting a row in a combination, for the labels or for a block of draws, takes about this long.
_SECONDS_PER_VISIT = 4e-9
_SECONDS_TO_TELL = 60.0
_MOST_SEGMENTS = 50_000_000
_ADVICE = "To make it cheaper, name fewer features, or lower max_depth or null_samples."


def n_passes(null_samples: int) -> int:
    """How often all combinations are searched: once on the labels, and once per block of draws."""
    return 1 + math.ceil(null_samples / _native.DRAW_LANES)


def tell_cost(what: str, n_rows: int, grid: SegmentGrid, *, passes: int, min_rows: int, n_threads: int) -> None:
    """Refuse more segments than memory holds, and warn if the search takes longer than a minute."""
    most = grid.most_segments(n_rows, min_rows)
    if most > _MOST_SEGMENTS:
        raise ParameterError(f"There are up to {most:,} segments, more than the {_MOST_SEGMENTS:,} that fit. {_ADVICE}")
    seconds = n_rows * grid.n_combinations * passes * _SECONDS_PER_VISIT / n_threads
    if seconds > _SECONDS_TO_TELL:
        warnings.warn(
            f"This {what} takes about {seconds:,.0f} s on {n_threads} threads, for {grid.n_combinations:,} "
            f"combinations of features on {n_rows:,} rows. It leaves nothing out. {_ADVICE}",
            CostWarning,
            stacklevel=callers_level(),
        )
