"""The data inside a page."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from small_pages import HOSTILE, plain_words, segments, whole_page
from trueup._report import Choice, Form, Option, PageColumn, Segments, in_form, series_of
from trueup._report._island import _as_shown, _shared_parts, island_of, safe_json
from trueup.errors import ParameterError

texts = st.text(max_size=30) | st.sampled_from(HOSTILE)


@given(st.recursive(texts | st.integers() | st.none(), lambda inner: st.lists(inner) | st.dictionaries(texts, inner)))
def test_json_in_a_page_says_the_same_and_ends_no_script(value: Any) -> None:
    text = safe_json(value)
    assert json.loads(text) == value
    assert not set(text) & set("<>&\u2028\u2029")


@given(st.lists(texts, min_size=1, max_size=20))
def test_segments_that_share_conditions_come_back_as_they_were(words: list[str]) -> None:
    parts, segments_ = _shared_parts(words)
    assert [" and ".join(parts[part] for part in one) for one in segments_] == words


def test_conditions_are_kept_once_however_many_segments_share_them() -> None:
    table = island_of(whole_page(plain_words(60)))["segments"][0]
    assert len(table["parts"]) == 62  # sixty countries and two devices


def test_numbers_are_short_and_what_is_none_is_null() -> None:
    page = whole_page(plain_words(4))
    columns = {column["title"]: column for column in island_of(page)["segments"][0]["columns"]}
    assert columns["Rows"]["values"] == [1000, 999, 998, 997]
    assert columns["Predicted"]["values"] == [0.5, None, 0.498, 0.497]
    assert columns["p"]["values"][0] == 0.004975  # 1/201 with four digits
    assert island_of(page)["segments"][0]["significant"] == "1111"


@given(st.lists(st.floats(0, 1) | st.just(float("nan")), min_size=1), st.integers(1, 3))
def test_percentages_are_rounded_as_the_words_are(shares: list[float], digits: int) -> None:
    column = PageColumn("Predicted", np.array(shares), Form.PERCENT, digits=digits)
    for share, kept in zip(shares, _as_shown(column.values, column), strict=True):
        assert in_form(float("nan") if kept is None else kept, Form.PERCENT, digits=digits) == in_form(
            share, Form.PERCENT, digits=digits
        )


def test_few_rows_get_few_bins() -> None:
    labels = [0.0, 1.0] * 30
    scores = np.linspace(0.1, 0.9, 60)
    assert len(series_of("s", labels, scores).reliability) == 2  # 60 rows: two bins of 25 or more
    assert len(series_of("s", labels[:2], scores[:2]).reliability) == 2
    assert len(series_of("s", labels * 10, np.linspace(0.1, 0.9, 600)).reliability) == 10


def test_one_set_of_scores_is_drawn_with_a_full_line_and_two_differ_in_more_than_colour() -> None:
    alone = island_of(whole_page(plain_words(3), names=("scores",)))
    assert {one["role"] for one in alone["overall"]} == {"second"}
    both = island_of(whole_page(plain_words(3)))
    assert [one["role"] for one in both["overall"]] == ["first", "second"]
    lines = [layer for layer in both["charts"]["reliability"]["layer"] if layer["mark"]["type"] == "line"]
    dashes = next(layer["encoding"]["strokeDash"]["scale"] for layer in lines if "strokeDash" in layer["encoding"])
    assert dashes["domain"] == ["first", "second"]
    assert dashes["range"][0] != dashes["range"][1]


def test_the_curves_that_are_drawn_are_those_of_the_page() -> None:
    page = whole_page(plain_words(3))
    drawn = island_of(page)["segments"][0]["curves"]["1"][0]
    given_curve = page.segments[0].curves[1][0]
    assert drawn["rate"] == pytest.approx(given_curve.reliability.rate, abs=1e-4)
    assert drawn["difference"] == pytest.approx(given_curve.cumulative.difference, abs=1e-4)
    low, high = drawn["extremes"]
    # The ECCE is read off between the two points that are marked.
    assert drawn["difference"][high] - drawn["difference"][low] == pytest.approx(given_curve.cumulative.ecce, rel=1e-3)


def test_no_text_of_a_user_is_in_a_chart_s_specification() -> None:
    charts = island_of(whole_page(HOSTILE, names=HOSTILE[:2]))["charts"]
    assert charts == island_of(whole_page(plain_words(3)))["charts"]


def test_columns_that_are_not_as_long_as_the_segments_are_refused() -> None:
    with pytest.raises(ParameterError, match=r"2 segments, and these columns are not as long: \{'Rows': 3\}"):
        Segments(
            "t",
            "",
            ("a", "b"),
            (PageColumn("Rows", np.arange(3), Form.COUNT),),
            Choice("c", (Option("x"),), np.zeros(2, dtype=int)),
            np.ones(2, dtype=bool),
        )
    assert len(segments(plain_words(2)).words) == 2
