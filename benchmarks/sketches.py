"""What sketches cost, in seconds, bytes and memory, and how tight their bounds are.

Seconds are of the processor, all threads together, for they move less when the machine is busy; the clock's are beside
them. Bounds are compared with the exact values of an audit of the same rows.

    python benchmarks/sketches.py [--quick] [a] [b] [c] [d]      costs, bounds, memory of a stream, false alarms
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pandas as pd
import pyarrow as pa

import trueup
from machine import MB, PeakMemory, describe
from measured import Measurements
from paper.tasks import base_scores, load_task
from scoring import traffic
from trueup._data import read_table
from trueup.auditing import SketchSpec, audit_stream, load_sketch, make_sketch
from trueup.segments import cross_columns, grid_of, measure_segments, sort_rows

MANY_ROWS = 200_000 if "--quick" in sys.argv else 1_000_000
SAMPLE = 100_000
TASKS = ["Marketing", "Credit", "HMDA", "ACSIncomeCA", "ACSMobility", "ACSPublic", "ACSTravel"]
T = TypeVar("T")


def timed(measurements: Measurements, what: str, run: Callable[[], T], note: str = "") -> T:
    """Do something and keep what it took."""
    clock, processor = time.perf_counter(), time.process_time()
    found = run()
    seconds, on_clock = time.process_time() - processor, time.perf_counter() - clock
    measurements.add(what, "s of the processor", {"trueup": [seconds]}, note=note or f"{on_clock:.2f} s by the clock")
    return found


def costs(measurements: Measurements) -> None:
    """(a) A million rows, twenty features, segments of up to three of them."""
    print(f"\n(a) {MANY_ROWS:,} rows, 20 features, depth 3")
    X, y, p = traffic(MANY_ROWS)
    weights = np.random.default_rng(1).exponential(size=len(y))
    spec = timed(measurements, "learn a spec from 100,000 rows", lambda: SketchSpec.learn(X[:SAMPLE], p[:SAMPLE]))
    print(f"  {spec}")
    weighted = SketchSpec.learn(X[:SAMPLE], p[:SAMPLE], sample_weight=weights[:SAMPLE])
    half = MANY_ROWS // 2
    whole = timed(measurements, f"sketch {MANY_ROWS:,} rows", lambda: make_sketch(X, y, p, spec))
    timed(
        measurements,
        f"sketch {MANY_ROWS:,} rows with weights",
        lambda: make_sketch(X, y, p, weighted, sample_weight=weights),
    )
    one, other = (make_sketch(X[part], y[part], p[part], spec) for part in (slice(half), slice(half, None)))
    merged = timed(measurements, "merge two sketches", lambda: one.merge(other))
    assert merged == whole
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sketch.arrow"
        timed(measurements, "save a sketch", lambda: whole.save(path))
        size = path.stat().st_size
        timed(measurements, "load a sketch", lambda: load_sketch(path))
    measurements.add("file of a sketch", "MB", {"trueup": [size / 1e6]}, note=f"{len(whole.sums.cell):,} segments")
    result = timed(measurements, "audit a sketch", whole.audit, note=f"{whole.audit()}")
    timed(measurements, "all its segments as a table", lambda: result.segments)


def exact_errors(y: Any, p: Any, X: Any) -> dict[str, tuple[float, float]]:
    """The ECCE of every segment and the same in sigmas, by its words, from the rows themselves."""
    rows = sort_rows(np.asarray(y, dtype=np.float64), np.asarray(p))
    grid = grid_of(cross_columns(read_table(X)))
    cells = grid.cells(rows, grid.codes_in_order(rows))
    options: dict[str, Any] = {"min_rows": 10, "min_variance": 1.0, "max_segments": None, "n_threads": 2}
    sums = measure_segments(rows, grid, cells, **options)
    places = zip(sums.combination.tolist(), sums.cell.tolist(), strict=True)
    errors = zip((sums.range / sums.weight).tolist(), sums.sigmas.tolist(), strict=True)
    return {str(grid.segment(*place)): error for place, error in zip(places, errors, strict=True)}


def widths(y: Any, p: Any, X: Any) -> list[dict[str, Any]]:
    """How wide the bounds of segments are, by depth, in sigmas; and how far values at the ends of bins are off."""
    spec = SketchSpec.learn(X, p)
    sketch = make_sketch(X, y, p, spec)
    found = {row["segment"]: row for row in sketch.audit().segments.to_pylist()}
    exact = exact_errors(y, p, X)
    rows = []
    assert found.keys() == exact.keys()
    for words, bounds in found.items():
        error, sigmas = exact[words]
        assert bounds["ecce_low"] <= error <= bounds["ecce_high"], words
        depth = 0 if words == "all rows" else 1 + words.count(" and ")
        wide = bounds["ecce_sigma_high"] - bounds["ecce_sigma_low"]
        rows.append((depth, wide, sigmas - bounds["ecce_sigma"], bounds["ecce_high"] - bounds["ecce_low"]))
    table = pd.DataFrame(rows, columns=["depth", "width_sigma", "off_sigma", "width"])
    told = []
    for depth, some in table.groupby("depth"):
        told.append(
            {
                "depth": int(depth),
                "bins": spec.n_bins[int(depth)],
                "segments": len(some),
                "width, median σ": round(float(some.width_sigma.median()), 3),
                "width, largest σ": round(float(some.width_sigma.max()), 2),
                "off, median σ": round(float(some.off_sigma.median()), 4),
                "off, largest σ": round(float(some.off_sigma.max()), 3),
                "width, median of ECCE": float(f"{some.width.median():.2g}"),
            }
        )
    return told


def bounds(measurements: Measurements) -> None:
    """(b) How tight the bounds are, on simulated rows and on the paper's tasks."""
    cases: dict[str, Callable[[], tuple[Any, Any, Any]]] = {}
    for n in (100_000, MANY_ROWS):
        cases[f"simulated, {n:,} rows"] = lambda n=n: _first_three(n)
    for name in [] if "--quick" in sys.argv else TASKS:
        cases[name] = lambda name=name: _of_task(name)
    for name, rows_of in cases.items():
        try:
            y, p, X = rows_of()
        except trueup.errors.DataFileError as error:
            print(f"\n(b) {name}: left out, {error}")
            continue
        print(f"\n(b) {name}, {len(y):,} rows")
        table = pd.DataFrame(widths(y, p, X))
        print(table.to_string(index=False))
        measurements.rows += [{"data": name, "rows": len(y), **row} for row in table.to_dict("records")]


