"""Showing on a terminal how far a long piece of work is."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console


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


def shown_progress(
    verbose: int, doing: str, total: float | None = None, *, unit: str = ""
) -> contextlib.AbstractContextManager[Progress]:
    """Draw a bar on stderr until the block ends, if `verbose` and stderr is a terminal; elsewhere nothing is shown."""
    # `unit` names what is counted, if the count itself is worth showing, as in "calibrating: 3,000 rows". A `total` of
    # None stands for work of unknown length.
    if verbose:
        from rich.console import Console

        console = Console(stderr=True)
        if console.is_terminal:
            return _bar(console, doing, total, unit)
    return contextlib.nullcontext(Progress())


@contextlib.contextmanager
def _bar(console: Console, doing: str, total: float | None, unit: str) -> Iterator[Progress]:
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}" + (f": {{task.completed:,.0f}} {unit}" if unit else "")),
        BarColumn(bar_width=20),
        TaskProgressColumn(),
        TimeElapsedColumn() if total is None else TimeRemainingColumn(),
    )
    with Bar(*columns, console=console, transient=True) as bar:
        task = bar.add_task(doing, total=total)
        yield Progress(lambda **changes: bar.update(task, **changes))
