"""Ranked segments, checked on what was drawn."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import trueup
from trueup import AuditResult
from trueup.datasets import make_traffic
from trueup.errors import ParameterError
from trueup.plot import SegmentsDisplay

VISITS = make_traffic(8_000)


@pytest.fixture(scope="module")
def result() -> AuditResult:
    return trueup.audit(VISITS.X, VISITS.y, VISITS.scores, max_depth=2, null_samples=40)


def test_marks_and_intervals_are_the_audits(result: AuditResult) -> None:
    display = SegmentsDisplay.from_audit(result, n_segments=5)
    rows = [row for row in result.to_dict(5)["segments"] if row["explained_by"] is None]
    np.testing.assert_array_equal(display.predicted_.get_xdata(), [row["mean_score"] for row in rows])
    np.testing.assert_array_equal(
        [line.get_xdata()[0] for line in display.observed_], [row["observed_rate"] for row in rows]
    )
    ends = [[start[0], end[0]] for start, end in display.intervals_.get_segments()]
    np.testing.assert_array_equal(ends, [[row["observed_low"], row["observed_high"]] for row in rows])


def test_the_worst_is_at_the_top_and_says_what_is_wrong(result: AuditResult) -> None:
    display = SegmentsDisplay.from_audit(result, n_segments=3, name="Base")
    ax = display.ax_
    assert ax.get_ylim()[0] > ax.get_ylim()[1]  # upside down
    label = ax.get_yticklabels()[0].get_text().replace("\n", " ")
    assert label == display.segments[0].segment
    worst = display.segments[0]
    assert worst.significant
    assert worst.direction == "over-estimates"
    assert display.notes_[0].get_text() == f"score too high, {worst.ecce_sigma:.1f} σ\n{worst.rows:,} rows"
    assert ax.get_title(loc="left") == "Base"


def test_what_may_be_noise_is_grey() -> None:
    display = SegmentsDisplay.from_predictions(
        VISITS.y, VISITS.true_probability, VISITS.X, max_depth=1, null_samples=20, n_segments=4
    )
    assert not any(one.significant for one in display.segments)
    assert {line.get_color() for line in display.observed_} == {"#767676"}
    assert all(note.get_text().startswith("may be noise") for note in display.notes_)


def test_errors_that_go_both_ways_are_said_to() -> None:
    # Too low below a half and too high above it: on the whole right, and 9.5 sigmas off.
    p = np.repeat([0.2, 0.8], 500)
    y = np.concatenate([np.arange(500) < 250, np.arange(500) < 250]).astype(int)
    display = SegmentsDisplay.from_predictions(y, p)
    assert display.notes_[0].get_text().startswith("wrong both ways, ")


def test_groups_of_one_class_and_empty_ones_are_drawn_or_left_out() -> None:
    y, p = np.array([0, 1] * 100), np.full(200, 0.5)
    groups = {"all positive": y == 1, "empty": np.zeros(200, bool), "all negative": y == 0}
    display = SegmentsDisplay.from_predictions(y, p, segments=groups)
    drawn = {one.segment: one for one in display.segments}
    assert "empty" not in drawn
    assert drawn["all positive"].observed_rate == 1
    assert drawn["all negative"].observed_rate == 0


def test_long_names_wrap_and_dollars_are_no_formula() -> None:
    name = "a very long name of a segment that somebody typed, of those who pay $1 to $5 a month, " * 3
    y, p = np.array([0, 1] * 100), np.full(200, 0.5)
    display = SegmentsDisplay.from_predictions(y, p, segments={name: y == 1})
    label = next(text.get_text() for text in display.ax_.get_yticklabels() if "very long" in text.get_text())
    assert 2 <= len(label.split("\n")) <= 3
    assert label.endswith("…")
    assert r"\$1" in label
    display.figure_.canvas.draw()


def test_narrow_axes_have_narrow_labels(result: AuditResult) -> None:
    _, ax = plt.subplots(figsize=(3, 3))
    display = SegmentsDisplay.from_audit(result, n_segments=4, ax=ax)
    assert display.ax_ is ax
    assert max(len(line) for text in ax.get_yticklabels() for line in text.get_text().split("\n")) <= 18


def test_nothing_tested_is_said() -> None:
    with pytest.warns(trueup.errors.DataWarning):
        display = SegmentsDisplay.from_predictions([0, 1], [0.3, 0.4])
    assert [text.get_text() for text in display.ax_.texts] == ["no segment was tested"]


def test_an_estimator_is_audited() -> None:
    random = np.random.default_rng(0)
    X = random.normal(size=(500, 2))
    y = (X[:, 0] + random.normal(size=500) > 0).astype(int)
    model = LogisticRegression().fit(X, y)
    display = SegmentsDisplay.from_estimator(model, X, y, null_samples=20, max_depth=1)
    expected = trueup.audit(X, y, model.predict_proba(X)[:, 1], null_samples=20, max_depth=1)
    worst = expected.to_dict(1)["segments"][0]
    assert (display.segments[0].segment, display.segments[0].ecce_sigma) == (worst["segment"], worst["ecce_sigma"])


def test_a_wrong_number_is_named(result: AuditResult) -> None:
    with pytest.raises(ParameterError, match="n_segments must be a whole number of at least 1, got 0"):
        SegmentsDisplay.from_audit(result, n_segments=0)
