"""The reliability diagram, checked on what was drawn."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from trueup.datasets import make_traffic
from trueup.errors import ParameterError, ScoreError
from trueup.metrics import reliability_curve
from trueup.plot import ReliabilityDisplay

RANDOM = np.random.default_rng(0)
P = RANDOM.beta(2, 5, 2000)
Y = (RANDOM.random(2000) < P**1.2).astype(int)


def test_points_bands_and_density_are_those_of_the_curve() -> None:
    curve = reliability_curve(Y, P, n_bins=7, confidence=0.9)
    display = ReliabilityDisplay.from_predictions(Y, P, n_bins=7, confidence=0.9)
    np.testing.assert_array_equal(display.line_.get_xdata(), curve.score)
    np.testing.assert_array_equal(display.line_.get_ydata(), curve.rate)
    (band,) = (path.vertices for path in display.band_.get_paths())
    for score, low, high in zip(curve.score, curve.low, curve.high, strict=True):
        heights = band[band[:, 0] == score, 1]
        assert {low, high} <= set(heights)
    shares, edges, _ = display.strip_.get_data()
    np.testing.assert_allclose(shares, curve.density.share / curve.density.share.max())
    np.testing.assert_array_equal(edges, curve.density.edges)
    assert "90 % band" in display.ax_.get_ylabel()
    assert display.ax_.get_xlabel() == "Predicted: mean score"


def test_the_diagonal_runs_from_corner_to_corner_of_equal_axes() -> None:
    display = ReliabilityDisplay.from_predictions(Y, P)
    assert display.ax_.get_xlim() == display.ax_.get_ylim()
    (diagonal,) = (line for line in display.ax_.lines if line is not display.line_)
    np.testing.assert_array_equal(diagonal.get_xdata(), diagonal.get_ydata())
    assert diagonal.get_xdata()[0] == 0


def test_rare_events_are_not_pressed_into_a_corner() -> None:
    display = ReliabilityDisplay.from_predictions([0] * 990 + [1] * 10, np.linspace(0.001, 0.02, 1000))
    # The last hundred rows hold the ten positives: Wilson's interval ends at 0.174.
    assert display.ax_.get_xlim()[1] < 0.19
    assert display.line_.get_ydata().max() < display.ax_.get_ylim()[1]


def test_two_models_share_axes_strip_and_legend() -> None:
    first = ReliabilityDisplay.from_predictions(Y, P, name="base")
    second = ReliabilityDisplay.from_predictions(Y, np.minimum(1, P * 1.5), name="other", ax=first.ax_)
    ax = first.ax_
    assert second.ax_ is ax
    assert second.density_ax_ is first.density_ax_
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["base", "other"]
    assert first.line_.get_color() != second.line_.get_color()
    assert first.line_.get_marker() != second.line_.get_marker()
    assert len(ax.lines) == 3  # two curves, one diagonal
    assert ax.get_xlim()[1] >= max(first.line_.get_xdata().max(), second.line_.get_xdata().max())


def test_the_axes_given_are_used_and_no_figure_is_made() -> None:
    figure, axes = plt.subplots(1, 2)
    display = ReliabilityDisplay.from_predictions(Y, P, ax=axes[1], density=False)
    assert display.ax_ is axes[1]
    assert display.figure_ is figure
    assert display.density_ax_ is None
    assert display.strip_ is None
    assert plt.get_fignums() == [figure.number]


def test_without_a_name_there_is_no_legend() -> None:
    assert ReliabilityDisplay.from_predictions(Y, P).ax_.get_legend() is None


def test_a_display_can_be_drawn_again_elsewhere() -> None:
    display = ReliabilityDisplay.from_predictions(Y, P)
    before = display.ax_
    again = display.plot(name="again", color="black")
    assert again is display
    assert display.ax_ is not before
    assert display.line_.get_color() == "black"


@pytest.mark.parametrize(
    ("y", "p", "weights"),
    [([1], [0.3], None), ([0, 1] * 20, [0.5] * 40, None), ([1, 1, 0], [0.4, 0.6, 0.5], [0, 1, 0])],
    ids=["one row", "constant scores", "one row of weight"],
)
def test_a_single_bin_has_a_point_and_an_interval(y: list[int], p: list[float], weights: list[int] | None) -> None:
    display = ReliabilityDisplay.from_predictions(y, p, sample_weight=weights)
    (segment,) = display.band_.get_segments()
    curve = display.curve
    np.testing.assert_array_equal(segment, [[curve.score[0], curve.low[0]], [curve.score[0], curve.high[0]]])
    assert len(display.line_.get_xdata()) == 1
    low, high = display.ax_.get_ylim()
    assert low <= curve.low[0] <= curve.high[0] <= high
    display.figure_.canvas.draw()


def test_a_classifiers_own_positive_class_is_drawn() -> None:
    X = RANDOM.normal(size=(300, 2))
    labels = np.where(X[:, 0] + RANDOM.normal(size=300) > 0, "yes", "no")
    model = LogisticRegression().fit(X, labels)
    display = ReliabilityDisplay.from_estimator(model, X, labels)
    expected = reliability_curve(labels == "yes", model.predict_proba(X)[:, 1])
    np.testing.assert_array_equal(display.curve.rate, expected.rate)
    assert display.ax_.get_legend().get_texts()[0].get_text() == "LogisticRegression"
    one_class = labels == "no"
    of_one_class = ReliabilityDisplay.from_estimator(model, X[one_class], labels[one_class])
    assert of_one_class.curve.rate.max() == 0


class Doubling:
    """A calibrator that doubles scores."""

    def calibrate(self, X: object, scores: object = None) -> object:
        return np.minimum(1, 2 * np.asarray(scores))


def test_a_calibrator_is_given_the_base_scores() -> None:
    visits = make_traffic(500)
    display = ReliabilityDisplay.from_estimator(Doubling(), visits.X, visits.y, scores=visits.scores, name="twice")
    expected = reliability_curve(visits.y, np.minimum(1, 2 * visits.scores))
    np.testing.assert_array_equal(display.curve.score, expected.score)
    assert display.name == "twice"


def test_what_can_t_be_drawn_is_said() -> None:
    with pytest.raises(ParameterError, match="with neither calibrate nor predict_proba"):
        ReliabilityDisplay.from_estimator(object(), [[1]], [1])
    model = LogisticRegression().fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(ParameterError, match="LogisticRegression takes none"):
        ReliabilityDisplay.from_estimator(model, [[0.0]], [1], scores=[0.5])
    three = LogisticRegression().fit([[0.0], [1.0], [2.0]], [0, 1, 2])
    with pytest.raises(ScoreError, match="only classifiers of two classes"):
        ReliabilityDisplay.from_estimator(three, [[0.0]], [1])
