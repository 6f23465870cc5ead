"""What measuring multicalibration costs, in seconds and in memory: many segments of many rows.

Beside Meta's mcgrad where it is installed: on the same frame, in turn, in double precision, for which the values
can be compared, and in single precision, which is its default and faster.

    python benchmarks/segments.py [--quick] [contest ...]      all of a b c d e, or the ones named
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

import trueup
from machine import MB, PeakMemory, describe, free_memory, has_peer, real_data
from measured import Measurements
from scoring import CATEGORICAL, NUMERICAL, interleaved, traffic
from trueup.metrics import multicalibration_error

MANY_ROWS, FEWER_ROWS = 1_000_000, 100_000
LIMIT = 1_000  # the peer's, of segments
PEER = {"mcgrad, float64": "float64", "mcgrad, float32": "float32"}
PEER_SECONDS = 300
NEEDED = {MANY_ROWS: 4_000, FEWER_ROWS: 8_000}  # MB, for the peer's masks

Facts = dict[str, Any]


def peer_error(frame: pd.DataFrame, precision: str, limit: int | None) -> tuple[float, int]:
    """The peer's MCE, and over how many segments."""
    from mcgrad.metrics import MulticalibrationError

    measured = MulticalibrationError(
        frame,
        "y",
        "p",
        categorical_segment_columns=CATEGORICAL,
        numerical_segment_columns=NUMERICAL,
        max_depth=3,
        max_n_segments=limit,
        precision_dtype=precision,
    )
    return float(measured.mce_sigma), measured.total_number_segments


def peer_fits(rows: int) -> bool:
    """Whether the peer is there, and memory for it; says so if not."""
    if has_peer() and free_memory() < NEEDED[rows]:
        print(f"  mcgrad left out: {free_memory():,.0f} MB are free, and it needs {NEEDED[rows]:,}")
    return has_peer() and free_memory() >= NEEDED[rows]


def keep(
    measurements: Measurements, what: str, times: dict[str, list[float]], goal: float | None, note: str = ""
) -> None:
    """Keep the times, the peer's in single precision, which is its default; the goal is for double precision."""
    ours = float(np.median(times["trueup"]))
    told = [f"{name}: {np.median(seconds) / ours:.1f} ×" for name, seconds in times.items() if name != "trueup"]
    values = {"trueup": times["trueup"]}
    if "mcgrad, float32" in times:
        values["mcgrad"] = times["mcgrad, float32"]
    measurements.add(what, "s", values, goal=goal, note="; ".join([*told, *([note] if note else [])]))


def judge(what: str, value: float, goal: float) -> None:
    """A figure beside its goal."""
    print(f"  {what}: {value:,.1f}, goal ≤ {goal:g}: {'met' if value <= goal else 'MISSED'}")


def compare(found: dict[str, tuple[float, int]]) -> None:
    """Whether all found the same."""
    for name, (error, n_segments) in found.items():
        print(f"  {name:<18} MCE {error:.10f} σ over {n_segments:,} segments")
    (error, n_segments), *others = found.values()
    if any(n != n_segments for _, n in others):
        print("  The segments differ: among equally frequent categories, each package keeps others apart.")
    elif not all(math.isclose(error, other, rel_tol=1e-6) for other, _ in others):
        print("  The MCEs differ: within the limit, each package takes the values of a column in an order of its own.")


def all_in_turn(contestants: dict[str, Callable[[], tuple[float, int]]], repeats: int) -> dict[str, list[float]]:
    """Seconds of each contestant, and what they found, printed."""
    found: dict[str, tuple[float, int]] = {}

    def kept(name: str, run: Callable[[], tuple[float, int]]) -> Callable[[], object]:
        return lambda: found.update({name: run()})

    times = interleaved({name: kept(name, run) for name, run in contestants.items()}, repeats, 1.0)
    compare(found)
    return times


def in_fresh_process(job: str, *arguments: object, limit: float | None = None) -> Facts | None:
    """What a job of this program tells, run by itself; None if it takes longer than the limit."""
    command = [sys.executable, __file__, "--job", job, *map(str, arguments)]
    try:
        done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return None
    facts: Facts = json.loads(done.stdout.splitlines()[-1])
    return facts


