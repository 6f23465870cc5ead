"""Partitions that can't be computed: which they are, and which files they are read from."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from trueup.errors import ColumnError, FileError, TableError, TrueupError

__all__ = ["file_of", "naming_unreadable"]


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
        return ColumnError(f"{where} lacks a column that the frame promises: {error.args[0]}.")
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
