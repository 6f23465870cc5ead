"""How much work is taken on at once: past that, a client is told when to come back, and nothing is queued."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from trueup.serving._problems import Problem

__all__ = ["Admission", "BodyBytes"]

_SMALL = 64 * 1024  # bytes of a body that always find room


class Admission:
    """Counts the requests and the bytes of bodies that one event loop holds.

    A request is counted once its body is there: clients that send slowly, or not at all, take nobody's place. Bytes
    are counted as they come. When they are too many, large bodies are refused and small ones still taken, so that a
    few clients that stop in the middle of large bodies can't keep the others out.
    """

    def __init__(self, max_requests: int, max_bytes: int) -> None:
        self._max_requests, self._max_bytes = max_requests, max_bytes
        self.bytes_held = 0
        self.in_work = 0

    @contextmanager
    def body(self) -> Iterator[BodyBytes]:
        """Hold one body for as long as the block lasts."""
        held = BodyBytes(self)
        try:
            yield held
        finally:
            self.bytes_held -= len(held.data)
            held.data.clear()  # now, and not when an error's traceback is collected that refers to it

    @contextmanager
    def work(self) -> Iterator[None]:
        """Hold a place for a request whose body is there; a `Problem` if there is none."""
        if self.in_work >= self._max_requests:
            raise Problem("overloaded", f"The server is working on {self.in_work:,} requests, the most it takes.")
        self.in_work += 1
        try:
            yield
        finally:
            self.in_work -= 1

    def hold(self, n_bytes: int, of_body: int) -> None:
        """Count bytes of a body that has so many in all; a `Problem` if that is too much."""
        if self.bytes_held + n_bytes > self._max_bytes and of_body > _SMALL:
            raise Problem("overloaded", f"The server already holds bodies of {self.bytes_held:,} bytes.")
        self.bytes_held += n_bytes


class BodyBytes:
    """What has come of one body so far.

    It is one piece of memory, which goes back when it is freed; thousands of small parts would not.
    """

    def __init__(self, admission: Admission) -> None:
        self._admission = admission
        self.data = bytearray()

    def add(self, part: bytes) -> None:
        """Take more bytes, or raise a `Problem`."""
        self._admission.hold(len(part), len(self.data) + len(part))
        self.data += part
