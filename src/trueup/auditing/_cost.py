"""Saying beforehand what an audit takes, and afterwards that it had nothing to test."""

from __future__ import annotations

import math
import warnings

from trueup import _native
from trueup.auditing._options import AuditOptions
from trueup.errors import CostWarning, InsufficientDataWarning, ParameterError, callers_level
from trueup.segments import SegmentGrid

__all__ = ["n_passes", "tell_cost", "warn_of_nothing"]

# Measured: a visit of a row in a combination, for the labels or for a block of draws, takes about this long.
_SECONDS_A_VISIT = 4e-9
_SECONDS_TO_TELL = 60.0
_MOST_SEGMENTS = 50_000_000
_ADVICE = "Name fewer features, lower max_depth, or take the first segments only with max_segments."


def n_passes(options: AuditOptions) -> int:
    """How often all combinations are searched."""
    return 1 + math.ceil(options.null_samples / _native.DRAW_LANES)


def tell_cost(n: int, grid: SegmentGrid, options: AuditOptions, n_threads: int) -> None:
    """Refuse what memory can't hold, and warn of what takes long."""
    if options.max_segments is not None:
        return
    most = grid.most_segments(n, options.min_rows)
    if most > _MOST_SEGMENTS:
        raise ParameterError(f"There are up to {most:,} segments, more than the {_MOST_SEGMENTS:,} that fit. {_ADVICE}")
    seconds = n * grid.n_combinations * n_passes(options) * _SECONDS_A_VISIT / n_threads
    if seconds > _SECONDS_TO_TELL:
        warnings.warn(
            f"{grid.n_combinations:,} combinations of {grid.n_crossed:,} features on {n:,} rows, searched "
            f"{1 + options.null_samples:,} times: this audit takes about {seconds:,.0f} s on {n_threads} threads. It "
            f"leaves nothing out. {_ADVICE}",
            CostWarning,
            stacklevel=callers_level(),
        )


def warn_of_nothing(n: int, min_rows: int) -> None:
    """Say why no segment could be tested."""
    warnings.warn(
        f"No segment could be tested: there are {n:,} rows, fewer than min_rows={min_rows}. The MCE is NaN.",
        InsufficientDataWarning,
        stacklevel=callers_level(),
    )
