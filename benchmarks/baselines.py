"""How long HKRR, DFMC and MCGrad take to fit and to score with 10, 100 and 1,000 segments: the paper's Figure 3.

HKRR and DFMC stand beside their pseudo-code read a row at a time, on the same rows and segments: the moves are the
same, so the ratio is of speed alone. Both do two passes over all cells, or one tree; then ours do all.

    python benchmarks/baselines.py [rows]
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from machine import OtherWork, describe
from trueup import MCGrad
from trueup._fitting import seeds_from
from trueup.baselines import DFMC, HKRR
from trueup.datasets import make_traffic
from trueup.errors import ConvergenceWarning

sys.path.append(str(Path(__file__).parents[1] / "tests"))
from plain_baselines import PlainHKRR, plain_dfmc

ROWS = 20_000
SEGMENTS = (10, 100, 1000)
PASSES = 2
ALPHA, LAMBDA = 0.05, 0.1


def seconds(work: Callable[[], Any], repeats: int = 3) -> float:
    """The shortest of some runs."""
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        work()
        times.append(time.perf_counter() - started)
    return min(times)


def segments_of(X: Any, n_segments: int) -> dict[str, np.ndarray]:
    """Random pairs of conditions on the features, each of at least 0.5 % of the rows."""
    generator = np.random.default_rng(0)
    columns = []
    for name in X.column_names:
        values = X[name].to_pandas().astype("category").cat.codes.to_numpy()
        columns.append(values)
    found: dict[str, np.ndarray] = {}
    while len(found) < n_segments:
        masks = []
        for column in generator.choice(len(columns), 2, replace=False):
            low, high = np.sort(generator.choice(columns[column], 2))
            masks.append((columns[column] >= low) & (columns[column] <= high))
        mask = masks[0] & masks[1]
        if mask.mean() >= 0.005:
            found[f"group {len(found)}"] = mask
    return found


def measure(n_rows: int, n_segments: int) -> str:
    """One line of the table."""
    traffic = make_traffic(n_rows, random_state=0)
    X, y, p = traffic.X, np.asarray(traffic.y), np.asarray(traffic.scores)
    masks = segments_of(X, n_segments)
    lists = [mask.tolist() for mask in masks.values()]
    given = {"scores": p, "segments": masks}

    few = HKRR(alpha=ALPHA, bin_width=LAMBDA, max_iterations=PASSES)
    slow = PlainHKRR(ALPHA, LAMBDA, PASSES, True, seeds_from(0)[0])
    plain_time = seconds(lambda: slow.fit(p, y, lists), 1)
    hkrr_ratio = plain_time / seconds(lambda: few.fit(X, y, **given))
    same = len(slow.moves) == few.n_updates_
    hkrr = HKRR(alpha=ALPHA, bin_width=LAMBDA)
    hkrr_fit = seconds(lambda: hkrr.fit(X, y, **given))
    hkrr_score = seconds(lambda: hkrr.calibrate(X, p, masks)) / n_rows

    plain_tree = seconds(lambda: plain_dfmc(p.tolist(), y.tolist(), lists, 1), 1)
    dfmc = DFMC()
    dfmc_fit = seconds(lambda: dfmc.fit(X, y, **given))
    dfmc_score = seconds(lambda: dfmc.calibrate(X, p, masks)) / n_rows

    mcgrad = MCGrad()
    mcgrad_fit = seconds(lambda: mcgrad.fit(X, y, scores=p), 1)
    mcgrad_score = seconds(lambda: mcgrad.calibrate(X, p)) / n_rows
    if not same:
        sys.exit("HKRR has made other moves than its pseudo-code.")
    return (
        f"{n_segments:>6,}   {hkrr_fit:>7.3f} {1e6 * hkrr_score:>7.2f} {hkrr_ratio:>8.0f}x"
        f"   {dfmc_fit:>7.3f} {1e6 * dfmc_score:>7.2f} {plain_tree / (dfmc_fit / dfmc.n_estimators):>8.0f}x"
        f"   {mcgrad_fit:>7.3f} {1e6 * mcgrad_score:>7.2f}"
    )


def main() -> None:
    """Print a line a number of segments."""
    n_rows = int(sys.argv[1]) if len(sys.argv) > 1 else ROWS
    warnings.simplefilter("ignore", ConvergenceWarning)  # two passes are meant to be too few
    print(describe())
    print(f"{n_rows:,} rows; seconds to fit, microseconds a row to score, and times faster than row by row")
    print(f"{'':6}   {'HKRR':<25}   {'DFMC':<25}   {'MCGrad':<15}")
    print(f"{'segments':>6}" + 2 * f"   {'fit s':>7} {'µs/row':>7} {'faster':>9}" + f"   {'fit s':>7} {'µs/row':>7}")
    with OtherWork() as others:
        for n_segments in SEGMENTS:
            print(measure(n_rows, n_segments), flush=True)
    print(others)


if __name__ == "__main__":
    main()
