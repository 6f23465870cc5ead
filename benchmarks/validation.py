"""What folds buy over a hold-out, and what they cost: the evidence behind validation="auto".

Each of the real tasks with 5,000 to 2 million rows; the same training rows are fitted with five folds and with a
hold-out, several times with other seeds where rows are few. Losses, ECCE and MCE are those of the rows that are neither
training nor test rows. The cost is processor time, which other work on the machine disturbs least.

    python benchmarks/validation.py [folder for the table, as CSV] [task ...]
"""

from __future__ import annotations

import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

from machine import describe
from tasks import LARGE_TASKS, TASKS, Task, load_task
from trueup import MCGrad
from trueup.metrics import ecce_sigma, log_loss, multicalibration_error

SIZES = [5_000, 15_000, 50_000, 150_000, 500_000, 2_000_000]  # training rows
WAYS = {"5 folds": 5, "hold-out": 0.2}
SEEDS = {5_000: 5, 15_000: 5, 50_000: 3, 150_000: 2}
LARGE_FROM = 500_000  # the smaller sizes are the other tasks'
MOST_MEASURED = 200_000


def measure(
    task: Task, train: np.ndarray, validation: float | int, seed: int
) -> tuple[float, float, float, int, float]:
    """Log loss, ECCE and MCE in sigmas, rounds, and seconds of processor time."""
    measured = np.random.default_rng(0).permutation(task.choice)[:MOST_MEASURED]
    X, y, scores = task.X.iloc[measured], task.y[measured], task.scores[measured]
    started = time.process_time()
    model = MCGrad(validation=validation, random_state=seed)
    model.fit(task.X.iloc[train], task.y[train], scores=task.scores[train])
    seconds = time.process_time() - started
    p = model.calibrate(X, scores)
    return log_loss(y, p), ecce_sigma(y, p), multicalibration_error(y, p, X=X), model.n_rounds_, seconds


def main() -> None:
    """Measure all, and print a table of the differences."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    names = sys.argv[2:] or [*TASKS, *LARGE_TASKS]
    warnings.simplefilter("ignore")
    print(describe(), flush=True)
    rows = []
    for name in names:
        task = load_task(name)
        base = log_loss(task.y[task.choice], task.scores[task.choice])
        for size in SIZES:
            if size > 1.3 * len(task.train):
                break
            if name in LARGE_TASKS and size < LARGE_FROM:
                continue
            for seed in range(SEEDS.get(size, 1)):
                shuffled = np.random.default_rng(seed).permutation(task.train)
                for way, validation in WAYS.items():
                    found = measure(task, np.sort(shuffled[:size]), validation, seed)
                    rows.append((name, min(size, len(task.train)), seed, way, base, *found))
                    print(*rows[-1], flush=True)
    columns = ["task", "rows", "seed", "way", "base", "loss", "ecce", "mce", "rounds", "seconds"]
    table = pd.DataFrame(rows, columns=columns)
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        table.to_csv(folder / "validation.csv", index=False)
    means = table.groupby(["rows", "task", "way"]).mean(numeric_only=True).unstack("way")
    shown = pd.DataFrame(
        {
            "loss of folds": means["loss", "5 folds"],
            "hold-out, %": 100 * (means["loss", "hold-out"] / means["loss", "5 folds"] - 1),
            "MCE of folds": means["mce", "5 folds"],
            "hold-out, MCE": means["mce", "hold-out"] - means["mce", "5 folds"],
            "cost of folds": means["seconds", "5 folds"] / means["seconds", "hold-out"],
        }
    )
    print(shown.round(4).to_string())
    print(shown.groupby(pd.cut(shown.index.get_level_values("rows"), [0, *SIZES])).mean().round(4).to_string())


if __name__ == "__main__":
    main()
