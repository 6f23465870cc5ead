"""A fit on two Dask workers of one thread each beside fits in one process with two threads, on the same files.

They take turns and hold out the same rows. Told are rounds, the log loss of new rows, seconds, what crossed the
scheduler in all and a round, and how that is for fewer rows: rounds must not send more when there are more rows.

    python benchmarks/dask_fit.py --folder FOLDER [--rows 3000000] [--repeats 3] [--write PAGE]
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # threads that wait must not take the other process's core

import numpy as np
from tornado.iostream import IOStream

from huge_table import COLUMNS, HOLD_OUT, huge_table, in_memory, piece_of
from machine import describe
from measured import Measurements
from trueup import MCGrad
from trueup.distributed import fit_dask
from trueup.metrics import log_loss

NEW_ROWS = 500_000
IDLE_SECONDS = 20
BEGIN, END = "<!-- dask -->", "<!-- end of dask -->"


class SchedulerBytes:
    """What the scheduler, which runs in this process, sends and receives: all bytes of the sockets at its port."""

    def __init__(self, address: str) -> None:
        self._port, self.total = int(address.rpartition(":")[2]), 0

    @contextmanager
    def counting(self) -> Iterator[SchedulerBytes]:
        """Count inside of a `with` block."""
        read, write = IOStream.read_from_fd, IOStream.write_to_fd

        def counted(function: Callable[[Any, Any], int | None]) -> Callable[[Any, Any], int | None]:
            def count(stream: Any, data: Any) -> int | None:
                ours = stream.socket is not None and stream.socket.getsockname()[1] == self._port
                n_bytes = function(stream, data)
                self.total += (n_bytes or 0) if ours else 0
                return n_bytes

            return count

        IOStream.read_from_fd, IOStream.write_to_fd = counted(read), counted(write)
        try:
            yield self
        finally:
            IOStream.read_from_fd, IOStream.write_to_fd = read, write


def of_a_table(place: Path) -> MCGrad:
    """A fit of a table in memory, the reading of it counted."""
    given = in_memory(place)
    return MCGrad(**given["options"]).fit(**given["rows"])


def of_a_stream(place: Path) -> MCGrad:
    """A fit of files that are read batch by batch."""
    return MCGrad(validation=HOLD_OUT).fit_stream(place, **COLUMNS)


def on_workers(place: Path, **options: Any) -> MCGrad:
    """A fit of files that the workers read."""
    import dask.dataframe as dd

    return fit_dask(dd.read_parquet(str(place)), estimator=MCGrad(validation=HOLD_OUT, **options), **COLUMNS)


def loss_of(model: Any) -> float:
    """The log loss of new rows."""
    new = piece_of(NEW_ROWS, 10**6)
    return log_loss(new["y"].to_numpy(), model.calibrate(new))


def idle_bytes(counter: SchedulerBytes) -> float:
    """What crosses the scheduler in a second while nothing is done: workers tell it how they are."""
    before = counter.total
    time.sleep(IDLE_SECONDS)
    return (counter.total - before) / IDLE_SECONDS


def bytes_a_round(place: Path, counter: SchedulerBytes, idle: float) -> tuple[float, float]:
    """What crosses the scheduler before the first round and after the last, and in a round; but for idle talk."""
    totals = []
    for rounds in (1, 3):
        before, started = counter.total, time.perf_counter()
        model = on_workers(place, max_rounds=rounds, patience=10)
        crossed = counter.total - before - idle * (time.perf_counter() - started)
        totals.append((crossed, 2 * len(model.history_[1:])))  # searched, and grown again on all rows
    (few, few_rounds), (many, many_rounds) = totals
    each = (many - few) / (many_rounds - few_rounds)
    return few - each * few_rounds, each


def main() -> None:
    """Measure, print, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, required=True, help="where the table is made, and stays")
    parser.add_argument("--rows", type=int, default=3_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--write", type=Path, help="the page that gets a table of it")
    asked = parser.parse_args()
    place, smaller = huge_table(asked.folder, asked.rows), huge_table(asked.folder, asked.rows // 10)
    print(describe())

    from distributed import Client, LocalCluster

    options = {"threads_per_worker": 1, "processes": True, "dashboard_address": None, "host": "127.0.0.1"}
    # The cluster ends first, so that the work of its processes counts as ours.
    with Measurements("dask_fit") as measurements, LocalCluster(n_workers=2, **options) as cluster, Client(cluster):
        counter = SchedulerBytes(cluster.scheduler_address)
        with counter.counting():
            on_workers(smaller, max_rounds=1)  # workers import what they need, and functions are sent once
            idle = idle_bytes(counter)
            tables = {asked.rows // 10: smaller, asked.rows: place}
            sent = {rows: bytes_a_round(at, counter, idle) for rows, at in tables.items()}
        jobs: dict[str, Callable[[Path], Any]] = {"fit": of_a_table, "fit_stream": of_a_stream, "Dask": on_workers}
        seconds: dict[str, list[float]] = {name: [] for name in jobs}
        models = {}
        for _ in range(asked.repeats):
            for name, job in jobs.items():
                started = time.perf_counter()
                models[name] = job(place)
                seconds[name].append(time.perf_counter() - started)
                print(f"{name}: {seconds[name][-1]:.1f} s", flush=True)
        losses = {name: loss_of(model) for name, model in models.items()}
        lines = [f"{describe()}; {asked.rows:,} rows, {asked.repeats} times in turn.", ""]
        lines += ["| | rounds | log loss of new rows | seconds (least – most) | of `fit` | of `fit_stream` |"]
        lines += ["|---|---|---|---|---|---|"]
        for name, model in models.items():
            ratios = [np.divide(seconds[name], seconds[other]) for other in ("fit", "fit_stream")]
            measurements.add_row(what=name, rows=asked.rows, rounds=model.n_rounds_, loss=losses[name])
            measurements.add(f"fit of {asked.rows:,} rows, {name}", "s", {"trueup": seconds[name]})
            lines.append(
                f"| {name} | {model.n_rounds_} of {len(model.history_) - 1} | {losses[name]:.5f} | "
                f"{median(seconds[name]):.1f} ({min(seconds[name]):.1f} – {max(seconds[name]):.1f}) | "
                f"{median(ratios[0]):.2f} | {median(ratios[1]):.2f} |"
            )
        lines += ["", "| rows | crossed the scheduler once | in a round |", "|---|---|---|"]
        for rows, (once, each) in sent.items():
            measurements.add_row(what="scheduler", rows=rows, once=once, each=each)
            lines.append(f"| {rows:,} | {once / 1e3:,.0f} kB | {each / 1e3:,.0f} kB |")
        lines += [
            "",
            f"Besides, Dask's workers and its scheduler exchange {idle / 1e3:.0f} kB a second when they do nothing.",
        ]
    text = "\n".join(lines)
    print(f"\n{text}")
    if asked.write:
        before, _, rest = asked.write.read_text("utf-8").partition(BEGIN)
        _, _, after = rest.partition(END)
        asked.write.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
