"""`make paper`: run the cells and timings that are missing, then write the page that compares them with the paper."""

from __future__ import annotations

import argparse
import contextlib
import os
import platform
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import paper
from paper import METHODS, Plan, TimingPlan
from paper._findings import Findings
from paper.tasks import TASKS
from trueup.errors import TrueupError

__all__ = ["main"]

_MOST_ROWS = 400_000
_QUICK_ROWS = 20_000
_TIMED_ROWS = 60_000, 20_000
_QUICK_TIMED_ROWS = 6_000, 2_000
_QUICK_TIMED_GROUPS = (10, 100)
_PREFERRED_FOR_TIMING = "ACSEmploy"  # the paper's
_FAILED, _STOPPED = 3, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark and return the exit code: 0, 3 if a cell failed, 130 after Ctrl-C."""
    options = _parser().parse_args(arguments)
    try:
        return _bench(options)
    except KeyboardInterrupt:
        print(f"Stopped. Finished cells are kept in {options.out}: the same command continues there.", file=sys.stderr)
        return _STOPPED
    except TrueupError as error:
        print(f"error: {error}", file=sys.stderr)
        return _FAILED


def _parser() -> argparse.ArgumentParser:
    methods = tuple(METHODS)
    parser = argparse.ArgumentParser(prog="make paper", description="Run the benchmark of the MCGrad paper anew.")
    add = parser.add_argument
    add("-o", "--out", type=Path, default=Path("trueup-paper"), help="folder of the page and of finished cells")
    add("--data", type=Path, help="folder of data files; default: TRUEUP_DATA, and without it files are downloaded")
    add("--tasks", type=_names("task", (*TASKS, "Simulated")), default=TASKS, help="tasks, as a,b")
    add("--methods", type=_names("method", methods), default=methods, help="methods, as a,b")
    add("--max-rows", type=int, default=_MOST_ROWS, help="most rows per task; 0 takes all")
    add("--jobs", type=int, default=_cores(), help="tasks to run at the same time; default: one per core")
    add("--no-timing", action="store_true", help="leave out the timings by number of groups")
    add("--quick", action="store_true", help="at most 20,000 rows per task and few timings: two minutes")
    add("-q", "--quiet", action="store_true", help="show no progress and no summary")
    return parser


def _names(what: str, choices: tuple[str, ...]) -> Callable[[str], tuple[str, ...]]:
    def read(text: str) -> tuple[str, ...]:
        names = tuple(dict.fromkeys(text.split(",")))
        for name in names:
            if name not in choices:
                raise argparse.ArgumentTypeError(f"there is no {what} {name!r}; choose from {', '.join(choices)}")
        return names

    return read


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _bench(options: argparse.Namespace) -> int:
    plan, timing_plan = _plans(options)
    with _progress("cells", options.quiet) as report:
        paper.run_cells(plan, report)
    if timing_plan is not None:
        with _progress("timings", options.quiet) as report:
            paper.run_timing(timing_plan, plan.out, report)
    cells, failures = paper.finished_cells(plan)
    timing = [] if timing_plan is None else paper.read_timing(timing_plan, plan.out)
    findings = paper.find(cells, failures, timing)
    page, *_ = paper.write_page(findings, plan.out, told=_told(plan))
    if not options.quiet:
        _print_summary(findings, page)
    return _FAILED if failures else 0


def _plans(options: argparse.Namespace) -> tuple[Plan, TimingPlan | None]:
    max_rows = options.max_rows or None
    if options.quick:
        max_rows = min(max_rows or _QUICK_ROWS, _QUICK_ROWS)
    plan = Plan(options.out, options.tasks, options.methods, options.data, max_rows, options.jobs)
    if options.no_timing:
        return plan, None
    # Other tasks may have fewer rows than are timed; simulated ones have as many as are asked for.
    timed = _PREFERRED_FOR_TIMING if _PREFERRED_FOR_TIMING in options.tasks else "Simulated"
    if options.quick:
        return plan, TimingPlan(timed, options.data, *_QUICK_TIMED_ROWS, n_groups=_QUICK_TIMED_GROUPS)
    return plan, TimingPlan(timed, options.data, *_TIMED_ROWS)


@contextlib.contextmanager
def _progress(what: str, quiet: bool) -> Iterator[Callable[[int, int], None]]:
    """A progress bar on a terminal, nothing elsewhere."""
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
    """Which versions and how many rows the figures come from."""
    import lightgbm
    import sklearn

    import trueup

    limit = "all rows of each task" if plan.max_rows is None else f"at most {plan.max_rows:,} rows per task"
    return (
        f"trueup {trueup.__version__}, LightGBM {lightgbm.__version__}, scikit-learn {sklearn.__version__}, Python "
        f"{platform.python_version()}; {limit}, {plan.jobs} {'task' if plan.jobs == 1 else 'tasks'} at a time"
    )


def _print_summary(findings: Findings, page: Path) -> None:
    judged = [verdict for verdict in findings.verdicts if verdict.holds is not None]
    print(f"{sum(verdict.holds is True for verdict in judged)} of {len(judged)} of the paper's claims hold here")
    for verdict in findings.verdicts:
        answer = "" if verdict.holds is None else "holds: " if verdict.holds else "does not hold: "
        print(f"  {answer}{verdict.claim}\n    paper  {verdict.paper}\n    here   {verdict.ours}")
    if findings.checks:
        within = sum(all(check.within.values()) for check in findings.checks)
        print(f"On the paper's own rows, {within} of {len(findings.checks)} cells are within all tolerances.")
    for (task, method), why in findings.failures.items():
        print(f"failed: {task}, {method}: {why}")
    print(f"The page: {page}")


if __name__ == "__main__":
    sys.exit(main())
