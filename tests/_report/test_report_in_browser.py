"""The page as a reader meets it, in a real browser."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import trueup
from small_pages import HOSTILE, plain_words, whole_page
from trueup._report import Form, in_form, p_value_in_form
from trueup._report._render import render_page
from trueup.datasets import make_traffic

Open = Callable[..., Any]


@pytest.fixture(scope="session")
def html() -> str:
    return render_page(whole_page(plain_words(60)))


@pytest.fixture(scope="session")
def audit_html() -> str:
    visits = make_traffic(4_000, random_state=1)
    result = trueup.audit(visits.X, visits.y, visits.scores, max_depth=2, null_samples=40)
    page = result.to_html(title="Audit of visits")
    assert page is not None
    return page


@pytest.fixture(scope="session")
def comparison_html() -> str:
    visits = make_traffic(4_000, random_state=1)
    result = trueup.compare(visits.X, visits.y, visits.scores, visits.true_probability, max_depth=2, n_bootstrap=50)
    page = result.to_html(title="Comparison of visits")
    assert page is not None
    return page


@pytest.mark.parametrize("which", ["html", "audit_html", "comparison_html"])
def test_a_page_opens_from_disk_without_a_complaint_and_without_a_network(
    which: str, open_html: Open, request: pytest.FixtureRequest
) -> None:
    opened = open_html(request.getfixturevalue(which))
    opened.wait_for_charts(4)  # two of all rows, and two of the segment that is open from the start
    assert opened.complaints == []
    assert opened.requests == [opened.page.url]
    assert opened.page.locator("h1").count() == 1
    assert not opened.scrolls_sideways()


@pytest.mark.parametrize("which", ["html", "audit_html", "comparison_html"])
def test_a_page_fits_a_phone(which: str, open_html: Open, request: pytest.FixtureRequest) -> None:
    opened = open_html(request.getfixturevalue(which), width=390, height=844)
    opened.wait_for_charts(4)
    assert not opened.scrolls_sideways()
    # What names the column stands in each cell, and sorting has a place of its own.
    first = opened.page.locator("tr.segment td").first
    assert first.evaluate("cell => getComputedStyle(cell, '::before').content") == '"Rows"'
    assert opened.page.locator(".narrow").first.is_visible()


def test_the_page_forbids_itself_any_network_and_any_other_script(html: str, open_html: Open) -> None:
    opened = open_html(html)
    refused = opened.page.evaluate(
        """async () => {
            const refused = [];
            document.addEventListener("securitypolicyviolation", (event) => refused.push(event.effectiveDirective));
            const image = new Image();
            image.src = "https://example.org/a.png";
            const script = document.createElement("script");
            script.textContent = "window.hacked = true";
            document.body.append(image, script);
            try { await fetch("https://example.org/"); } catch { refused.push("fetch failed"); }
            // Events come later, and what the test itself runs may evaluate: so from a task of the page's own.
            await new Promise((done) => setTimeout(() => {
                try { eval("1"); } catch (error) { refused.push(error.name); }
                setTimeout(done, 50);
            }, 0));
            return refused;
        }"""
    )
    assert {"img-src", "script-src-elem", "connect-src", "fetch failed", "EvalError"} <= set(refused)
    assert opened.page.evaluate("window.hacked") is None


def test_the_table_shows_numbers_in_the_forms_of_the_rest_of_the_page(html: str, open_html: Open) -> None:
    opened = open_html(html)
    rows = opened.page.locator("tr.segment")
    # Segment 4 has 996 rows, 0.496 predicted, and 0.004 observed, from 0.002 to 0.008; its p is 5/201.
    cells = [" ".join(text.split()) for text in rows.nth(4).locator("td").all_inner_texts()]
    percent = [in_form(value, Form.PERCENT, digits=1) for value in (0.496, 0.004, 0.002, 0.008)]
    assert cells[0] == in_form(996, Form.COUNT)
    assert cells[1] == " ".join(percent[0].split())
    assert cells[2] == " ".join(f"{percent[1]} {percent[2]} to {percent[3]}".split())
    assert cells[3].startswith(f"{p_value_in_form(5 / 201)} *")
    assert rows.nth(0).locator("td").nth(3).inner_text().startswith(p_value_in_form(1 / 201, 1 / 201))
    assert rows.nth(1).locator("td").nth(1).inner_text() == "–"


def test_a_heading_sorts_and_says_so_and_what_is_missing_comes_last(html: str, open_html: Open) -> None:
    opened = open_html(html)
    page = opened.page
    heading = page.locator(".rows thead th").filter(has_text="Rows")
    assert heading.get_attribute("aria-sort") == "none"
    heading.get_by_role("button").click()
    assert heading.get_attribute("aria-sort") == "descending"
    assert opened.texts("tr.segment td:nth-of-type(1)")[:3] == ["1,000", "999", "998"]
    heading.get_by_role("button").click()
    assert heading.get_attribute("aria-sort") == "ascending"
    assert opened.texts("tr.segment td:nth-of-type(1)")[:3] == ["941", "942", "943"]
    page.locator(".rows thead th").filter(has_text="Segment").get_by_role("button").click()
    assert opened.texts(".open-segment")[:2] == plain_words(2)
    assert heading.get_attribute("aria-sort") == "none"
    predicted = page.locator(".rows thead th").filter(has_text="Predicted").get_by_role("button")
    for _ in range(2):  # whichever way, the segment that promises nothing is the last of 60
        predicted.click()
        for _ in range(2):
            page.get_by_role("button", name="Next").click()
        assert opened.texts("tr.segment td:nth-of-type(2)")[-1] == "–"


def test_text_direction_significance_and_repeats_filter(html: str, open_html: Open) -> None:
    opened = open_html(html)
    page = opened.page
    count = page.locator(".count")
    assert count.inner_text() == "60 segments"
    page.get_by_role("searchbox").fill("DESKTOP c0")  # all of the words, in any case: C00, C03, C06, C09
    assert count.inner_text() == "4 of 60 segments"
    assert all("desktop" in words for words in opened.texts(".open-segment"))
    page.get_by_role("searchbox").fill("")
    page.locator("select[name=choice]").select_option("too low")
    assert count.inner_text() == "30 of 60 segments"
    assert set(opened.texts(".mark")) == {"too low"}
    page.get_by_label("more than noise only").check()  # of 0 to 4, those that are odd
    assert count.inner_text() == "2 of 60 segments"
    page.locator("select[name=choice]").select_option("any")
    page.get_by_label("more than noise only").uncheck()
    page.get_by_label("no repeats").check()
    assert count.inner_text() == "10 of 60 segments"
    page.get_by_role("searchbox").fill("nowhere")
    assert "No segment fits" in page.locator("table.rows tbody").inner_text()


def test_rows_are_made_a_page_at_a_time(html: str, open_html: Open) -> None:
    opened = open_html(html)
    page = opened.page
    assert page.locator("tr.segment").count() == 25
    assert page.get_by_role("button", name="Previous").is_disabled()
    for _ in range(2):
        page.get_by_role("button", name="Next").click()
    assert page.locator(".where").inner_text() == "51–60 of 60"
    assert page.locator("tr.segment").count() == 10
    assert page.get_by_role("button", name="Next").is_disabled()
    assert page.locator(".repeats").first.inner_text() == f"repeats: {plain_words(1)[0]}"


def test_a_click_changes_the_charts(html: str, open_html: Open) -> None:
    opened = open_html(html)
    page = opened.page
    lines = "tr.detail .chart svg .mark-line path"
    paths = f"() => [...document.querySelectorAll('{lines}')].map((path) => path.getAttribute('d'))"
    opened.wait_for_charts(4)
    first = page.evaluate(paths)
    assert first
    page.locator("tr.segment").nth(1).locator("td").first.click()  # anywhere in the row
    page.wait_for_selector("tr.detail .curves[data-drawn]")
    second = page.evaluate(paths)
    assert len(second) == len(first)
    assert second != first
    assert page.locator("tr.detail").count() == 1
    assert page.locator(".open-segment").nth(1).get_attribute("aria-expanded") == "true"
    assert page.locator(".open-segment").nth(0).get_attribute("aria-expanded") == "false"
    assert opened.texts("tr.detail .key") == ["before", "after"]
    page.locator("tr.segment").nth(1).locator("td").first.click()
    assert page.locator("tr.detail").count() == 0
    page.locator("tr.segment").nth(5).locator("td").first.click()  # there are curves of the first three only
    assert "none of them" in page.locator("tr.detail").inner_text()
    assert opened.complaints == []


def test_the_keyboard_reaches_and_opens_every_row(html: str, open_html: Open) -> None:
    opened = open_html(html)
    page = opened.page
    focused = "document.activeElement.textContent"
    page.locator(".open-segment").first.focus()
    page.keyboard.press("ArrowDown")
    assert page.evaluate(focused) == plain_words(2)[1]
    page.keyboard.press("Enter")
    assert page.locator(".open-segment").nth(1).get_attribute("aria-expanded") == "true"
    assert page.evaluate(focused) == plain_words(2)[1]
    page.keyboard.press("ArrowUp")
    assert page.evaluate(focused) == plain_words(1)[0]
    page.locator(".rows thead button").first.focus()
    page.keyboard.press("Enter")
    assert page.locator(".rows thead th").first.get_attribute("aria-sort") == "ascending"


def test_a_pattern_opens_its_segment_whatever_is_filtered_out(html: str, open_html: Open) -> None:
    opened = open_html(html)
    page = opened.page
    page.get_by_role("searchbox").fill("nowhere")
    page.locator(".patterns a").nth(1).click()
    page.wait_for_selector("tr.detail .curves[data-drawn]")
    assert page.locator("tr.segment.open .open-segment").inner_text() == plain_words(3)[2]
    assert page.locator(".count").inner_text() == "60 segments"


@pytest.mark.parametrize("width", [1200, 390])
def test_bars_start_at_one_place_however_long_the_figures_beside_them_are(
    width: int, html: str, open_html: Open
) -> None:
    page = open_html(html, width=width).page
    bars = page.locator("meter")
    assert bars.count() > 1
    assert len({round(bars.nth(i).bounding_box()["x"], 1) for i in range(bars.count())}) == 1  # type: ignore[index]


def test_dark_and_light_follow_the_system_until_the_reader_chooses(html: str, open_html: Open) -> None:
    opened = open_html(html, color_scheme="dark")
    page = opened.page
    opened.wait_for_charts(4)
    background = "getComputedStyle(document.body).backgroundColor"
    line = "getComputedStyle(document.querySelector('#overall-curves .mark-line path')).stroke"
    dark = page.evaluate(background), page.evaluate(line)
    assert _lightness(dark[0]) < 0.2
    page.get_by_role("button", name="Show the page light").click()
    light = page.evaluate(background), page.evaluate(line)
    assert _lightness(light[0]) > 0.9
    assert light[1] != dark[1]  # the charts follow, without being drawn anew
    page.emulate_media(color_scheme="light")
    page.get_by_role("button", name="Show the page dark").click()
    assert page.evaluate(background) == dark[0]
    assert opened.complaints == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_words_stand_out_from_what_is_behind_them(scheme: str, html: str, open_html: Open) -> None:
    opened = open_html(html, color_scheme=scheme)
    variable = "name => getComputedStyle(document.documentElement).getPropertyValue(name)"
    colour = {name: _rgb(opened.page.evaluate(variable, f"--{name}")) for name in _COLOURS.split()}
    behind = ("paper", "card", "wash")
    for name in ("ink", "muted", "accent", "first", "second", "good", "bad", "unsure"):
        for place in behind:  # 4.5 is what WCAG 2 asks of texts at level AA
            assert _contrast(colour[name], colour[place]) >= 4.5, (name, place)
    for tone in ("good", "bad", "unsure"):
        assert _contrast(colour[tone], colour[f"{tone}-wash"]) >= 4.5, tone


def test_a_printed_page_is_light_and_has_no_controls(html: str, open_html: Open) -> None:
    opened = open_html(html, color_scheme="dark")
    page = opened.page
    opened.wait_for_charts(4)
    page.emulate_media(media="print", color_scheme="dark")
    assert _lightness(page.evaluate("getComputedStyle(document.body).backgroundColor")) > 0.9
    assert _lightness(page.evaluate("getComputedStyle(document.body).color")) < 0.3
    for selector in ("#theme", ".controls", ".pager"):
        assert not page.locator(selector).first.is_visible(), selector
    assert page.locator("tr.segment").nth(3).is_visible()
    assert page.locator("table.numbers").is_visible()
    assert page.pdf(format="A4")[:5] == b"%PDF-"


@pytest.mark.parametrize("width", [390, 1280])
def test_hostile_names_are_only_shown(width: int, open_html: Open) -> None:
    page_of_them = whole_page(HOSTILE, title=HOSTILE[0], names=(HOSTILE[1], HOSTILE[0]))
    opened = open_html(render_page(page_of_them), width=width)
    opened.wait_for_charts(4)
    page = opened.page
    assert page.evaluate("window.hacked") is None
    assert page.locator("img").count() == 0
    shown = page.evaluate("() => [...document.querySelectorAll('.open-segment')].map(button => button.textContent)")
    assert shown == [words.encode("utf-8", "replace").decode("utf-8") for words in HOSTILE]
    assert page.locator(".title").inner_text() == HOSTILE[0]
    assert page.locator("tr.detail .key").first.inner_text() == HOSTILE[1]
    assert opened.complaints == []
    assert not opened.scrolls_sideways()


_COLOURS = "paper card wash ink muted accent first second good bad unsure good-wash bad-wash unsure-wash"


def _rgb(colour: str) -> np.ndarray:
    colour = colour.strip()
    if colour.startswith("#"):
        return np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.array([float(part) for part in colour[colour.index("(") + 1 : -1].split(",")[:3]]) / 255


def _lightness(colour: str) -> float:
    return float(_rgb(colour).mean())


def _contrast(one: np.ndarray, other: np.ndarray) -> float:
    """WCAG 2's ratio of relative luminances."""
    first, second = (
        float(np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4) @ [0.2126, 0.7152, 0.0722])
        for c in (one, other)
    )
    return (max(first, second) + 0.05) / (min(first, second) + 0.05)
