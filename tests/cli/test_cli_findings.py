"""What an audit found, in words."""

import re

import numpy as np
import pytest

import trueup
from trueup.auditing import detectable_in_words, verdict_in_words
from trueup.cli._printing import p_value_in_words


def test_p_values_are_printed_as_what_draws_can_show():
    assert p_value_in_words(1 / 201, 200) == "≤ 0.005"
    assert p_value_in_words(1 / 1000, 999) == "≤ 0.001"
    assert p_value_in_words(1 / 151, 150) == "≤ 0.0067"  # rounded up, or it would not be true
    assert p_value_in_words(2 / 201, 200) == "0.01"
    assert p_value_in_words(1e-39) == "< 0.0001"
    assert [p_value_in_words(p) for p in (0.2228, 1.0, 0.999, None, float("nan"))] == ["0.22", "1", "1", "–", "–"]


def test_a_verdict_tells_what_would_have_been_found():
    rng = np.random.default_rng(0)
    p = np.full(4000, 0.5)
    result = trueup.audit({"a": rng.choice(["x", "y"], 4000)}, rng.random(4000) < p, p, null_samples=40)
    words = detectable_in_words(result)
    # 10 points in a share s of the rows are 0.1 s of all rows.
    share = float(re.fullmatch(r"an error of 10 points in ([\d.]+) % of the rows", words)[1])
    assert share == pytest.approx(1000 * result.minimum_detectable, rel=0.05)
    assert verdict_in_words(result) == (
        f"No segment is wrong by more than noise explains. A{words[1:]} would most likely have been found."
    )
