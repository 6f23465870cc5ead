"""Saying that an audit had nothing to test."""

from __future__ import annotations

import warnings

from trueup.errors import InsufficientDataWarning, callers_level

__all__ = ["warn_of_nothing"]


def warn_of_nothing(n: int, min_rows: int) -> None:
    """Say why no segment could be tested."""
    warnings.warn(
        f"No segment could be tested: there are {n:,} rows, fewer than min_rows={min_rows}. The MCE is NaN.",
        InsufficientDataWarning,
        stacklevel=callers_level(),
    )
