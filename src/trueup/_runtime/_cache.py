"""Where files are kept that can be had again."""

from __future__ import annotations

import os
import sys
from pathlib import Path

__all__ = ["cache_folder"]


def cache_folder() -> Path:
    """Where downloads and what takes long to make are kept: `TRUEUP_CACHE`, or the user's cache."""
    named = os.environ.get("TRUEUP_CACHE")
    if named:
        return Path(named).expanduser()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local")) / "trueup"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "trueup"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "trueup"
