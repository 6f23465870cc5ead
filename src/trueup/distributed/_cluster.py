"""The partitions of a fit, as the client sees them, and errors about those that can't be computed."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from trueup.distributed._partitions import of_each, summed
from trueup.errors import ColumnError, FileError, MissingExtraError, ParameterError, TableError, TrueupError

_FAN_IN = 16  # results that one task puts together


class Partitions:
    """Packed partitions on the workers of a cluster."""

    def __init__(self, client: Any, futures: Sequence[Any]) -> None:
        self.client, self.futures = client, list(futures)
        self._at: dict[int, str] = {}  # the worker that holds each partition and its bins

    def map(self, function: Callable[..., Any], *columns: Sequence[Any], **options: Any) -> list[Any]:
        """Start one task per partition, with the partition and one entry of each column; futures."""
        return list(self.client.map(function, self.futures, *columns, pure=False, **options))

    def each(self, function: Callable[..., Any], *columns: Sequence[Any], **options: Any) -> list[Any]:
        """Call a function with each partition and one entry of each column; the results come here, so keep them small.

        One task handles many partitions, because scheduling a task takes longer than most of these functions run.
        """
        threads = self.client.nthreads()
        if not self._at or not threads.keys() >= set(self._at.values()):
            self.locate()  # otherwise one task would get all partitions of a worker that is gone
        shares = self._shares(threads)
        tasks = [
            self.client.submit(
                of_each,
                function,
                *([column[number] for number in numbers] for column in (self.futures, *columns)),
                options=options,
                workers=[worker],
                allow_other_workers=True,
                pure=False,
            )
            for worker, numbers in shares
        ]
        found: dict[int, Any] = {}
        for (_, numbers), values in zip(shares, self.client.gather(tasks), strict=True):
            found.update(zip(numbers, values, strict=True))
        return [found[number] for number in range(len(self.futures))]

    def total(self, function: Callable[..., Sequence[float]], *columns: Sequence[Any], **options: Any) -> Any:
        """Sum what a function gives for each partition. The sums don't depend on who holds what."""
        return summed(self.each(function, *columns, **options))

    def _shares(self, threads: Mapping[str, int]) -> list[tuple[str, list[int]]]:
        """Deal the partitions of each worker to its threads."""
        held: dict[str, list[int]] = {}
        for number in range(len(self.futures)):
            held.setdefault(self._at[number], []).append(number)
        return [
            (worker, numbers[first::n_threads])
            for worker, numbers in held.items()
            for n_threads in [threads.get(worker, 1)]  # a worker may just have come
            for first in range(min(n_threads, len(numbers)))
        ]

    def locate(self) -> dict[str, list[int]]:
        """Which worker has which partitions. When this returns, every partition is held by some worker.

        A partition stays with the worker that had it before, because that one has its bins: Dask may have moved it
        since, but fetching it again takes a fraction of the time of binning it.
        """
        holders, alive = self._holders(), self.client.nthreads()
        places: dict[str, list[int]] = {}
        for number in range(len(holders)):
            if self._at.get(number) in alive:
                places.setdefault(self._at[number], []).append(number)
        for number, workers in enumerate(holders):
            if self._at.get(number) not in alive:
                # The worker with the fewest so far; of several, the first by name.
                worker = min(workers, key=lambda name: (len(places.get(name, ())), name))
                places.setdefault(worker, []).append(number)
                self._at[number] = worker
        return {worker: sorted(numbers) for worker, numbers in places.items()}

    def _holders(self) -> list[Sequence[str]]:
        """The workers that hold each partition, at least one for each."""
        from distributed import wait

        while True:
            wait(self.futures)
            for future in self.futures:
                if future.status == "error":  # it was lost and can't be made again
                    future.result()
            held = self.client.who_has(self.futures)
            holders = [held.get(future.key) or held.get(str(future.key)) or () for future in self.futures]
            if all(holders):  # no partition was lost meanwhile
                return holders


