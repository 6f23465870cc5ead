"""A server of our own on the loopback, a model to serve, and connections to it. Nothing here leaves the machine."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

sys.path.insert(0, str(Path(__file__).parents[1]))  # where the other benchmarks keep what they share

from trueup import MCGrad

__all__ = [
    "Connection",
    "Server",
    "arrow_stream",
    "fitted_model",
    "http_request",
    "resident_mb",
    "running_server",
    "table_of",
]

ROUNDS = 10
FIT_ROWS = 20_000
CARDINALITIES = [3, 5, 8, 12, 20, 30, 50, 100, 300, 1000]
JSON, ARROW = "application/json", "application/vnd.apache.arrow.stream"
_START_SECONDS = 30.0


def table_of(n_rows: int, seed: int = 0) -> tuple[pa.Table, np.ndarray, np.ndarray]:
    """Ten categorical and ten numerical features, labels and scores."""
    rng = np.random.default_rng(seed)
    codes = [rng.integers(0, k, n_rows) for k in CARDINALITIES]
    columns = {
        f"c{i}": np.array([f"v{j}" for j in range(k)])[code]
        for i, (k, code) in enumerate(zip(CARDINALITIES, codes, strict=True))
    }
    numbers = {f"x{i}": rng.normal(size=n_rows) for i in range(10)}
    logits = numbers["x0"] + 0.5 * np.sin(codes[9]) - 1
    wrong = 0.6 * (codes[4] % 3 == 0) * (numbers["x1"] > 0) - 0.5 * (codes[7] % 7 == 2)
    labels = (rng.random(n_rows) < 1 / (1 + np.exp(-logits - wrong))).astype(np.int64)
    return pa.table({**columns, **numbers}), labels, 1 / (1 + np.exp(-logits))


def fitted_model(folder: Path) -> Path:
    """A model of ten rounds over twenty features, in a file."""
    table, labels, scores = table_of(FIT_ROWS)
    path = folder / "model.trueup"
    MCGrad(max_rounds=ROUNDS, validation=None, rescale="train").fit(table, labels, scores=scores).save(path)
    return path


def arrow_stream(table: pa.Table, scores: np.ndarray) -> bytes:
    """The rows with their scores as an Arrow IPC stream."""
    sink = pa.BufferOutputStream()
    scored = table.append_column("score", pa.array(scores))
    with pa.ipc.new_stream(sink, scored.schema) as writer:
        writer.write_table(scored)
    return bytes(sink.getvalue())


def http_request(body: bytes, media_type: str) -> bytes:
    """A whole HTTP request."""
    head = ["POST /v1/calibrate HTTP/1.1", "host: loopback", f"content-type: {media_type}"]
    return "\r\n".join([*head, f"content-length: {len(body)}", "", ""]).encode() + body


@dataclass(frozen=True)
class Server:
    """A server that runs."""

    port: int
    pid: int
    workers: tuple[int, ...]


@contextlib.contextmanager
def running_server(model: Path, *options: str, workers: int = 2) -> Iterator[Server]:
    """A server on a free port of 127.0.0.1, without a line of log a request, stopped when the block ends."""
    arguments = ["serve", str(model), "--port=0", f"--workers={workers}", "--no-access-log", *options]
    with tempfile.TemporaryFile() as log:
        command = [sys.executable, "-c", "from trueup.cli import main; main()", *arguments]
        process = subprocess.Popen(command, stderr=log)
        try:
            yield _listening(process, log, workers)
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(timeout=60)


def _listening(process: subprocess.Popen[bytes], log: object, workers: int) -> Server:
    end = time.monotonic() + _START_SECONDS
    while time.monotonic() < end:
        events = [json.loads(line) for line in os.pread(log.fileno(), 1 << 16, 0).splitlines()]  # type: ignore[attr-defined]
        started = tuple(event["pid"] for event in events if event["event"] == "worker started")
        if len(started) == workers:
            address = next(event["address"] for event in events if event["event"] == "listening")
            return Server(int(address.rpartition(":")[2]), process.pid, started)
        if process.poll() is not None:
            break
        time.sleep(0.02)
    raise RuntimeError("the server did not start")


class Connection(asyncio.Protocol):
    """A connection that sends ready requests, one at a time, and gives back statuses and bodies."""

    def __init__(self) -> None:
        self._received = bytearray()
        self._answer: asyncio.Future[tuple[int, bytes]] | None = None
        self._transport: asyncio.Transport | None = None

    @classmethod
    async def to(cls, port: int) -> Connection:
        """A new connection."""
        _, connection = await asyncio.get_running_loop().create_connection(cls, "127.0.0.1", port)
        return connection

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        self._transport = transport  # type: ignore[assignment]

    def connection_lost(self, exc: Exception | None) -> None:
        """Fail what is waited for."""
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(ConnectionError("the server closed the connection"))

    def data_received(self, data: bytes) -> None:
        """Collect the answer."""
        self._received += data
        end = self._received.find(b"\r\n\r\n")
        if end < 0:
            return
        head = bytes(self._received[:end]).lower()
        at = head.index(b"content-length:") + 15
        length = int(head[at:].split(b"\r\n", 1)[0])
        if len(self._received) >= end + 4 + length:
            body = bytes(self._received[end + 4 : end + 4 + length])
            del self._received[: end + 4 + length]
            if self._answer is not None:
                self._answer.set_result((int(head[9:12]), body))

    async def ask(self, request: bytes) -> tuple[int, bytes]:
        """The status and the body of the answer."""
        assert self._transport is not None
        self._answer = asyncio.get_running_loop().create_future()
        self._transport.write(request)
        return await self._answer

    def close(self) -> None:
        """Close the connection."""
        if self._transport is not None:
            self._transport.close()


def resident_mb(pids: tuple[int, ...]) -> list[float]:
    """The memory of processes, in MB."""
    page = os.sysconf("SC_PAGE_SIZE") / 2**20
    return [int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * page for pid in pids]
