"""docs/architecture.md shows the house and the walks through it as they are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from walks import walks

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "architecture.md"
MOST_BORDERS = {"trueup fit": 12, "trueup.audit(...).to_html()": 10}


@pytest.fixture(scope="module")
def page() -> str:
    if not PAGE.exists():
        pytest.skip("only a source tree has the page")
    return PAGE.read_text("utf-8")


def test_the_walks_cross_no_more_borders_than_they_should_and_the_page_shows_each(page: str, tmp_path: Path) -> None:
    found = walks(tmp_path)
    assert list(found) == list(MOST_BORDERS)
    for name, walk in found.items():
        assert len(walk.borders) <= MOST_BORDERS[name], walk.borders
        section = page.split(f"`{name}`", 1)[1].split("\n## ", maxsplit=1)[0]
        shown = re.findall(r"^\d+\. `(\w+)` → `(\w+)`", section, re.M)
        assert shown == list(walk.borders), f"docs/architecture.md, {name}: run benchmarks/walks.py"


def test_the_house_has_the_layers_that_the_contract_has(page: str) -> None:
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    layers = re.findall(r'"(.*?)"', text.split("\nlayers = [", 1)[1].split("]")[0])
    shown = re.findall(r'^  \w+\["(.*?)"\]', page, re.M)
    assert shown == [layer.replace(" | ", " · ") for layer in layers]
