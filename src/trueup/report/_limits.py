"""What every page keeps to."""

from __future__ import annotations

__all__ = ["MOST_CURVES", "MOST_SEGMENTS", "made_with"]

# With so many segments, and curves of so many of them, a page stays below 5 MB: benchmarks/html_report.py measures it.
MOST_SEGMENTS = 40_000
MOST_CURVES = 200


def made_with() -> str:
    """The last line of a page."""
    from datetime import datetime, timezone
    from importlib.metadata import version

    return f"Made with trueup {version('trueup')} on {datetime.now(timezone.utc):%Y-%m-%d}."
