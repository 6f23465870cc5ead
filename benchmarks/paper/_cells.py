"""Cells: one method on one task, measured once and kept in a small file."""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from paper._methods import Method, ScoredTask
from paper._metrics import measure
from paper.tasks import Task
from trueup._runtime import atomic_path
from trueup.errors import DataFileError

__all__ = ["Cell", "CellKey", "cell_path", "failure_path", "read_cell", "run_cell", "write_cell"]


@dataclass(frozen=True)
class CellKey:
    """What a cell's figures depend on.

    Attributes
    ----------
    task, method : str
        Their names.
    version : str
        The package's.
    data : str
        The folder of data files, or "sources".
    max_rows : int or None
        The most rows of a task.
    settings : str
        The method's settings, as sorted JSON.
    """

    task: str
    method: str
    version: str
    data: str
    max_rows: int | None
    settings: str

    @classmethod
    def of(cls, task: str, method: Method, data: str, max_rows: int | None) -> CellKey:
        """The key of a method on a task, now."""
        import trueup

        settings = json.dumps(method.settings, sort_keys=True, default=str)
        return cls(task, method.name, trueup.__version__, data, max_rows, settings)


@dataclass(frozen=True)
class Cell:
    """A finished cell.

    Attributes
    ----------
    key : CellKey
        What it is.
    origin, source : str
        What the rows are to the paper's, and where they come from.
    rows : int
        How many rows the task had.
    metrics : mapping of str to float
        The figures of merit on the test rows.
    rounds : int or None
        How many rounds were kept.
    fit_seconds, predict_seconds : float
        On one core if several tasks ran at once.
    chosen : mapping
        What was chosen on the validation rows.
    notes : tuple of str
        What was warned of.
    """

    key: CellKey
    origin: str
    source: str
    rows: int
    metrics: Mapping[str, float]
    rounds: int | None
    fit_seconds: float
    predict_seconds: float
    chosen: Mapping[str, float]
    notes: tuple[str, ...]
    total_seconds: float = 0.0


def cell_path(folder: Path, task: str, method: str) -> Path:
    """Where a cell is kept."""
    return folder / "cells" / f"{task}--{method}.json"


def failure_path(folder: Path, task: str, method: str) -> Path:
    """Where it is kept why a cell failed."""
    return folder / "cells" / f"{task}--{method}.failed.txt"


def run_cell(method: Method, key: CellKey, rows: ScoredTask) -> Cell:
    """Fit a method on a task's training rows and measure it on the test rows."""
    task: Task = rows.task
    started = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        outcome = method.run(rows)
    notes = tuple(dict.fromkeys(str(warning.message) for warning in caught))
    groups = {name: members[task.test] for name, members in task.groups.items()}
    metrics = measure(rows.features(task.test), task.y[task.test], outcome.probabilities, groups, n_jobs=rows.n_jobs)
    return Cell(
        key=key,
        origin=task.origin,
        source=task.source,
        rows=len(task.y),
        metrics=metrics,
        rounds=outcome.rounds,
        fit_seconds=outcome.fit_seconds,
        predict_seconds=outcome.predict_seconds,
        chosen=dict(outcome.chosen),
        notes=notes,
        total_seconds=time.perf_counter() - started,
    )


def write_cell(cell: Cell, folder: Path) -> None:
    """Keep a cell, whole or not at all."""
    write_json(asdict(cell), cell_path(folder, cell.key.task, cell.key.method))
    failure_path(folder, cell.key.task, cell.key.method).unlink(missing_ok=True)


def write_json(value: Mapping[str, Any], path: Path) -> None:
    """Write a JSON file atomically."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_path(path) as temporary:
        temporary.write_text(json.dumps(value, indent=1) + "\n", "utf-8")


def read_cell(path: Path) -> Cell | None:
    """A kept cell; None if there is none."""
    try:
        fields = json.loads(path.read_text("utf-8"))
        fields["key"] = CellKey(**fields["key"])
        fields["notes"] = tuple(fields["notes"])
        return Cell(**fields)
    except FileNotFoundError:
        return None
    except (ValueError, TypeError, KeyError) as error:
        raise DataFileError(f"{path} is no finished cell ({error}). Delete it, and it is run again.") from error
