"""The paper's claims, put to our figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from paper._comparison import (
    COMPARED,
    HEADLINE,
    Figures,
    average_table,
    counted_best,
    relative_improvement,
    tasks_with,
    worse_than,
)
from paper._metrics import METRICS
from paper._paper import paper_figures
from paper._timing import TimingCell

__all__ = ["CHECKED_TASKS", "CheckedCell", "Verdict", "check_cells", "judge"]

CHECKED_TASKS = ("Marketing", "Credit")
LOG_LOSS_TOLERANCE, PRAUC_TOLERANCE, MCE_TOLERANCE = 0.002, 0.012, 0.20


@dataclass(frozen=True)
class Verdict:
    """A claim, what the paper's figures say on the tasks at hand, what ours say, and whether it holds.

    Attributes
    ----------
    claim, paper, ours : str
        In words.
    holds : bool or None
        None where the claim is not the paper's.
    """

    claim: str
    paper: str
    ours: str
    holds: bool | None


@dataclass(frozen=True)
class CheckedCell:
    """A cell on the paper's own rows, against tolerances.

    Attributes
    ----------
    task, method : str
        Their names.
    differences : mapping of str to float
        By metric: ours minus the paper's; of the MCE, relative to the paper's.
    within : mapping of str to bool
        Which of them are within tolerance.
    """

    task: str
    method: str
    differences: Mapping[str, float]
    within: Mapping[str, bool]


def judge(figures: Figures, timing: Sequence[TimingCell]) -> list[Verdict]:
    """All verdicts that the figures at hand allow."""
    paper = paper_figures()
    verdicts: list[Verdict] = []
    tasks = [task for task in tasks_with(figures, COMPARED) if (task, HEADLINE) in paper]
    if tasks:
        verdicts += [
            _lowest_error(figures, "mce_unspecified", "unspecified", tasks),
            _lowest_error(figures, "mce_prespecified", "prespecified", tasks),
            *_averages(figures, tasks),
            _never_harms(figures, tasks),
        ]
    verdicts += _ablations(figures)
    verdicts += _timing(timing)
    verdicts += _defaults(figures)
    return verdicts


def _of(found: Sequence[str], tasks: Sequence[str]) -> str:
    return f"{len(found)} of {len(tasks)} tasks"


def _listed(found: Sequence[str]) -> str:
    return ", ".join(found) if found else "none"


def _not_on(found: Sequence[str], tasks: Sequence[str]) -> str:
    rest = [task for task in tasks if task not in found]
    return f"; not on {', '.join(rest)}" if rest else ""


def _lowest_error(figures: Figures, metric: str, groups: str, tasks: Sequence[str]) -> Verdict:
    theirs, ours = counted_best(paper_figures(), metric, tasks), counted_best(figures, metric, tasks)
    return Verdict(
        f"MCGrad has the lowest MCE over {groups} groups, on as many tasks as in the paper",
        f"{_of(theirs, tasks)}{_not_on(theirs, tasks)}",
        f"{_of(ours, tasks)}{_not_on(ours, tasks)}",
        len(ours) >= len(theirs),
    )


def _averages(figures: Figures, tasks: Sequence[str]) -> list[Verdict]:
    verdicts = []
    theirs, ours = (average_table(each, COMPARED, tasks) for each in (paper_figures(), figures))
    for name in ("mce_unspecified", "log_loss", "prauc", "ecce_sigma"):
        metric = METRICS[name]
        orders = []
        for table in (theirs, ours):
            ordered = sorted(table, key=lambda row: row.averages[name], reverse=metric.higher_is_better)
            orders.append([row.method for row in ordered])
        claim = f"Best on average in {metric.label}: {orders[0][0]}"
        verdicts.append(Verdict(claim, ", ".join(orders[0]), ", ".join(orders[1]), orders[0][0] == orders[1][0]))
    return verdicts


def _never_harms(figures: Figures, tasks: Sequence[str]) -> Verdict:
    told, none_worse = [], True
    for each in (paper_figures(), figures):
        worse = {name: worse_than(each, name, HEADLINE, "base_model", tasks) for name in ("log_loss", "prauc")}
        none_worse = not any(worse.values())
        told.append(
            "; ".join(
                f"{METRICS[name].label} worse on {', '.join(found) if found else 'none'}"
                for name, found in worse.items()
            )
        )
    return Verdict("MCGrad never harms log loss or PRAUC of the base model", told[0], told[1], none_worse)


def _ablations(figures: Figures) -> list[Verdict]:
    verdicts = []
    paper = paper_figures()
    tasks = [task for task in tasks_with(figures, ("MCGrad", "MCGrad_one_round")) if (task, "MCGrad") in paper]
    if tasks:
        told = [worse_than(each, "mce_unspecified", "MCGrad_one_round", "MCGrad", tasks) for each in (paper, figures)]
        verdicts.append(
            Verdict(
                "One round alone has a higher MCE than MCGrad",
                _of(told[0], tasks),
                f"{_of(told[1], tasks)}{_not_on(told[1], tasks)}",
                len(told[1]) > len(tasks) / 2,
            )
        )
    for variant, against, claim in (
        ("MCGrad_no_unshrink", "MCGrad", "Without rescaling, the MCE changes little (median)"),
        (HEADLINE, "MCGrad", "Evidence of 20 in a leaf changes the MCE little (median)"),
    ):
        tasks = [task for task in tasks_with(figures, (variant, against)) if (task, variant) in paper]
        if tasks:
            medians = [
                float(
                    np.median([relative_improvement(each, "mce_unspecified", task, variant, against) for task in tasks])
                )
                for each in (paper, figures)
            ]
            words = [f"{abs(median):.0f} % {'better' if median > 0 else 'worse'}" for median in medians]
            verdicts.append(Verdict(claim, words[0], words[1], abs(medians[1]) < 15))
    return verdicts


def _timing(timing: Sequence[TimingCell]) -> list[Verdict]:
    growth: dict[str, float] = {}
    for method in dict.fromkeys(cell.method for cell in timing):
        own = sorted((cell for cell in timing if cell.method == method), key=lambda cell: cell.n_groups)
        if len(own) > 1 and own[0].predict_microseconds > 0:
            growth[method] = own[-1].predict_microseconds / own[0].predict_microseconds
    if "MCGrad" not in growth or len(growth) < 2:
        return []
    most = max(cell.n_groups for cell in timing)
    told = ", ".join(f"{method} ×{factor:.1f}" for method, factor in growth.items())
    others = [factor for method, factor in growth.items() if method != "MCGrad"]
    return [
        Verdict(
            "Time to predict grows with the number of groups for HKRR and DFMC, and not for MCGrad",
            "from 10 to 1,000 groups MCGrad stays at about 20 µs a row; HKRR reaches 5,019 µs, DFMC 1,292 µs",
            f"from {min(cell.n_groups for cell in timing)} to {most:,} groups: {told}",
            growth["MCGrad"] < 2 and min(others) > growth["MCGrad"],
        )
    ]


def _defaults(figures: Figures) -> list[Verdict]:
    tasks = tasks_with(figures, ("trueup", HEADLINE))
    if not tasks:
        return []
    told = []
    for name in ("log_loss", "mce_unspecified", "mce_prespecified"):
        better = [
            task for task in tasks if METRICS[name].better(figures[task, "trueup"][name], figures[task, HEADLINE][name])
        ]
        told.append(f"{METRICS[name].label} better on {_of(better, tasks)}")
    return [Verdict("This package's defaults against the paper's MCGrad", "–", "; ".join(told), None)]


def check_cells(figures: Figures) -> list[CheckedCell]:
    """Cells on the paper's own rows against the paper's figures."""
    paper, checked = paper_figures(), []
    for (task, method), own in figures.items():
        if task not in CHECKED_TASKS or (task, method) not in paper:
            continue
        theirs = paper[task, method]
        differences = {name: own[name] - theirs[name] for name in ("log_loss", "prauc")}
        differences["mce_unspecified"] = own["mce_unspecified"] / theirs["mce_unspecified"] - 1
        tolerances = {
            "log_loss": LOG_LOSS_TOLERANCE,
            "prauc": PRAUC_TOLERANCE,
            "mce_unspecified": MCE_TOLERANCE,
        }
        within = {name: abs(value) <= tolerances[name] for name, value in differences.items()}
        checked.append(CheckedCell(task, method, differences, within))
    return checked
