"""Fits, scores and audits of tables that are larger than the memory they may take, each in a process of its own.

(a) a fit of all rows with a hold-out, in a process whose address space is limited to 6 GB; (b) scores and an audit of
all rows, of which the resident memory should stay below 1 GB; (c) the fit of a stream beside a fit in memory on a part
of the rows: rounds, log loss of new rows, seconds and memory.

python benchmarks/out_of_core.py --folder FOLDER [--rows 20000000] [--subset 2000000] [--write PAGE] [a] [b] [c]
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from huge_table import CATEGORIES, COLUMNS, HOLD_OUT, NUMBERS, huge_table, in_memory, piece_of
from machine import describe
from measured import Measurements

LIMIT_GB = 6
SCORING_GOAL_MB = 1_000
NEW_ROWS = 200_000
FEATURES = [*CATEGORIES, *NUMBERS]
BEGIN, END = "<!-- out of core -->", "<!-- end of out of core -->"


def peak_mb() -> float:
    """The most memory that this process has had; `ru_maxrss` would count that of who started it too."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def facts_of(model: Any) -> dict[str, Any]:
    """What a fit came to."""
    from trueup.metrics import log_loss

    new = piece_of(NEW_ROWS, 10**6)
    return {
        "rounds": model.n_rounds_,
        "tried": len(model.history_) - 1,
        "base loss": log_loss(new["y"].to_numpy(), new["p"].to_numpy()),
        "loss": log_loss(new["y"].to_numpy(), model.calibrate(new)),
        "validation losses": [round(record.validation_loss, 6) for record in model.history_],
    }


def fit_stream(folder: Path, n_rows: int) -> dict[str, Any]:
    """Fit the files of the folder, and keep the model beside them."""
    from trueup import MCGrad

    model = MCGrad(validation=HOLD_OUT, verbose=1).fit_stream(huge_table(folder, n_rows), **COLUMNS)
    model.save(model_path(folder, n_rows))
    return {"peak MB": peak_mb(), **facts_of(model)}


def fit_in_memory(folder: Path, n_rows: int) -> dict[str, Any]:
    """Fit the same rows as a table in memory; the same of them are held out."""
    from trueup import MCGrad

    given = in_memory(huge_table(folder, n_rows))
    model = MCGrad(**given["options"]).fit(**given["rows"])
    return {"peak MB": peak_mb(), **facts_of(model)}


def calibrate_stream(folder: Path, n_rows: int) -> dict[str, Any]:
    """Score the files of the folder."""
    import trueup

    tables = trueup.load(model_path(folder, n_rows)).calibrate_stream(huge_table(folder, n_rows))
    n_scored = sum(table.num_rows for table in tables)
    assert n_scored == n_rows, n_scored
    return {"peak MB": peak_mb()}


def audit_stream(folder: Path, n_rows: int) -> dict[str, Any]:
    """Audit the files of the folder."""
    from trueup.auditing import audit_stream as audit

    result = audit(huge_table(folder, n_rows), label="y", score="p", features=FEATURES)
    return {"peak MB": peak_mb(), "segments": result.n_segments}


JOBS: dict[str, Callable[[Path, int], dict[str, Any]]] = {
    job.__name__: job for job in (fit_stream, fit_in_memory, calibrate_stream, audit_stream)
}


def model_path(folder: Path, n_rows: int) -> Path:
    """Where the model of a fit is kept for what scores with it."""
    return folder / f"huge-{n_rows}.trueup"


