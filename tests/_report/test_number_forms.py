"""Numbers as a page writes them."""

from __future__ import annotations

import math

from trueup._report import Estimate, Form, Number, in_form, p_value_in_form, percent_digits
from trueup._report._values import digits_of, interval_in_form

NARROW = "\u202f"


def test_each_form_writes_its_numbers() -> None:
    assert in_form(1234567, Form.COUNT) == "1,234,567"
    assert in_form(0.123, Form.PERCENT) == f"12.3{NARROW}%"
    assert in_form(0.00123, Form.PERCENT) == f"0.12{NARROW}%"  # small ones keep two digits
    assert in_form(9.44, Form.SIGMAS) == f"9.4{NARROW}σ"
    assert in_form(0.31608, Form.DECIMAL) == "0.3161"
    assert in_form(0.31608, Form.DECIMAL, digits=5) == "0.31608"
    assert in_form(0.031, Form.P_VALUE) == "0.031"
    assert in_form(math.nan, Form.DECIMAL) == in_form(math.inf, Form.PERCENT) == "–"


def test_a_change_has_a_sign_unless_it_is_written_as_zero() -> None:
    assert in_form(0.01, Form.CHANGE) == "+0.0100"
    assert in_form(-0.01, Form.CHANGE) == "−0.0100"
    assert in_form(-0.00001, Form.CHANGE) == "0.0000"
    assert in_form(0.01, Form.DECIMAL, signed=True) == "+0.0100"
    assert in_form(0.0, Form.PERCENT, signed=True) == f"0.0{NARROW}%"


def test_an_interval_needs_both_ends() -> None:
    assert interval_in_form(Estimate(0.1, 0.05, 0.2), Form.DECIMAL, digits=2) == "0.05 to 0.20"
    assert interval_in_form(Estimate(0.1), Form.DECIMAL) == ""


def test_a_line_has_the_digits_that_tell_its_interval_s_ends_apart() -> None:
    def digits(low: float, high: float, form: Form = Form.DECIMAL) -> int | None:
        return digits_of(Number("n", "", (Estimate(0.3),), form, change=Estimate((low + high) / 2, low, high)))

    assert digits(-0.02, -0.01) == 4  # never fewer
    assert digits(-0.00002, -0.00001) == 6  # an interval 0.00001 wide: one digit more than its first
    assert digits(-1e-12, 1e-12) == 7  # never more
    assert digits(-0.001, 0.001, Form.PERCENT) == 2  # 0.2 points wide
    assert digits(-0.01, 0.02, Form.SIGMAS) is None
    assert digits_of(Number("n", "", (Estimate(0.3),))) is None


def test_a_p_value_that_is_the_smallest_possible_is_at_most_that() -> None:
    assert p_value_in_form(1 / 201, 1 / 201) == "≤ 0.005"
    assert p_value_in_form(1 / 151, 1 / 151) == "≤ 0.0067"  # rounded up, or it would not be true
    assert p_value_in_form(2 / 201, 1 / 201) == "0.01"
    assert p_value_in_form(1e-30) == "< 0.0001"
    assert [p_value_in_form(p) for p in (0.999, None, math.nan)] == ["1", "–", "–"]


def test_rare_events_get_more_digits() -> None:
    assert [percent_digits(rate) for rate in (0.3, 0.01, 0.005, 0.0005)] == [1, 1, 2, 3]
