"""The page as a file."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from small_pages import HOSTILE, plain_words, whole_page
from trueup._report import (
    MOST_CURVES,
    MOST_SEGMENTS,
    Form,
    Headline,
    Page,
    PageColumn,
    made_with,
    render_summary,
)
from trueup._report._render import render_page, vega_bundle, write_page


class Elements(HTMLParser):
    """The elements of a page, with their attributes, and the texts of its scripts."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self._in_script = False
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        self._in_script = tag == "script"
        if self._in_script:
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:
        if tag == "script":
            self._in_script = False

    def handle_data(self, data: str) -> None:
        if self._in_script:
            self.scripts[-1] += data

    def attributes(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.found if name == tag]


@pytest.fixture(scope="module")
def html() -> str:
    return render_page(whole_page(plain_words(30)))


def test_the_policy_names_the_page_s_own_scripts_and_nothing_else(html: str) -> None:
    elements = Elements(html)
    (policy,) = (
        meta["content"] for meta in elements.attributes("meta") if meta.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy is not None
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    data, *scripts = elements.scripts
    json.loads(data)
    hashes = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]
    assert rules["default-src"] == "'none'"
    assert rules["script-src"].split() == [f"'sha256-{one}'" for one in hashes]
    assert "connect-src" not in rules  # so that the default holds
    assert "unsafe" not in rules["script-src"]


def test_nothing_is_asked_for_from_elsewhere(html: str) -> None:
    elements = Elements(html)
    named = [value for _, attributes in elements.found for name in ("src", "srcset") if (value := attributes.get(name))]
    assert named == []
    assert not elements.attributes("link")
    assert {attributes.get("href", "#")[:1] for attributes in elements.attributes("a")} <= {"#"}
    style = html[html.index("<style>") : html.index("</style>")]
    assert "@import" not in style
    assert "url(" not in style


def test_hostile_texts_make_no_element_and_no_attribute() -> None:
    hostile = Elements(render_page(whole_page(HOSTILE, title=HOSTILE[0], names=HOSTILE[1:3])))
    plain = Elements(render_page(whole_page(plain_words(len(HOSTILE)), title="t", names=("a", "b"))))
    assert [tag for tag, _ in hostile.found] == [tag for tag, _ in plain.found]
    assert not any(name.startswith("on") for _, attributes in hostile.found for name in attributes)
    assert hostile.scripts[1:] == plain.scripts[1:]  # and the scripts don't depend on what the page says


def test_sections_without_values_are_left_out() -> None:
    html = render_page(Page("Title", Headline("Fine", "good", "All is well.")))
    elements = Elements(html)
    assert "table" not in [tag for tag, _ in elements.found]
    assert "What the model learned" not in html
    assert "diagnosis" not in re.sub(r"<script.*?</script>", "", html, flags=re.DOTALL)


def test_a_diagnosis_that_found_nothing_says_so() -> None:
    assert "Nothing that should worry you" in render_page(Page("T", Headline("F", "good", "s"), findings=()))


def test_tables_have_headings_for_columns_and_rows(html: str) -> None:
    elements = Elements(html)
    scopes = {attributes.get("scope") for attributes in elements.attributes("th")}
    assert scopes == {"col", "row"}
    assert elements.attributes("html") == [{"lang": "en"}]
    labelled = [one["aria-labelledby"] for one in elements.attributes("section") if "aria-labelledby" in one]
    ids = [attributes["id"] for _, attributes in elements.found if "id" in attributes]
    assert set(labelled) <= set(ids)
    assert len(ids) == len(set(ids))


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "page.html"
    path.write_text("what was there")
    with monkeypatch.context() as patch:
        patch.setattr("trueup._report._render.vega_bundle", lambda: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            write_page(whole_page(plain_words(3)), path)
    assert path.read_text() == "what was there"
    write_page(whole_page(plain_words(3)), path)
    assert path.read_text("utf-8") == render_page(whole_page(plain_words(3)))
    assert [one.name for one in tmp_path.iterdir()] == ["page.html"]


def test_as_many_segments_and_curves_as_a_page_may_have_stay_below_five_megabytes() -> None:
    rng = np.random.default_rng(0)
    n = MOST_SEGMENTS
    words = [
        " and ".join(
            f"column_{c} = value_{v}" for c, v in zip(rng.integers(0, 20, 3), rng.integers(0, 4, 3), strict=True)
        )
        for _ in range(n)
    ]
    shares = [rng.random(n) for _ in range(5)]
    page = whole_page(plain_words(3))
    table = replace(
        page.segments[0],
        words=tuple(words),
        columns=(
            PageColumn("Rows", rng.integers(10, 1_000_000, n), Form.COUNT),
            *(
                PageColumn(f"Share {i}", share, Form.PERCENT, low=share, high=share)
                for i, share in enumerate(shares[:2])
            ),
            PageColumn("ECCE", 30 * shares[2], Form.SIGMAS),
            PageColumn("p", np.minimum(1, rng.integers(1, 300, n) / 201), Form.P_VALUE, least=1 / 201),
        ),
        choice=replace(page.segments[0].choice, codes=rng.integers(0, 2, n)),
        significant=shares[3] < 0.1,
        repeats=rng.integers(-1, 20, n),
        curves={place: page.segments[0].curves[place % 3] for place in range(MOST_CURVES)},
    )
    assert len(render_page(replace(page, segments=(table,))).encode("utf-8")) < 5_000_000


def test_a_summary_for_notebooks_has_the_verdict_and_no_script() -> None:
    summary = render_summary(whole_page(HOSTILE, names=HOSTILE[1:3]))
    tags = {tag for tag, _ in Elements(summary).found}
    assert not tags & {"script", "style", "img", "html", "body"}
    assert "Ship" in summary
    assert "0.2900" in summary
    assert "−0.0100" in summary
    assert len(summary) < 20_000


def test_the_bundle_is_made_once_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import vl_convert

    made = []
    monkeypatch.setattr(vl_convert, "javascript_bundle", lambda snippet: made.append(snippet) or "a </script> b")
    monkeypatch.setenv("TRUEUP_CACHE", str(tmp_path / "cache"))
    for _ in range(2):
        vega_bundle.cache_clear()
        assert vega_bundle() == "a <\\/script> b"
    assert len(made) == 1
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TRUEUP_CACHE", str(tmp_path / "file"))  # no folder can be made there
    vega_bundle.cache_clear()
    assert vega_bundle() == "a <\\/script> b"
    assert len(made) == 2
    vega_bundle.cache_clear()


def test_the_last_line_says_when_the_page_was_made() -> None:
    assert re.fullmatch(r"Made with trueup \S+ on \d{4}-\d\d-\d\d\.", made_with())
