"""Numbers as they are written on a page."""

from __future__ import annotations

import math

from trueup.report._values import Estimate, Form

__all__ = ["in_form", "interval_in_form", "p_value_in_form"]

_THIN = "\u202f"  # a narrow space that doesn't break
_MINUS = "\u2212"
_SMALLEST_P = 1e-4


def in_form(value: float, form: Form, *, signed: bool = False) -> str:
    """A number as a person reads it; a dash if there is none.

    Examples
    --------
    >>> in_form(12345, Form.COUNT), in_form(0.12345, Form.DECIMAL), in_form(-0.2, Form.DECIMAL, signed=True)
    ('12,345', '0.1235', '−0.2000')
    """
    if value is None or not math.isfinite(value):
        return "–"
    if form is Form.P_VALUE:
        return p_value_in_form(value)
    text = {
        Form.COUNT: f"{abs(value):,.0f}",
        Form.PERCENT: f"{_percent(abs(value))}{_THIN}%",
        Form.SIGMAS: f"{abs(value):.1f}{_THIN}σ",
    }.get(form, f"{abs(value):.4f}")
    is_zero = not any(digit in text for digit in "123456789")
    if value < 0 and not is_zero:
        return _MINUS + text
    return f"+{text}" if (signed or form is Form.CHANGE) and not is_zero else text


def interval_in_form(estimate: Estimate, form: Form, *, signed: bool = False) -> str:
    """An interval as a person reads it; empty if there is none."""
    if not (math.isfinite(estimate.low) and math.isfinite(estimate.high)):
        return ""
    return f"{in_form(estimate.low, form, signed=signed)} to {in_form(estimate.high, form, signed=signed)}"


def p_value_in_form(p_value: float | None, least: float = 0.0) -> str:
    """A p-value; of the smallest that could have come out, that it is at most that.

    Examples
    --------
    >>> p_value_in_form(0.0312), p_value_in_form(1e-9), p_value_in_form(1 / 201, 1 / 201)
    ('0.031', '< 0.0001', '≤ 0.005')
    """
    if p_value is None or not math.isfinite(p_value):
        return "–"
    if least and p_value <= least * 1.000001:
        scale = 10.0 ** (1 - math.floor(math.log10(least)))
        return f"≤ {math.ceil(least * scale - 1e-9) / scale:g}"
    if p_value < _SMALLEST_P:
        return "< 0.0001"
    return f"{p_value:.2g}" if p_value < 0.995 else "1"


def _percent(share: float) -> str:
    return f"{100 * share:.2f}" if 0 < share < 0.00995 else f"{100 * share:.1f}"
