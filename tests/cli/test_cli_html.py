"""`--html` writes a page, whole or not at all, and says so."""

from __future__ import annotations

import html
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import trueup
from trueup.datasets import make_traffic


@pytest.fixture(scope="module")
def visits_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    visits = make_traffic(2_000)
    table = visits.X.select(["country", "device", "hour"])
    for name, column in (("y", visits.y), ("p", visits.scores), ("q", visits.true_probability)):
        table = table.append_column(name, [column])
    path = tmp_path_factory.mktemp("html") / "scored.parquet"
    pq.write_table(table, path)
    return path


Run = Callable[..., Any]
AUDIT = ("--label", "y", "--score", "p", "--max-depth", "1", "--null-samples", "20")
COMPARE = ("--label", "y", "--base", "p", "--candidate", "q", "--max-depth", "1", "--bootstrap", "50")


@pytest.mark.parametrize(
    ("command", "options", "title"),
    [
        ("audit", AUDIT, "Audit of scored.parquet: p against y"),
        ("compare", COMPARE, "Comparison on scored.parquet: p and q against y"),
    ],
)
def test_a_page_is_written_and_named(
    command: str, options: tuple[str, ...], title: str, visits_file: Path, run: Run, tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    drop = ("--drop", "q") if command == "audit" else ()
    outcome = run(command, visits_file, *options, *drop, "--html", page)
    assert (outcome.code, outcome.err) == (0, "")
    assert f"The report is {page}." in outcome.out.replace("\n", "")
    html = page.read_text("utf-8")
    assert html.startswith("<!doctype html>")
    assert title in html
    assert [one.name for one in tmp_path.iterdir()] == ["page.html"]
    outcome = run(command, visits_file, *options, *drop, "--json", "--html", page)
    assert outcome.json["html"] == str(page)


@pytest.mark.parametrize(("command", "options"), [("audit", AUDIT), ("compare", COMPARE)])
def test_a_place_that_can_t_hold_a_page_is_refused_before_the_work(
    command: str, options: tuple[str, ...], visits_file: Path, run: Run, tmp_path: Path
) -> None:
    before = visits_file.read_bytes()
    outcome = run(command, visits_file, *options, "--html", tmp_path / "nowhere" / "page.html")
    assert outcome.code == 3
    assert "there is no folder" in outcome.err
    outcome = run(command, visits_file, *options, "--html", visits_file)
    assert outcome.code == 2
    assert "another option names too" in outcome.err
    assert visits_file.read_bytes() == before
    outcome = run(command, visits_file, *options, "--html", tmp_path / "a.csv", "-o", tmp_path / "a.csv")
    assert outcome.code == 2
    assert not (tmp_path / "a.csv").exists()
    outcome = run(command, visits_file, *options, "--html", "-")
    assert outcome.code == 2
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("command", "options"), [("audit", AUDIT), ("compare", COMPARE)])
def test_the_last_line_of_a_report_has_the_command_as_a_shell_takes_it(
    command: str, options: tuple[str, ...], visits_file: Path, run: Run, tmp_path: Path
) -> None:
    page = tmp_path / "it's <b>.html"
    arguments = (command, str(visits_file), *options, "--html", str(page), "--quiet")
    assert run(*arguments).code == 0
    assert shlex.split(_command_in(page)) == ["trueup", *arguments]


def test_the_report_of_an_evaluation_has_the_command_too(visits_file: Path, run: Run, tmp_path: Path) -> None:
    options = ("--label", "y", "--score", "p", "--drop", "q", "--max-rounds", "1", "--quiet")
    arguments = ("evaluate", str(visits_file), *options, "-o", str(tmp_path / "out"))
    assert run(*arguments).code == 0
    assert shlex.split(_command_in(tmp_path / "out" / "report.html")) == ["trueup", *arguments]


def test_a_report_made_in_python_has_no_command_even_after_one_that_was_typed(
    visits_file: Path, run: Run, tmp_path: Path
) -> None:
    assert run("audit", str(visits_file), *AUDIT, "--html", str(tmp_path / "page.html"), "--quiet").code == 0
    page = trueup.audit(None, [0, 1] * 50, [0.4, 0.6] * 50).to_html()
    assert page is not None
    assert re.search(r"<footer><p>Made with trueup \S+ on [\d-]+\.</p></footer>", page)


def _command_in(page: Path) -> str:
    footer = re.search(r"<footer><p>Made with trueup \S+ on [\d-]+: (.*)</p></footer>", page.read_text("utf-8"))
    assert footer is not None
    return html.unescape(footer[1])
