"""What an audit says on its page."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import trueup
from simulated import true_scores
from small_pages import HOSTILE
from trueup.auditing import AuditResult, segments_before_and_after
from trueup.auditing._page import audit_page
from trueup.datasets import make_traffic
from trueup.errors import InsufficientDataWarning
from trueup.metrics import ecce, ecce_sigma


@pytest.fixture(scope="module")
def wrong() -> AuditResult:
    visits = make_traffic(20_000)
    return trueup.audit(visits.X, visits.y, visits.scores, max_depth=2, null_samples=40)


def test_what_is_wrong_is_the_headline_and_the_worst_is_told_in_words(wrong: AuditResult) -> None:
    page = audit_page(wrong, title="Visits")
    assert page.headline.tone == "bad"
    assert page.headline.verdict == f"Wrong in {wrong.n_significant} segments"
    (table,) = page.segments
    first = wrong.segments.slice(0, 1).to_pylist()[0]
    assert table.words[table.patterns[0].place] == first["segment"] == "is_logged_in = false and referrer is missing"
    assert "8.0\u202f% predicted, 1.7\u202f% observed" in table.patterns[0].text
    assert table.patterns[0].text.endswith("The scores are too high.")


def test_the_table_has_what_the_audit_lists(wrong: AuditResult) -> None:
    (table,) = audit_page(wrong).segments
    listed = wrong.segments.to_pydict()
    columns = {column.title: column for column in table.columns}
    assert list(table.words) == listed["segment"]
    assert columns["Predicted"].values.tolist() == listed["mean_score"]
    assert columns["Observed"].low is not None
    assert columns["Observed"].low.tolist() == listed["observed_low"]
    assert columns["p"].least == pytest.approx(1 / 41)
    words = {"over-estimates": "too high", "under-estimates": "too low", "both": "both ways"}
    assert [table.choice.options[code].text for code in table.choice.codes] == [words[d] for d in listed["direction"]]
    assert table.repeats is not None
    for i, place in enumerate(table.repeats.tolist()):
        assert listed["explained_by"][i] == (None if place < 0 else table.words[place])


def test_the_curves_are_those_of_the_segment_s_rows(wrong: AuditResult) -> None:
    visits = make_traffic(20_000)
    (table,) = audit_page(wrong).segments
    place = table.words.index("is_logged_in = false and referrer is missing")
    (series,) = table.curves[place]
    inside = trueup.segments.parse_segment(table.words[place]).mask(visits.X)
    assert series.cumulative.n == inside.sum()
    assert series.cumulative.ecce == pytest.approx(ecce(visits.y[inside], visits.scores[inside]))
    (everything,) = audit_page(wrong).overall
    assert everything.cumulative.ecce == pytest.approx(wrong.ecce)


def test_curves_are_kept_of_the_patterns_and_of_the_most_evident_up_to_a_limit(wrong: AuditResult) -> None:
    (table,) = audit_page(wrong).segments
    assert len(table.curves) == 200
    evidence = np.array(wrong.segments.to_pydict()["evidence"])
    assert int(evidence.argmax()) in table.curves
    assert {pattern.place for pattern in table.patterns} <= set(table.curves)


def test_scores_that_are_true_are_good_news_with_what_would_have_been_found() -> None:
    y, p, features = true_scores(0, n=3_000)
    page = audit_page(trueup.audit(features, y, p, max_depth=2, null_samples=40))
    assert page.headline.tone == "good"
    assert page.headline.verdict == "No error beyond noise"
    assert "would most likely have been found" in page.headline.sentence
    assert page.segments[0].patterns == ()


def test_without_features_only_all_rows_are_shown() -> None:
    y, p, _ = true_scores(0, n=1_000)
    page = audit_page(trueup.audit(None, y, np.clip(2 * p, 0, 0.99)))
    assert page.headline.verdict == "Wrong overall"
    assert page.segments == ()
    assert len(page.overall) == 1


def test_an_audit_that_could_test_nothing_says_so() -> None:
    with pytest.warns(InsufficientDataWarning):
        result = trueup.audit(None, [0, 1], [0.5, 0.5])
    page = audit_page(result)
    assert page.headline.verdict == "Nothing could be tested"
    assert result.to_html() is not None


def test_two_audits_of_the_same_rows_are_one_table(wrong: AuditResult) -> None:
    visits = make_traffic(20_000)
    right = trueup.audit(visits.X, visits.y, visits.true_probability, max_depth=2, null_samples=40)
    table = segments_before_and_after(wrong, right)
    columns = {column.title: column.values for column in table.columns}
    place = table.words.index("is_logged_in = false and referrer is missing")
    inside = trueup.segments.parse_segment(table.words[place]).mask(visits.X)
    assert columns["Predicted, before"][place] == pytest.approx(visits.scores[inside].mean())
    assert columns["Predicted, after"][place] == pytest.approx(visits.true_probability[inside].mean())
    after = ecce_sigma(visits.y[inside], visits.true_probability[inside])
    assert columns["ECCE, after"][place] == pytest.approx(after)
    before_series, after_series = table.curves[place]
    assert (before_series.name, after_series.name) == ("before", "after")
    assert after_series.cumulative.ecce_sigma == pytest.approx(after)
    assert before_series.cumulative.n == after_series.cumulative.n == inside.sum()


def test_a_page_is_returned_or_written(wrong: AuditResult, tmp_path: Path) -> None:
    html = wrong.to_html(title="Visits")
    assert wrong.to_html(tmp_path / "audit.html", title="Visits") is None
    assert (tmp_path / "audit.html").read_text("utf-8") == html


def test_a_notebook_shows_the_verdict_and_the_worst(wrong: AuditResult) -> None:
    html = wrong._repr_html_()
    assert "is_logged_in = false and referrer is missing" in html
    assert "<script" not in html


def test_a_notebook_does_not_wait_for_the_patterns_of_many_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    visits = make_traffic(4_000, random_state=1)
    monkeypatch.setattr("trueup.auditing._page._ROWS_AT_ONCE", 3_999)
    result = trueup.audit(visits.X, visits.y, np.minimum(2 * visits.scores, 0.9), max_depth=1, null_samples=40)
    html = result._repr_html_()
    assert "Wrong in" in html
    assert not result._listing.has_found_patterns
    _ = result.segments  # now they are found anyway
    assert "pattern" in str(result._repr_html_())


def test_hostile_columns_and_categories_are_escaped() -> None:
    y, p, _ = true_scores(0, n=2_000)
    names = [name.replace("\ud800", "") for name in HOSTILE]
    rng = np.random.default_rng(0)
    X = {name: rng.choice(names[i:] + names[:i], len(y)) for i, name in enumerate(names[:4])}
    html = trueup.audit(X, y, p, max_depth=2, null_samples=20).to_html(title=names[0])
    assert html is not None
    assert html.count("</script>") == 3  # the data, the charts and the page's own
    without_scripts = re.sub(r"<script.*?</script>", "", html, flags=re.DOTALL)
    assert "<img" not in without_scripts
    assert "&lt;img" in without_scripts
