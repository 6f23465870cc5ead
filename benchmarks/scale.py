"""What each row costs: time and memory of every stage of a fit, how they grow, and what that predicts for more rows.

Stages of `fit_stream` are timed one by one in processes of their own, for several numbers of rows and of features, in
one thread; then fits on Dask workers, with the bytes that crossed the network. Least squares turn these into costs per
row and per value, which give the predictions.

    python benchmarks/scale.py --folder FOLDER [--quick] [--write docs/scale.md]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from huge_table import CATEGORIES, COLUMNS, HOLD_OUT, NUMBERS, huge_table
from machine import MB, OtherWork, describe

ROUNDS = 2
SIZES = [(500_000, 20), (1_000_000, 20), (2_000_000, 20), (1_000_000, 10), (1_000_000, 5)]
CLUSTERS = [(1_000_000, 1), (500_000, 2), (1_000_000, 2), (2_000_000, 2)]
FEATURES = [name for pair in zip(CATEGORIES, NUMBERS, strict=True) for name in pair]
BEGIN, END = "<!-- measured: written by benchmarks/scale.py -->", "<!-- end of measured -->"


@dataclass(frozen=True)
class Cluster:
    """Machines that a prediction is for."""

    name: str
    workers: int
    threads: int
    gb: float  # of each worker


NAMED = [
    Cluster("1 machine of 16 cores and 128 GB", 1, 16, 128),
    Cluster("10 workers of 8 cores and 64 GB", 10, 8, 64),
    Cluster("100 workers of 8 cores and 64 GB", 100, 8, 64),
]
PREDICTED_ROWS = (10**8, 10**9, 10**10)
PREDICTED_ROUNDS = 10
MOST_ROWS = 2**31 - 1  # that LightGBM can count: of more, a part is fitted
THREAD_GAIN = 0.7  # what another thread of a worker adds, of what the first does: an assumption
NETWORK = 1.25e9 / 2  # bytes a second: half of 10 Gbit, an assumption


def resident() -> float:
    """The memory of this process, in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024.0
    raise RuntimeError("no VmRSS")


class Peak:
    """The most memory inside a `with` block, in bytes above its beginning."""

    def __enter__(self) -> Peak:
        self._start, self.most, self._over = resident(), 0.0, threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def _watch(self) -> None:
        while not self._over.wait(0.02):
            self.most = max(self.most, resident() - self._start)

    def __exit__(self, *error: object) -> None:
        self._over.set()
        self._thread.join()


def stages(folder: Path, n_rows: int, n_features: int) -> dict[str, float]:
    """Seconds of each stage, and bytes."""
    from trueup import MCGrad
    from trueup._data import open_stream
    from trueup._fitting import FitOptions, StreamRoles, TableFacts, dealing_for, growth_of
    from trueup._fitting._folds import LocalFold, shared_rescaling
    from trueup._fitting._lightgbm import LightGBMGrower
    from trueup._fitting._packing import PackedStore

    options = FitOptions(**MCGrad(features=FEATURES[:n_features]).get_params())
    stream = open_stream(huge_table(folder, n_rows))
    roles = StreamRoles.among(stream.columns, stream.name, options, label="y", score="p")
    found: dict[str, float] = {"rows": n_rows, "features": n_features}
    clock = time.perf_counter

    def timed(name: str, work: Any) -> Any:
        started = clock()
        result = work()
        found[name] = found.get(name, 0.0) + clock() - started
        return result

    def read(use: Any) -> None:
        first = 0
        for batch in stream.batches(roles.columns):
            use(batch.table, first)
            first += batch.table.num_rows

    with Peak() as peak:
        facts = TableFacts(roles)
        timed("learn", lambda: read(facts.add))
        plan = facts.plan(253)
        store = PackedStore(plan)
        before = resident()
        timed("pack", lambda: read(lambda piece, _: store.add(plan.pack(piece))))
        found["packed bytes"] = resident() - before
        rows = store.rows()
        data = rows.training_data(soft=False)
        (train, valid), *_ = dealing_for(HOLD_OUT, n_rows, 0).splits(rows.labels, soft=False, groups=rows.groups)
        grower = LightGBMGrower(data, growth_of(options, plan.spec, 0), n_threads=1)
        part = LocalFold(data, grower, train, valid, threading.Event())
        timed("first round", lambda: part.grow(1))
        part.finish(shared_rescaling([part.held_out(1)], 1), 1)
        for _ in range(ROUNDS):
            timed("grow", lambda: part.grow(1))
            rescaling = timed("rescale", lambda: shared_rescaling([part.held_out(1)], 1))
            timed("move", lambda rescaling=rescaling: (part.finish(rescaling, 1), part.losses(1)))
    for name in ("grow", "rescale", "move"):
        found[name] /= ROUNDS
    found["bin"] = max(found.pop("first round") - found["grow"], 0.0)
    found["peak bytes"] = peak.most
    return found


