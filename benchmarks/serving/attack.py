"""Attacks on a server of our own: its memory, whether it still says that it lives, and whether others are answered.

Each attack runs with one connection and with eight. Nothing here leaves the machine.

    python benchmarks/serving/attack.py [--seconds 30] [--attack trailers] [--json out.json]
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import json
import socket
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from loopback import Server, resident_mb, running_server
from measured_service import finish

from trueup import MCGrad

MAX_SECONDS = 120
CONNECTIONS = (1, 8)
JSON_HEAD = "POST /v1/calibrate HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n"
HONEST = json.dumps({"rows": [{"x": 0.5}], "scores": [0.2]})


@dataclass(frozen=True)
class Attack:
    """What is sent first, what is sent again and again, and how many connections one attacker holds."""

    start: str
    more: str = ""
    held: int = 1


CHUNKED = JSON_HEAD + "transfer-encoding: chunked\r\n\r\n"
ATTACKS = {
    "pipelining": Attack("", "GET / HTTP/1.1\r\nhost: x\r\n\r\n" * 3600),
    "trailers": Attack(CHUNKED + "1\r\n{\r\n0\r\n", "a:b\r\n" * 13_000),
    "chunks": Attack(CHUNKED, "10000\r\n" + " " * 0x10000 + "\r\n"),
    "headers": Attack("GET /healthz HTTP/1.1\r\nhost: x\r\n", f"x-more: {'a' * 4000}\r\n"),
    "one byte of a body": Attack(JSON_HEAD + "content-length: 100\r\n\r\n{", held=70),
    "most of a large body": Attack(JSON_HEAD + f"content-length: {2**25}\r\n\r\n" + " " * (2**25 - 1)),
    "silence": Attack("", held=70),
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
    start, more = attack.start.encode(), attack.more.encode()
    while time.monotonic() < end:
        with contextlib.ExitStack() as held, contextlib.suppress(OSError):
            clients = [held.enter_context(socket.create_connection(("127.0.0.1", port))) for _ in range(attack.held)]
            for client in clients:
                client.settimeout(1.0)
                client.sendall(start)
            while more and time.monotonic() < end:
                clients[0].sendall(more)
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


def measure(name: str, connections: int, seconds: float, model: Path) -> dict[str, Any]:
    """One attack on a new server."""
    seen = Seen()
    with running_server(model) as server:
        before = sum(resident_mb((server.pid, *server.workers)))
        end = time.monotonic() + seconds
        threads = [
            *(
                threading.Thread(target=attack_until, args=(end, server.port, ATTACKS[name]))
                for _ in range(connections)
            ),
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
    parser.add_argument("--attack", choices=list(ATTACKS), action="append")
    parser.add_argument("--json")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        model = small_model(Path(folder))
        for name in given.attack or ATTACKS:
            for connections in CONNECTIONS:
                finish(measure(name, connections, min(given.seconds, MAX_SECONDS), model), given.json)
