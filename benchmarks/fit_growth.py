"""How the cost of a fit grows with its rows and its rounds: a plot, and the time a row and round.

Rows: one round on 100,000 to 3 million rows. Rounds: 1 to 24 on 300,000 rows. All with a hold-out, from a pandas frame.

    python benchmarks/fit_growth.py [--quick]
"""

from __future__ import annotations

import sys
import time
import warnings

import numpy as np
import pandas as pd

from machine import describe
from measured import FOLDER, Measurements
from scoring import traffic
from trueup import MCGrad

ROWS = [100_000, 300_000, 1_000_000, 3_000_000]
ROUNDS = [1, 2, 4, 8, 16, 24]
ROWS_FOR_ROUNDS = 300_000
REPEATS = 3


def seconds_of(X: pd.DataFrame, y: np.ndarray, p: np.ndarray, rounds: int) -> float:
    """A fit that does exactly so many rounds, and again on all rows."""
    model = MCGrad(max_rounds=rounds, patience=rounds, validation=0.2)
    started = time.perf_counter()
    model.fit(X, y, scores=p)
    return time.perf_counter() - started


def slope(sizes: list[int], seconds: list[float]) -> float:
    """The exponent of growth: 1 is in proportion."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def draw(by_rows: list[float], rows: list[int], by_rounds: list[float], rounds: list[int]) -> None:
    """Two small plots in one picture."""
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
    for ax, sizes, seconds, label in (
        (axes[0], rows, by_rows, "rows (one round)"),
        (axes[1], rounds, by_rounds, f"rounds ({ROWS_FOR_ROUNDS:,} rows)"),
    ):
        ax.plot(sizes, seconds, "o-", label="measured")
        fitted = np.polyfit(sizes, seconds, 1)
        ax.plot(sizes, np.polyval(fitted, sizes), "--", color="0.5", label="straight line")
        ax.set(xlabel=label, ylabel="seconds", ylim=(0, None), xlim=(0, None))
        ax.legend(frameon=False)
        ax.spines[["top", "right"]].set_visible(False)
    FOLDER.mkdir(parents=True, exist_ok=True)
    figure.savefig(FOLDER / "fit_growth.png", dpi=130)


def main() -> None:
    """Measure, draw and print."""
    warnings.simplefilter("ignore")
    quick = "--quick" in sys.argv
    rows, rounds = (ROWS[:2], ROUNDS[:3]) if quick else (ROWS, ROUNDS)
    X, y, p = traffic(rows[-1])
    print(describe() + "\n")
    seconds_of(X[:5000], y[:5000], p[:5000], 1)
    with Measurements("fit_growth") as measurements:
        by_rows, by_rounds = [], []
        for n in rows:
            times = [seconds_of(X[:n], y[:n], p[:n], 1) for _ in range(REPEATS)]
            by_rows.append(float(np.median(times)))
            measurements.add(f"fit of one round, {n:,} rows", "µs a row", {"trueup": [t * 1e6 / n for t in times]})
        few = ROWS_FOR_ROUNDS
        for t in rounds:
            times = [seconds_of(X[:few], y[:few], p[:few], t) for _ in range(REPEATS)]
            by_rounds.append(float(np.median(times)))
            measurements.add(f"fit of {few:,} rows, {t} rounds", "s a round", {"trueup": [s / t for s in times]})
        measurements.add_share("growth with rows (1 is in proportion)", slope(rows, by_rows))
        measurements.add_share("growth with rounds (1 is in proportion)", slope(rounds, by_rounds))
        print(f"growth: rows to the power of {slope(rows, by_rows):.2f}, rounds to {slope(rounds, by_rounds):.2f}")
    draw(by_rows, rows, by_rounds, rounds)
    print(f"The plot is benchmarks/results/{FOLDER.name}/fit_growth.png.")


if __name__ == "__main__":
    main()
