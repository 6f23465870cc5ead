"""How much work is taken on at once: past that, a client is told when to come back, and nothing is queued."""

from __future__ import annotations

from types import TracebackType

from trueup.serving._problems import Problem

__all__ = ["Admission", "Ticket"]


class Admission:
    """Counts what is in work, in one event loop.

    Parameters
    ----------
    max_requests : int
        Requests at once.
    max_bytes : int
        Bytes of bodies at once.
    """

    def __init__(self, max_requests: int, max_bytes: int) -> None:
        self._max_requests = max_requests
        self._max_bytes = max_bytes
        self._requests = 0
        self._bytes = 0

    @property
    def in_work(self) -> int:
        """How many requests are in work."""
        return self._requests

    def ticket(self) -> Ticket:
        """A place for one request, to be held in a `with` block; a `Problem` if there is none."""
        if self._requests >= self._max_requests:
            raise Problem("overloaded", f"{self._requests:,} requests are in work, which is all that is taken at once.")
        self._requests += 1
        return Ticket(self)

    def _grow(self, n_bytes: int) -> None:
        if self._bytes + n_bytes > self._max_bytes:
            raise Problem("overloaded", f"The bodies in work would be more than {self._max_bytes:,} bytes.")
        self._bytes += n_bytes

    def _leave(self, n_bytes: int) -> None:
        self._requests -= 1
        self._bytes -= n_bytes


class Ticket:
    """A request's place, and how many bytes it holds."""

    def __init__(self, admission: Admission) -> None:
        self._admission = admission
        self._bytes = 0

    def grow(self, n_bytes: int) -> None:
        """Hold more bytes; a `Problem` if that is too much."""
        self._admission._grow(n_bytes)
        self._bytes += n_bytes

    def __enter__(self) -> Ticket:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self._admission._leave(self._bytes)
