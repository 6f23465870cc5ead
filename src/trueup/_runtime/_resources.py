"""What a process may use: threads, memory, and a folder for files that can be had again."""

from __future__ import annotations

import ctypes
import functools
import os
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import TypeVar

from trueup.errors import ParameterError


def give_back_memory() -> None:
    """Let Arrow and malloc return to the system what was freed and what they keep for later."""
    if "pyarrow" in sys.modules:
        sys.modules["pyarrow"].default_memory_pool().release_unused()
    trim = _malloc_trim()
    if trim is not None:
        trim(0)


@functools.cache
def _malloc_trim() -> Callable[[int], int] | None:
    """What makes malloc do so; only glibc has it."""
    if not sys.platform.startswith("linux"):
        return None
    return getattr(ctypes.CDLL(None), "malloc_trim", None)


_ROWS_A_THREAD = 8192  # below this, starting a thread costs more than it saves


def thread_count(n_jobs: int | None) -> int:
    """The number of threads for `n_jobs`: None is all cores of the process, -2 all but one, and so on."""
    if n_jobs is not None and (isinstance(n_jobs, bool) or not hasattr(n_jobs, "__index__")):
        raise ParameterError(f"n_jobs must be a whole number or None, got {n_jobs!r}.")
    if n_jobs is None or n_jobs < 0:
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        return cores if n_jobs is None else max(1, cores + 1 + n_jobs)
    if n_jobs == 0:
        raise ParameterError("n_jobs must not be 0. Use None for all cores.")
    return int(n_jobs)


def threads_for_rows(n_jobs: int | None, n_rows: int) -> int:
    """The number of threads for scoring so many rows."""
    return max(1, min(thread_count(n_jobs), n_rows // _ROWS_A_THREAD))


T = TypeVar("T")


def has_idle_threads(n_jobs: int, n_threads: int) -> bool:
    """Whether threads are without work while the last of some jobs run: with 5 jobs on 2 threads one more would find a
    thread."""
    return n_jobs % n_threads != 0


class Workers:
    """Threads that take jobs in order. With one thread there are none, and jobs are done at once by the caller.

    `cancels` are set when the `with` block is left by an exception, Ctrl-C among them, so that running jobs see it and
    stop.
    """

    def __init__(self, n_threads: int, cancels: Sequence[threading.Event]) -> None:
        self._cancels = cancels
        self._pool = ThreadPoolExecutor(n_threads, thread_name_prefix="trueup") if n_threads > 1 else None

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if kind is not None:
            for cancel in self._cancels:
                cancel.set()
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=kind is not None)

    def all(self, jobs: Sequence[Callable[[], T]], *, then: Callable[[], None] | None = None) -> list[T]:
        """The results of all jobs; `then` is called when they are in line, and may put others behind them."""
        if self._pool is None:
            return [job() for job in jobs]
        futures = [self._pool.submit(job) for job in jobs]
        if then is not None:
            then()
        return [future.result() for future in futures]

    def start(self, job: Callable[[], T]) -> Future[T]:
        """Begin a job, and don't wait for it."""
        if self._pool is None:
            raise RuntimeError("there is one thread only, and it is the caller's")
        return self._pool.submit(job)


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
