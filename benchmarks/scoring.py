"""What scoring costs: imports, loading, one row, and a million rows of a pandas frame with strings.

Beside Meta's mcgrad where it is installed, on the same rows with a model of as many rounds, interleaved and
repeated; medians and the spread between the quartiles.

    python benchmarks/scoring.py [rows]
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


def spread(seconds: list[float]) -> str:
    """The median, and the quartiles."""
    low, middle, high = np.percentile(seconds, [25, 50, 75])
    return f"{middle:10.2f}  ({low:.2f} – {high:.2f})"


def interleaved(contestants: dict[str, Callable[[], object]], repeats: int, scale: float) -> dict[str, list[float]]:
    """Times of each contestant in turn, so that a busy moment hits them alike."""
    times: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(repeats):
        for name, run in contestants.items():
            started = time.perf_counter()
            run()
            times[name].append((time.perf_counter() - started) * scale)
    return times


def show(title: str, times: dict[str, list[float]]) -> None:
    """A line a contestant, and how many times faster ours is."""
    print(title)
    for name, values in times.items():
        print(f"  {name:<16}{spread(values)}")
    if len(times) > 1:
        ours, theirs = (float(np.median(values)) for values in list(times.values())[:2])
        print(f"  ratio           {theirs / ours:10.1f}")


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
    n_rows = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    X, y, p = traffic(n_rows)
    head, head_y, head_p = X[:FIT_ROWS], y[:FIT_ROWS], p[:FIT_ROWS]
    ours = MCGrad(max_rounds=ROUNDS, validation=None, rescale="train").fit(head, head_y, scores=head_p)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.trueup"
        ours.save(path)
        calibrator = trueup.load(path)
        size = path.stat().st_size / 1e6
        print(describe())
        print(
            f"{ROUNDS} rounds, {len(CATEGORICAL)} categorical and {len(NUMERICAL)} numerical features,",
            end=" ",
        )
        print(f"model file {size:.2f} MB\n")
        imports = {"trueup": fresh_process("import trueup")}
        if has_peer():
            imports["mcgrad"] = fresh_process("import mcgrad.methods")
        show("import, seconds", imports)
        one = f"trueup.load({str(path)!r}).calibrate_one({head.iloc[0].to_dict()!r}, 0.3)"
        show(
            "load and score one row in a fresh process, seconds",
            {"trueup": fresh_process(f"import trueup; {one}")},
        )

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
    show(f"{n_rows:,} rows, microseconds a row", interleaved(table, 7, 1e6 / n_rows))
    show(f"one row, microseconds, in bursts of {BURST}", interleaved(single, 25 if has_peer() else 500, 1e6 / BURST))


if __name__ == "__main__":
    main()
