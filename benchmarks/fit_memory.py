"""How much memory a fit needs above its table: a million rows, twenty features, five folds.

python benchmarks/fit_memory.py [rows]
"""

from __future__ import annotations

import sys
import time

from machine import MB, PeakMemory, describe
from scoring import traffic
from trueup import MCGrad


def main() -> None:
    """Fit, watch and print."""
    n_rows = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    X, y, p = traffic(n_rows)
    MCGrad(max_rounds=1, validation=2).fit(X[:5000], y[:5000], scores=p[:5000])  # what imports cost is not the fit's
    with PeakMemory() as memory:
        started = time.perf_counter()
        model = MCGrad(validation=5).fit(X, y, scores=p)
        seconds = time.perf_counter() - started
    table, rounds = X.memory_usage(deep=True).sum() / MB, len(model.history_) - 1
    print(describe())
    print(f"{n_rows:,} rows × {X.shape[1]} features, 5 folds: {rounds} rounds tried, {model.n_rounds_} kept")
    print(
        f"table {table:,.0f} MB; process before the fit {memory.before:,.0f} MB, at its peak {memory.peak:,.0f} MB:",
        end=" ",
    )
    print(f"{memory.above / 1024:.2f} GB above")
    in_rounds = sum(record.seconds for record in model.history_)
    print(f"{seconds:.1f} s, of which {in_rounds:.1f} s in rounds and the rest in the fit on all rows")


if __name__ == "__main__":
    main()
