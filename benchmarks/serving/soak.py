"""Whether memory stays flat: single rows in JSON as fast as they are answered, good ones and bad ones, for a long time.

One request in fifty is refused on purpose, one in a thousand comes on a new connection, and now and then a stream of
Arrow is among them. The memory of each worker is looked at twice a second.

    python benchmarks/serving/soak.py [--seconds 600] [--requests 1200000] [--json out.json]
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from loopback import (
    ARROW,
    JSON,
    Connection,
    Server,
    arrow_stream,
    fitted_model,
    http_request,
    resident_mb,
    running_server,
    table_of,
)
from measured_service import finish, quantiles

MAX_SECONDS, MAX_REQUESTS = 3600, 10_000_000
_BATCH = 2_000


async def load(
    server: Server, requests: list[bytes], seconds: float, limit: int, connections: int
) -> tuple[list[float], dict[int, int], list[tuple[float, list[float]]]]:
    """Latencies, counts by status, and memory over time."""
    latencies: list[float] = []
    statuses: dict[int, int] = {}
    memory: list[tuple[float, list[float]]] = []
    numbers = itertools.count()
    start = time.perf_counter()
    done = asyncio.Event()

    async def one() -> None:
        connection = await Connection.to(server.port)
        while (number := next(numbers)) < limit and time.perf_counter() - start < seconds:
            began = time.perf_counter()
            status, _ = await connection.ask(requests[number % len(requests)])
            latencies.append(time.perf_counter() - began)
            statuses[status] = statuses.get(status, 0) + 1
            if number % 1000 == 0:
                connection.close()
                connection = await Connection.to(server.port)
        connection.close()

    async def watch() -> None:
        while not done.is_set():
            memory.append((time.perf_counter() - start, resident_mb(server.workers)))
            try:
                await asyncio.wait_for(done.wait(), 0.5)
            except asyncio.TimeoutError:
                continue

    watcher = asyncio.create_task(watch())
    await asyncio.gather(*(one() for _ in range(connections)))
    done.set()
    await watcher
    return latencies, statuses, memory


def prepared_requests() -> list[bytes]:
    """A thousand requests: nearly all are single rows."""
    table, _, scores = table_of(1000, seed=1)
    rows = table.to_pylist()
    requests = []
    for place, (row, score) in enumerate(zip(rows, scores.tolist(), strict=True)):
        if place % 50 == 49:
            row = {**row, "x0": "no number"}  # noqa: PLW2901
        requests.append(http_request(json.dumps({"rows": [row], "scores": [score]}).encode(), JSON))
    batch, _, batch_scores = table_of(_BATCH, seed=2)
    requests[500] = http_request(arrow_stream(batch, batch_scores), ARROW)
    return requests


def measure(seconds: float, limit: int, connections: int, workers: int) -> dict[str, Any]:
    """Start a server, load it, and say what came of it."""
    with (
        tempfile.TemporaryDirectory() as folder,
        running_server(fitted_model(Path(folder)), workers=workers) as server,
    ):
        began = time.perf_counter()
        latencies, statuses, memory = asyncio.run(load(server, prepared_requests(), seconds, limit, connections))
        took = time.perf_counter() - began
    times = np.array([at for at, _ in memory])
    of_all = np.array([sum(of_workers) for _, of_workers in memory])
    warm = times >= 0.1 * took  # what is loaded lazily is there by then
    tenth = max(1, int(warm.sum()) // 10)
    return {
        "what": "soak",
        "seconds": took,
        "workers": workers,
        "requests": len(latencies),
        "requests a second": len(latencies) / took,
        "statuses": {str(status): count for status, count in sorted(statuses.items())},
        "MB of all workers after a tenth of the time": float(np.median(of_all[warm][:tenth])),
        "MB of all workers at the end": float(np.median(of_all[warm][-tenth:])),
        "MB at the most": float(of_all.max()),
        **quantiles(latencies),
        "memory": [[round(at, 1), *(round(mb, 1) for mb in of_workers)] for at, of_workers in memory],
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--requests", type=int, default=MAX_REQUESTS)
    parser.add_argument("--connections", type=int, default=8)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--json")
    given = parser.parse_args()
    finish(
        measure(min(given.seconds, MAX_SECONDS), min(given.requests, MAX_REQUESTS), given.connections, given.workers),
        given.json,
    )
