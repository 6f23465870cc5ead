"""The page: findings as HTML, as Markdown and as a tidy table."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from paper._comparison import HEADLINE, figures_of, tasks_with
from paper._figures import draw_ablations, draw_errors, draw_timing
from paper._findings import Findings, tidy_rows
from paper._layout import layout
from paper._paper import paper_figures
from trueup._runtime import atomic_path
from trueup.errors import DataFileError

__all__ = ["FILES", "write_page"]

FILES = ("paper.html", "paper.md", "paper.csv")


def write_page(findings: Findings, out: Path, *, told: str) -> list[Path]:
    """Write the page as HTML and Markdown, and the tidy table; gives their paths.

    Parameters
    ----------
    findings : Findings
        What the page says.
    out : Path
        The folder.
    told : str
        On what it was run, in words.

    Returns
    -------
    list of Path
        The files.
    """
    values = layout(findings, told)
    contents = {
        "paper.html": _render("paper.html.j2", {**values, **_drawn(findings)}, escaped=True),
        "paper.md": _render("paper.md.j2", values, escaped=False),
        "paper.csv": _csv(tidy_rows(findings)),
    }
    out.mkdir(parents=True, exist_ok=True)
    for name, content in contents.items():
        with atomic_path(out / name) as temporary:
            temporary.write_text(content, "utf-8")
    return [out / name for name in FILES]


def _render(template: str, values: Mapping[str, Any], *, escaped: bool) -> str:
    try:
        import jinja2
    except ImportError:
        raise DataFileError("The page needs matplotlib and jinja2: pip install matplotlib jinja2.") from None
    text = resources.files("paper").joinpath("templates", template).read_text("utf-8")
    environment = jinja2.Environment(
        autoescape=escaped, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    return environment.from_string(text).render(values)


def _csv(rows: Sequence[Mapping[str, Any]]) -> str:
    buffer = io.StringIO()
    names = ["task", "method", "metric", "value", "paper_value", "data", "rows"]
    writer = csv.DictWriter(buffer, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return buffer.getvalue()


def _drawn(findings: Findings) -> dict[str, Any]:
    import markupsafe

    figures, paper = figures_of(findings.cells), paper_figures()
    ablated = tasks_with(figures, ("MCGrad", "MCGrad_one_round", "MCGrad_no_unshrink", HEADLINE))
    tasks = list(dict.fromkeys(cell.key.task for cell in findings.cells))
    drawings = {
        "errors_svg": draw_errors(figures, paper, tasks) if tasks else "",
        "ablations_svg": draw_ablations(figures, ablated) if ablated else "",
        "timing_svg": draw_timing(findings.timing) if findings.timing else "",
    }
    return {name: markupsafe.Markup(svg) for name, svg in drawings.items()}
