"""Showing an audit as it goes on."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

__all__ = ["shown_progress"]


@contextlib.contextmanager
def shown_progress(verbose: int, total: int) -> Iterator[Callable[[int], None]]:
    """Give what to tell of combinations searched: a bar on a terminal shows them, anywhere else nothing does.

    Yields
    ------
    callable
        To be called with the number of combinations that were searched since the last call.
    """
    if verbose:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

        console = Console(stderr=True)
        if console.is_terminal:
            columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
            with Progress(*columns, console=console, transient=True) as progress:
                task = progress.add_task("auditing", total=total)
                yield lambda n: progress.advance(task, n)
            return
    yield lambda n: None
