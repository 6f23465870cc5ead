"""Showing a comparison as it goes on."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TypeAlias

__all__ = ["shown_progress"]

Advance: TypeAlias = Callable[[int], None]


@contextlib.contextmanager
def shown_progress(verbose: int, n_searched: int, n_drawn: int) -> Iterator[tuple[Advance, Advance]]:
    """Give what to tell of draws done and of combinations searched: a bar on a terminal shows both.

    Yields
    ------
    pair of callables
        To be called with the number of draws, and of combinations, since the last call.
    """
    if verbose:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

        console = Console(stderr=True)
        if console.is_terminal:
            columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
            with Progress(*columns, console=console, transient=True) as progress:
                # Drawing rows again, and ranking them, takes about twice as long as searching a combination of them.
                task = progress.add_task("comparing", total=2 * n_drawn + n_searched)
                yield lambda n: progress.advance(task, 2 * n), lambda n: progress.advance(task, n)
            return
    yield lambda n: None, lambda n: None
