"""The partitions of a fit, as the client sees them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from trueup.distributed._pieces import summed

__all__ = ["Pieces", "reduced"]

_FAN_IN = 16  # results that one task puts together


class Pieces:
    """Packed partitions on the workers of a cluster.

    Parameters
    ----------
    client : distributed.Client
        The cluster.
    futures : sequence of futures of Piece
        The partitions that have rows.
    """

    def __init__(self, client: Any, futures: Sequence[Any]) -> None:
        self.client, self.futures = client, list(futures)

    def map(self, function: Callable[..., Any], *columns: Sequence[Any], **options: Any) -> list[Any]:
        """A task a piece, of the piece and of one entry of each column; futures."""
        return list(self.client.map(function, self.futures, *columns, pure=False, **options))

    def total(self, function: Callable[..., Sequence[float]], *columns: Sequence[Any], **options: Any) -> Any:
        """The sums of what a task a piece gives, added where the pieces are, in their order."""
        return reduced(self.client, summed, self.map(function, *columns, **options)).result()

    def locate(self) -> dict[str, list[int]]:
        """Which worker holds which pieces; all of them are held by some worker when this returns."""
        from distributed import wait

        wait(self.futures)
        held = self.client.who_has(self.futures)
        places: dict[str, list[int]] = {}
        for number, future in enumerate(self.futures):
            workers = held.get(future.key) or held.get(str(future.key)) or ()
            if not workers:  # lost since
                return self.locate()
            # Of several that hold it, the one with the fewest so far, by name if that is undecided.
            worker = min(workers, key=lambda name: (len(places.get(name, ())), name))
            places.setdefault(worker, []).append(number)
        return places


def reduced(client: Any, function: Callable[[Sequence[Any]], Any], futures: Sequence[Any]) -> Any:
    """What a function makes of all results, some at a time, on the workers; a future."""
    level = list(futures)
    while True:
        level = [
            client.submit(function, level[first : first + _FAN_IN], pure=False)
            for first in range(0, len(level), _FAN_IN)
        ]
        if len(level) == 1:
            return level[0]
