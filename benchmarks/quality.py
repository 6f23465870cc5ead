"""How good the calibrated models are on the paper's eleven tasks: base model, the paper's way, ours, and the peer's.

Log loss, PRAUC, ECCE and MCE in sigmas (the MCE over all segments to depth 3), rounds and seconds. By default on the
test rows; "choice" takes the rows that are neither training nor test rows, on which our defaults were chosen. For log
loss, ECCE and MCE, ours is compared with each other contestant by a paired bootstrap of the measured rows.

    python benchmarks/quality.py [--quick] [most rows of a task] [test | choice] [task ...]
"""

from __future__ import annotations

import logging
import sys
import time
import warnings
from collections.abc import Callable

import numpy as np
import pandas as pd

from machine import describe, has_peer
from measured import Measurements
from tasks import TASKS, Task, load_task
from trueup import MCGrad
from trueup.metrics import average_precision, ecce_sigma, log_loss, multicalibration_error

MOST_ROWS, QUICK_ROWS = 100_000, 10_000
OURS, BASE = "trueup", "base model"
RESAMPLES = 50
MCE_ROWS = 10_000  # of a resample: the maximum over thousands of segments is a slow statistic
NOISE = 1.96  # standard errors

Fitted = tuple[np.ndarray, int]
Contestant = Callable[[Task, np.ndarray], Fitted]


def ours(model: MCGrad) -> Contestant:
    """A model of ours, fitted on the training rows."""

    def fit(task: Task, rows: np.ndarray) -> Fitted:
        model.fit(task.X.iloc[task.train], task.y[task.train], scores=task.scores[task.train])
        return model.calibrate(task.X.iloc[rows], task.scores[rows]), model.n_rounds_

    return fit


def peer(**parameters: object) -> Contestant:
    """Meta's package."""

    def fit(task: Task, rows: np.ndarray) -> Fitted:
        from mcgrad import methods

        frame = task.X.assign(p=task.scores, y=task.y)
        roles = {
            "prediction_column_name": "p",
            "categorical_feature_column_names": task.categorical,
            "numerical_feature_column_names": task.numerical,
        }
        model = methods.MCGrad(**parameters)
        model.fit(frame.iloc[task.train], label_column_name="y", **roles)
        return np.asarray(model.predict(frame.iloc[rows], **roles)), len(model.mr)

    return fit


def contestants() -> dict[str, Contestant]:
    """Who takes part."""
    found: dict[str, Contestant] = {
        BASE: lambda task, rows: (task.scores[rows], 0),
        "the paper's way": ours(MCGrad.paper(validation=5)),
        OURS: ours(MCGrad()),
    }
    if has_peer():
        found["mcgrad"] = peer()
        found["mcgrad, msh 20"] = peer(lightgbm_params={"min_sum_hessian_in_leaf": 20.0})
    return found


def worse_by(y: np.ndarray, X: pd.DataFrame, ours: np.ndarray, theirs: np.ndarray) -> dict[str, tuple[float, float]]:
    """By how much ours is worse in each figure, and the standard error of that, by a paired bootstrap."""
    rng = np.random.default_rng(0)
    if np.array_equal(ours, theirs):
        return dict.fromkeys(("log loss", "ECCE σ", "MCE σ"), (0.0, 0.0))
    found: dict[str, list[float]] = {"log loss": [], "ECCE σ": [], "MCE σ": []}
    for _ in range(RESAMPLES):
        rows = rng.integers(0, len(y), len(y))
        few = rows[:MCE_ROWS]
        found["log loss"].append(log_loss(y[rows], ours[rows]) - log_loss(y[rows], theirs[rows]))
        found["ECCE σ"].append(ecce_sigma(y[rows], ours[rows]) - ecce_sigma(y[rows], theirs[rows]))
        drawn = X.iloc[few]
        found["MCE σ"].append(
            multicalibration_error(y[few], ours[few], X=drawn) - multicalibration_error(y[few], theirs[few], X=drawn)
        )
    return {name: (float(np.mean(values)), float(np.std(values))) for name, values in found.items()}


def judged(name: str, who: str, differences: dict[str, tuple[float, float]], measurements: Measurements) -> None:
    """Say where ours is better or worse than another by more than noise."""
    told = {}
    for figure, (worse, error) in differences.items():
        verdict = "worse" if worse > NOISE * error else "better" if worse < -NOISE * error else "equal"
        told[figure] = "equal" if worse == 0 else verdict
    words = ", ".join(f"{figure} {verdict}" for figure, verdict in told.items())
    print(f"{name:<13}{OURS} against {who}: {words}", flush=True)
    measurements.add_row(table="against", task=name, other=who, **told)


def main() -> None:
    """Fit all on all tasks and print a row each, and the means."""
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    quick = "--quick" in sys.argv
    most = int(words[0]) if words else QUICK_ROWS if quick else MOST_ROWS
    rows_of = words[1] if len(words) > 1 else "test"
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    print(describe())
    print(f"At most {most:,} rows of a task; measured on the {rows_of} rows.\n")
    print(f"{'task':<13}{'':<16}{'log loss':>9}{'PRAUC':>8}{'ECCE σ':>8}{'MCE σ':>7}{'rounds':>7}{'seconds':>9}")
    with Measurements("quality") as measurements:
        for name in words[2:] or (TASKS[:3] if quick else TASKS):
            measure(load_task(name, most), rows_of, measurements)
        table = pd.DataFrame([row for row in measurements.rows if row["table"] == "figures"])
        print("\nmeans over the tasks")
        print(table.groupby("who", sort=False)[["log loss", "PRAUC", "ECCE σ", "MCE σ", "seconds"]].mean().to_string())


def measure(task: Task, rows_of: str, measurements: Measurements) -> None:
    """Fit all contestants on one task, and compare them."""
    measured = task.test if rows_of == "test" else task.choice
    y, X = task.y[measured], task.X.iloc[measured]
    found: dict[str, np.ndarray] = {}
    for who, fit in contestants().items():
        started = time.perf_counter()
        p, rounds = fit(task, measured)
        seconds = time.perf_counter() - started
        found[who] = p
        figures = {
            "log loss": log_loss(y, p),
            "PRAUC": average_precision(y, p),
            "ECCE σ": ecce_sigma(y, p),
            "MCE σ": multicalibration_error(y, p, X=X),
        }
        measurements.add_row(
            table="figures", task=task.name, origin=task.origin, who=who, **figures, rounds=rounds, seconds=seconds
        )
        loss, prauc, sigmas, mce = figures.values()
        print(
            f"{task.name:<13}{who:<16}{loss:>9.5f}{prauc:>8.4f}{sigmas:>8.2f}{mce:>7.2f}{rounds:>7}{seconds:>9.1f}",
            flush=True,
        )
    for who, p in found.items():
        if who != OURS:
            judged(task.name, who, worse_by(y, X, found[OURS], p), measurements)


if __name__ == "__main__":
    main()