def first_segments(measurements: Measurements, rows: int = MANY_ROWS) -> None:
    """(a) Against the peer, within its limit."""
    what = f"MCE of the first {LIMIT:,} segments, {rows:,} rows, from a pandas frame"
    print(f"\n(a) {what}")
    X, y, p = traffic(rows)
    frame = X.assign(p=p, y=y)
    multicalibration_error(y[:5000], p[:5000], X=X[:5000])
    contestants: dict[str, Callable[[], tuple[float, int]]] = {
        "trueup": lambda: (multicalibration_error(y, p, X=X, max_segments=LIMIT), LIMIT)
    }
    if peer_fits(rows):
        for name, precision in PEER.items():
            contestants[name] = lambda precision=precision: peer_error(frame, precision, LIMIT)
    keep(measurements, what, all_in_turn(contestants, 3), goal=25 if rows == MANY_ROWS else None)


def all_segments(measurements: Measurements) -> None:
    """(b) Against the peer, with no limit."""
    what = f"MCE of all segments to depth 3, {FEWER_ROWS:,} rows"
    print(f"\n(b) {what}")
    X, y, p = traffic(FEWER_ROWS)
    tested = trueup.audit(X, y, p, null_samples=0).n_segments
    ours = {"trueup": lambda: multicalibration_error(y, p, X=X)}
    found = {"trueup": (ours["trueup"](), tested)}
    times = interleaved(ours, 5, 1.0)
    peaks = []
    for name, precision in PEER.items():
        if not peer_fits(FEWER_ROWS):
            break
        facts = in_fresh_process("peer_all", precision, limit=PEER_SECONDS)
        if facts is None:
            print(f"  {name}: not done after {PEER_SECONDS} s")
            continue
        times[name], found[name] = [facts["seconds"]], (facts["mce"], facts["n_segments"])
        peaks.append(f"{name} {facts['above']:,.0f} MB")
        times["trueup"] += interleaved(ours, 5, 1.0)["trueup"]
    compare(found)
    note = f"mcgrad measured once; memory above its frame: {'; '.join(peaks)}" if peaks else ""
    keep(measurements, what, times, goal=200, note=note)


def peer_all(precision: str) -> Facts:
    """The job of (b)."""
    X, y, p = traffic(FEWER_ROWS)
    frame = X.assign(p=p, y=y)
    peer_error(frame[:1000], precision, 10)
    with PeakMemory() as memory:
        started = time.perf_counter()
        mce, n_segments = peer_error(frame, precision, None)
        seconds = time.perf_counter() - started
    return {"seconds": seconds, "mce": mce, "n_segments": n_segments, "above": memory.above}


def memory_and_time(measurements: Measurements) -> None:
    """(c) Ours alone, all segments of a million rows."""
    print(f"\n(c) all segments to depth 3, {MANY_ROWS:,} rows, trueup alone")
    for job in ("multicalibration_error", "audit"):
        facts = in_fresh_process("ours_all", job)
        assert facts is not None
        options = ", null_samples=0" if job == "audit" else ""
        what = f"{job}(…{options}), {facts['n_segments']:,} segments, {MANY_ROWS:,} rows"
        measurements.add(what, "s", {"trueup": facts["seconds"]}, note=f"{facts['above']:,.0f} MB above the table")
        judge("seconds", float(np.median(facts["seconds"])), 5)
        judge(f"MB above the table, which has {facts['table']:,.0f}", facts["above"], 300)


def ours_all(name: str) -> Facts:
    """The job of (c)."""
    X, y, p = traffic(MANY_ROWS)

    def run(n: int) -> Any:
        if name == "audit":
            return trueup.audit(X[:n], y[:n], p[:n], null_samples=0).n_segments
        return multicalibration_error(y[:n], p[:n], X=X[:n])

    run(5000)  # what imports cost is not the measurement's
    with PeakMemory() as memory:
        run(MANY_ROWS)
    times = interleaved({"": lambda: run(MANY_ROWS)}, 5, 1.0)[""]
    tested = trueup.audit(X, y, p, null_samples=0).n_segments
    table = float(X.memory_usage(deep=True).sum()) / MB
    return {"seconds": times, "above": memory.above, "table": table, "n_segments": tested}


