"""Findings as text, for the templates: these decide on places, not on digits."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from paper._cells import Cell
from paper._comparison import HEADLINE, TABLE_METRICS
from paper._findings import AGREEMENT_METRICS, Findings
from paper._methods import METHODS
from paper._metrics import METRICS
from paper._paper import paper_figures
from paper._timing import TimingCell

__all__ = ["layout"]

CELL_METRICS = (
    "mce_unspecified",
    "mce_all",
    "mce_prespecified",
    "max_smece_prespecified",
    "log_loss",
    "prauc",
    "ecce_sigma",
    "ece",
)


def layout(findings: Findings, told: str) -> dict[str, Any]:
    """What the templates print."""
    return {
        "told": told,
        "headline": HEADLINE,
        "verdicts": findings.verdicts,
        "held": sum(verdict.holds is True for verdict in findings.verdicts),
        "judged": sum(verdict.holds is not None for verdict in findings.verdicts),
        "agreement_labels": [METRICS[name].label for name in AGREEMENT_METRICS],
        "agreement": {
            kind: [
                f"{100 * row[name].share:.0f} % of {row[name].pairs}" if row[name].pairs else "–"
                for name in AGREEMENT_METRICS
            ]
            for kind, row in findings.agreement.items()
        },
        "table_labels": [METRICS[name].label for name in TABLE_METRICS],
        "table": _table(findings),
        "compared_tasks": findings.compared_tasks,
        "checks": _checks(findings),
        "checks_within": sum(all(check.within.values()) for check in findings.checks),
        "cell_labels": [METRICS[name].label for name in CELL_METRICS],
        "tasks": _tasks(findings),
        "methods": [(name, method.told, method.in_paper) for name, method in METHODS.items()],
        "failures": [(task, method, why) for (task, method), why in findings.failures.items()],
        "timing": [
            (cell.method, f"{cell.n_groups:,}", f"{cell.fit_microseconds:.2f}", f"{cell.predict_microseconds:.2f}")
            for cell in findings.timing
        ],
        "timing_told": _timing_told(findings.timing),
        "notes": _notes(findings.cells),
    }


def _timing_told(timing: Sequence[TimingCell]) -> str:
    if not timing:
        return ""
    cell = timing[0]
    return f"{cell.train_rows:,} rows of {cell.task} to fit, {cell.test_rows:,} to predict, one thread"


def _table(findings: Findings) -> list[dict[str, Any]]:
    theirs = {row.method: row for row in findings.paper_table}
    best = {
        name: min(
            (row.averages[name] for row in findings.table),
            key=lambda value: -value if METRICS[name].higher_is_better else value,
            default=math.nan,
        )
        for name in TABLE_METRICS
    }
    rows = []
    for row in findings.table:
        cells = []
        for name in TABLE_METRICS:
            paper = theirs.get(row.method)
            cells.append(
                {
                    "average": METRICS[name].shown(row.averages[name]),
                    "rank": f"{row.ranks[name]:.2f}",
                    "paper_average": METRICS[name].shown(paper.averages[name]) if paper else "–",
                    "paper_rank": f"{paper.ranks[name]:.2f}" if paper else "–",
                    "best": row.averages[name] == best[name],
                }
            )
        rows.append({"method": row.method, "cells": cells})
    return rows


def _checks(findings: Findings) -> list[dict[str, Any]]:
    shown = {"log_loss": "{:+.4f}", "prauc": "{:+.4f}", "mce_unspecified": "{:+.1%}"}
    return [
        {
            "task": check.task,
            "method": check.method,
            "differences": [
                (shown[name].format(value), check.within[name]) for name, value in check.differences.items()
            ],
        }
        for check in findings.checks
    ]


def _tasks(findings: Findings) -> list[dict[str, Any]]:
    paper, tasks = paper_figures(), []
    for task in dict.fromkeys(cell.key.task for cell in findings.cells):
        cells = [cell for cell in findings.cells if cell.key.task == task]
        rows = [
            {
                "method": cell.key.method,
                "figures": [
                    _beside(name, cell.metrics[name], paper.get((task, cell.key.method), {})) for name in CELL_METRICS
                ],
                "rounds": "–" if cell.rounds is None else str(cell.rounds),
                "fit": _seconds(cell.fit_seconds),
                "predict": _seconds(cell.predict_seconds),
                "chosen": ", ".join(f"{name} {value:g}" for name, value in cell.chosen.items()),
            }
            for cell in cells
        ]
        first = cells[0]
        tasks.append(
            {"name": task, "origin": first.origin, "source": first.source, "n_rows": f"{first.rows:,}", "lines": rows}
        )
    return tasks


def _line(cell: Cell, theirs: Mapping[str, float]) -> dict[str, Any]:
    return {
        "method": cell.key.method,
        "figures": [_beside(name, cell.metrics[name], theirs) for name in CELL_METRICS],
        "rounds": "–" if cell.rounds is None else str(cell.rounds),
        "fit": _seconds(cell.fit_seconds),
        "predict": _seconds(cell.predict_seconds),
        "chosen": ", ".join(f"{name} {value:g}" for name, value in cell.chosen.items()),
    }


def _beside(name: str, value: float, theirs: Mapping[str, float]) -> dict[str, str]:
    metric = METRICS[name]
    if name not in theirs:
        return {"ours": metric.shown(value), "paper": "", "difference": ""}
    return {
        "ours": metric.shown(value),
        "paper": metric.shown(theirs[name]),
        "difference": f"{value - theirs[name]:+.{metric.digits}f}".replace("-", "−"),
    }


def _seconds(value: float) -> str:
    return "–" if value == 0 else f"{value:.2f}" if value < 10 else f"{value:.0f}"


def _notes(cells: Sequence[Cell]) -> list[tuple[str, str, str]]:
    return [(cell.key.task, cell.key.method, note) for cell in cells for note in cell.notes]
