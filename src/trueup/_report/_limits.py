"""What every page keeps to."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar

__all__ = ["MOST_CURVES", "MOST_SEGMENTS", "made_by", "made_with"]

# With so many segments, and curves of so many of them, a page stays below 5 MB: benchmarks/html_report.py measures it.
MOST_SEGMENTS = 40_000
MOST_CURVES = 200


_COMMAND: ContextVar[str] = ContextVar("_COMMAND", default="")


@contextlib.contextmanager
def made_by(command: str) -> Iterator[None]:
    """Name a command in the last line of the pages that are made within."""
    before = _COMMAND.set(command)
    try:
        yield
    finally:
        _COMMAND.reset(before)


def made_with() -> str:
    """The last line of a page."""
    from datetime import datetime, timezone
    from importlib.metadata import version

    command = _COMMAND.get()
    by = f": {command}" if command else "."
    return f"Made with trueup {version('trueup')} on {datetime.now(timezone.utc):%Y-%m-%d}{by}"
