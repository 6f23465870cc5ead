"""What scoring and auditing tables larger than memory takes, which must not grow with their rows.

Parquet files of 250,000 rows each, with ten columns of strings, ten of floats, labels and scores, are made once. Each
command runs in a process of its own, of which the most memory it ever held and the seconds are kept.

    python benchmarks/streams.py [--quick]      5,000,000 rows in 20 files beside 1,000,000 in 4; a tenth of that
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from machine import MB, describe
from measured import Measurements
from trueup import MCGrad

ROWS_OF_A_FILE = 25_000 if "--quick" in sys.argv else 250_000
FILES = (4, 20)
LIMIT = 1e9 / MB  # a gigabyte
_KILOBYTE = 1 if sys.platform == "darwin" else 1024  # what the system counts the most memory in


def part(number: int, n: int) -> pa.Table:
    """The rows of one file: categories of 5 to 185 values, of which the first are frequent."""
    rng = np.random.default_rng(number)
    columns: dict[str, pa.Array] = {}
    for i in range(10):
        words = np.array([f"category {i}/{value}" for value in range(5 + 20 * i)])
        chosen = np.minimum(rng.exponential(0.2, n) * len(words), len(words) - 1).astype(np.int64)
        columns[f"category{i}"] = pa.array(words).take(pa.array(chosen))
    for i in range(10):
        columns[f"number{i}"] = pa.array(rng.normal(size=n))
    score = rng.beta(2, 8, n)
    truth = np.where(columns["number0"].to_numpy() > 1, 0.7 * score, score)
    columns["score"] = pa.array(score)
    columns["label"] = pa.array((rng.random(n) < truth).astype(np.int64))
    return pa.table(columns)


def make_files(folder: Path) -> None:
    """The sets, of which the larger begins with the smaller."""
    for files in FILES:
        (folder / f"{files}").mkdir()
        for number in range(files):
            pq.write_table(part(number, ROWS_OF_A_FILE), folder / f"{files}" / f"part-{number:03d}.parquet")
    rows = part(0, 100_000)
    fitted = MCGrad(max_rounds=5, validation=None, rescale="train")
    features = [name for name in rows.column_names if name not in ("label", "score")]
    fitted.fit(rows.select(features), rows["label"], scores=rows["score"].to_numpy()).save(folder / "model.trueup")


def run_command(*arguments: str) -> tuple[float, float]:
    """The most memory that a command held, in MB, and its seconds by the clock."""
    program = "import sys; from trueup.cli import main; main(sys.argv[1:])"
    started = time.perf_counter()
    child = subprocess.Popen([sys.executable, "-c", program, *arguments], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)  # it is no longer there to be waited for
    if child.returncode:
        raise SystemExit(f"trueup {arguments[0]} ended with exit code {child.returncode}")
    return usage.ru_maxrss * _KILOBYTE / MB, time.perf_counter() - started


def main() -> None:
    """Measure both commands on both sets."""
    print(describe())
    with Measurements("streams") as measurements, tempfile.TemporaryDirectory() as folder:
        make_files(Path(folder))
        for files in FILES:
            table = f"{folder}/{files}/*.parquet"
            commands = {
                "apply": [
                    table,
                    "--model",
                    f"{folder}/model.trueup",
                    "--score",
                    "score",
                    "-o",
                    f"{folder}/out.parquet",
                ],
                "audit": [table, "--label", "label", "--score", "score"],
            }
            for command, arguments in commands.items():
                memory, seconds = run_command(command, *arguments)
                rows = f"{files * ROWS_OF_A_FILE:,} rows in {files} files"
                kept = "within" if memory <= LIMIT else "above"
                measurements.add(
                    f"memory of trueup {command}, {rows}",
                    "MB",
                    {"trueup": [memory]},
                    note=f"{seconds:.1f} s by the clock; {kept} a gigabyte",
                )


if __name__ == "__main__":
    main()