def with_null(measurements: Measurements) -> None:
    """(d) Ours alone, the search repeated on drawn labels."""
    print(f"\n(d) audit, all segments to depth 3, {FEWER_ROWS:,} rows, 200 draws, trueup alone; seconds")
    X, y, p = traffic(FEWER_ROWS)
    times: dict[str, list[float]] = {"audit": [], ".segments": []}
    for _ in range(3):
        started = time.perf_counter()
        result = trueup.audit(X, y, p)
        audited = time.perf_counter()
        n_listed = len(result.segments)
        times["audit"].append(audited - started)
        times[".segments"].append(time.perf_counter() - audited)
    note = f"{result.n_segments:,} segments, of which {n_listed:,} in the table"
    for name, seconds in times.items():
        what = "audit with 200 draws" if name == "audit" else "its table of segments"
        measurements.add(f"{what}, {FEWER_ROWS:,} rows", "s", {"trueup": seconds}, note=note)
    judge("seconds", float(np.median(times["audit"])), 60)


def wide(_: Measurements) -> None:
    """(e) Ours alone, a real table with many columns."""
    path = real_data("meps_test")
    print("\n(e) audit, all segments to depth 3, 200 draws, MEPS (a subset), trueup alone")
    facts = in_fresh_process("wide_table", path)
    assert facts is not None
    print(f"  {facts['rows']:,} rows × {facts['columns']} columns: {facts['n_segments']:,} segments")
    print(f"  told beforehand: {facts['told'] or 'nothing'}")
    print(f"  without draws {facts['search']:.1f} s; with 200 {facts['audit']:.1f} s; then .segments", end=" ")
    print(f"{facts['table']:.1f} s, {facts['n_listed']:,} rows; peak {facts['above']:,.0f} MB above the start")
    print(f"  MCE {facts['mce']:.2f} σ (p = {facts['p_value']:.3g})")
    if not facts["told"]:
        judge("seconds, or a warning beforehand", facts["audit"], 120)


def wide_table(path: str) -> Facts:
    """The job of (e): scores of a logistic regression, each from the folds without its row."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import cross_val_predict
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    X = pd.read_parquet(path)
    y = X.pop("UTILIZATION").to_numpy().astype(int)
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    p = cross_val_predict(model, X, y, cv=5, method="predict_proba")[:, 1]
    trueup.audit(X.iloc[:, :5], y, p)
    started = time.perf_counter()
    trueup.audit(X, y, p, null_samples=0)
    search = time.perf_counter() - started
    with PeakMemory() as memory, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", trueup.errors.CostWarning)
        started = time.perf_counter()
        result = trueup.audit(X, y, p)
        audited = time.perf_counter()
        n_listed = len(result.segments)
        listed = time.perf_counter()
    return {
        "rows": X.shape[0],
        "columns": X.shape[1],
        "n_segments": result.n_segments,
        "n_listed": n_listed,
        "mce": result.mce,
        "p_value": result.mce_p_value,
        "told": " ".join(str(one.message) for one in caught),
        "search": search,
        "audit": audited - started,
        "table": listed - audited,
        "above": memory.above,
    }


JOBS: dict[str, Callable[..., Facts]] = {"peer_all": peer_all, "ours_all": ours_all, "wide_table": wide_table}
CONTESTS = {"a": first_segments, "b": all_segments, "c": memory_and_time, "d": with_null, "e": wide}


def main() -> None:
    """Measure and print, or do one job of it and tell what it found."""
    if sys.argv[1:2] == ["--job"]:
        print(json.dumps(JOBS[sys.argv[2]](*sys.argv[3:])))
        return
    print(describe())
    print(f"{len(CATEGORICAL)} categorical and {len(NUMERICAL)} numerical features; medians and quartiles")
    quick = "--quick" in sys.argv
    asked = [word for word in sys.argv[1:] if not word.startswith("--")]
    with Measurements("segments", partial=bool(asked)) as measurements:
        if quick:
            first_segments(measurements, FEWER_ROWS)
        for contest in asked or ([] if quick else CONTESTS):
            CONTESTS[contest](measurements)


if __name__ == "__main__":
    main()
