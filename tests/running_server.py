"""A server in a process of its own on the loopback, and clients of it."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["ARROW", "JSON", "Answer", "RunningServer"]

JSON, ARROW = "application/json", "application/vnd.apache.arrow.stream"
SECONDS = 45.0  # that anything may take on a busy machine
_PROGRAM = """
import json, sys
from trueup.serving import ServerOptions, serve
serve(ServerOptions(**json.loads(sys.argv[1])))
"""


@dataclass(frozen=True)
class Answer:
    """What came back."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class RunningServer:
    """A server; `with` stops it."""

    def __init__(self, model: Path | Mapping[str, str], **options: Any) -> None:
        models = {"clicks": str(model)} if isinstance(model, Path) else dict(model)
        quick = {"workers": 1, "drain_seconds": 0.3, "reload_seconds": 0.1}
        given = json.dumps({"models": models, "port": 0, **quick, **options})
        self.process = subprocess.Popen([sys.executable, "-c", _PROGRAM, given], stderr=subprocess.PIPE)
        self.events: list[dict[str, Any]] = []
        self._news = threading.Condition()
        self._ended = False
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        try:
            address = self.wait_for("listening")["address"]
            self.port = int(address.rpartition(":")[2])
            for number in range(options.get("workers", 1)):
                self.wait_for("worker started", worker=number)
        except BaseException:
            self.kill()
            raise

    def __enter__(self) -> RunningServer:
        return self

    def __exit__(self, *error: object) -> None:
        self.kill() if error[0] is not None else self.stop()

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            with self._news:
                try:
                    self.events.append(json.loads(line))
                except ValueError:
                    self.events.append({"event": "not JSON", "line": line.decode(errors="replace")})
                self._news.notify_all()
        with self._news:
            self._ended = True
            self._news.notify_all()

    def wait_for(self, event: str, *, after: int = 0, **members: Any) -> dict[str, Any]:
        """The first line of the log, from a place on, that is of an event and has some members."""

        def found() -> dict[str, Any] | None:
            wanted = {"event": event, **members}
            return next((line for line in self.events[after:] if wanted.items() <= line.items()), None)

        with self._news:
            self._news.wait_for(lambda: found() is not None or self._ended, SECONDS)
            line = found()
            if line is None:
                raise AssertionError(f"no {event!r} with {members} in the log: {self.events[-8:]}")
            return line

    def wait_until(self, condition: Callable[[], bool]) -> None:
        """Ask again and again until something holds."""
        end = time.monotonic() + SECONDS
        pause = threading.Event()
        while not condition():
            assert time.monotonic() < end, "it has not come true"
            pause.wait(0.02)

    @property
    def workers(self) -> list[int]:
        """The process of each worker, by its number."""
        started = {line["worker"]: line["pid"] for line in self.events if line["event"] == "worker started"}
        return [started[number] for number in sorted(started)]

    def connection(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=SECONDS)

    def socket(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=SECONDS)

    def ask(
        self,
        path: str,
        body: bytes | str | None = None,
        media_type: str = JSON,
        method: str | None = None,
        **headers: str,
    ) -> Answer:
        """The answer to one request on a connection of its own."""
        connection = self.connection()
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        if body is not None:
            named.setdefault("content-type", media_type)
        try:
            connection.request(method or ("GET" if body is None else "POST"), path, body, named)
            response = connection.getresponse()
            lower = {name.lower(): value for name, value in response.getheaders()}
            return Answer(response.status, lower, response.read())
        finally:
            connection.close()

    def calibrate(self, request: Any, path: str = "/v1/calibrate", **headers: str) -> Answer:
        """The answer to a request in JSON."""
        body = request if isinstance(request, (bytes, str)) else json.dumps(request)
        return self.ask(path, body, **headers)

    def metric(self, name: str, **labels: str) -> float:
        """The sum of a metric over all entries that have some labels."""
        total = 0.0
        for line in self.ask("/metrics").body.decode().splitlines():
            key, _, value = line.rpartition(" ")
            wanted = [f'{label}="{text}"' for label, text in labels.items()]
            if key.partition("{")[0] == name and all(text in key for text in wanted):
                total += float(value)
        return total

    def signal(self, number: int) -> None:
        self.process.send_signal(number)

    def stop(self) -> int:
        """Stop in peace, and give the exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.ended()

    def ended(self) -> int:
        """The exit code, once it has ended."""
        code = self.process.wait(SECONDS)
        self._reader.join(SECONDS)
        assert self.process.stderr is not None
        self.process.stderr.close()
        return code

    def kill(self) -> None:
        """End it all, in a test that has failed."""
        for pid in [self.process.pid, *self.workers]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait()
        self._reader.join(SECONDS)
