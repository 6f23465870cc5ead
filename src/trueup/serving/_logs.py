"""The log: a JSON object per line, on stderr, and never a value of a feature.

Lines are written by a thread of their own. Whoever reads stderr may stop reading: then lines are dropped and counted,
and answers go on.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import sys
import threading
import traceback
from datetime import datetime, timezone
from typing import Any

import orjson

__all__ = ["Log", "open_standard_streams"]

_MAX_WAITING = 2_000  # lines, about 0.4 MB
_END = b""


class Log:
    """Writes events as lines; the given members are part of every line, such as the worker's number."""

    def __init__(self, **always: Any) -> None:
        self._always = always
        self._lines: queue.Queue[bytes] = queue.Queue(_MAX_WAITING)
        self._writer: threading.Thread | None = None
        self.dropped = 0

    def write(self, event: str, level: str = "info", **members: Any) -> None:
        """Write a line, or drop it if too many wait already. Never blocks and never fails."""
        if self._writer is None:  # not before it is needed: threads do not survive a fork
            self._writer = threading.Thread(target=self._write_lines, name="trueup-log", daemon=True)
            self._writer.start()
        try:
            self._lines.put_nowait(_encoded(event, level, **self._always, **members))
        except queue.Full:
            self.dropped += 1

    def failure(self, error: BaseException, **members: Any) -> None:
        """Write what failed and where. Not the message: it may quote a value of a row."""
        frames = traceback.extract_tb(error.__traceback__)
        where = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]
        self.write("failure", "error", error=type(error).__name__, where=where, **members)

    def close(self, seconds: float = 1.0) -> None:
        """Write what waits, but don't wait longer than some seconds for a reader."""
        if self._writer is not None:
            with contextlib.suppress(queue.Full):
                self._lines.put(_END, timeout=seconds)
                self._writer.join(seconds)

    def _write_lines(self) -> None:
        told = 0
        while (line := self._lines.get()) != _END:
            _write_all(line)
            if self.dropped > told:
                count, told = self.dropped - told, self.dropped
                _write_all(_encoded("log lines dropped", "warning", count=count))


def open_standard_streams() -> None:
    """Give closed standard streams to /dev/null, or the next socket would become stderr and get the log."""
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:  # the lowest number that is free
        pass
    os.close(descriptor)


def _write_all(data: bytes) -> None:
    with contextlib.suppress(AttributeError, OSError, ValueError):  # no stderr, or nobody at its other end
        descriptor = sys.stderr.fileno()
        while data:
            data = data[os.write(descriptor, data) :]


def _encoded(event: str, level: str, **members: Any) -> bytes:
    now = datetime.now(timezone.utc).isoformat(timespec="milliseconds")
    line = {"time": now, "level": level, "event": event, **members}
    try:
        return orjson.dumps(line, default=str, option=orjson.OPT_APPEND_NEWLINE)
    except TypeError:  # a text that is not Unicode, such as the name of a file may be
        return json.dumps(line, default=str).encode("ascii") + b"\n"