def on_cluster(folder: Path, n_rows: int, n_workers: int) -> dict[str, float]:
    """Seconds and bytes of a fit on Dask workers of one thread each."""
    import dask.dataframe as dd
    import psutil
    from distributed import Client, LocalCluster

    from trueup import MCGrad
    from trueup.distributed import fit_dask

    options = {"threads_per_worker": 1, "processes": True, "dashboard_address": None, "host": "127.0.0.1"}
    with LocalCluster(n_workers=n_workers, **options) as cluster, Client(cluster) as client:
        frame = dd.read_parquet(str(huge_table(folder, n_rows)))
        estimator = MCGrad(validation=HOLD_OUT, max_rounds=ROUNDS)
        for _ in range(2):  # the first time, workers import what they need
            sent = psutil.net_io_counters(pernic=True)["lo"].bytes_sent
            started = time.perf_counter()
            model = fit_dask(frame, estimator=estimator, client=client, **COLUMNS)
            seconds = time.perf_counter() - started
            sent = psutil.net_io_counters(pernic=True)["lo"].bytes_sent - sent
        memory = client.run(resident)
    rounds = [record.seconds for record in model.history_[1:]]
    return {
        "rows": n_rows,
        "workers": n_workers,
        "partitions": frame.npartitions,
        "seconds": seconds,
        "round": float(np.mean(rounds)),
        "sent bytes": sent,
        "rounds": 2 * len(rounds),  # the fit on all rows as well
        "worker bytes": float(np.mean(list(memory.values()))),
    }


def in_a_process(name: str, *arguments: object) -> dict[str, float]:
    """What a function of this program gives in a process of its own."""
    command = [sys.executable, __file__, "--only", json.dumps([name, *map(str, arguments)])]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, env=os.environ | {"OMP_WAIT_POLICY": "passive"}
    )
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def fitted(measured: list[dict[str, float]], what: str, *terms: str) -> dict[str, float]:
    """The coefficients of a constant cost, a cost a row and a cost a value, none of them negative."""
    from scipy.optimize import nnls

    columns = {
        "once": lambda one: 1.0,
        "row": lambda one: one["rows"],
        "value": lambda one: one["rows"] * one["features"],
    }
    matrix = np.array([[columns[term](one) for term in terms] for one in measured])
    target = np.array([one[what] for one in measured])
    weight = 1 / target  # relative errors count
    found, _ = nnls(matrix * weight[:, None], target * weight)
    return dict(zip(terms, found.tolist(), strict=True))


class CostModel:
    """Costs of stages, fitted to what was measured."""

    def __init__(self, measured: list[dict[str, float]], clusters: list[dict[str, float]]) -> None:
        self.of = {stage: fitted(measured, stage, "row", "value") for stage in ("learn", "pack", "bin", "grow")}
        self.of |= {stage: fitted(measured, stage, "row") for stage in ("rescale", "move")}
        self.memory = fitted(measured, "peak bytes", "once", "row", "value")
        two = [one for one in clusters if one["workers"] == 2]
        rows = np.array([[1.0, one["rows"] / one["workers"]] for one in two])
        (self.overhead, _), *_ = np.linalg.lstsq(rows, np.array([one["round"] for one in two]), rcond=None)
        self.overhead = max(self.overhead, 0.0)
        self.sent_a_round = float(np.median([one["sent bytes"] / one["rounds"] for one in two]))

    def seconds(self, stage: str, rows: float, features: int) -> float:
        """How long one thread takes."""
        cost = self.of[stage]
        return cost.get("row", 0.0) * rows + cost.get("value", 0.0) * rows * features

    def bytes(self, rows: float, features: int) -> float:
        """How much memory a process takes at the most."""
        return self.memory["once"] + self.memory["row"] * rows + self.memory["value"] * rows * features

    def predicted(self, rows: int, features: int, cluster: Cluster) -> tuple[float, float]:
        """Hours, and GB of a worker."""
        own = rows / cluster.workers
        threads = 1 + THREAD_GAIN * (cluster.threads - 1)
        once = sum(self.seconds(stage, own, features) for stage in ("learn", "pack", "bin"))
        round_ = sum(self.seconds(stage, own, features) for stage in ("grow", "rescale", "move"))
        exchange = 0.0 if cluster.workers == 1 else self.overhead + self.sent_a_round / NETWORK
        seconds = once / threads + 2 * PREDICTED_ROUNDS * (round_ / threads + exchange)
        return seconds / 3600, self.bytes(own, features) / 1e9


