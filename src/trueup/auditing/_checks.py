"""Options checked, and what is said if nothing could be tested."""

from __future__ import annotations

import math
import warnings
from typing import Any

from trueup._runtime import check_fraction, check_number, check_whole
from trueup.errors import InsufficientDataWarning, ParameterError, callers_level, is_in_shell

_FEWEST_GROUPS = (
    50  # docs/decisions/honest-audit.md: with 50 the false alarms are as many as they should be, with 20 not
)


def check_tests(*, min_rows: Any, min_variance: Any, significance: Any, power: Any) -> None:
    """Check the options that audits of rows and of sketches share."""
    check_whole("min_rows", min_rows, 1)
    check_fraction("significance", significance)
    check_fraction("power", power)
    check_number("min_variance", min_variance)


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


def warn_of_nothing(n_rows: int, min_rows: int) -> None:
    """Say why no segment could be tested."""
    warnings.warn(
        f"No segment could be tested: there are {n_rows:,} rows, fewer than min_rows={min_rows}. The MCE is NaN.",
        InsufficientDataWarning,
        stacklevel=callers_level(),
    )


def warn_of_few_groups(n_groups: int) -> None:
    """Say that the draws of signs need more groups than there are."""
    if n_groups < _FEWEST_GROUPS:
        groups, significance = ("--group", "--significance") if is_in_shell() else ("groups", "significance=")
        warnings.warn(
            f"{groups} has only {n_groups:,} different values. With fewer than {_FEWEST_GROUPS}, true scores look "
            f"wrong more often than {significance} says: trust only small p-values, or name finer groups.",
            InsufficientDataWarning,
            stacklevel=callers_level(),
        )
