"""Showing how many rows have come."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

__all__ = ["shown_rows"]


@contextlib.contextmanager
def shown_rows(verbose: int, doing: str, total: int | None = None) -> Iterator[Callable[[int], None]]:
    """Give what to tell of rows that came: a terminal shows their number, and nothing else does.

    Parameters
    ----------
    verbose : int
        Whether to show anything.
    doing : str
        What is done with them.
    total : int, optional
        How many there will be, if that is known.

    Yields
    ------
    callable
        To be called with the number of rows that came since the last call.

    Examples
    --------
    >>> from trueup._runtime import shown_rows
    >>> with shown_rows(1, "counting", 2_000) as tell:  # here is no terminal
    ...     tell(1_000)
    ...     tell(1_000)
    """
    if verbose:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        console = Console(stderr=True)
        if console.is_terminal:
            columns = (
                TextColumn("{task.description}: {task.completed:,.0f} rows"),
                BarColumn(bar_width=20),
                TimeRemainingColumn(),
            )
            with Progress(*columns, console=console, transient=True) as progress:
                task = progress.add_task(doing, total=total)
                yield lambda n: progress.advance(task, n)
            return
    yield lambda n: None
