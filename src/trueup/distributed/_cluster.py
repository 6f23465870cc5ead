"""The partitions of a fit, as the client sees them, and those that can not be computed."""

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
        self._at: dict[int, str] = {}  # the worker that has each partition, and its bins

    def map(self, function: Callable[..., Any], *columns: Sequence[Any], **options: Any) -> list[Any]:
        """A task a partition, of the partition and of one entry of each column; futures."""
        return list(self.client.map(function, self.futures, *columns, pure=False, **options))

    def each(self, function: Callable[..., Any], *columns: Sequence[Any], **options: Any) -> list[Any]:
        """What a function gives of each partition and of one entry of each column: small values, here.

        A task does it for many partitions, for a scheduler takes longer over a task than most of these functions do.
        """
        threads = self.client.nthreads()
        if not self._at or not threads.keys() >= set(self._at.values()):
            self.locate()  # else one task would get all partitions of a worker that is gone
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
        """The sums of what a function gives of each partition, whoever holds which."""
        return summed(self.each(function, *columns, **options))

    def _shares(self, threads: Mapping[str, int]) -> list[tuple[str, list[int]]]:
        """The partitions of each thread of each worker."""
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
        """Which worker has which partitions; all of them are held by some worker when this returns.

        A partition stays with the worker that had it before, which has its bins: Dask may have moved it since, but
        fetching it again takes a fraction of the time that binning takes.
        """
        holders, alive = self._holders(), self.client.nthreads()
        places: dict[str, list[int]] = {}
        for number in range(len(holders)):
            if self._at.get(number) in alive:
                places.setdefault(self._at[number], []).append(number)
        for number, workers in enumerate(holders):
            if self._at.get(number) not in alive:
                # The one with the fewest so far, by name if that is undecided.
                worker = min(workers, key=lambda name: (len(places.get(name, ())), name))
                places.setdefault(worker, []).append(number)
                self._at[number] = worker
        return {worker: sorted(numbers) for worker, numbers in places.items()}

    def _holders(self) -> list[Sequence[str]]:
        """The workers that hold each partition, at least one."""
        from distributed import wait

        while True:
            wait(self.futures)
            for future in self.futures:
                if future.status == "error":  # it was lost and can't be made again
                    future.result()
            held = self.client.who_has(self.futures)
            holders = [held.get(future.key) or held.get(str(future.key)) or () for future in self.futures]
            if all(holders):  # none is lost since
                return holders


def spread(client: Any, partitions: Sequence[Any], function: Callable[..., Any], *arguments: Any) -> list[Any]:
    """Compute a function of each partition and its number, about as many on each worker; futures.

    Trees are grown by all workers in step, so the one with the most rows decides how long that takes. Rows that are in
    the memory of some worker already are left there.
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
    """A value on some worker, for tasks that need it: it is sent once, not with each of them; a future."""
    return client.submit(_same, value, pure=False)


def shared_with_all(client: Any, value: Any) -> Any:
    """A value on all workers; a future. Were it on one, partitions that are not there yet would gather at it."""
    future = sent(client, value)
    client.replicate(future)
    return future


def _same(value: Any) -> Any:
    return value


def reduced(client: Any, function: Callable[[Sequence[Any]], Any], futures: Sequence[Any]) -> Any:
    """What a function makes of all results, some at a time, on the workers; a future."""
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
    """The cluster to work on; inside, it is the one that Dask's own functions turn to, whichever else is connected."""
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
    """Say in our words what another library says of a partition that can't be computed."""
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

    if isinstance(error, (TrueupError, KilledWorker, ImportError, MemoryError)):  # not what the partition is like
        return error
    where = f"Partition {number:,}" if file is None else f"Partition {number:,}, read from {file!r},"
    if isinstance(error, KeyError) and any(repr(name) in str(error) for name in columns):
        return ColumnError(f"{where} lacks a column that the frame declares: {error.args[0]}.")
    kind = FileError if isinstance(error, (OSError, pa.ArrowException)) else TableError
    return kind(f"{where} can't be computed: {type(error).__name__}: {str(error).strip()}")


def file_of(partition: Any) -> str | None:
    """The file that a partition is read from; None if there is none, or if Dask's tasks don't tell it."""
    files: set[str] = set()
    with contextlib.suppress(Exception):  # what tasks look like is Dask's own business, and this is for a message only
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
