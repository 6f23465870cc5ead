"""Showing a fit as it goes on."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from trueup._fitting._loop import Listener
from trueup._model import RoundRecord

__all__ = ["Silence", "shown_progress"]


class Silence:
    """A listener that keeps quiet."""

    def round_finished(self, record: RoundRecord) -> None:
        """Nothing."""

    def refit_started(self, n_rounds: int) -> None:
        """Nothing."""

    def refit_round_finished(self, number: int, n_rounds: int) -> None:
        """Nothing."""


@contextlib.contextmanager
def shown_progress(verbose: int, max_rounds: int) -> Iterator[Listener]:
    """A listener that draws a progress bar on a terminal, and keeps quiet anywhere else."""
    if not verbose:
        yield Silence()
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    if not console.is_terminal:
        yield Silence()
        return
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(bar_width=20),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        yield _Bar(progress, max_rounds)


class _Bar:
    """Rounds and losses on a progress bar."""

    def __init__(self, progress: Any, max_rounds: int) -> None:
        self._progress = progress
        self._task = progress.add_task("round 1", total=None)
        self._max_rounds = max_rounds

    def round_finished(self, record: RoundRecord) -> None:
        loss = f"train {record.train_loss:.5f}"
        if record.validation_loss == record.validation_loss:
            loss += f"  validation {record.validation_loss:.5f}"
        after = f"growing round {record.number + 1}" if record.number < self._max_rounds else "the last"
        self._progress.update(self._task, description=f"round {record.number}: {loss}, {after}")

    def refit_started(self, n_rounds: int) -> None:
        self._progress.update(
            self._task, description=f"fitting {n_rounds} rounds on all rows", completed=0, total=n_rounds
        )

    def refit_round_finished(self, number: int, n_rounds: int) -> None:
        self._progress.update(
            self._task,
            description=f"fitting on all rows: round {number} of {n_rounds}",
            completed=number,
            total=n_rounds,
        )
