"""From cells to tables: averages and ranks, relative changes, and agreement with the paper's order."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from paper._cells import Cell
from paper._metrics import METRICS
from paper._paper import paper_figures

__all__ = [
    "COMPARED",
    "HEADLINE",
    "TABLE_METRICS",
    "Agreement",
    "Figures",
    "TableRow",
    "average_table",
    "counted_best",
    "figures_of",
    "order_agreement",
    "relative_improvement",
    "worse_than",
]

# The paper's "MCGrad" of its text, Table 2 and Figure 1 is the row with its default of 20.
HEADLINE = "MCGrad_msh_20"
COMPARED = (HEADLINE, "Isotonic", "DFMC", "HKRR", "base_model")
TABLE_METRICS = ("mce_unspecified", "log_loss", "prauc", "ecce_sigma")

# Task and method to metrics.
Figures = Mapping[tuple[str, str], Mapping[str, float]]


def figures_of(cells: Iterable[Cell]) -> dict[tuple[str, str], Mapping[str, float]]:
    """Cells as the paper's figures are kept."""
    return {(cell.key.task, cell.key.method): cell.metrics for cell in cells}


def tasks_with(figures: Figures, methods: Sequence[str]) -> list[str]:
    """The tasks on which all of these methods have figures."""
    tasks = dict.fromkeys(task for task, _ in figures)
    return [task for task in tasks if all((task, method) in figures for method in methods)]


@dataclass(frozen=True)
class TableRow:
    """A method's averages and average ranks over tasks, by metric.

    Attributes
    ----------
    method : str
        Its name.
    averages, ranks : mapping of str to float
        By metric. A method that is not one of the paper's five has the rank it would have in MCGrad's place.
    """

    method: str
    averages: Mapping[str, float]
    ranks: Mapping[str, float]


def average_table(figures: Figures, methods: Sequence[str], tasks: Sequence[str]) -> list[TableRow]:
    """The paper's Table 2 for any methods, over tasks on which they and the paper's five have figures."""
    rows = []
    for method in methods:
        rivals = [name for name in COMPARED if name not in (method, HEADLINE)]
        rivals += [HEADLINE] if method in COMPARED and method != HEADLINE else []
        averages, ranks = {}, {}
        for name in TABLE_METRICS:
            own = np.array([figures[task, method][name] for task in tasks])
            averages[name] = float(own.mean())
            sign = -1 if METRICS[name].higher_is_better else 1
            others = np.array([[figures[task, rival][name] for rival in rivals] for task in tasks])
            ranks[name] = float((1 + (sign * others < sign * own[:, None]).sum(axis=1)).mean())
        rows.append(TableRow(method, averages, ranks))
    return rows


def counted_best(figures: Figures, metric: str, tasks: Sequence[str], method: str = HEADLINE) -> list[str]:
    """The tasks on which a method is at least as good as each of the paper's five."""
    better = METRICS[metric].better
    rivals = [name for name in COMPARED if name not in (method, HEADLINE)]
    rivals += [HEADLINE] if method in COMPARED and method != HEADLINE else []
    return [
        task
        for task in tasks
        if not any(better(figures[task, rival][metric], figures[task, method][metric]) for rival in rivals)
    ]


def worse_than(figures: Figures, metric: str, method: str, other: str, tasks: Sequence[str]) -> list[str]:
    """The tasks on which a method is strictly worse than another."""
    better = METRICS[metric].better
    return [task for task in tasks if better(figures[task, other][metric], figures[task, method][metric])]


def relative_improvement(figures: Figures, metric: str, task: str, method: str, against: str) -> float:
    """By how many percent a method is better than another; below 0 it is worse."""
    own, other = figures[task, method][metric], figures[task, against][metric]
    change = 100 * (own - other) / other
    return change if METRICS[metric].higher_is_better else -change


@dataclass(frozen=True)
class Agreement:
    """How many pairs of methods stand in the paper's order, of how many."""

    same: int
    pairs: int

    @property
    def share(self) -> float:
        """The share of pairs in the paper's order."""
        return self.same / self.pairs if self.pairs else float("nan")


def order_agreement(figures: Figures, metric: str, tasks: Sequence[str]) -> Agreement:
    """How many pairs of the paper's five methods, on each task, stand in the paper's order; a tie does not."""
    paper, better = paper_figures(), METRICS[metric].better
    same = pairs = 0
    for task, (one, other) in itertools.product(tasks, itertools.combinations(COMPARED, 2)):
        theirs = paper[task, one][metric], paper[task, other][metric]
        ours = figures[task, one][metric], figures[task, other][metric]
        if theirs[0] == theirs[1]:
            continue
        pairs += 1
        same += better(*ours) if better(*theirs) else better(*ours[::-1])
    return Agreement(same, pairs)
