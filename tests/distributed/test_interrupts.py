"""Ctrl-C in the middle of a fit, and what a fit leaves on the workers: nothing."""

from __future__ import annotations

import gc
import signal
from collections.abc import Iterator
from typing import Any

import pytest
from distributed import Client

from dask_fits import COLUMNS, content_of, frame_of, left_behind, quick_estimator, rows_of_traffic
from trueup.distributed import _growing, fit_dask

ROWS = rows_of_traffic(900)[["country", "device", "hour", "clicked", "p"]]
FRAME = frame_of(ROWS[:300], ROWS[300:500], ROWS[500:])
NOTHING = (0, 0, 0)


def fitted(client: Client) -> bytes:
    return content_of(fit_dask(FRAME, client=client, estimator=quick_estimator(), **COLUMNS))


def kept_on_the_scheduler(dask_scheduler: Any = None) -> int:
    """How many tasks the scheduler still knows."""
    return len(dask_scheduler.tasks)


@pytest.fixture(scope="module")
def expected(alone: Client) -> bytes:
    """The model of a fit that nobody disturbs."""
    return fitted(alone)


def test_a_fit_leaves_nothing_on_the_workers(client: Client, expected: bytes) -> None:
    assert fitted(client) == expected
    assert set(client.run(left_behind).values()) == {NOTHING}


def test_what_a_fit_has_computed_is_forgotten(alone: Client) -> None:
    fitted(alone)
    gc.collect()
    alone.run_on_scheduler(_settle)  # after what the client has released
    assert alone.run_on_scheduler(kept_on_the_scheduler) == 0


async def _settle() -> None:
    pass


@pytest.fixture
def _hears_ctrl_c() -> Iterator[None]:
    """Python's own handler, which is not there if SIGINT was ignored at the start, as by `nohup make test &`."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("_hears_ctrl_c")
@pytest.mark.parametrize("where", ["_wait_for", "_start"])
def test_ctrl_c_in_round_two_leaves_the_cluster_as_it_was(
    client: Client, monkeypatch: pytest.MonkeyPatch, expected: bytes, where: str
) -> None:
    function, calls = getattr(_growing, where), []
    second = 3 if where == "_wait_for" else 2  # the first waits for rows that are prepared, the second for trees

    def interrupted(*arguments: Any) -> Any:
        calls.append(where)
        if len(calls) == second:
            signal.raise_signal(signal.SIGINT)
        return function(*arguments)

    monkeypatch.setattr(_growing, where, interrupted)
    with pytest.raises(KeyboardInterrupt):
        fitted(client)
    assert len(calls) == second
    assert set(client.run(left_behind).values()) == {NOTHING}
    assert not any(client.processing().values())
    monkeypatch.undo()
    assert fitted(client) == expected
