"""What a measurement was made on, written beside it."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import sys
from pathlib import Path

__all__ = ["describe", "has_peer", "real_data"]


def has_peer() -> bool:
    """Whether Meta's mcgrad package is installed beside ours."""
    return _version("mcgrad") is not None


def describe() -> str:
    """Cores and versions on one line."""
    names = ("trueup", "lightgbm", "numpy", "pandas", "pyarrow", "scikit-learn", "mcgrad")
    versions = [f"{name} {_version(name) or 'not there'}" for name in names]
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return f"{cores} cores ({platform.machine()}), Python {platform.python_version()}, {', '.join(versions)}"


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def real_data(name: str) -> Path:
    """The path of a real data set; without it the program ends, which is no failure, and says where to put it."""
    folder = Path(os.environ.get("TRUEUP_DATA", Path(__file__).parents[2] / "shared" / "data"))
    path = folder / f"{name}.parquet"
    if not path.exists():
        print(f"skipped: {path.name} is not there. Set TRUEUP_DATA to the folder that holds it.")
        sys.exit(0)
    return path
