"""The paper's Figure 3: time to fit and to predict, by the number of groups."""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from paper._cells import write_json
from paper.tasks import Task, base_scores, load_task
from trueup.calibration import MCGrad
from trueup.errors import DataFileError

__all__ = ["TIMED_GROUPS", "TimingCell", "TimingPlan", "read_timing", "run_timing"]

TIMED_GROUPS = (10, 32, 100, 320, 1000)
_METHODS = ("MCGrad", "HKRR", "DFMC")
_LEAST_SHARE, _MOST_SHARE = 0.05, 0.5
_REPEATS = 5  # of a prediction, which takes milliseconds; the shortest counts


@dataclass(frozen=True)
class TimingPlan:
    """What is timed: a task, how many of its rows, and for which numbers of groups."""

    task: str
    data: Path | None
    train_rows: int
    test_rows: int
    n_groups: tuple[int, ...] = TIMED_GROUPS


@dataclass(frozen=True)
class TimingCell:
    """Processor time of one method with so many groups, on one thread: other work on the machine leaves it be.

    Attributes
    ----------
    method : str
        Its name.
    n_groups : int
        How many groups there were.
    task, version : str
        Whose rows, and the package's version.
    train_rows, test_rows : int
        How many rows.
    fit_seconds, predict_seconds : float
        The times.
    """

    method: str
    n_groups: int
    task: str
    version: str
    train_rows: int
    test_rows: int
    fit_seconds: float
    predict_seconds: float

    @property
    def fit_microseconds(self) -> float:
        """Time to fit, a row."""
        return 1e6 * self.fit_seconds / self.train_rows

    @property
    def predict_microseconds(self) -> float:
        """Time to predict, a row."""
        return 1e6 * self.predict_seconds / self.test_rows


def read_timing(plan: TimingPlan, out: Path) -> list[TimingCell]:
    """The finished cells of a plan."""
    return [cell for method, n in _wanted(plan) if (cell := _finished(plan, out, method, n)) is not None]


def run_timing(plan: TimingPlan, out: Path, report: Callable[[int, int], None] = lambda done, total: None) -> None:
    """Time what is not timed yet, one after the other; each cell is kept as it ends."""
    waiting = [(method, n) for method, n in _wanted(plan) if _finished(plan, out, method, n) is None]
    if not waiting:
        return
    task = load_task(plan.task, folder=plan.data, max_rows=plan.train_rows + plan.test_rows)
    scores = base_scores(task)
    for done, (method, n) in enumerate(waiting):
        report(done, len(waiting))
        write_json(asdict(_time(task, scores, plan, method, n)), _path(out, method, n))
    report(len(waiting), len(waiting))


def _wanted(plan: TimingPlan) -> Iterator[tuple[str, int]]:
    return ((method, n) for method in _METHODS for n in plan.n_groups)


def _path(out: Path, method: str, n_groups: int) -> Path:
    return out / "timing" / f"{method}--{n_groups}.json"


def _finished(plan: TimingPlan, out: Path, method: str, n_groups: int) -> TimingCell | None:
    import trueup

    path = _path(out, method, n_groups)
    try:
        cell = TimingCell(**json.loads(path.read_text("utf-8")))
    except FileNotFoundError:
        return None
    except (ValueError, TypeError) as error:
        raise DataFileError(f"{path} is no finished timing ({error}). Delete it, and it is run again.") from error
    wanted = (plan.task, trueup.__version__, plan.train_rows, plan.test_rows)
    return cell if (cell.task, cell.version, cell.train_rows, cell.test_rows) == wanted else None


def _time(task: Task, scores: Any, plan: TimingPlan, method: str, n_groups: int) -> TimingCell:
    import trueup

    rng = np.random.default_rng(n_groups)
    n = plan.train_rows + plan.test_rows
    groups = _random_groups(n, n_groups, rng)
    train, test = slice(0, plan.train_rows), slice(plan.train_rows, n)
    estimator, at_fit, at_predict = _contestant(method, groups[train], groups[test])
    fit_rows, test_rows = task.X.slice(0, plan.train_rows), task.X.slice(plan.train_rows, plan.test_rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        started = time.process_time()
        estimator.fit(fit_rows, task.y[train], scores=scores[train], **at_fit)
        fit_seconds = time.process_time() - started
        predict_seconds = min(
            _seconds_to_predict(estimator, test_rows, scores[test], at_predict) for _ in range(_REPEATS)
        )
    rows = plan.train_rows, plan.test_rows
    return TimingCell(method, n_groups, plan.task, trueup.__version__, *rows, fit_seconds, predict_seconds)


def _seconds_to_predict(estimator: Any, X: Any, scores: Any, more: dict[str, Any]) -> float:
    started = time.process_time()
    estimator.calibrate(X, scores, **more)
    return time.process_time() - started


def _random_groups(n_rows: int, n_groups: int, rng: np.random.Generator) -> Any:
    """Groups of random rows that overlap, each of 5 to 50 % of all."""
    shares = rng.uniform(_LEAST_SHARE, _MOST_SHARE, n_groups)
    return np.column_stack([rng.random(n_rows) < share for share in shares])


def _contestant(method: str, train: Any, test: Any) -> tuple[Any, dict[str, Any], dict[str, Any]]:
    if method == "MCGrad":
        return MCGrad.paper(max_rounds=10, validation=5, n_jobs=1), {}, {}
    from trueup import baselines

    estimator = {"HKRR": baselines.HKRR, "DFMC": baselines.DFMC}[method]()
    if "n_jobs" in estimator.get_params(deep=False):
        estimator.set_params(n_jobs=1)
    return estimator, {"segments": train}, {"segments": test}


def by_method(cells: Sequence[TimingCell]) -> dict[str, list[TimingCell]]:
    """Cells by their method, in order of the number of groups."""
    methods: dict[str, list[TimingCell]] = {}
    for cell in sorted(cells, key=lambda cell: cell.n_groups):
        methods.setdefault(cell.method, []).append(cell)
    return methods
