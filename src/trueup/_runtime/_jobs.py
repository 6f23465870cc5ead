"""Independent jobs side by side."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import TypeVar

__all__ = ["Workers", "has_idle_threads"]

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
