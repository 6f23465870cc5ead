"""Jobs side by side: their order, their results, and how they are stopped."""

from __future__ import annotations

import threading

import pytest

from trueup._runtime._resources import Workers


def test_results_come_in_the_order_of_the_jobs_whoever_is_done_first() -> None:
    second_done = threading.Event()

    def slow() -> str:
        assert second_done.wait(20)
        return "first"

    def fast() -> str:
        second_done.set()
        return "second"

    with Workers(2, []) as workers:
        assert workers.all([slow, fast]) == ["first", "second"]


def test_what_is_put_in_line_meanwhile_waits_for_the_jobs_before_it() -> None:
    done: list[int] = []

    def job(number: int) -> None:
        done.append(number)

    gate = threading.Event()
    with Workers(2, []) as workers:
        blocked = workers.start(lambda: gate.wait(20))  # one thread is left

        def behind() -> None:
            workers.start(lambda: job(4))

        workers.all([lambda: job(1), lambda: job(2), lambda: job(3)], then=behind)
        gate.set()
        blocked.result()
    assert done[:3] == [1, 2, 3]
    assert sorted(done) == [1, 2, 3, 4]


def test_one_thread_is_the_callers_own_and_nothing_goes_beside_it() -> None:
    seen: list[int] = []
    with Workers(1, []) as workers:
        workers.all([lambda: seen.append(threading.get_ident())], then=lambda: seen.append(0))
        with pytest.raises(RuntimeError, match="one thread only"):
            workers.start(lambda: None)
    assert seen == [threading.get_ident()]


def test_an_exception_tells_running_jobs_to_stop() -> None:
    cancel = threading.Event()

    def interrupted() -> None:
        with Workers(2, [cancel]) as workers:
            workers.start(lambda: cancel.wait(20))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert cancel.is_set()
