"""Numbers as they are written on a page."""

from __future__ import annotations

import math

from trueup._report._values import Estimate, Form, Number

_THIN = "\u202f"  # a narrow space that doesn't break
_MINUS = "\u2212"
_SMALLEST_P = 1e-4


def in_form(value: float, form: Form, *, signed: bool = False, digits: int | None = None) -> str:
    """A number as a person reads it; a dash if there is none."""
    if not math.isfinite(value):
        return "–"
    if form is Form.P_VALUE:
        return p_value_in_form(value)
    text = _unsigned(abs(value), form, digits)
    is_zero = not any(digit in text for digit in "123456789")
    if value < 0 and not is_zero:
        return _MINUS + text
    return f"+{text}" if (signed or form is Form.CHANGE) and not is_zero else text


def interval_in_form(estimate: Estimate, form: Form, *, signed: bool = False, digits: int | None = None) -> str:
    """An interval as a person reads it; empty if there is none."""
    if not (math.isfinite(estimate.low) and math.isfinite(estimate.high)):
        return ""
    low, high = (in_form(end, form, signed=signed, digits=digits) for end in (estimate.low, estimate.high))
    return f"{low} to {high}"


def digits_of(number: Number) -> int | None:
    """Digits that tell apart the ends of a number's interval, for the whole line of it; None for the usual ones."""
    least, most = {Form.DECIMAL: (4, 7), Form.PERCENT: (2, 4)}.get(number.form, (0, 0))
    change = number.change
    if not most or change is None or not 0 < change.high - change.low < math.inf:
        return None
    width = (change.high - change.low) * (100 if number.form is Form.PERCENT else 1)
    return min(max(least, 1 - math.floor(math.log10(width))), most)


def p_value_in_form(p_value: float | None, least: float = 0.0) -> str:
    """A p-value; of the smallest that could have come out, that it is at most that."""
    if p_value is None or not math.isfinite(p_value):
        return "–"
    if least and p_value <= least * 1.000001:
        scale = 10.0 ** (1 - math.floor(math.log10(least)))
        return f"≤ {math.ceil(least * scale - 1e-9) / scale:g}"
    if p_value < _SMALLEST_P:
        return "< 0.0001"
    return f"{p_value:.2g}" if p_value < 0.995 else "1"


def percent_digits(prevalence: float) -> int:
    """Digits of a percentage that show differences between segments of this rate."""
    return 1 if prevalence >= 0.01 else 2 if prevalence >= 0.001 else 3


def _unsigned(value: float, form: Form, digits: int | None) -> str:
    if form is Form.COUNT:
        return f"{value:,.0f}"
    if form is Form.SIGMAS:
        return f"{value:.1f}{_THIN}σ"
    if form is Form.PERCENT:
        usual = 2 if 0 < value < 0.00995 else 1
        return f"{100 * value:.{usual if digits is None else digits}f}{_THIN}%"
    return f"{value:.{4 if digits is None else digits}f}"
