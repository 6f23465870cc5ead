"""How much memory a fit needs above its table: a million rows, twenty features, five folds.

python benchmarks/fit_memory.py [rows]
"""

from __future__ import annotations

import resource
import sys
import threading
import time
from pathlib import Path

from machine import describe
from scoring import traffic
from trueup import MCGrad

MB = 2**20


def resident() -> float:
    """The memory of this process now, in MB."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / MB


def main() -> None:
    """Fit, watch and print."""
    n_rows = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    X, y, p = traffic(n_rows)
    MCGrad(max_rounds=1, validation=2).fit(X[:5000], y[:5000], scores=p[:5000])  # what imports cost is not the fit's
    before = resident()
    peak, done = [before], threading.Event()

    def watch() -> None:
        while not done.wait(0.02):
            peak[0] = max(peak[0], resident())

    watcher = threading.Thread(target=watch)
    watcher.start()
    started = time.perf_counter()
    model = MCGrad(validation=5).fit(X, y, scores=p)
    seconds = time.perf_counter() - started
    done.set()
    watcher.join()
    table, rounds = X.memory_usage(deep=True).sum() / MB, len(model.history_) - 1
    print(describe())
    print(f"{n_rows:,} rows × {X.shape[1]} features, 5 folds: {rounds} rounds tried, {model.n_rounds_} kept")
    print(
        f"table {table:,.0f} MB; process before the fit {before:,.0f} MB, at its peak {peak[0]:,.0f} MB:",
        end=" ",
    )
    print(f"{(peak[0] - before) / 1024:.2f} GB above")
    in_rounds = sum(record.seconds for record in model.history_)
    print(f"{seconds:.1f} s, of which {in_rounds:.1f} s in rounds and the rest in the fit on all rows")


if __name__ == "__main__":
    main()
