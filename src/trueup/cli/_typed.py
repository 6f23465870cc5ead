"""The command as it was typed, for the last line of the reports that it writes."""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Iterator, Sequence
from contextvars import ContextVar

__all__ = ["named_in_reports", "typed"]

_TYPED: ContextVar[str] = ContextVar("_TYPED", default="")


@contextlib.contextmanager
def typed(arguments: Sequence[str]) -> Iterator[None]:
    """Keep in mind what was typed, as a shell takes it again."""
    before = _TYPED.set(shlex.join(["trueup", *arguments]))
    try:
        yield
    finally:
        _TYPED.reset(before)


@contextlib.contextmanager
def named_in_reports() -> Iterator[None]:
    """Name the command in the reports that are made within; apart, for commands without reports don't load them."""
    from trueup._report import made_by

    with made_by(_TYPED.get()):
        yield
