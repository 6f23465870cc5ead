"""What crosses the scheduler in a fit: sums, cuts and trees; never rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import dask.dataframe as dd
import pytest
from distributed import Client
from tornado.iostream import IOStream

from dask_fits import COLUMNS, quick_estimator, rows_made_there
from trueup.distributed import fit_dask

pytestmark = pytest.mark.slow

N = 2_000


class Counter:
    """The bytes that the scheduler, which runs in this process, has sent and received at its port."""

    def __init__(self, client: Client) -> None:
        self.port, self.total = int(client.scheduler.address.rpartition(":")[2]), 0

    def counting(self, function: Callable[[Any, Any], int | None]) -> Callable[[Any, Any], int | None]:
        def count(stream: Any, data: Any) -> int | None:
            ours = stream.socket is not None and stream.socket.getsockname()[1] == self.port
            n_bytes = function(stream, data)
            self.total += (n_bytes or 0) if ours else 0
            return n_bytes

        return count


@pytest.fixture
def counter(client: Client, monkeypatch: pytest.MonkeyPatch) -> Counter:
    counter = Counter(client)
    for name in ("read_from_fd", "write_to_fd"):
        monkeypatch.setattr(IOStream, name, counter.counting(getattr(IOStream, name)))
    return counter


def bytes_of_a_fit(client: Client, counter: Counter, n: int, rounds: int) -> int:
    frame = dd.from_map(rows_made_there, [n] * 2, [0, 1], meta=rows_made_there(1, 0))
    before = counter.total
    model = fit_dask(frame, client=client, estimator=quick_estimator(max_rounds=rounds), **COLUMNS)
    assert (model.n_rounds_, model.model_.summary.n_rows) == (rounds, 2 * n)
    return counter.total - before


def test_rounds_send_no_more_when_there_are_ten_times_the_rows(client: Client, counter: Counter) -> None:
    bytes_of_a_fit(client, counter, 100, 1)  # functions are sent once
    few, many = (bytes_of_a_fit(client, counter, n, 3) for n in (N, 10 * N))
    # 36,000 rows more: one column of them would be 288 kB, and the logits of three rounds 864 kB. Workers tell the
    # scheduler twice a second how they are, which is where a slow fit and a fast one differ.
    assert many - few < 144_000
    # Of 5 columns, 255 bins and 6 trees: about 130 kB, most of it words about the tasks of the steps towards theta.
    one = bytes_of_a_fit(client, counter, 10 * N, 1)
    assert (many - one) / 2 < 250_000
