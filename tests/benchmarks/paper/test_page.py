"""The page says what was found, stands alone, and can be read by people and programs."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest

from bench_cells import GROWING, make_cell
from paper import find, write_page
from paper._cells import Cell

pytest.importorskip("jinja2")
pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from paper._paper import paper_figures

    cells = [make_cell(task, method, **metrics) for (task, method), metrics in paper_figures().items()]
    cells.append(make_cell("Credit", "trueup", log_loss=0.4321))
    failures = {("MEPS", "LSBoost"): "ValueError: <script>alert(1)</script>"}
    out = tmp_path_factory.mktemp("page")
    write_page(find(cells, failures, GROWING), out, told="a test & nothing else")
    return out


class Reader(HTMLParser):
    """Tags that must be closed, and everything that a page would fetch."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.fetched: list[str] = []
        self.ids: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.fetched += [str(values[name]) for name in ("src", "data") if name in values]
        self.ids += [str(values["id"])] if "id" in values else []
        if tag in ("link", "script", "img", "iframe"):
            self.fetched.append(tag)
        if tag in ("table", "tr", "details", "figure", "svg", "ul", "li", "p"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in ("table", "tr", "details", "figure", "svg", "ul", "li", "p"):
            assert self.open.pop() == tag


def test_the_page_is_whole_and_fetches_nothing(written: Path) -> None:
    reader = Reader()
    reader.feed((written / "paper.html").read_text("utf-8"))
    assert reader.open == []
    assert reader.fetched == []


def test_the_verdicts_come_first(written: Path) -> None:
    page = (written / "paper.html").read_text("utf-8")
    assert "11 of 11 claims hold here" in page
    assert page.index("claims hold here") < page.index("<table>") < page.index("Cell by cell")


def test_names_and_reasons_can_t_become_markup(written: Path) -> None:
    page = (written / "paper.html").read_text("utf-8")
    assert "<script>" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert "a test &amp; nothing else" in page


def test_the_figures_take_the_page_s_ink(written: Path) -> None:
    page = (written / "paper.html").read_text("utf-8")
    drawings = re.findall(r"<svg.*?</svg>", page, re.DOTALL)
    assert len(drawings) == 3
    assert all("#000000" not in drawing and "currentColor" in drawing for drawing in drawings)


def test_each_kind_of_data_is_marked(tmp_path: Path) -> None:
    cells = [make_cell("ACSTravel", "base_model", "substitute"), make_cell("MEPS", "base_model", "subset")]
    write_page(find(cells, {}, []), tmp_path, told="a test")
    page = (tmp_path / "paper.html").read_text("utf-8")
    assert '<span class="kind">substitute</span>' in page
    assert '<span class="kind">subset</span>' in page
    assert "No claim can be judged yet" in page


def test_markdown_tables_are_whole(written: Path) -> None:
    lines = (written / "paper.md").read_text("utf-8").splitlines()
    tables: list[list[str]] = [[]]
    for line in lines:
        if line.startswith("|"):
            tables[-1].append(line)
        elif tables[-1]:
            tables.append([])
    tables = [table for table in tables if table]
    assert len(tables) == 5 + 11  # verdicts, order, checks, averages, times, and one a task
    for table in tables:
        assert len({line.count("|") for line in table}) == 1, table[0]
        assert set(table[1]) <= set("|-")
        assert len(table) > 2


def test_the_tidy_table_has_the_paper_s_value_beside_ours(written: Path) -> None:
    with open(written / "paper.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["task", "method", "metric", "value", "paper_value", "data", "rows"]
    (row,) = [r for r in rows if (r["task"], r["method"], r["metric"]) == ("Marketing", "base_model", "log_loss")]
    assert (row["value"], row["paper_value"], row["data"]) == ("0.2433", "0.2433", "same data")
    (own,) = [r for r in rows if (r["task"], r["method"], r["metric"]) == ("Credit", "trueup", "log_loss")]
    assert (own["value"], own["paper_value"]) == ("0.4321", "")


def test_checks_are_of_the_same_data_alone(cells_of_the_paper: Callable[..., list[Cell]]) -> None:
    assert len(find(cells_of_the_paper(), {}, []).checks) == 2 * 9
    limited = [make_cell("Credit", "base_model", "subset")]
    assert find(limited, {}, []).checks == ()
