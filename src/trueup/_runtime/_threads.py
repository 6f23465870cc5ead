"""How many threads to use."""

from __future__ import annotations

import os

from trueup.errors import ParameterError

__all__ = ["thread_count", "threads_for_rows"]

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
