"""Loading a task: from ready files, from the sources' own files, or simulated."""

from __future__ import annotations

import operator
import os
from pathlib import Path

import numpy as np
import pyarrow as pa

from paper.tasks._catalog import TASK_SOURCES, TASKS, ReadyFile, TaskSource
from paper.tasks._columns import BoolArray
from paper.tasks._download import fetch
from paper.tasks._task import BaseModel, Origin, Prepared, Task, split_rows
from trueup.datasets import make_traffic
from trueup.errors import DataFileError, ParameterError

__all__ = ["SIMULATED", "data_folder", "fetch_files", "load_task"]

SIMULATED = "Simulated"
_SIMULATED_ROWS = 50_000
_LEAST_ROWS = 100
_LEAST_GROUP_SHARE = 0.005


def load_task(name: str, *, folder: str | os.PathLike[str] | None = None, max_rows: int | None = None) -> Task:
    """Return one of the eleven tasks of the MCGrad paper: features, labels, groups, splits.

    Parameters
    ----------
    name : str
        A name from `TASKS`, or "Simulated" for simulated traffic in the same form.
    folder : path-like, optional
        A folder of ready Parquet files or of files from the sources. By default the one that the environment
        variable ``TRUEUP_DATA`` names; without it, files are downloaded from the sources, once, into the
        cache folder, which ``TRUEUP_CACHE`` names.
    max_rows : int, optional
        Take at most so many rows, drawn at random, always the same ones. All by default.

    Returns
    -------
    Task
        The task. Its `origin` says whether the rows are the paper's own, some of them, or a substitute.

    Notes
    -----
    Features, groups and splits are those of the paper's published replication code. The split depends on the
    number and order of rows, so only the "same data" with all rows has the paper's test rows.

    Examples
    --------
    >>> from paper.tasks import load_task
    >>> task = load_task("Simulated", max_rows=5_000)
    >>> len(task.train), len(task.validation), len(task.test)
    (3000, 1000, 1000)
    """
    limit = _checked_limit(max_rows)
    if name == SIMULATED:
        return _simulated(limit)
    if name not in TASK_SOURCES:
        raise ParameterError(f"There is no task {name!r}. Tasks are {', '.join(TASKS)}, and {SIMULATED}.")
    source = TASK_SOURCES[name]
    table, origin, told = _read(name, source, folder)
    table, left_out = _limited(table, limit)
    prepared = _prepared(name, source, table)
    if left_out and origin == "same data":
        origin = "subset"
    return _task(name, origin, told, prepared, source.base_model)


def _checked_limit(max_rows: int | None) -> int | None:
    if max_rows is None:
        return None
    try:
        limit = operator.index(max_rows)
    except TypeError:
        raise ParameterError(f"max_rows must be a whole number or None, got {max_rows!r}.") from None
    if limit < _LEAST_ROWS:
        raise ParameterError(f"max_rows must be at least {_LEAST_ROWS}, got {limit}.")
    return limit


def data_folder(folder: str | os.PathLike[str] | None = None) -> Path | None:
    """Return the folder that data files are read from.

    Parameters
    ----------
    folder : path-like, optional
        The one to take; by default the one that the environment variable ``TRUEUP_DATA`` names.

    Returns
    -------
    pathlib.Path or None
        The folder; None where files are to be downloaded.

    Examples
    --------
    >>> from paper.tasks import data_folder
    >>> data_folder("data").name
    'data'
    """
    named = folder if folder is not None else os.environ.get("TRUEUP_DATA") or None
    return None if named is None else Path(named).expanduser()


def fetch_files(name: str, *, folder: str | os.PathLike[str] | None = None) -> None:
    """Download what a task needs, if anything.

    Parameters
    ----------
    name : str
        A task's name, as `load_task` takes it.
    folder : path-like, optional
        A folder of files, as `load_task` takes it; with one, nothing is downloaded.

    Examples
    --------
    >>> from paper.tasks import fetch_files
    >>> fetch_files("Simulated")
    """
    if name in TASK_SOURCES and data_folder(folder) is None:
        for file in TASK_SOURCES[name].remote:
            fetch(file)


def _read(name: str, source: TaskSource, folder: str | os.PathLike[str] | None) -> tuple[pa.Table, Origin, str]:
    """The rows, what they are to the paper's, and what they are in words."""
    place = data_folder(folder)
    if place is None:
        return source.read([fetch(file) for file in source.remote]), "same data", source.told
    ready = place / f"{source.ready.name}.parquet"
    if ready.exists():
        return _read_ready(source.ready, ready)
    absent = [file for file in source.remote if not (place / file.name).exists()]
    if absent:
        more = f" and {len(absent) - 1} more" if len(absent) > 1 else ""
        raise DataFileError(
            f"Task {name}: {place} has neither {ready.name} nor {absent[0].name}{more}, from {absent[0].url}. Put that "
            "there, or download what is needed: pass no folder and unset TRUEUP_DATA."
        )
    return source.read([fetch(file, place) for file in source.remote]), "same data", source.told


def _read_ready(ready: ReadyFile, path: Path) -> tuple[pa.Table, Origin, str]:
    try:
        return ready.read(path), ready.origin, ready.told
    except (pa.ArrowInvalid, KeyError) as error:
        raise DataFileError(f"{path} is not what it should be: {_reason(error)}.") from error


def _prepared(name: str, source: TaskSource, table: pa.Table) -> Prepared:
    try:
        return source.prepare(table)
    except KeyError as error:
        raise DataFileError(f"The file of task {name} is not what it should be: {_reason(error)}.") from error


def _reason(error: Exception) -> str:
    return str(error.args[0]).strip().rstrip(".")


def _limited(table: pa.Table, limit: int | None) -> tuple[pa.Table, bool]:
    if limit is None or table.num_rows <= limit:
        return table, False
    kept = np.sort(np.random.default_rng(0).choice(table.num_rows, limit, replace=False))
    return table.take(pa.array(kept)), True


def _task(name: str, origin: Origin, told: str, prepared: Prepared, base_model: BaseModel) -> Task:
    train, validation, test = split_rows(len(prepared.y))
    return Task(
        name=name,
        origin=origin,
        source=told,
        X=prepared.X,
        y=prepared.y,
        groups=_large_enough(dict(prepared.groups), len(prepared.y)),
        train=train,
        validation=validation,
        test=test,
        base_columns=prepared.base_columns,
        base_model=base_model,
    )


def _large_enough(groups: dict[str, BoolArray], n_rows: int) -> dict[str, BoolArray]:
    return {name: rows for name, rows in groups.items() if rows.sum() > _LEAST_GROUP_SHARE * n_rows}


def _simulated(limit: int | None) -> Task:
    traffic = make_traffic(_SIMULATED_ROWS if limit is None else limit)
    prepared = Prepared(traffic.X, traffic.y, traffic.segments, pa.table({"score": traffic.scores}))
    return _task(SIMULATED, "simulated", "simulated traffic", prepared, BaseModel(C=1.0))