def spread(client: Any, partitions: Sequence[Any], function: Callable[..., Any], *arguments: Any) -> list[Any]:
    """Call a function with each partition and its number, on about as many partitions per worker; futures.

    All workers grow trees in step, so the one with the most rows decides how long that takes. Rows that are already
    in a worker's memory stay there.
    """
    from dask.delayed import delayed
    from distributed import futures_of

    tasks = [delayed(function)(partition, *arguments, number) for number, partition in enumerate(partitions)]
    workers, n = sorted(client.nthreads()), len(tasks)
    if not workers or any(futures_of(partition) for partition in partitions):
        return list(client.compute(tasks))
    futures: list[Any] = []
    for place, worker in enumerate(workers):
        some = tasks[place * n // len(workers) : (place + 1) * n // len(workers)]
        futures += client.compute(some, workers=[worker], allow_other_workers=True)
    return futures


def sent(client: Any, value: Any) -> Any:
    """Put a value on a worker, so that it is sent once and not with each task that needs it; a future."""
    return client.submit(lambda same: same, value, pure=False)


def shared_with_all(client: Any, value: Any) -> Any:
    """Put a value on all workers; a future. If only one worker had it, Dask would move the partitions to that one."""
    future = sent(client, value)
    client.replicate(future)
    return future


def reduced(client: Any, function: Callable[[Sequence[Any]], Any], futures: Sequence[Any]) -> Any:
    """Combine all results with a function, some at a time, on the workers; a future."""
    level = list(futures)
    while True:
        level = [
            client.submit(function, level[first : first + _FAN_IN], pure=False)
            for first in range(0, len(level), _FAN_IN)
        ]
        if len(level) == 1:
            return level[0]


@contextlib.contextmanager
def connected(client: Any) -> Iterator[Any]:
    """The cluster to work on. Inside, Dask's own functions use it too, whatever other cluster is connected."""
    try:
        from distributed import get_client
    except ImportError:
        raise MissingExtraError('A cluster needs Dask, which is not installed: pip install "trueup[dask]".') from None
    if client is None:
        try:
            client = get_client()
        except ValueError as error:
            raise ParameterError(
                "There is no Dask cluster. Connect first, client = distributed.Client(...), or pass client=."
            ) from error
    with client.as_current():
        yield client


def columns_of(frame: Any) -> tuple[str, ...]:
    """The columns of a Dask frame."""
    if not hasattr(frame, "to_delayed") or not hasattr(frame, "columns"):
        raise TableError(f"The frame is a {type(frame).__name__}. Pass a Dask DataFrame.")
    return tuple(map(str, frame.columns))


@contextlib.contextmanager
def naming_unreadable(partitions: Sequence[Any], futures: Sequence[Any], columns: Sequence[str]) -> Iterator[None]:
    """If a partition can't be computed, say which one, from which file, and why."""
    try:
        yield
    except TrueupError:
        raise
    except Exception as error:
        for number, (partition, future) in enumerate(zip(partitions, futures, strict=True)):
            if future.status == "error":
                raise _unreadable(number, file_of(partition), future.exception(), columns) from error
        raise


def _unreadable(number: int, file: str | None, error: BaseException, columns: Sequence[str]) -> BaseException:
    import pyarrow as pa
    from distributed import KilledWorker

    if isinstance(error, (TrueupError, KilledWorker, ImportError, MemoryError)):  # the partition is not to blame
        return error
    where = f"Partition {number:,}" if file is None else f"Partition {number:,}, read from {file!r},"
    if isinstance(error, KeyError) and any(repr(name) in str(error) for name in columns):
        return ColumnError(f"{where} lacks a column that the frame declares: {error.args[0]}.")
    kind = FileError if isinstance(error, (OSError, pa.ArrowException)) else TableError
    return kind(f"{where} can't be computed: {type(error).__name__}: {str(error).strip()}")


def file_of(partition: Any) -> str | None:
    """The file that a partition is read from; None if there is none, or if Dask's tasks don't show it."""
    files: set[str] = set()
    with contextlib.suppress(Exception):  # the layout of tasks is private to Dask, and we only want it for a message
        graph, ahead = dict(partition.__dask_graph__()), [partition.key]
        while ahead:
            task = graph.pop(ahead.pop(), None)
            if task is not None:
                files.update(_files_in(task))
                ahead += task.dependencies
    return min(files) if len(files) == 1 else None


def _files_in(task: Any) -> Iterator[str]:
    """The files that the arguments of a task of `read_parquet` name."""
    if isinstance(task, Mapping) and "piece" in task:
        yield str(task["piece"][0])
    elif hasattr(task, "fragment"):
        yield str(task.fragment.path)
    else:
        for argument in (*getattr(task, "args", ()), *getattr(task, "kwargs", {}).values()):
            yield from _files_in(argument)
