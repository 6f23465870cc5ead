"""All that the page says, computed from cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from paper._cells import Cell
from paper._comparison import (
    COMPARED,
    HEADLINE,
    Agreement,
    TableRow,
    average_table,
    figures_of,
    order_agreement,
    tasks_with,
)
from paper._methods import METHODS
from paper._paper import paper_figures
from paper._timing import TimingCell
from paper._verdicts import CheckedCell, Verdict, check_cells, judge

__all__ = ["AGREEMENT_METRICS", "Findings", "find", "tidy_rows"]

AGREEMENT_METRICS = ("mce_unspecified", "mce_prespecified", "log_loss", "prauc", "ecce_sigma")


@dataclass(frozen=True)
class Findings:
    """All that the page says.

    Attributes
    ----------
    cells : tuple of Cell
        The finished cells.
    failures : mapping of (task, method) to str
        Why cells failed.
    timing : tuple of TimingCell
        The timings.
    verdicts : tuple of Verdict
        The paper's claims, judged.
    checks : tuple of CheckedCell
        Cells on the paper's own rows against tolerances.
    agreement : mapping
        By kind of data and metric, how many pairs of methods stand in the paper's order.
    table, paper_table : tuple of TableRow
        The paper's Table 2 from our cells and from its own figures, over the same tasks.
    compared_tasks : tuple of str
        Those tasks.
    """

    cells: tuple[Cell, ...]
    failures: Mapping[tuple[str, str], str]
    timing: tuple[TimingCell, ...]
    verdicts: tuple[Verdict, ...]
    checks: tuple[CheckedCell, ...]
    agreement: Mapping[str, Mapping[str, Agreement]]
    table: tuple[TableRow, ...]
    paper_table: tuple[TableRow, ...]
    compared_tasks: tuple[str, ...]


def find(cells: Sequence[Cell], failures: Mapping[tuple[str, str], str], timing: Sequence[TimingCell]) -> Findings:
    """Compute all that the page says."""
    figures, paper = figures_of(cells), paper_figures()
    compared = [task for task in tasks_with(figures, COMPARED) if (task, HEADLINE) in paper]
    everywhere = [name for name in METHODS if all((task, name) in figures for task in compared)]
    origins = {cell.key.task: cell.origin for cell in cells}
    kinds = {"all": compared}
    for origin in dict.fromkeys(origins[task] for task in compared):
        kinds[origin] = [task for task in compared if origins[task] == origin]
    return Findings(
        cells=tuple(cells),
        failures=dict(failures),
        timing=tuple(timing),
        verdicts=tuple(judge(figures, timing)),
        checks=tuple(check_cells({(c.key.task, c.key.method): c.metrics for c in cells if c.origin == "same data"})),
        agreement={
            kind: {name: order_agreement(figures, name, tasks) for name in AGREEMENT_METRICS}
            for kind, tasks in kinds.items()
            if tasks
        },
        table=tuple(average_table(figures, everywhere, compared)) if compared else (),
        paper_table=tuple(average_table(paper, [name for name in everywhere if METHODS[name].in_paper], compared))
        if compared
        else (),
        compared_tasks=tuple(compared),
    )


def tidy_rows(findings: Findings) -> list[dict[str, Any]]:
    """One row a task, method and metric, with the paper's value beside ours."""
    paper, rows = paper_figures(), []
    for cell in findings.cells:
        task, method = cell.key.task, cell.key.method
        extra = {"rounds": cell.rounds, "fit_seconds": cell.fit_seconds, "predict_seconds": cell.predict_seconds}
        for metric, value in {**cell.metrics, **extra}.items():
            if value is not None:
                theirs = paper.get((task, method), {}).get(metric)
                rows.append(
                    {
                        "task": task,
                        "method": method,
                        "metric": metric,
                        "value": value,
                        "paper_value": theirs,
                        "data": cell.origin,
                        "rows": cell.rows,
                    }
                )
    return rows
