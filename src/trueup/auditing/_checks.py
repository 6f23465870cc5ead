"""Options checked, and what is said if nothing could be tested."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from trueup.errors import InsufficientDataWarning, ParameterError, callers_level

__all__ = ["check_draws", "check_tests", "check_whole", "warn_of_nothing"]


def check_tests(*, min_rows: Any, min_variance: Any, significance: Any, power: Any) -> None:
    """Check the options that audits of rows and of sketches share."""
    check_whole("min_rows", min_rows, 1)
    for name, value in (("significance", significance), ("power", power)):
        if not _is_number(value) or not 0 < value < 1:
            raise ParameterError(f"{name} must lie between 0 and 1, got {value!r}.")
    if not _is_number(min_variance) or not 0 <= min_variance < math.inf:
        raise ParameterError(f"min_variance must be a number of at least 0, got {min_variance!r}.")


def check_draws(null_samples: Any, significance: float, *, needed: bool = False) -> None:
    """Check that so many draws can show anything: the smallest p-value of n draws is 1 / (n + 1)."""
    check_whole("null_samples", null_samples, 0)
    fewest = math.ceil(1 / significance - 1e-9) - 1
    if 0 < null_samples < fewest:
        raise ParameterError(
            f"null_samples={null_samples} can't reach significance={significance:g}: pass at least {fewest}"
            f"{'.' if needed else ', or 0 for none.'}"
        )
    if needed and not null_samples:
        raise ParameterError(f"With groups, errors are compared with draws: pass null_samples of at least {fewest}.")


def check_whole(name: str, value: Any, least: int, most: int | None = None) -> None:
    """Check an option that is a whole number."""
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not whole or value < least or (most is not None and value > most):
        span = f"of at least {least:,}" if most is None else f"from {least:,} to {most:,}"
        raise ParameterError(f"{name} must be a whole number {span}, got {value!r}.")


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def warn_of_nothing(n_rows: int, min_rows: int) -> None:
    """Say why no segment could be tested."""
    warnings.warn(
        f"No segment could be tested: there are {n_rows:,} rows, fewer than min_rows={min_rows}. The MCE is NaN.",
        InsufficientDataWarning,
        stacklevel=callers_level(),
    )
