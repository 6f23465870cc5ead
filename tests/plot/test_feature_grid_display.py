"""Small multiples by a feature, checked on what was drawn."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest

from trueup.datasets import make_traffic
from trueup.errors import ColumnError, ParameterError, TableError
from trueup.metrics import ecce_sigma, reliability_curve
from trueup.plot import FeatureGridDisplay

VISITS = make_traffic(4_000)
DEVICE = np.array(VISITS.X["device"].to_pylist())


def test_each_panel_draws_the_rows_of_its_value() -> None:
    display = FeatureGridDisplay.from_predictions(VISITS.y, VISITS.scores, VISITS.X, "device")
    assert [panel.segment for panel in display.panels] == [
        f"device = {name}" for name in ("phone", "desktop", "tablet", "tv")
    ]
    for name, panel, drawn, ax in zip(
        ("phone", "desktop", "tablet", "tv"), display.panels, display.displays_, display.axes_, strict=True
    ):
        inside = name == DEVICE
        expected = reliability_curve(VISITS.y[inside], VISITS.scores[inside], n_bins=5)
        np.testing.assert_array_equal(drawn[0].line_.get_xdata(), expected.score)
        np.testing.assert_array_equal(drawn[0].line_.get_ydata(), expected.rate)
        sigmas = ecce_sigma(VISITS.y[inside], VISITS.scores[inside])
        assert ax.get_title(loc="left") == f"device = {name}\n{inside.sum():,} rows, off by {sigmas:.1f} σ"
        assert panel.rows == inside.sum()


def test_all_panels_have_the_same_axes() -> None:
    display = FeatureGridDisplay.from_predictions(VISITS.y, VISITS.scores, VISITS.X, "device")
    assert len({(ax.get_xlim(), ax.get_ylim()) for ax in display.axes_}) == 1


def test_several_scores_are_compared_in_each_panel() -> None:
    scores = {"base": VISITS.scores, "truth": VISITS.true_probability}
    display = FeatureGridDisplay.from_predictions(VISITS.y, scores, VISITS.X, "device")
    assert all(len(drawn) == 2 for drawn in display.displays_)
    assert [text.get_text() for text in display.axes_[0].get_legend().get_texts()] == ["base", "truth"]
    assert all(ax.get_legend() is None for ax in display.axes_[1:])
    assert " → " in display.axes_[0].get_title(loc="left")


def test_numbers_are_cut_at_quantiles_and_missing_is_a_panel() -> None:
    X = {"age": np.where(np.arange(4000) % 10 == 0, np.nan, np.arange(4000))}
    display = FeatureGridDisplay.from_predictions(VISITS.y, VISITS.scores, X, "age", max_values=3)
    assert len(display.panels) == 4
    assert display.panels[-1].segment == "age is missing"
    assert sum(panel.rows for panel in display.panels) == 4000


def test_an_estimator_is_drawn_beside_its_base_scores() -> None:
    class Oracle:
        """A calibrator that knows the truth."""

        def calibrate(self, X: object, scores: object = None) -> object:
            return VISITS.true_probability

    display = FeatureGridDisplay.from_estimator(Oracle(), VISITS.X, VISITS.y, "device", scores=VISITS.scores)
    assert list(display.panels[0].curves) == ["scores", "Oracle"]


def test_a_feature_of_one_value_is_one_panel() -> None:
    display = FeatureGridDisplay.from_predictions([0, 1, 1], [0.2, 0.4, 0.6], {"a": ["x"] * 3}, "a")
    assert [panel.segment for panel in display.panels] == ["a: one value only"]


def test_rows_of_weight_0_are_not_there_and_a_value_may_be_of_one_class() -> None:
    X = {"a": ["x", "x", "y", "y", "z"]}
    weights = [1, 1, 0, 2, 0]
    display = FeatureGridDisplay.from_predictions(
        [0, 0, 0, 1, 1], [0.3, 0.4, 0.3, 0.4, 0.5], X, "a", sample_weight=weights
    )
    assert [(panel.segment, panel.rows) for panel in display.panels] == [("a = x", 2), ("a = y", 1)]
    assert display.displays_[1][0].line_.get_ydata().tolist() == [1]


def test_the_axes_given_are_used() -> None:
    figure, axes = plt.subplots(2, 3)
    display = FeatureGridDisplay.from_predictions(VISITS.y, VISITS.scores, VISITS.X, "device", axes=axes)
    assert display.figure_ is figure
    assert list(display.axes_) == list(axes.ravel()[:4])
    assert not axes[1, 2].axison
    with pytest.raises(ParameterError, match="axes has 1 axes, and 4 panels are to be drawn"):
        FeatureGridDisplay.from_predictions(VISITS.y, VISITS.scores, VISITS.X, "device", axes=axes[0, 0])


def test_bad_input_is_named() -> None:
    with pytest.raises(ColumnError, match="no column 'b'"):
        FeatureGridDisplay.from_predictions([0, 1], [0.3, 0.4], {"a": ["x", "y"]}, "b")
    with pytest.raises(TableError, match="X has 3 rows"):
        FeatureGridDisplay.from_predictions([0, 1], [0.3, 0.4], {"a": ["x", "y", "z"]}, "a")
    with pytest.raises(ParameterError, match="y_prob is empty"):
        FeatureGridDisplay.from_predictions([0, 1], {}, {"a": ["x", "y"]}, "a")
