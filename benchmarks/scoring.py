"""What scoring costs: loading, one row, and a million rows of a pandas frame with strings.

Beside Meta's mcgrad where it is installed, on the same rows with a model of as many rounds, interleaved and
repeated; medians and the spread between the quartiles.

    python benchmarks/scoring.py [--quick]
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

import trueup
from machine import describe, has_peer
from measured import Measurements
from trueup import MCGrad

ROUNDS = 20
BURST = 20  # so that a row of ours is not timed with the caches that the peer has just filled
FIT_ROWS = 100_000
CARDINALITIES = [3, 5, 8, 12, 20, 30, 50, 100, 300, 1000]
CATEGORICAL = [f"c{i}" for i in range(len(CARDINALITIES))]
NUMERICAL = [f"x{i}" for i in range(10)]


def traffic(n_rows: int) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """Ten categorical and ten numerical features, labels and scores."""
    rng = np.random.default_rng(0)
    columns: dict[str, np.ndarray] = {}
    for name, k in zip(CATEGORICAL, CARDINALITIES, strict=True):
        columns[name] = np.array([f"v{j}" for j in range(k)])[rng.integers(0, k, n_rows)]
    for name in NUMERICAL:
        columns[name] = rng.normal(size=n_rows)
    X = pd.DataFrame(columns)
    base = rng.normal(size=n_rows) - 1
    effect = 0.8 * (X.c1 == "v1") - 0.5 * (X.x1 > 1) + 0.5 * (X.c5 == "v7") * (X.x2 < 0) + 0.3 * np.sin(3 * X.x3)
    y = (rng.random(n_rows) < 1 / (1 + np.exp(-(base + effect)))).astype(int).to_numpy()
    return X, y, 1 / (1 + np.exp(-base))


def interleaved(contestants: dict[str, Callable[[], object]], repeats: int, scale: float) -> dict[str, list[float]]:
    """Times of each contestant in turn, so that a busy moment hits them alike."""
    times: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(repeats):
        for name, run in contestants.items():
            started = time.perf_counter()
            run()
            times[name].append((time.perf_counter() - started) * scale)
    return times


def fresh_process(code: str, repeats: int = 7) -> list[float]:
    """Seconds that a new interpreter takes for some code, less the bare interpreter's."""
    times = []
    for _ in range(repeats):
        seconds = []
        for program in ("pass", code):
            started = time.perf_counter()
            subprocess.run([sys.executable, "-c", program], check=True)
            seconds.append(time.perf_counter() - started)
        times.append(seconds[1] - seconds[0])
    return times


def main() -> None:
    """Measure and print."""
    n_rows = 200_000 if "--quick" in sys.argv else 1_000_000
    X, y, p = traffic(n_rows)
    head, head_y, head_p = X[:FIT_ROWS], y[:FIT_ROWS], p[:FIT_ROWS]
    ours = MCGrad.paper(max_rounds=ROUNDS, validation=None).fit(head, head_y, scores=head_p)
    print(describe() + "\n")
    with Measurements("scoring") as measurements, tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.trueup"
        ours.save(path)
        calibrator = trueup.load(path)
        model = f"{ROUNDS} rounds of the paper's, 20 features, a model file of {path.stat().st_size / 1e6:.2f} MB"
        one = f"import trueup; trueup.load({str(path)!r}).calibrate_one({head.iloc[0].to_dict()!r}, 0.3)"
        measurements.add("load a model and score one row, in a fresh process", "s", {"trueup": fresh_process(one)})

        table: dict[str, Callable[[], object]] = {"trueup": lambda: calibrator.calibrate(X, p)}
        rows, scores = head[:3000].to_dict("records"), head_p[:3000].tolist()
        turn = iter(range(10**9))

        def score_some() -> None:
            for _ in range(BURST):
                i = next(turn) % 3000
                calibrator.calibrate_one(rows[i], scores[i])

        single: dict[str, Callable[[], object]] = {"trueup": score_some}
        if has_peer():
            from mcgrad import methods

            roles = {
                "prediction_column_name": "p",
                "categorical_feature_column_names": CATEGORICAL,
                "numerical_feature_column_names": NUMERICAL,
            }
            theirs = methods.MCGrad(num_rounds=ROUNDS, early_stopping=False)
            theirs.fit(head.assign(p=head_p, y=head_y), label_column_name="y", **roles)
            frame = X.assign(p=p)
            table["mcgrad"] = lambda: theirs.predict(frame, **roles)
            frames = [frame[i : i + 1] for i in range(200)]
            single["mcgrad"] = lambda: [theirs.predict(frames[next(turn) % 200], **roles) for _ in range(BURST)]
        times = interleaved(table, 5, 1e6 / n_rows)
        measurements.add(f"score {n_rows:,} rows of a pandas frame", "µs a row", times, note=model)
        times = interleaved(single, 25 if has_peer() else 500, 1e6 / BURST)
        measurements.add("score one row", "µs", times, note=f"{model}; in bursts of {BURST}")


if __name__ == "__main__":
    main()