def _first_three(n: int) -> tuple[Any, Any, Any]:
    X, y, p = traffic(n)
    return y, p, X


def _of_task(name: str) -> tuple[Any, Any, Any]:
    task = load_task(name)
    scores = base_scores(task)
    return task.y[task.test], scores[task.test], task.X.take(task.test)


def memory(measurements: Measurements) -> None:
    """(c) The memory of a stream, which must not grow with its rows; each in a process of its own."""
    print("\n(c) audit_stream, 20 features, depth 3")
    for n in (MANY_ROWS, 4 * MANY_ROWS):
        done = subprocess.run(
            [sys.executable, __file__, "--stream", str(n)], check=True, capture_output=True, text=True
        )
        facts = json.loads(done.stdout.splitlines()[-1])
        measurements.add(
            f"memory of audit_stream, {n:,} rows", "MB", {"trueup": [facts["above"]]}, note=f"{facts['seconds']:.1f} s"
        )


def stream(n: int) -> None:
    """The job of (c): batches of 65,536 rows, made as they are asked for."""
    X, y, p = traffic(65_536)
    table = (
        pa.Table.from_pandas(X, preserve_index=False).append_column("y", pa.array(y)).append_column("p", pa.array(p))
    )
    audit_stream([table.slice(0, 1000)], label="y", score="p", max_depth=1)  # all that is loaded once

    def batches() -> Iterator[pa.Table]:
        rng = np.random.default_rng(0)
        for begin in range(0, n, len(table)):
            yield table.take(rng.permutation(len(table))[: n - begin])

    with PeakMemory() as peak:
        started = time.process_time()
        audit_stream(batches(), label="y", score="p")
        seconds = time.process_time() - started
    print(json.dumps({"above": peak.above, "seconds": seconds, "unit": MB}))


def false_alarms(measurements: Measurements) -> None:
    """(d) How often true scores raise an alarm at level 5 %, with and without what the sketch leaves out."""
    runs = 100 if "--quick" in sys.argv else 400
    for base_rate in (0.3, 0.016):
        alarms = segments = 0
        for seed in range(runs):
            y, p, X = true_rows(seed, base_rate)
            found = make_sketch(X, y, p, SketchSpec.learn(X, p, score_bins=100)).audit()
            alarms, segments = alarms + found.significant, found.n_segments
        what = f"alarms of {runs} audits of true scores, 5,000 rows, {segments:,} segments, {base_rate:.1%} positive"
        measurements.add(
            what, "alarms", {"trueup": [float(alarms)]}, note=f"at level 5 %, at most {0.05 * runs:.0f} are due"
        )


def true_rows(seed: int, base_rate: float) -> tuple[Any, Any, pd.DataFrame]:
    """Labels drawn from their scores, and six features."""
    rng = np.random.default_rng(seed)
    n = 5_000
    X = pd.DataFrame(
        {f"c{i}": rng.choice(list("abcd"), n) for i in range(3)} | {f"x{i}": rng.normal(size=n) for i in range(3)}
    )
    p = 1 / (1 + np.exp(-(rng.normal(size=n) + 0.3 * X.x0 + np.log(base_rate / (1 - base_rate)) - 0.3)))
    return (rng.random(n) < p).astype(int), p.to_numpy(), X


def main() -> None:
    """Run what was asked for."""
    if "--stream" in sys.argv:
        stream(int(sys.argv[-1]))
        return
    print(describe())
    chosen = [argument for argument in sys.argv[1:] if argument in tuple("abcd")] or list("abcd")
    with Measurements("sketches", partial=len(chosen) < 4) as measurements:
        for name, run in (("a", costs), ("b", bounds), ("c", memory), ("d", false_alarms)):
            if name in chosen:
                run(measurements)


if __name__ == "__main__":
    main()
