"""The registry of metrics: one place for names, labels, directions and forms."""

import math

import numpy as np
import pytest

from trueup._report import Form
from trueup.cli._options import PrimaryMetric
from trueup.comparison import compare
from trueup.metrics import METRICS

LABELS = np.array([0, 0, 1, 1] * 25)
GOOD, BAD = np.where(LABELS == 1, 0.8, 0.2), np.tile([0.8, 0.2], 50)


def test_every_metric_is_found_under_its_own_name() -> None:
    assert [metric.name for metric in METRICS.values()] == list(METRICS)


@pytest.mark.parametrize("name", METRICS)
def test_the_direction_is_the_functions(name: str) -> None:
    metric = METRICS[name]
    good, bad = (metric.function(LABELS, scores) for scores in (GOOD, BAD))
    assert metric.gain(bad, good) > 0 > metric.gain(good, bad)
    assert metric.better.capitalize() in metric.reads


@pytest.mark.parametrize("name", METRICS)
def test_the_report_can_write_every_form(name: str) -> None:
    assert Form(METRICS[name].form) in {Form.DECIMAL, Form.PERCENT, Form.SIGMAS}


def test_titles_start_with_a_capital_and_labels_do_not_where_they_are_words() -> None:
    assert (METRICS["log_loss"].label, METRICS["log_loss"].title) == ("log loss", "Log loss")
    assert (METRICS["brier"].label, METRICS["brier"].title) == ("Brier score", "Brier score")


def test_a_relative_change_is_undefined_only_where_nothing_became_something() -> None:
    loss = METRICS["log_loss"]
    assert loss.relative_change(0.5, 0.4) == pytest.approx(-0.2)
    assert loss.relative_change(0.0, 0.0) == 0
    assert math.isnan(loss.relative_change(0.0, 0.1))


def test_a_comparison_measures_all_metrics_in_the_registrys_order() -> None:
    X = {"half": LABELS}
    measured = compare(X, LABELS, BAD, GOOD, n_bootstrap=100, null_samples=0).to_dict()["metrics"]
    assert [row["metric"] for row in measured] == list(METRICS)
    for row in measured:
        segments = {"X": X} if row["metric"] == "mce" else {}
        expected = METRICS[row["metric"]].function(LABELS, BAD, **segments)
        assert row["base"] == pytest.approx(expected), row["metric"]
        assert row["better"] == METRICS[row["metric"]].better


def test_the_command_line_offers_all_but_the_maximum_as_primary() -> None:
    assert [metric.value for metric in PrimaryMetric] == [name for name in METRICS if name != "mce"]
