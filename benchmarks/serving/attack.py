"""Attack a server of our own, and see what its memory does and whether others are still answered.

Each attack runs against a new server, with one connection and with eight. Nothing leaves the machine.

    python benchmarks/serving/attack.py [--seconds 30] [--attack trailers] [--json out.json]
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import json
import socket
import struct
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from loopback import ARROW, Server, http_request, resident_mb, running_server
from measured_service import finish

from trueup import MCGrad

MAX_SECONDS = 120
CONNECTIONS = (1, 8)
JSON_HEAD = "POST /v1/calibrate HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n"
HONEST = json.dumps({"rows": [{"x": 0.5}], "scores": [0.2]})


@dataclass(frozen=True)
class Attack:
    """What is sent first, what is sent again and again, and how many connections one attacker holds."""

    start: bytes
    more: bytes = b""
    held: int = 1
    waits: bool = False  # for an answer to each of `more`


def long_dictionary() -> bytes:
    """An Arrow stream of half a kilobyte whose dictionary is a billion nulls, which take no bytes."""
    column = pa.DictionaryArray.from_arrays(pa.array([0], pa.int32()), pa.nulls(1 << 30))
    table = pa.table({"x": column, "score": [0.2]})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def old_compression() -> bytes:
    """An Arrow stream of 80 KB whose metadata, in the way of Arrow 0.17, say that a gigabyte is compressed in it."""
    n_rows, codec = 5000, pa.Codec("zstd")

    def squeezed(n_bytes: int) -> pa.Buffer:
        """Zeros, compressed, and filled up with a frame that is skipped to the size that Arrow expects."""
        content = bytes(codec.compress(bytes(n_bytes)))
        n_filling = 8 * n_rows - 16 - len(content)
        filled = struct.pack("<q", n_bytes) + content + struct.pack("<II", 0x184D2A50, n_filling) + bytes(n_filling)
        return pa.py_buffer(filled)

    columns = [pa.Array.from_buffers(pa.float64(), n_rows, [None, squeezed(size)]) for size in (1 << 30, 8 * n_rows)]
    batch = pa.RecordBatch.from_arrays(columns, names=["x", "score"])
    options = pa.ipc.IpcWriteOptions(metadata_version=pa.ipc.MetadataVersion.V4)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema, options=options) as writer:
        writer.write_batch(batch, custom_metadata={"ARROW:experimental_compression": "zstd"})
    return bytes(sink.getvalue())


UPGRADE = "connection: Upgrade, HTTP2-Settings\r\nupgrade: h2c\r\nhttp2-settings: AAMAAABkAAQAAP__\r\n"
HEAD = JSON_HEAD.encode()
CHUNKED = HEAD + b"transfer-encoding: chunked\r\n\r\n"


def all_attacks() -> dict[str, Attack]:
    """The attacks by name."""
    upgrade = f"{JSON_HEAD}{UPGRADE}content-length: {len(HONEST)}\r\n\r\n{HONEST}".encode()
    return {
        "pipelining": Attack(b"", b"GET / HTTP/1.1\r\nhost: x\r\n\r\n" * 3600),
        "trailers": Attack(CHUNKED + b"1\r\n{\r\n0\r\n", b"a:b\r\n" * 13_000),
        "chunks": Attack(CHUNKED, b"10000\r\n" + b" " * 0x10000 + b"\r\n"),
        "headers": Attack(b"GET /healthz HTTP/1.1\r\nhost: x\r\n", b"x-more: " + b"a" * 4000 + b"\r\n"),
        "upgrades": Attack(b"", upgrade, waits=True),
        "one byte of a body": Attack(HEAD + b"content-length: 100\r\n\r\n{", held=70),
        "most of a large body": Attack(HEAD + b"content-length: %d\r\n\r\n" % 2**25 + b" " * (2**25 - 1)),
        "silence": Attack(b"", held=70),
        "long dictionary": Attack(b"", http_request(long_dictionary(), ARROW), waits=True),
        "old compression": Attack(b"", http_request(old_compression(), ARROW), waits=True),
    }


@dataclass
class Seen:
    """What was seen while an attack ran."""

    answered: int = 0
    refused: int = 0
    health_ms: list[float] = field(default_factory=list)
    most_mb: float = 0.0


def attack_until(end: float, port: int, attack: Attack) -> None:
    """Attack again as soon as the server gives up, and never read an answer."""
    start, more = attack.start, attack.more
    while time.monotonic() < end:
        with contextlib.ExitStack() as held, contextlib.suppress(OSError):
            clients = [held.enter_context(socket.create_connection(("127.0.0.1", port))) for _ in range(attack.held)]
            for client in clients:
                client.settimeout(1.0)
                client.sendall(start)
            while more and time.monotonic() < end:
                clients[0].sendall(more)
                if attack.waits and not clients[0].recv(65536):
                    break
            while not more and time.monotonic() < end and clients[0].recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT):
                time.sleep(0.05)
        time.sleep(0.01)


def ask_until(end: float, port: int, seen: Seen) -> None:
    """Ask honestly, on a connection that is kept as long as it lasts."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    while time.monotonic() < end:
        try:
            connection.request("POST", "/v1/calibrate", HONEST, {"content-type": "application/json"})
            response = connection.getresponse()
            response.read()
            seen.answered += response.status == 200
            seen.refused += response.status != 200
        except OSError:
            seen.refused += 1
            connection.close()
        time.sleep(0.01)
    connection.close()


def watch_until(end: float, server: Server, seen: Seen) -> None:
    """Ask whether the server lives, on new connections, and look at its memory."""
    while time.monotonic() < end:
        began = time.perf_counter()
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
        with contextlib.suppress(OSError):
            connection.request("GET", "/healthz")
            connection.getresponse().read()
        connection.close()
        seen.health_ms.append(1e3 * (time.perf_counter() - began))
        seen.most_mb = max(seen.most_mb, sum(resident_mb((server.pid, *server.workers))))
        time.sleep(0.1)


def measure(name: str, attack: Attack, connections: int, seconds: float, model: Path) -> dict[str, Any]:
    """One attack on a new server."""
    seen = Seen()
    with running_server(model) as server:
        before = sum(resident_mb((server.pid, *server.workers)))
        end = time.monotonic() + seconds
        threads = [
            *(threading.Thread(target=attack_until, args=(end, server.port, attack)) for _ in range(connections)),
            threading.Thread(target=ask_until, args=(end, server.port, seen)),
            threading.Thread(target=watch_until, args=(end, server, seen)),
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        time.sleep(3.0)
        after = sum(resident_mb((server.pid, *server.workers)))
    return {
        "attack": name,
        "connections": connections,
        "MB before": round(before),
        "MB at most": round(seen.most_mb),
        "MB after": round(after),
        "/healthz at most, ms": round(max(seen.health_ms), 1),
        "honest requests answered": seen.answered,
        "not answered": seen.refused,
    }


def small_model(folder: Path) -> Path:
    """A model with one feature."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=2000)
    path = folder / "model.trueup"
    MCGrad(max_rounds=1, validation=None, rescale="train").fit({"x": x}, x > 0, scores=np.full(2000, 0.5)).save(path)
    return path


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=30)
    attacks = all_attacks()
    parser.add_argument("--attack", choices=list(attacks), action="append")
    parser.add_argument("--json")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        model = small_model(Path(folder))
        runs = []
        for name in given.attack or attacks:
            for connections in CONNECTIONS:
                seconds = min(given.seconds, MAX_SECONDS)
                runs.append(measure(name, attacks[name], connections, seconds, model))
                finish(runs[-1], None)
    finish({"what": "attacks", "runs": runs}, given.json)
