"""How long single rows in JSON take at a fixed rate.

Requests are due at fixed times, whether earlier ones have been answered or not, and a latency counts from when its
request was due: a server that stalls can't hide it by being asked less.

    python benchmarks/serving/latency.py [--seconds 60] [--rate 500] [--connections 16] [--json out.json]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
import time
from pathlib import Path
from typing import Any

from loopback import JSON, Connection, fitted_model, http_request, running_server, table_of
from measured_service import finish, quantiles

import trueup

MAX_SECONDS, MAX_RATE = 600, 20_000
N_ROWS = 256  # different rows, asked for in turn


async def load(  # noqa: PLR0917
    port: int, requests: list[bytes], expected: list[float], rate: float, seconds: float, connections: int
) -> tuple[list[float], int]:
    """The seconds from when each request was due to its answer, and how many answers were wrong or none."""
    free: asyncio.Queue[Connection] = asyncio.Queue()
    for _ in range(connections):
        free.put_nowait(await Connection.to(port))
    latencies: list[float] = []
    wrong = 0

    async def one(number: int, due: float) -> None:
        nonlocal wrong
        connection = await free.get()
        status, body = await connection.ask(requests[number % len(requests)])
        latencies.append(time.perf_counter() - due)
        free.put_nowait(connection)
        wrong += status != 200 or json.loads(body)["probabilities"] != [expected[number % len(expected)]]

    start = time.perf_counter()
    tasks: set[asyncio.Task[None]] = set()
    for number in range(int(rate * seconds)):
        due = start + number / rate
        if (early := due - time.perf_counter()) > 0:
            await asyncio.sleep(early)
        task = asyncio.create_task(one(number, due))
        tasks.add(task)
        task.add_done_callback(tasks.discard)
    await asyncio.wait_for(asyncio.gather(*tasks), 30)
    while not free.empty():
        free.get_nowait().close()
    return latencies, wrong


def measure(seconds: float, rate: float, connections: int, workers: int) -> dict[str, Any]:
    """Start a server, load it, and say what came of it."""
    with tempfile.TemporaryDirectory() as folder:
        model = fitted_model(Path(folder))
        table, _, scores = table_of(N_ROWS, seed=1)
        calibrator, rows = trueup.load(model), table.to_pylist()
        expected = [calibrator.calibrate_one(row, score) for row, score in zip(rows, scores, strict=True)]
        bodies = [
            json.dumps({"rows": [row], "scores": [float(s)]}).encode() for row, s in zip(rows, scores, strict=True)
        ]
        requests = [http_request(body, JSON) for body in bodies]
        with running_server(model, workers=workers) as server:
            asyncio.run(load(server.port, requests, expected, rate, min(1.0, seconds), connections))  # warm
            began = time.perf_counter()
            latencies, wrong = asyncio.run(load(server.port, requests, expected, rate, seconds, connections))
            took = time.perf_counter() - began
    return {
        "what": "single rows in JSON",
        "seconds": took,
        "workers": workers,
        "connections": connections,
        "rate asked for": rate,
        "requests": len(latencies),
        "requests a second": len(latencies) / took,
        "wrong": wrong,
        **quantiles(latencies),
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--rate", type=float, default=500)
    parser.add_argument("--connections", type=int, default=16)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--json")
    given = parser.parse_args()
    finish(
        measure(min(given.seconds, MAX_SECONDS), min(given.rate, MAX_RATE), given.connections, given.workers),
        given.json,
    )