def run(job: str, folder: Path, n_rows: int, limit_gb: float | None = None) -> dict[str, Any]:
    """Do a job in a process of its own, and tell what it found and how many seconds it took."""
    command = [sys.executable, __file__, "--job", job, "--folder", str(folder), "--rows", str(n_rows)]
    if limit_gb is not None:
        command += ["--limit", str(limit_gb)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def do_job(job: str, folder: Path, n_rows: int, limit_gb: float | None) -> None:
    """What the other process does."""
    if limit_gb is not None:
        resource.setrlimit(resource.RLIMIT_AS, (int(limit_gb * 2**30),) * 2)
    started = time.perf_counter()
    found = JOBS[job](folder, n_rows)
    print(json.dumps({"seconds": time.perf_counter() - started, **found}))


def told_of_fit(found: dict[str, Any]) -> str:
    """A fit in words."""
    return (
        f"{found['rounds']} rounds kept, {found['tried']} tried, {found['seconds']:.0f} s; log loss of {NEW_ROWS:,} "
        f"new rows {found['base loss']:.5f} → {found['loss']:.5f}"
    )


def fit_all(measurements: Measurements, folder: Path, n_rows: int) -> None:
    """(a) A fit of all rows."""
    print(f"\n(a) fit_stream of {n_rows:,} rows and {len(FEATURES)} features in {LIMIT_GB} GB of address space")
    found = run("fit_stream", folder, n_rows, LIMIT_GB)
    measurements.add_row(what="fit_stream", rows=n_rows, **found)
    what = f"memory of fit_stream, {n_rows:,} rows"
    measurements.add(what, "MB", {"trueup": [found["peak MB"]]}, note=told_of_fit(found))
    per_row = found["peak MB"] * 2**20 / n_rows
    print(f"  {per_row:,.0f} bytes a row, the process itself counted; validation losses {found['validation losses']}")


def score_and_audit_all(measurements: Measurements, folder: Path, n_rows: int) -> None:
    """(b) What only reads rows, once."""
    print(f"\n(b) scores and an audit of {n_rows:,} rows, which should take less than {SCORING_GOAL_MB:,} MB")
    if not model_path(folder, n_rows).exists():
        run("fit_stream", folder, n_rows)
    for job in ("calibrate_stream", "audit_stream"):
        found = run(job, folder, n_rows)
        measurements.add_row(what=job, rows=n_rows, **found)
        note = f"{found['seconds']:.0f} s, goal {SCORING_GOAL_MB:,} MB"
        measurements.add(f"memory of {job}, {n_rows:,} rows", "MB", {"trueup": [found["peak MB"]]}, note=note)


def compare_with_memory(measurements: Measurements, folder: Path, n_rows: int) -> None:
    """(c) The fit of a stream beside a fit in memory."""
    print(f"\n(c) fit_stream and fit of {n_rows:,} rows")
    found = {job: run(job, folder, n_rows) for job in ("fit_stream", "fit_in_memory")}
    for job, facts in found.items():
        measurements.add_row(what=job, rows=n_rows, **facts)
        what = f"memory of {job}, {n_rows:,} rows"
        measurements.add(what, "MB", {"trueup": [facts["peak MB"]]}, note=told_of_fit(facts))
    ratio = found["fit_stream"]["loss"] / found["fit_in_memory"]["loss"]
    print(f"  log loss of the stream's model / that of the other: {ratio:.6f}")


def told(rows: list[dict[str, Any]]) -> str:
    """What was measured as a table for a page."""
    lines = ["| what | rows | peak memory | seconds | |", "|---|---|---|---|---|"]
    for row in rows:
        note = f"{row['rounds']} rounds; log loss of new rows {row['loss']:.5f}" if "loss" in row else ""
        lines.append(
            f"| `{row['what']}` | {row['rows']:,} | {row['peak MB']:,.0f} MB | {row['seconds']:,.0f} | {note} |"
        )
    return "\n".join(lines)


def write(rows: list[dict[str, Any]], page: Path) -> None:
    """Put the table into a page, between its marks."""
    before, _, rest = page.read_text("utf-8").partition(BEGIN)
    _, _, after = rest.partition(END)
    page.write_text(f"{before}{BEGIN}\n{describe()}.\n\n{told(rows)}\n{END}{after}", encoding="utf-8")


PARTS = {"a": fit_all, "b": score_and_audit_all, "c": compare_with_memory}


def main() -> None:
    """Measure and print, or do one job of it and tell what it found."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", metavar="a, b, c", help="what to measure; all by default")
    parser.add_argument("--folder", type=Path, required=True, help="where the table is made, and stays")
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--subset", type=int, default=2_000_000)
    parser.add_argument("--write", type=Path, help="the page that gets a table of it")
    parser.add_argument("--job", choices=JOBS, help=argparse.SUPPRESS)
    parser.add_argument("--limit", type=float, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.job:
        do_job(asked.job, asked.folder, asked.rows, asked.limit)
        return
    parts = asked.parts or list(PARTS)
    if not set(parts) <= PARTS.keys():
        parser.error(f"there are parts {', '.join(PARTS)}")
    print(describe())
    with Measurements("out_of_core", partial=bool(asked.parts)) as measurements:
        for part in parts:
            n_rows = asked.subset if part == "c" else asked.rows
            huge_table(asked.folder, n_rows)
            PARTS[part](measurements, asked.folder, n_rows)
    if asked.write:
        write(measurements.rows, asked.write)


if __name__ == "__main__":
    main()
