"""What a fit costs beside Meta's mcgrad: the same work, and the defaults of each.

The same work is the paper's algorithm on the same folds or the same hold-out with as many rounds; the losses on all
rows then agree. Contestants take turns; a first small fit of each warms up. In "busy" contests another process keeps
a core busy meanwhile.

    python benchmarks/fit.py [--quick] [contest ...]
"""

from __future__ import annotations

import logging
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from machine import describe, has_peer
from measured import Measurements
from scoring import CATEGORICAL, NUMERICAL, traffic
from tasks import load_task
from trueup import MCGrad
from trueup.metrics import log_loss, multicalibration_error

WARM_UP_ROWS = 2_000
NEW_ROWS = 200_000  # to judge the defaults on


@dataclass(frozen=True, eq=False)
class Rows:
    """A table with labels and scores."""

    X: pd.DataFrame
    y: np.ndarray
    p: np.ndarray
    categorical: list[str]
    numerical: list[str]

    def first(self, n: int) -> Rows:
        """Some of the rows."""
        return Rows(self.X[:n], self.y[:n], self.p[:n], self.categorical, self.numerical)

    @property
    def frame(self) -> pd.DataFrame:
        """All in one frame, as the peer wants it."""
        return self.X.assign(p=self.p, y=self.y)

    @property
    def roles(self) -> dict[str, Any]:
        """The columns, as the peer wants to know them."""
        return {
            "prediction_column_name": "p",
            "categorical_feature_column_names": self.categorical,
            "numerical_feature_column_names": self.numerical,
        }


def simulated(n_rows: int) -> Rows:
    """Ten categorical and ten numerical features."""
    X, y, p = traffic(n_rows)
    return Rows(X, y, p, CATEGORICAL, NUMERICAL)


def real(name: str) -> Rows:
    """The training rows of a task."""
    task = load_task(name)
    X = task.X.iloc[task.train].reset_index(drop=True)
    return Rows(X, task.y[task.train], task.scores[task.train], task.categorical, task.numerical)


@dataclass(frozen=True)
class Contest:
    """The same work for both.

    Attributes
    ----------
    rows : callable
        Makes the rows.
    most_rounds : int
        After so many rounds both stop, if nothing stopped them before.
    folds : bool
        Five folds, or a hold-out.
    repeats : int
        How often each has its turn.
    goal : float
        How many times faster we want to be.
    busy : bool
        Whether another process keeps a core busy.
    """

    rows: Callable[[], Rows]
    most_rounds: int
    folds: bool
    repeats: int
    goal: float
    busy: bool = False


CONTESTS = {
    "100,000 rows, 5 folds": Contest(lambda: simulated(100_000), 100, True, 7, 2.2),
    "100,000 rows, 5 folds, a core busy": Contest(lambda: simulated(100_000), 100, True, 3, 2.5, busy=True),
    "ACSIncomeCA, 54,000 rows, 5 folds": Contest(lambda: real("ACSIncomeCA"), 100, True, 3, 2.2),
    "1,000,000 rows, 5 folds": Contest(lambda: simulated(1_000_000), 3, True, 3, 2.2),
    "1,000,000 rows, hold-out": Contest(lambda: simulated(1_000_000), 10, False, 3, 2.5),
}
DEFAULTS = "1,000,000 rows, defaults"
QUICK = ("100,000 rows, 5 folds",)


@contextmanager
def busy_core(wanted: bool) -> Iterator[None]:
    """Another process that computes all the while, and ends by itself after an hour at the latest."""
    if not wanted:
        yield
        return
    program = "import time\nend = time.time() + 3600\nwhile time.time() < end: pass"
    other = subprocess.Popen([sys.executable, "-c", program])
    try:
        yield
    finally:
        other.kill()
        other.wait()


