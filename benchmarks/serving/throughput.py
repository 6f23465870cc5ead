"""Rows a second by Arrow streams: a few connections that send a batch as soon as the last one is answered.

Every answer is compared with what the model gives in process.

    python benchmarks/serving/throughput.py [--seconds 60] [--rows 10000] [--connections 4] [--json out.json]
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from loopback import ARROW, Connection, arrow_stream, fitted_model, http_request, running_server, table_of
from measured_service import finish, quantiles

import trueup

MAX_SECONDS = 600


async def load(port: int, request: bytes, expected: bytes, seconds: float, connections: int) -> list[float]:
    """The seconds that each request took; an error if an answer is wrong."""
    latencies: list[float] = []
    end = time.perf_counter() + seconds

    async def one() -> None:
        connection = await Connection.to(port)
        while (began := time.perf_counter()) < end:
            status, body = await connection.ask(request)
            if status != 200 or body != expected:
                raise RuntimeError(f"a wrong answer: {status}, {body[:200]!r}")
            latencies.append(time.perf_counter() - began)
        connection.close()

    await asyncio.gather(*(one() for _ in range(connections)))
    return latencies


async def expected_answer(port: int, request: bytes, calibrated: np.ndarray) -> bytes:
    """The bytes of the right answer, checked against the model."""
    connection = await Connection.to(port)
    status, body = await connection.ask(request)
    connection.close()
    answered = pa.ipc.open_stream(body).read_all()["calibrated"].to_numpy() if status == 200 else np.empty(0)
    if not np.array_equal(answered, calibrated):
        raise RuntimeError(f"a wrong answer: {status}, {body[:200]!r}")
    return body


def measure(seconds: float, n_rows: int, connections: int, workers: int) -> dict[str, Any]:
    """Start a server, load it, and say what came of it."""
    with tempfile.TemporaryDirectory() as folder:
        model = fitted_model(Path(folder))
        table, _, scores = table_of(n_rows, seed=1)
        calibrated = trueup.load(model).calibrate(table, scores)
        request = http_request(arrow_stream(table, scores), ARROW)
        with running_server(model, workers=workers) as server:
            expected = asyncio.run(expected_answer(server.port, request, calibrated))
            asyncio.run(load(server.port, request, expected, min(1.0, seconds), connections))  # warm
            began = time.perf_counter()
            latencies = asyncio.run(load(server.port, request, expected, seconds, connections))
            took = time.perf_counter() - began
    return {
        "what": "Arrow streams",
        "seconds": took,
        "workers": workers,
        "connections": connections,
        "rows a request": n_rows,
        "MB a request": len(request) / 2**20,
        "requests": len(latencies),
        "rows a second": len(latencies) * n_rows / took,
        **quantiles(latencies),
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--connections", type=int, default=4)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--json")
    given = parser.parse_args()
    finish(measure(min(given.seconds, MAX_SECONDS), given.rows, given.connections, given.workers), given.json)
