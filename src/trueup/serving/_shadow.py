"""A candidate that scores the same traffic, after the answer and never in its way."""

from __future__ import annotations

import contextlib
import os
import queue
import threading
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import orjson

from trueup.serving._metrics import DIFFERENCES, SCORES, Counted, Metrics, histogram
from trueup.serving._models import Served, ServedModels
from trueup.serving._rows import RowBatch

__all__ = ["Shadow"]

Floats = npt.NDArray[np.float64]
_MAX_ROWS_WAITING = 200_000
_NICE = 10
MAX_LOG_BYTES = 2**30


class _Job(NamedTuple):
    name: str
    request: str
    batch: RowBatch
    answer: Floats


class Shadow:
    """One thread of low priority that scores what it is offered; what it has no time for is dropped and counted.

    `call` runs a function in the thread that owns the metrics, which no other thread touches. To the file `log`, a line
    of JSON is added per row, with the base score, the answer and the candidate's score, and no features.
    """

    def __init__(
        self,
        models: ServedModels,
        metrics: Metrics,
        call: Callable[[Callable[[], None]], object],
        log: str | None = None,
    ) -> None:
        self._models, self._metrics, self._call = models, metrics, call
        self._log = None if log is None else os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o640)
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._waiting = 0
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._run, name="trueup-shadow", daemon=True)
        self._thread.start()

    def offer(self, name: str, request: str, batch: RowBatch, answer: Floats) -> None:
        """Score a batch later, if the model has a candidate and there is room."""
        if self._models.shadow(name) is None:
            return
        n_rows = len(answer)
        with self._lock:
            has_room = self._waiting + n_rows <= _MAX_ROWS_WAITING
            self._waiting += n_rows if has_room else 0
        if has_room:
            self._jobs.put(_Job(name, request, batch, answer))
        else:
            self._metrics.count("trueup_shadow_dropped_rows", name, by=n_rows)

    def close(self, seconds: float = 5.0) -> None:
        """Do what waits, and end the thread."""
        self._jobs.put(None)
        self._thread.join(seconds)
        if self._log is not None and not self._thread.is_alive():
            os.close(self._log)

    def _run(self) -> None:
        with contextlib.suppress(OSError, AttributeError):  # threads have priorities of their own on Linux only
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICE)
        while (job := self._jobs.get()) is not None:
            served = self._models.shadow(job.name)
            if served is not None:
                self._score(job, served)
            with self._lock:
                self._waiting -= len(job.answer)

    def _score(self, job: _Job, served: Served) -> None:
        name = job.name
        try:
            observed = job.batch.score(served.loaded.calibrator, served.plan)
            candidate = observed.probabilities
            known = ~np.isnan(candidate) & ~np.isnan(job.answer)
            scores = histogram(candidate[known], SCORES)
            differences = histogram(np.abs(candidate - job.answer)[known], DIFFERENCES)
            if self._log is not None and os.fstat(self._log).st_size < MAX_LOG_BYTES:
                every = {"model": name, "request": job.request, "candidate_sha256": served.loaded.sha256[:12]}
                rows = zip(job.batch.scores.tolist(), job.answer.tolist(), candidate.tolist(), strict=True)
                lines = [
                    orjson.dumps({**every, "row": row, "base": base, "answer": answer, "candidate": shadowed})
                    for row, (base, answer, shadowed) in enumerate(rows)
                ]
                os.write(self._log, b"\n".join(lines) + b"\n")  # whole lines in one go: workers share the file
            digest: list[Counted] = [
                ("trueup_shadow_score", (name,), scores), ("trueup_shadow_difference", (name,), differences)
            ]  # fmt: skip
        except Exception:  # it lacks a column, the disk is full, ...: nothing of a candidate may end its thread
            digest = [("trueup_shadow_errors", (name,), 1.0)]
        with contextlib.suppress(RuntimeError):  # the loop has ended
            self._call(lambda: self._metrics.record(digest))
