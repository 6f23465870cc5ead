"""How good the calibrated models are on the paper's eleven tasks: base model, the paper's way, ours, and the peer's.

Log loss, PRAUC, ECCE and MCE in sigmas (the MCE over all segments to depth 3), rounds and seconds. By default on the
test rows; "choice" takes the rows that are neither training nor test rows, on which our defaults were chosen.

    python benchmarks/quality.py [most rows of a task] [test | choice] [task ...]
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable

import numpy as np
import pandas as pd

from machine import describe, has_peer
from tasks import TASKS, Task, load_task
from trueup import MCGrad
from trueup.metrics import average_precision, ecce_sigma, log_loss, multicalibration_error

MOST_ROWS = 60_000
FOLDS = 5

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
        "base": lambda task, rows: (task.scores[rows], 0),
        "paper's way": ours(MCGrad.paper(validation=FOLDS)),
        "trueup": ours(MCGrad(validation=FOLDS)),
    }
    if has_peer():
        found["mcgrad"] = peer()
        found["mcgrad, msh 20"] = peer(lightgbm_params={"min_sum_hessian_in_leaf": 20.0})
    return found


def main() -> None:
    """Fit all on all tasks and print a row each, and the means."""
    most = int(sys.argv[1]) if len(sys.argv) > 1 else MOST_ROWS
    on_test = len(sys.argv) <= 2 or sys.argv[2] != "choice"
    names = sys.argv[3:] or TASKS
    warnings.simplefilter("ignore")
    print(describe())
    print(f"At most {most:,} rows of a task, {FOLDS} folds; measured on the {'test' if on_test else 'choice'} rows.\n")
    print(f"{'task':<13}{'':<16}{'log loss':>9}{'PRAUC':>8}{'ECCE σ':>8}{'MCE σ':>7}{'rounds':>7}{'seconds':>9}")
    rows: list[tuple[str, float, float, float, float]] = []
    for name in names:
        task = load_task(name, most)
        measured = task.test if on_test else np.setdiff1d(np.arange(len(task.y)), np.union1d(task.train, task.test))
        y, X = task.y[measured], task.X.iloc[measured]
        for who, fit in contestants().items():
            started = time.perf_counter()
            p, rounds = fit(task, measured)
            seconds = time.perf_counter() - started
            mce = multicalibration_error(y, p, X=X)
            found = (log_loss(y, p), average_precision(y, p), ecce_sigma(y, p), mce)
            rows.append((who, *found))
            loss, prauc, sigmas, _ = found
            print(
                f"{name:<13}{who:<16}{loss:>9.5f}{prauc:>8.4f}{sigmas:>8.2f}{mce:>7.2f}{rounds:>7}{seconds:>9.1f}",
                flush=True,
            )
    table = pd.DataFrame(rows, columns=["who", "log loss", "PRAUC", "ECCE σ", "MCE σ"])
    print("\nmeans over the tasks")
    print(table.groupby("who", sort=False).mean().round(4).to_string())


if __name__ == "__main__":
    main()
