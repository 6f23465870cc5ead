"""Numbers as a person says them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from trueup._data import listed

__all__ = ["columns", "percent", "short", "shown_value"]


def percent(share: float) -> str:
    """A share as a percentage with two or three digits that say something.

    Examples
    --------
    >>> percent(0.5), percent(0.1234), percent(0.0123), percent(0.000456), percent(1.0)
    ('50 %', '12.3 %', '1.2 %', '0.046 %', '100 %')
    """
    return f"{short(100 * share)} %"


def short(value: float) -> str:
    """A number with two to three digits that say something; whole ones in full.

    Examples
    --------
    >>> short(9.21), short(14.0), short(1234567.0), short(0.01234), short(0.0)
    ('9.2', '14', '1,234,567', '0.012', '0')
    """
    if not math.isfinite(value):
        return str(value)
    if value == round(value) and abs(value) < 1e15:
        return f"{value:,.0f}"
    if abs(value) >= 100:
        return f"{value:,.0f}" if abs(value) < 1e9 else f"{value:.3g}"
    if abs(value) >= 10:
        return f"{value:.1f}" if abs(value) < 20 else f"{value:.0f}"
    digits = 1 - math.floor(math.log10(abs(value)))
    return f"{value:.{digits}f}" if digits <= 6 else f"{value:.1e}"


def columns(names: Iterable[str]) -> str:
    """Column 'a', or columns 'a' and 3 more."""
    names = list(names)
    return f"column {listed(names)}" if len(names) == 1 else f"columns {listed(names)}"


def shown_value(value: Any) -> str:
    """A category as it is told: texts in quotes, and not at any length."""
    text = repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
