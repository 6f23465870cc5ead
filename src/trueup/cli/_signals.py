"""SIGTERM and SIGHUP stop a command as Ctrl-C does, so that it can remove what it has not finished writing."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from types import FrameType

__all__ = ["Stop", "stopping_on_signals"]

_NAMES = ("SIGTERM", "SIGHUP")  # Windows has no SIGHUP


@dataclass
class Stop:
    """Which signal has stopped the command: Ctrl-C unless another one came."""

    number: int = signal.SIGINT
    came: bool = False

    @property
    def exit_code(self) -> int:
        """What a shell reports of a process that this signal has ended."""
        return 128 + self.number

    def receive(self, number: int, frame: FrameType | None) -> None:
        """Interrupt the work, once.

        Closing a terminal and stopping a service often send several signals in a row: the later ones must not
        interrupt the removal of unfinished files.
        """
        if not self.came:
            self.number, self.came = number, True
            raise KeyboardInterrupt


@contextlib.contextmanager
def stopping_on_signals() -> Iterator[Stop]:
    """Turn signals that would end the process at once into `KeyboardInterrupt`.

    A signal that was ignored when the process started, as `nohup` does with SIGHUP and shells do with SIGINT for jobs
    in the background, stays ignored; a handler that somebody else has set stays too.
    """
    stop = Stop()
    known = [getattr(signal, name) for name in _NAMES if hasattr(signal, name)]
    in_main_thread = threading.current_thread() is threading.main_thread()  # others may not set handlers
    ours = [number for number in known if in_main_thread and signal.getsignal(number) is signal.SIG_DFL]
    for number in ours:
        signal.signal(number, stop.receive)
    try:
        yield stop
    finally:
        for number in ours:
            signal.signal(number, signal.SIG_DFL)
