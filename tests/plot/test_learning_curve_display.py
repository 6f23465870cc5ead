"""The losses of rounds, checked on what was drawn."""

from __future__ import annotations

import math

import numpy as np
import pytest

from trueup import MCGrad
from trueup.datasets import make_traffic
from trueup.errors import ParameterError
from trueup.plot import LearningCurveDisplay


def test_losses_are_those_of_the_history_and_the_kept_round_is_marked() -> None:
    visits = make_traffic(4_000)
    model = MCGrad(validation=0.3, max_rounds=3, patience=1).fit(visits.X, visits.y, scores=visits.scores)
    display = LearningCurveDisplay.from_estimator(model)
    history = model.history_
    assert list(display.train_line_.get_xdata()) == [one.number for one in history]
    assert list(display.train_line_.get_ydata()) == [one.train_loss for one in history]
    assert list(display.validation_line_.get_ydata()) == [one.validation_loss for one in history]
    assert list(display.kept_line_.get_xdata()) == [model.n_rounds_] * 2
    assert display.ax_.get_ylabel() == "Log loss (mean per row)"


@pytest.mark.parametrize(
    ("n_rounds", "words"),
    [(0, "no round kept: the scores stay as they are"), (1, "1 round kept"), (2, "2 rounds kept")],
)
def test_the_mark_says_how_many_rounds_were_kept(n_rounds: int, words: str) -> None:
    display = LearningCurveDisplay([0, 1, 2], [0.5, 0.4, 0.3], [0.5, 0.6, 0.7], n_rounds=n_rounds).plot()
    assert display.kept_text_.get_text() == words
    assert list(display.kept_line_.get_xdata()) == [n_rounds, n_rounds]
    display.figure_.canvas.draw()


def test_the_base_model_alone_is_drawn() -> None:
    display = LearningCurveDisplay([0], [0.5], [0.51], n_rounds=0).plot()
    low, high = display.ax_.get_xlim()
    assert low < 0 < high
    display.figure_.canvas.draw()


def test_without_validation_there_is_no_second_line() -> None:
    display = LearningCurveDisplay([0, 1], [0.5, 0.4], [math.nan, math.nan], n_rounds=1).plot()
    assert display.validation_line_ is None
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == ["training rows"]


def test_rounds_are_whole_numbers() -> None:
    display = LearningCurveDisplay([0, 1], [0.5, 0.4], [0.5, 0.4], n_rounds=1).plot()
    ticks = display.ax_.get_xticks()
    np.testing.assert_array_equal(ticks, np.round(ticks))


def test_an_estimator_without_a_history_is_refused() -> None:
    with pytest.raises(ParameterError, match="This MCGrad has no history of rounds"):
        LearningCurveDisplay.from_estimator(MCGrad())
