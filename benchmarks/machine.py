"""What a measurement was made on, written beside it."""

from __future__ import annotations

import ctypes
import gc
import importlib.metadata
import os
import platform
import resource
import sys
import threading
import time
from pathlib import Path

__all__ = ["MB", "OtherWork", "PeakMemory", "describe", "free_memory", "has_peer", "machine_facts", "real_data"]

MB = 2**20


def has_peer() -> bool:
    """Whether Meta's mcgrad package is installed beside ours."""
    return _version("mcgrad") is not None


def machine_facts() -> dict[str, str]:
    """Cores and versions by name."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    names = ("trueup", "lightgbm", "numpy", "pandas", "pyarrow", "scikit-learn", "mcgrad")
    versions = {name: _version(name) or "not there" for name in names}
    return {"cores": f"{cores} ({platform.machine()})", "Python": platform.python_version(), **versions}


def describe() -> str:
    """Cores and versions on one line."""
    cores, *rest = machine_facts().items()
    return ", ".join([f"{cores[1].replace(' ', ' cores ', 1)}", *[f"{name} {version}" for name, version in rest]])


def free_memory() -> float:
    """The memory that is still to be had, in MB."""
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) / 1024
    return 0.0


class OtherWork:
    """How busy the machine was with other things than this process and its children, inside a `with` block."""

    def __enter__(self) -> OtherWork:
        self._started, self._busy, self._own = time.perf_counter(), _busy_seconds(), _own_seconds()
        return self

    def __exit__(self, *error: object) -> None:
        others = _busy_seconds() - self._busy - (_own_seconds() - self._own)
        self.cores = max(0.0, others / (time.perf_counter() - self._started))

    def __str__(self) -> str:
        told = f"Meanwhile other work kept {self.cores:.1f} cores busy; load average {os.getloadavg()[0]:.1f}."
        return told + (" Too much: measure again." if self.cores > 0.25 else "")


class PeakMemory:
    """How far the memory of this process rises inside a `with` block, looked at every few milliseconds.

    Attributes
    ----------
    before, peak : float
        MB at the start, and at the most.
    """

    def __enter__(self) -> PeakMemory:
        # What was freed earlier but not given back would be used again, and not be counted.
        gc.collect()
        if "pyarrow" in sys.modules:
            sys.modules["pyarrow"].default_memory_pool().release_unused()
        if platform.libc_ver()[0] == "glibc":
            ctypes.CDLL(None).malloc_trim(0)
        self.before = self.peak = _resident()
        self._done = threading.Event()
        self._watcher = threading.Thread(target=self._watch)
        self._watcher.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._done.set()
        self._watcher.join()

    @property
    def above(self) -> float:
        """MB above the start."""
        return self.peak - self.before

    def _watch(self) -> None:
        while not self._done.wait(0.005):
            self.peak = max(self.peak, _resident())


def _busy_seconds() -> float:
    user, nice, system = Path("/proc/stat").read_text().split()[1:4]
    return (int(user) + int(nice) + int(system)) / os.sysconf("SC_CLK_TCK")


def _own_seconds() -> float:
    return sum(os.times()[:4])


def _resident() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / MB


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def real_data(name: str) -> Path:
    """The path of a real data set; without it the program ends, which is no failure, and says where to put it."""
    path = Path(os.environ.get("TRUEUP_DATA", "")) / f"{name}.parquet"
    if not os.environ.get("TRUEUP_DATA") or not path.exists():
        print(f"skipped: {path.name} is not there. Set TRUEUP_DATA to the folder that holds it.")
        sys.exit(0)
    return path
