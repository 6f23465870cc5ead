"""What a comparison says on its page."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import trueup
from small_pages import HOSTILE
from trueup.comparison import Comparison
from trueup.comparison._page import comparison_page
from trueup.datasets import make_traffic
from trueup.metrics import ecce


@pytest.fixture(scope="module")
def better() -> Comparison:
    visits = make_traffic(20_000)
    return trueup.compare(visits.X, visits.y, visits.scores, visits.true_probability, max_depth=2, n_bootstrap=100)


def test_the_verdict_its_rules_and_its_numbers_are_the_comparison_s(better: Comparison) -> None:
    page = comparison_page(better, title="Visits")
    assert (page.headline.verdict, page.headline.tone) == ("Ship the candidate", "good")
    assert [(check.holds, check.text) for check in page.headline.checks] == [
        (reason.holds, reason.text) for reason in better.reasons
    ]
    assert page.numbers is not None
    metrics = better.metrics.to_pylist()
    assert len(page.numbers.rows) == len(metrics)
    for row, metric in zip(page.numbers.rows, metrics, strict=True):
        assert [value.value for value in row.values] == [metric["base"], metric["candidate"]]
        assert row.change is not None
        assert row.change.value == pytest.approx(metric["difference"])
    assert page.numbers.rows[0].outcome == "better"
    assert page.numbers.rows[0].role == "decides"


def test_a_candidate_that_is_worse_is_bad_news() -> None:
    visits = make_traffic(20_000)
    result = trueup.compare(visits.X, visits.y, visits.true_probability, visits.scores, max_depth=1, n_bootstrap=50)
    page = comparison_page(result)
    assert (page.headline.verdict, page.headline.tone) == ("Keep the base", "bad")
    # Who is harmed comes first, whoever gains.
    (table,) = page.segments
    assert table.choice.options[table.choice.codes[0]].text == "harmed"
    assert "is harmed" in table.patterns[0].text


def test_equal_models_are_inconclusive() -> None:
    visits = make_traffic(2_000)
    result = trueup.compare(visits.X, visits.y, visits.scores, visits.scores, max_depth=1, n_bootstrap=50)
    assert comparison_page(result).headline.tone == "unsure"
    assert result.to_html() is not None


def test_those_who_change_most_come_first_with_the_columns_of_the_comparison(better: Comparison) -> None:
    (table,) = comparison_page(better).segments
    listed = {row["segment"]: row for row in better.segments.to_pylist()}
    columns = {column.title: column.values for column in table.columns}
    assert sorted(table.words) == sorted(listed)
    for place in (0, 5, len(table.words) - 1):
        row = listed[table.words[place]]
        assert columns["Loss changes by"][place] == row["difference"]
        assert columns["Predicted, candidate"][place] == row["mean_candidate"]
        assert bool(table.significant[place]) == (row["outcome"] != "unclear")
    gains = columns["Loss changes by"][table.significant]
    assert len(gains) == better.n_gaining + better.n_harmed
    assert (np.diff(gains[better.n_harmed :]) >= 0).all()


def test_no_pattern_is_told_twice(better: Comparison) -> None:
    (table,) = comparison_page(better).segments
    assert len(table.patterns) >= 2
    conditions = [set(table.words[pattern.place].split(" and ")) for pattern in table.patterns]
    for i, one in enumerate(conditions):
        for other in conditions[:i]:
            assert 2 * len(one & other) < len(one)


def test_a_click_shows_both_models_on_the_segment_s_rows(better: Comparison) -> None:
    visits = make_traffic(20_000)
    page = comparison_page(better, names=("old", "new"))
    (table,) = page.segments
    inside = trueup.segments.parse_segment(table.words[0]).mask(visits.X)
    old, new = table.curves[0]
    assert (old.name, new.name) == ("old", "new")
    assert old.cumulative.ecce == pytest.approx(ecce(visits.y[inside], visits.scores[inside]))
    assert new.cumulative.ecce == pytest.approx(ecce(visits.y[inside], visits.true_probability[inside]))
    assert page.overall[0].cumulative.n == 20_000


def test_with_audits_the_page_also_says_where_the_base_was_wrong() -> None:
    visits = make_traffic(5_000)
    result = trueup.compare(
        visits.X, visits.y, visits.scores, visits.true_probability, max_depth=1, n_bootstrap=50, null_samples=20
    )
    page = comparison_page(result, names=("before", "after"), audits=result.audits)
    assert [table.title for table in page.segments] == [
        "Who gains and who is harmed",
        "Where the scores were wrong, before and after",
    ]


def test_without_features_there_is_no_table(tmp_path: Path) -> None:
    visits = make_traffic(2_000)
    result = trueup.compare(None, visits.y, visits.scores, visits.true_probability, n_bootstrap=50)
    assert comparison_page(result).segments == ()
    assert result.to_html(tmp_path / "page.html") is None
    assert (tmp_path / "page.html").exists()


def test_a_notebook_shows_the_verdict(better: Comparison) -> None:
    summary = better._repr_html_()
    assert "Ship" in summary
    assert "Log loss" in summary
    assert "<script" not in summary


def test_hostile_names_are_escaped() -> None:
    visits = make_traffic(2_000)
    names = [name.replace("\ud800", "") for name in HOSTILE]
    X = {names[0]: np.random.default_rng(0).choice(names, 2_000)}
    html = trueup.compare(X, visits.y, visits.scores, visits.true_probability, n_bootstrap=50).to_html(title=names[1])
    assert html is not None
    assert html.count("</script>") == 3


def test_a_segment_that_gains_is_told_by_the_loss_that_it_gains_in(better: Comparison) -> None:
    table = comparison_page(better).segments[0]
    pattern = table.patterns[0]
    row = next(row for row in better.to_dict(None)["segments"] if row["segment"] == table.words[pattern.place])
    assert row["outcome"] == "gains"
    assert (
        f"its loss falls from {row['base_loss']:.4f} (base) to {row['candidate_loss']:.4f} (candidate)" in pattern.text
    )
    assert "promised" not in pattern.text