def table(header: list[str], rows: list[list[str]]) -> str:
    """A table of Markdown."""
    return "\n".join(f"| {' | '.join(row)} |" for row in [header, ["---"] * len(header), *rows])


def report(measured: list[dict[str, float]], clusters: list[dict[str, float]], other: OtherWork) -> str:
    """All that was measured, the model of it, and what it predicts."""
    model = CostModel(measured, clusters)
    stages_ = ("learn", "pack", "bin", "grow", "rescale", "move")
    parts = [
        f"Measured on {describe()}. {other}",
        "**Seconds of each stage, one thread**, and memory above the beginning:",
        table(
            ["rows", "features", *stages_, "packed", "peak"],
            [
                [f"{one['rows']:,.0f}", f"{one['features']:.0f}", *(f"{one[stage]:.2f}" for stage in stages_)]
                + [f"{one[name] / one['rows']:.0f} B per row" for name in ("packed bytes", "peak bytes")]
                for one in measured
            ],
        ),
        "**What that comes to**, by least squares of relative errors:",
        table(
            ["stage", "when", "ns per row", "ns per value"],
            [
                [stage, "once" if stage in ("learn", "pack", "bin") else "every round"]
                + [f"{1e9 * model.of[stage].get(term, 0.0):.0f}" for term in ("row", "value")]
                for stage in stages_
            ],
        ),
        f"Peak memory: {model.memory['once'] / MB:.0f} MB, {model.memory['row']:.0f} bytes per row, and "
        f"{model.memory['value']:.1f} bytes per value.",
        "**On Dask workers of one thread, on this machine:**",
        table(
            ["rows", "workers", "partitions", "seconds", "seconds per round", "MB sent per round", "MB per worker"],
            [
                [
                    f"{one['rows']:,.0f}",
                    f"{one['workers']:.0f}",
                    f"{one['partitions']:.0f}",
                    f"{one['seconds']:.1f}",
                    f"{one['round']:.2f}",
                    f"{one['sent bytes'] / one['rounds'] / MB:.1f}",
                    f"{one['worker bytes'] / MB:.0f}",
                ]
                for one in clusters
            ],
        ),
        f"Besides the work on rows, a round takes {model.overhead:.1f} s there, however many rows there are.",
        f"**Predicted** for 20 features, {PREDICTED_ROUNDS} rounds searched with a hold-out and fitted again on all "
        f"rows; each further thread is assumed to add {THREAD_GAIN:.0%} of the first, and the network to carry "
        f"{NETWORK / 1e9:.2f} GB a second:",
        table(
            ["rows", *(cluster.name for cluster in NAMED)],
            [
                [f"{rows:.0e}".replace("e+", "e"), *(_cell(model, rows, cluster) for cluster in NAMED)]
                for rows in PREDICTED_ROWS
            ],
        ),
    ]
    return "\n\n".join(parts)


def _cell(model: CostModel, rows: int, cluster: Cluster) -> str:
    fitted_rows = min(rows, MOST_ROWS)
    hours, gb = model.predicted(fitted_rows, 20, cluster)
    if gb > 0.8 * cluster.gb:
        return f"does not fit: {gb:.0f} GB a worker"
    time_ = f"{60 * hours:.0f} min" if hours < 1 else f"{hours:.1f} h"
    return f"{time_}, {gb:.1f} GB a worker" + (f", on {fitted_rows:.1e} of them" if fitted_rows < rows else "")


def main() -> None:
    """Measure, print, and write the page."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--folder", type=Path, required="--only" not in sys.argv)
    parser.add_argument("--quick", action="store_true", help="a tenth of the rows")
    parser.add_argument("--write", type=Path)
    parser.add_argument("--only")
    given = parser.parse_args()
    if given.only:
        name, folder, rows, other = json.loads(given.only)
        print(json.dumps({"stages": stages, "on_cluster": on_cluster}[name](Path(folder), int(rows), int(other))))
        return
    share = 10 if given.quick else 1
    for rows in {rows // share for rows, _ in [*SIZES, *CLUSTERS]}:
        huge_table(given.folder, rows)
    with OtherWork() as other:
        measured = [in_a_process("stages", given.folder, rows // share, features) for rows, features in SIZES]
        clusters = [in_a_process("on_cluster", given.folder, rows // share, workers) for rows, workers in CLUSTERS]
    text = report(measured, clusters, other)
    print(text)
    if given.write:
        page = given.write.read_text(encoding="utf-8")
        head, _, rest = page.partition(BEGIN)
        _, _, tail = rest.partition(END)
        given.write.write_text(f"{head}{BEGIN}\n\n{text}\n\n{END}{tail}", encoding="utf-8")


if __name__ == "__main__":
    main()
