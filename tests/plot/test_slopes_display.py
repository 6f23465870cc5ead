"""Segments before and after, checked on what was drawn."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import trueup
from trueup import AuditResult
from trueup.datasets import make_traffic
from trueup.errors import ParameterError
from trueup.plot import SlopesDisplay
from trueup.plot._axes import spread_out
from trueup.plot._slopes import Slope

VISITS = make_traffic(8_000)
OPTIONS = {"max_depth": 2, "null_samples": 40}


@pytest.fixture(scope="module")
def audits() -> tuple[AuditResult, AuditResult]:
    before = trueup.audit(VISITS.X, VISITS.y, VISITS.scores, **OPTIONS)  # type: ignore[arg-type]
    return before, trueup.audit(VISITS.X, VISITS.y, VISITS.true_probability, **OPTIONS)  # type: ignore[arg-type]


def test_each_line_goes_from_before_to_after(audits: tuple[AuditResult, AuditResult]) -> None:
    display = SlopesDisplay.from_audits(*audits, n_segments=4, names=("base", "truth"))
    sides = [{row["segment"]: row["ecce_sigma"] for row in audited.to_dict(None)["segments"]} for audited in audits]
    assert len(display.slopes) >= 2
    for slope, line, label in zip(display.slopes, display.lines_, display.labels_, strict=True):
        assert list(line.get_xdata()) == [0, 1]
        assert list(line.get_ydata()) == [sides[0][slope.segment], sides[1][slope.segment]]
        assert label.get_text().replace("\n", " ") == f"{slope.segment}  {slope.before:.1f} σ"
    assert [text.get_text() for text in display.ax_.get_xticklabels()] == ["base", "truth"]
    assert display.ax_.get_ylabel() == "Error of the segment (ECCE, σ)"


def test_the_worst_after_are_drawn_too(audits: tuple[AuditResult, AuditResult]) -> None:
    base, truth = audits
    display = SlopesDisplay.from_audits(truth, base, n_segments=4)
    worst_after = base.to_dict(1)["segments"][0]["segment"]
    (slope, line) = next(
        (slope, line)
        for slope, line in zip(display.slopes, display.lines_, strict=True)
        if slope.segment == worst_after
    )
    assert slope.after > slope.before
    assert slope.significant
    assert line.get_color() == "#D55E00"


def test_what_gets_better_and_what_gets_worse_by_chance_look_different(audits: tuple[AuditResult, AuditResult]) -> None:
    display = SlopesDisplay.from_audits(*audits)
    for slope, line in zip(display.slopes, display.lines_, strict=True):
        assert line.get_color() == ("#0072B2" if slope.after <= slope.before else "#767676")
        assert slope.after <= slope.before or not slope.significant


def test_predictions_and_estimators_are_audited(audits: tuple[AuditResult, AuditResult]) -> None:
    class Oracle:
        """A calibrator that knows the truth."""

        def calibrate(self, X: object, scores: object = None) -> object:
            return VISITS.true_probability

    expected = SlopesDisplay.from_audits(*audits).slopes
    drawn = SlopesDisplay.from_estimator(Oracle(), VISITS.X, VISITS.y, scores=VISITS.scores, **OPTIONS)
    assert drawn.slopes == expected
    assert drawn.names == ("scores", "Oracle")


def test_an_infinite_error_is_drawn_at_the_top() -> None:
    slopes = [
        Slope("certain and wrong", 100, math.inf, 1.0, significant=False),
        Slope("all rows", 200, 5.0, 1.0, False),
    ]
    display = SlopesDisplay(slopes).plot()
    assert np.isfinite(display.lines_[0].get_ydata()).all()
    assert display.labels_[0].get_text().endswith("∞ σ")
    display.figure_.canvas.draw()


def test_audits_of_other_rows_or_segments_are_refused(audits: tuple[AuditResult, AuditResult]) -> None:
    other = trueup.audit(None, [0, 1] * 50, [0.5] * 100)
    with pytest.raises(ParameterError, match="before is of 8,000 rows and after of 100"):
        SlopesDisplay.from_audits(audits[0], other)


PLACES = st.lists(st.tuples(st.floats(0, 10), st.floats(0.1, 2)), min_size=1, max_size=12)


@given(PLACES)
def test_labels_keep_their_order_and_their_distance(given_places: list[tuple[float, float]]) -> None:
    places, gaps = [place for place, _ in given_places], [gap for _, gap in given_places]
    found = spread_out(places, gaps)
    order = sorted(range(len(places)), key=lambda one: places[one])
    for below, above in itertools.pairwise(order):
        assert found[above] - found[below] >= gaps[above] - 1e-9


def test_labels_that_are_far_apart_stay_where_they_are() -> None:
    assert spread_out([5.0, 1.0, 3.0], [1, 1, 1]) == [5.0, 1.0, 3.0]
    # Two at 1: half of the distance up, half of it down.
    assert spread_out([1.0, 1.0], [1, 1]) == [0.5, 1.5]
