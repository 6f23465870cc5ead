"""The cumulative differences, checked on what was drawn."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest

from trueup.metrics import cumulative_curve, ecce, ecce_pvalue, ecce_sigma
from trueup.plot import CumulativeDisplay

RANDOM = np.random.default_rng(1)
P = RANDOM.beta(2, 5, 3000)
Y = (RANDOM.random(3000) < P).astype(int)


def test_the_line_is_the_curve_and_the_range_is_the_ecce() -> None:
    curve = cumulative_curve(Y, P, max_points=2000)
    display = CumulativeDisplay.from_predictions(Y, P)
    np.testing.assert_array_equal(display.line_.get_xdata(), curve.share)
    np.testing.assert_array_equal(display.line_.get_ydata(), curve.difference)
    low, high = display.range_.get_ydata()
    assert (low, high) == (curve.difference.min(), curve.difference.max())
    assert high - low == pytest.approx(ecce(Y, P), abs=1e-15)


def test_the_words_are_the_metrics() -> None:
    display = CumulativeDisplay.from_predictions(Y, P)
    assert display.range_text_.get_text() == f"{ecce_sigma(Y, P):.1f} σ"
    words = display.ax_.get_legend().get_texts()[0].get_text()
    assert words == f"ECCE {ecce(Y, P) * 100:.2g} % = {ecce_sigma(Y, P):.1f} σ, p = {ecce_pvalue(Y, P):.2g}"


@pytest.mark.parametrize("factor", [1.0, 1.6])
def test_the_range_sticks_out_of_the_noise_just_when_the_p_value_is_small(factor: float) -> None:
    p = np.minimum(1, P * factor)
    display = CumulativeDisplay.from_predictions(Y, p)
    noise, drawn = np.ptp(display.noise_.get_ydata()), np.ptp(display.range_.get_ydata())
    assert (drawn > noise) == (ecce_pvalue(Y, p) < 0.05)
    assert noise == pytest.approx(display.curve.noise)
    assert np.mean(display.noise_.get_ydata()) == pytest.approx(np.mean(display.range_.get_ydata()))


def test_the_scores_stand_above_the_rows_that_have_them() -> None:
    p = np.linspace(0, 1, 101)
    display = CumulativeDisplay.from_predictions(p > 0.5, p)
    (above,) = display.ax_.child_axes
    # A quarter of the rows have scores up to a quarter, but for the one row that is in excess.
    assert [float(text.get_text()) for text in above.get_xticklabels()] == pytest.approx([0, 0.25, 0.5, 0.75, 1])
    np.testing.assert_array_equal(display.ax_.get_xticks(), [0, 0.25, 0.5, 0.75, 1])


def test_two_models_stand_side_by_side_and_the_scores_of_one_are_hidden() -> None:
    first = CumulativeDisplay.from_predictions(Y, P, name="base")
    second = CumulativeDisplay.from_predictions(Y, P**1.1, name="other", ax=first.ax_)
    texts = [text.get_text() for text in first.ax_.get_legend().get_texts()]
    assert texts[0].startswith("base: ECCE")
    assert texts[1].startswith("other: ECCE")
    assert texts[2] == "noise alone: no longer than this, 95 %"
    assert first.range_.get_xdata()[0] < second.range_.get_xdata()[0] < first.ax_.get_xlim()[1]
    assert not first.ax_.child_axes[0].get_visible()
    assert first.line_.get_color() != second.line_.get_color()


def test_small_axes_have_fewer_marks() -> None:
    _, ax = plt.subplots(figsize=(3, 2))
    CumulativeDisplay.from_predictions(Y, P, ax=ax)
    assert len(ax.get_xticks()) == 3


@pytest.mark.parametrize(
    ("y", "p", "words"),
    [([1], [0.5], "1.0 σ"), ([0, 1], [0, 1], "0.0 σ"), ([1, 0], [0, 1], "∞ σ"), ([1] * 9, [0.9] * 9, "1.0 σ")],
    ids=["one row", "certain and right", "certain and wrong", "one class"],
)
def test_extremes_are_drawn(y: list[int], p: list[float], words: str) -> None:
    # One row: 0.5 over √0.25. Nine of 0.9: 0.1 over √(9 · 0.09) / 9 = 0.1.
    display = CumulativeDisplay.from_predictions(y, p)
    assert display.range_text_.get_text() == words
    display.figure_.canvas.draw()
