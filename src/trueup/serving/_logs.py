"""The log: a JSON object a line, on stderr, and never a value of a feature."""

from __future__ import annotations

import json
import sys
import time
import traceback
from datetime import datetime, timezone
from typing import Any

import orjson

__all__ = ["Log"]


class Log:
    """Writes events as lines.

    Parameters
    ----------
    **always
        Members of every line, such as the worker's number.
    """

    def __init__(self, **always: Any) -> None:
        self._always = always

    def write(self, event: str, level: str = "info", **members: Any) -> None:
        """Write a line. A log that can't be written to must not end the service."""
        line = {"time": _now(), "level": level, "event": event, **self._always, **members}
        try:
            sys.stderr.buffer.write(_encoded(line) + b"\n")
            sys.stderr.buffer.flush()
        except (OSError, ValueError):
            pass

    def failure(self, error: BaseException, **members: Any) -> None:
        """Write what failed and where. Not the message: it may quote a value of a row."""
        frames = traceback.extract_tb(error.__traceback__)
        where = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]
        self.write("failure", "error", error=type(error).__name__, where=where, **members)


def _encoded(line: dict[str, Any]) -> bytes:
    try:
        return orjson.dumps(line, default=str)
    except TypeError:  # a text that is not Unicode, such as the name of a file may be
        return json.dumps(line, default=str).encode("ascii")


def _now() -> str:
    return datetime.fromtimestamp(time.time(), timezone.utc).isoformat(timespec="milliseconds")
