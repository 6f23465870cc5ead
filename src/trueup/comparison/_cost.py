"""Saying beforehand what a comparison takes."""

from __future__ import annotations

import warnings

from trueup.errors import CostWarning, ParameterError, callers_level
from trueup.segments import SegmentGrid

__all__ = ["tell_cost"]

# Measured: a visit of a row in a combination takes about this long, for the rows or for a block of draws.
_SECONDS_A_VISIT = 4e-9
_SECONDS_TO_TELL = 60.0
_MOST_SEGMENTS = 50_000_000
_ADVICE = "Name fewer features, or lower max_depth or null_samples."


def tell_cost(n: int, grid: SegmentGrid, n_passes: int, min_rows: int, n_threads: int) -> None:
    """Refuse what memory can't hold, and warn of what takes long."""
    most = grid.most_segments(n, min_rows)
    if most > _MOST_SEGMENTS:
        raise ParameterError(f"There are up to {most:,} segments, more than the {_MOST_SEGMENTS:,} that fit. {_ADVICE}")
    seconds = n * grid.n_combinations * n_passes * _SECONDS_A_VISIT / n_threads
    if seconds > _SECONDS_TO_TELL:
        warnings.warn(
            f"{grid.n_combinations:,} combinations of {grid.n_crossed:,} features on {n:,} rows: this comparison takes "
            f"about {seconds:,.0f} s on {n_threads} threads. {_ADVICE}",
            CostWarning,
            stacklevel=callers_level(),
        )
