"""Showing on a terminal how far a long piece of work is."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator


class Progress:
    """What long work tells of itself. It reaches a bar only if `shown_progress` found a terminal to draw on."""

    def __init__(self, update: Callable[..., None] | None = None) -> None:
        self._update = update

    def advance(self, n: float = 1) -> None:
        """Count `n` more as done."""
        if self._update is not None:
            self._update(advance=n)

    def now(self, doing: str, *, done: float | None = None, total: float | None = None) -> None:
        """Name the stage that the work has reached; `done` and `total` stay as they are if None."""
        if self._update is not None:
            self._update(description=doing, completed=done, total=total)


@contextlib.contextmanager
def shown_progress(verbose: int, doing: str, total: float | None = None, *, unit: str = "") -> Iterator[Progress]:
    """Draw a bar on stderr until the block ends, if `verbose` and stderr is a terminal; elsewhere nothing is shown."""
    # `unit` names what is counted, if the count itself is worth showing, as in "calibrating: 3,000 rows". A `total` of
    # None stands for work of unknown length.
    if verbose:
        from rich.console import Console
        from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        console = Console(stderr=True)
        if console.is_terminal:
            counted = f": {{task.completed:,.0f}} {unit}" if unit else ""
            columns = (
                TextColumn("{task.description}" + counted),
                BarColumn(bar_width=20),
                TaskProgressColumn(),
                TimeElapsedColumn() if total is None else TimeRemainingColumn(),
            )
            with Bar(*columns, console=console, transient=True) as bar:
                task = bar.add_task(doing, total=total)
                yield Progress(lambda **changes: bar.update(task, **changes))
            return
    yield Progress()
