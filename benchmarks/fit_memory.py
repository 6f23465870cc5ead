"""How much memory a fit needs above its table: twenty features, five folds, each contestant in a process of its own.

python benchmarks/fit_memory.py [--quick]
"""

from __future__ import annotations

import json
import logging
import subprocess
import sys
import warnings

from machine import PeakMemory, describe, free_memory, has_peer
from measured import Measurements
from scoring import CATEGORICAL, NUMERICAL, traffic
from trueup import MCGrad

ROWS, QUICK_ROWS = 1_000_000, 200_000
PEER_ROUNDS = 2  # its memory does not grow with rounds, its time does
PEER_MB = 8_000
REPEATS = 3


def ours(n_rows: int) -> float:
    """MB above the table, with our defaults but folds."""
    X, y, p = traffic(n_rows)
    MCGrad(max_rounds=1, validation=2).fit(X[:5000], y[:5000], scores=p[:5000])  # what imports cost is not the fit's
    with PeakMemory() as memory:
        MCGrad(validation=5).fit(X, y, scores=p)
    return memory.above


def theirs(n_rows: int) -> float:
    """MB above the frame, with the peer's defaults."""
    from mcgrad import methods

    X, y, p = traffic(n_rows)
    frame = X.assign(p=p, y=y)
    roles = {
        "prediction_column_name": "p",
        "categorical_feature_column_names": CATEGORICAL,
        "numerical_feature_column_names": NUMERICAL,
    }
    methods.MCGrad(num_rounds=1).fit(frame[:5000], label_column_name="y", **roles)
    with PeakMemory() as memory:
        methods.MCGrad(num_rounds=PEER_ROUNDS).fit(frame, label_column_name="y", **roles)
    return memory.above


CONTESTANTS = {"trueup": ours, "mcgrad": theirs}


def in_fresh_process(who: str, n_rows: int) -> float:
    """What a contestant needs, run by itself."""
    command = [sys.executable, __file__, "--job", who, str(n_rows)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return float(json.loads(done.stdout.splitlines()[-1]))


def main() -> None:
    """Measure and print, or do one job of it and tell what it found."""
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    if sys.argv[1:2] == ["--job"]:
        print(json.dumps(CONTESTANTS[sys.argv[2]](int(sys.argv[3]))))
        return
    n_rows = QUICK_ROWS if "--quick" in sys.argv else ROWS
    who = ["trueup"] + (["mcgrad"] if has_peer() and free_memory() > PEER_MB else [])
    print(describe() + "\n")
    with Measurements("fit_memory") as measurements:
        found = {name: [in_fresh_process(name, n_rows) / 1024 for _ in range(REPEATS)] for name in who}
        what = f"memory of a fit above its table, {n_rows:,} rows, 5 folds"
        measurements.add(what, "GiB", found, note="our defaults but folds; the peer's own defaults, two rounds")


if __name__ == "__main__":
    main()
