"""Giving memory back to the system."""

from __future__ import annotations

import ctypes
import functools
import sys
from collections.abc import Callable

__all__ = ["give_back_memory"]


def give_back_memory() -> None:
    """Let Arrow and malloc return to the system what was freed and what they keep for later."""
    if "pyarrow" in sys.modules:
        sys.modules["pyarrow"].default_memory_pool().release_unused()
    trim = _malloc_trim()
    if trim is not None:
        trim(0)


@functools.cache
def _malloc_trim() -> Callable[[int], int] | None:
    """What makes malloc do so; only glibc has it."""
    if not sys.platform.startswith("linux"):
        return None
    return getattr(ctypes.CDLL(None), "malloc_trim", None)