def same_work(name: str, contest: Contest, measurements: Measurements) -> None:
    """Both fit the paper's algorithm on the same splits."""
    rows = contest.rows()
    splitter: Any = 5 if contest.folds else 0.2
    runs: dict[str, Callable[[Rows], Any]] = {}
    if has_peer():
        from mcgrad import methods

        def theirs(rows: Rows) -> Any:
            model = methods.MCGrad(num_rounds=contest.most_rounds, early_stopping_use_crossvalidation=contest.folds)
            model.fit(rows.frame, label_column_name="y", **rows.roles)
            return model

        untouched = methods.MCGrad(early_stopping_use_crossvalidation=contest.folds)
        splitter = untouched._cv_splitter if contest.folds else untouched._holdout_splitter
        runs["mcgrad"] = theirs

    def ours(rows: Rows) -> MCGrad:
        # LightGBM's own limit for Hessians is what the peer has.
        options = {"max_rounds": contest.most_rounds, "validation": splitter, "min_sum_hessian_in_leaf": 1e-3}
        return MCGrad.paper(**options).fit(rows.X, rows.y, scores=rows.p)

    with busy_core(contest.busy):
        times, fitted = in_turn({"trueup": ours, **runs}, rows, contest.repeats)
    note = f"{fitted['trueup'].n_rounds_} rounds kept, {len(fitted['trueup'].history_) - 1} tried"
    if has_peer():
        losses = {"trueup": log_loss(rows.y, fitted["trueup"].calibrate(rows.X, rows.p))}
        losses["mcgrad"] = log_loss(rows.y, np.asarray(fitted["mcgrad"].predict(rows.frame, **rows.roles)))
        note += f" ({len(fitted['mcgrad'].mr)} by mcgrad); log loss of all rows differs by "
        note += f"{abs(losses['trueup'] - losses['mcgrad']):.1g}"
    measurements.add(f"fit, the same work: {name}", "s", times, goal=contest.goal, note=note)


def in_turn(
    runs: dict[str, Callable[[Rows], Any]], rows: Rows, repeats: int
) -> tuple[dict[str, list[float]], dict[str, Any]]:
    """Seconds of each contestant, and the last model of each."""
    times: dict[str, list[float]] = {name: [] for name in runs}
    fitted: dict[str, Any] = {}
    for run in runs.values():
        run(rows.first(WARM_UP_ROWS))
    for _ in range(repeats):
        for name, run in runs.items():
            started = time.perf_counter()
            fitted[name] = run(rows)
            times[name].append(time.perf_counter() - started)
    return times, fitted


def defaults(measurements: Measurements) -> None:
    """Each with its own defaults, judged on new rows."""
    rows = simulated(1_000_000 + NEW_ROWS)
    new = Rows(rows.X[-NEW_ROWS:], rows.y[-NEW_ROWS:], rows.p[-NEW_ROWS:], rows.categorical, rows.numerical)
    rows = rows.first(1_000_000)
    runs: dict[str, Callable[[Rows], Any]] = {"trueup": lambda rows: MCGrad().fit(rows.X, rows.y, scores=rows.p)}
    if has_peer():
        from mcgrad import methods

        def theirs(rows: Rows) -> Any:
            model = methods.MCGrad()
            model.fit(rows.frame, label_column_name="y", **rows.roles)
            return model

        runs["mcgrad"] = theirs
    times, fitted = in_turn(runs, rows, 3)
    found = {"trueup": fitted["trueup"].calibrate(new.X, new.p)}
    if has_peer():
        found["mcgrad"] = np.asarray(fitted["mcgrad"].predict(new.frame, **new.roles))
    told = [
        f"{name} {log_loss(new.y, p):.5f} and {multicalibration_error(new.y, p, X=new.X):.2f} σ"
        for name, p in found.items()
    ]
    note = f"log loss and MCE of {NEW_ROWS:,} new rows: {', '.join(told)}"
    measurements.add(f"fit, {DEFAULTS}", "s", times, goal=6, note=note)


def main() -> None:
    """Run the contests that are asked for."""
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)  # the peer tells much
    quick = "--quick" in sys.argv
    asked = [word for word in sys.argv[1:] if not word.startswith("--")]
    names = asked or (QUICK if quick else [*CONTESTS, DEFAULTS])
    print(describe() + "\n")
    with Measurements("fit", partial=bool(asked)) as measurements:
        for name in names:
            if name == DEFAULTS:
                defaults(measurements)
            else:
                same_work(name, CONTESTS[name], measurements)


if __name__ == "__main__":
    main()
