"""`trueup bench paper`: cells, then timings, then the page."""

from __future__ import annotations

import contextlib
import os
import platform
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trueup.cli._errors import ExitCode, StoppedLate
from trueup.cli._printing import facts, screen, shown
from trueup.errors import ParameterError

if TYPE_CHECKING:
    from trueup.replication import Plan, TimingPlan

__all__ = ["BenchRequest", "bench_paper"]

_QUICK_ROWS = 20_000
_TIMED_ROWS = 60_000, 20_000
_QUICK_TIMED_ROWS = 6_000, 2_000
_QUICK_TIMED_GROUPS = (10, 100)
_PREFERRED_FOR_TIMING = "ACSEmploy"  # the paper's


@dataclass(frozen=True)
class BenchRequest:
    """The options of `trueup bench paper`."""

    out: Path
    data: Path | None
    tasks: tuple[str, ...]
    methods: tuple[str, ...]
    max_rows: int | None
    jobs: int | None
    timing: bool
    quick: bool
    quiet: bool


def bench_paper(request: BenchRequest) -> int:
    """Run what is not finished, write the page, and say what it says."""
    from trueup.replication import find, finished_cells, read_timing, run_cells, run_timing, write_page

    plan, timing_plan = _plans(request)
    try:
        with _progress("cells", request.quiet) as report:
            run_cells(plan, report)
        if timing_plan is not None:
            with _progress("timings", request.quiet) as report:
                run_timing(timing_plan, plan.out, report)
    except KeyboardInterrupt:
        print(f"Finished cells are kept in {plan.out}: the same command goes on from there.", file=sys.stderr)
        raise StoppedLate from None
    cells, failures = finished_cells(plan)
    timing = [] if timing_plan is None else read_timing(timing_plan, plan.out)
    findings = find(cells, failures, timing)
    page, *_ = write_page(findings, plan.out, told=_told(plan))
    if not request.quiet:
        _print_summary(findings, page)
    return ExitCode.DATA if failures else ExitCode.FINE


def _plans(request: BenchRequest) -> tuple[Plan, TimingPlan | None]:
    from trueup.datasets import TASKS
    from trueup.replication import METHODS, Plan, TimingPlan

    tasks = _known("task", request.tasks, (*TASKS, "Simulated")) or TASKS
    methods = _known("method", request.methods, tuple(METHODS)) or tuple(METHODS)
    max_rows = request.max_rows
    if request.quick:
        max_rows = _QUICK_ROWS if max_rows is None else min(max_rows, _QUICK_ROWS)
    plan = Plan(request.out, tasks, methods, request.data, max_rows, request.jobs or _cores())
    if not request.timing:
        return plan, None
    # The other tasks may have fewer rows than are timed; simulated ones are as many as are wanted.
    timed = _PREFERRED_FOR_TIMING if _PREFERRED_FOR_TIMING in tasks else "Simulated"
    if request.quick:
        return plan, TimingPlan(timed, request.data, *_QUICK_TIMED_ROWS, n_groups=_QUICK_TIMED_GROUPS)
    return plan, TimingPlan(timed, request.data, *_TIMED_ROWS)


def _known(what: str, names: Sequence[str], choices: tuple[str, ...]) -> tuple[str, ...]:
    for name in names:
        if name not in choices:
            raise ParameterError(f"There is no {what} {name!r}. Choose from {', '.join(choices)}.")
    return tuple(dict.fromkeys(names))


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextlib.contextmanager
def _progress(what: str, quiet: bool) -> Iterator[Callable[[int, int], None]]:
    """A bar on a terminal, and nothing elsewhere."""
    if quiet or not sys.stderr.isatty():
        yield lambda done, total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        bar = bars.add_task(what, total=None)
        yield lambda done, total: bars.update(bar, completed=done, total=total)


def _told(plan: Plan) -> str:
    """On what it was run."""
    import lightgbm
    import sklearn

    import trueup

    limit = "all rows of each task" if plan.max_rows is None else f"at most {plan.max_rows:,} rows of a task"
    return (
        f"trueup {trueup.__version__}, LightGBM {lightgbm.__version__}, scikit-learn {sklearn.__version__}, Python "
        f"{platform.python_version()}; {limit}, {plan.jobs} {'task' if plan.jobs == 1 else 'tasks'} at a time"
    )


def _print_summary(findings: Any, page: Path) -> None:
    console = screen()
    judged = [verdict for verdict in findings.verdicts if verdict.holds is not None]
    held = sum(verdict.holds for verdict in judged)
    console.print(f"{held} of {len(judged)} of the paper's claims hold here", style="bold")
    for verdict in findings.verdicts:
        answer = "" if verdict.holds is None else "holds: " if verdict.holds else "does not hold: "
        console.print(f"  {answer}{verdict.claim}", style=None if verdict.holds is not False else "yellow")
        console.print(facts([("  paper", verdict.paper), ("  here", verdict.ours)]))
    if findings.checks:
        within = sum(all(check.within.values()) for check in findings.checks)
        console.print(f"On the paper's own rows, {within} of {len(findings.checks)} cells are within all tolerances.")
    for (task, method), why in findings.failures.items():
        console.print(f"failed: {task}, {method}: {shown(why)}", style="red")
    console.print(f"The page: {shown(page)}", soft_wrap=True)
