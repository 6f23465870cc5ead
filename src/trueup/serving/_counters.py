"""Counters that several processes share: each writes a block of its own, and all are read together.

A block is a piece of anonymous shared memory, made before the workers are forked. A worker that dies leaves its
block behind, and the one that takes its place counts on in it: sums never fall, whatever is killed, and there are no
files to clean up. Numbers are aligned doubles, which a processor reads and writes as a whole; a key is published
after it is written, so a reader never sees half of one.
"""

from __future__ import annotations

import json
import mmap
from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["CounterBlock", "make_blocks"]

Key: TypeAlias = tuple[str, tuple[str, ...]]
Floats = npt.NDArray[np.float64]

_N_VALUES = 1 << 17  # of 8 bytes; pages that are never touched cost nothing
_N_KEY_BYTES = 1 << 21
_USED, _KEY_BYTES, _HEARTBEAT, _STOPPING, _FIRST = 0, 1, 2, 3, 8
_SIZE = _N_VALUES * 8 + _N_KEY_BYTES


def make_blocks(count: int) -> list[mmap.mmap]:
    """Memory for so many blocks, which children of a fork share."""
    return [mmap.mmap(-1, _SIZE) for _ in range(count)]


class CounterBlock:
    """The counters of one process.

    Parameters
    ----------
    memory : mmap
        One of `make_blocks`. What it holds is kept.
    """

    def __init__(self, memory: mmap.mmap) -> None:
        self._memory = memory
        self._values: Floats = np.frombuffer(memory, np.float64, _N_VALUES)
        if self._values[_USED] == 0:
            self._values[_USED] = _FIRST
        self._places = {key: start for key, start, _ in self._entries()}

    @property
    def heartbeat(self) -> float:
        """When the process last showed that it is alive, on the clock that it used."""
        return float(self._values[_HEARTBEAT])

    @heartbeat.setter
    def heartbeat(self, now: float) -> None:
        """Show that the process is alive."""
        self._values[_HEARTBEAT] = now

    @property
    def stopping(self) -> bool:
        """Whether the process has been told to stop."""
        return bool(self._values[_STOPPING])

    @stopping.setter
    def stopping(self, value: bool) -> None:
        """Tell all who share the block whether the process stops."""
        self._values[_STOPPING] = value

    def add(self, name: str, labels: tuple[str, ...], amounts: float | Floats, size: int = 1) -> None:
        """Add to the counters of a name and labels; what no longer fits is not counted."""
        start = self._place(name, labels, size)
        if start is not None:
            self._values[start : start + size] += amounts

    def put(self, name: str, labels: tuple[str, ...], value: float) -> None:
        """Set the number of a name and labels."""
        start = self._place(name, labels, 1)
        if start is not None:
            self._values[start] = value

    def read(self) -> Iterator[tuple[Key, Floats]]:
        """All counters, as they are now."""
        for key, start, size in self._entries():
            yield key, self._values[start : start + size].copy()

    def _place(self, name: str, labels: tuple[str, ...], size: int) -> int | None:
        key = (name, labels)
        start = self._places.get(key)
        if start is None:
            start = self._publish(key, size)
            if start is not None:
                self._places[key] = start
        return start

    def _publish(self, key: Key, size: int) -> int | None:
        start, written = int(self._values[_USED]), int(self._values[_KEY_BYTES])
        line = json.dumps([*key, start, size]).encode() + b"\n"
        if start + size > _N_VALUES or written + len(line) > _N_KEY_BYTES:
            return None
        offset = _N_VALUES * 8 + written
        self._memory[offset : offset + len(line)] = line
        self._values[_USED] = start + size
        self._values[_KEY_BYTES] = written + len(line)
        return start

    def _entries(self) -> Iterator[tuple[Key, int, int]]:
        offset = _N_VALUES * 8
        for line in self._memory[offset : offset + int(self._values[_KEY_BYTES])].splitlines():
            name, labels, start, size = json.loads(line)
            yield (name, tuple(labels)), start, size
