"""Running cells: those that are not finished, tasks side by side, each in a process of its own."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import queue
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from paper._cells import (
    Cell,
    CellKey,
    cell_path,
    failure_path,
    read_cell,
    run_cell,
    write_cell,
)
from paper._methods import METHODS, ScoredTask
from paper.tasks import base_scores, data_folder, fetch_files, load_task
from trueup.errors import DataFileError, TrueupError

__all__ = ["Plan", "finished_cells", "run_cells"]

_POLL_SECONDS = 0.3
# Tasks in order of what they cost, so that none of the long ones begins last.
_LONGEST_FIRST = (
    *("ACSHealth", "ACSEmploy", "HMDA", "ACSIncome", "ACSPublic", "ACSTravel", "ACSMobility"),
    *("ACSIncomeCA", "Marketing", "Credit", "MEPS"),
)
Report = Callable[[int, int], None]


@dataclass(frozen=True)
class Plan:
    """What to run.

    Attributes
    ----------
    out : Path
        The folder for the cells and the page.
    tasks, methods : tuple of str
        Their names.
    data : Path or None
        The folder of data files, as `paper.tasks.load_task` takes it.
    max_rows : int or None
        The most rows of a task.
    jobs : int
        How many tasks run side by side.
    """

    out: Path
    tasks: tuple[str, ...]
    methods: tuple[str, ...]
    data: Path | None = None
    max_rows: int | None = None
    jobs: int = 1

    def key(self, task: str, method: str) -> CellKey:
        """The key of a cell."""
        return CellKey.of(task, METHODS[method], self._data_told, self.max_rows)

    @property
    def _data_told(self) -> str:
        """What the data come from: the same name for the same files, as far as a path can tell."""
        folder = data_folder(self.data)
        return "sources" if folder is None else str(folder.resolve())

    def finished(self, task: str, method: str) -> Cell | None:
        """A cell, if it is finished and of these settings."""
        cell = read_cell(cell_path(self.out, task, method))
        return cell if cell is not None and cell.key == self.key(task, method) else None

    def unfinished(self, task: str) -> list[str]:
        """The methods that are yet to be run on a task."""
        return [method for method in self.methods if self.finished(task, method) is None]


def finished_cells(plan: Plan) -> tuple[list[Cell], dict[tuple[str, str], str]]:
    """All finished cells, and why those that failed did."""
    cells: list[Cell] = []
    failures: dict[tuple[str, str], str] = {}
    for task in plan.tasks:
        for method in plan.methods:
            cell = plan.finished(task, method)
            if cell is not None:
                cells.append(cell)
            else:
                with contextlib.suppress(FileNotFoundError):
                    failures[task, method] = failure_path(plan.out, task, method).read_text("utf-8").strip()
    return cells, failures


def run_cells(plan: Plan, report: Report = lambda done, total: None) -> None:
    """Run what is not finished. Each cell is written as it ends, so that a run that was stopped goes on there.

    Parameters
    ----------
    plan : Plan
        What to run.
    report : callable
        Told now and then how many cells of how many are done, failed ones included.
    """
    (plan.out / "cells").mkdir(parents=True, exist_ok=True)
    waiting = {task: plan.unfinished(task) for task in sorted(plan.tasks, key=_cost_rank)}
    for task, methods in waiting.items():
        for method in methods:
            failure_path(plan.out, task, method).unlink(missing_ok=True)
    waiting = {task: methods for task, methods in waiting.items() if methods}
    total = sum(map(len, waiting.values()))
    if plan.jobs == 1 or len(waiting) <= 1:
        _run_here(plan, waiting, report, total)
    else:
        _run_beside(plan, waiting, report, total)


def _cost_rank(task: str) -> int:
    return _LONGEST_FIRST.index(task) if task in _LONGEST_FIRST else len(_LONGEST_FIRST)


def _run_here(plan: Plan, waiting: dict[str, list[str]], report: Report, total: int) -> None:
    done = 0
    for task, methods in waiting.items():
        for _ in _run_task(plan, task, methods, n_jobs=None):
            done += 1
            report(done, total)


def _run_beside(plan: Plan, waiting: dict[str, list[str]], report: Report, total: int) -> None:
    for task in waiting:
        with contextlib.suppress(DataFileError):  # which its cells will tell of
            fetch_files(task, folder=plan.data)  # here, once: tasks share files, and progress is shown in one place
    context = multiprocessing.get_context("spawn")
    tasks = context.Queue()
    for work in waiting.items():
        tasks.put(work)
    n_workers = min(plan.jobs, len(waiting))
    workers = [context.Process(target=_work, args=(plan, tasks), daemon=True) for _ in range(n_workers)]
    with _one_thread_each():
        for worker in workers:
            worker.start()
    try:
        while any(worker.is_alive() for worker in workers):
            report(_count_done(plan, waiting), total)
            time.sleep(_POLL_SECONDS)
        report(_count_done(plan, waiting), total)
    finally:
        for worker in workers:
            worker.terminate()
        for worker in workers:
            worker.join()
    broken = [worker.exitcode for worker in workers if worker.exitcode]
    if broken:
        raise TrueupError(f"{len(broken)} of {len(workers)} processes died (exit codes {broken}). Out of memory?")


@contextlib.contextmanager
def _one_thread_each() -> Iterator[None]:
    """What processes that start inside inherit: libraries' own threads would only get in each other's way."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    before = {name: os.environ.get(name) for name in names}
    os.environ.update(dict.fromkeys(names, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _count_done(plan: Plan, waiting: dict[str, list[str]]) -> int:
    return sum(
        failure_path(plan.out, task, method).exists() or plan.finished(task, method) is not None
        for task, methods in waiting.items()
        for method in methods
    )


def _work(plan: Plan, tasks: Any) -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C ends it at once: what is finished is on disk
    while True:
        try:
            task, methods = tasks.get(timeout=1.0)
        except queue.Empty:
            return
        for _ in _run_task(plan, task, methods, n_jobs=1):
            pass


def _run_task(plan: Plan, name: str, methods: Sequence[str], n_jobs: int | None) -> Iterator[str]:
    """Run some methods on a task; names each when it is done. A failure is told in a file, and the others go on."""
    try:
        task = load_task(name, folder=plan.data, max_rows=plan.max_rows)
        rows = ScoredTask(task, base_scores(task), n_jobs)
    except Exception as error:
        for method in methods:
            _tell_failure(plan, name, method, error)
            yield method
        return
    for method in methods:
        try:
            write_cell(run_cell(METHODS[method], plan.key(name, method), rows), plan.out)
        except Exception as error:
            _tell_failure(plan, name, method, error)
        yield method


def _tell_failure(plan: Plan, task: str, method: str, error: Exception) -> None:
    failure_path(plan.out, task, method).write_text(f"{type(error).__name__}: {error}\n", "utf-8")
