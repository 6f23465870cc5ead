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
    print(describe())
    print(f"{n_rows:,} rows × {X.shape[1]} features, 5 folds: {len(model.history_) - 1} rounds tried, {model.n_rounds_} kept")
    print(f"table {X.memory_usage(deep=True).sum() / MB:,.0f} MB; process before the fit {before:,.0f} MB, at its peak "
          f"{peak[0]:,.0f} MB: {(peak[0] - before) / 1024:.2f} GB above")  # fmt: skip
    print(f"{seconds:.1f} s, of which rounds {sum(r.seconds for r in model.history_):.1f} s and the fit on all rows the rest")


if __name__ == "__main__":
    main()
