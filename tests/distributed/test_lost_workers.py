"""A worker that is lost, whatever it was doing: the fit goes on, and its model is the one that it would have been."""

from __future__ import annotations

import pytest
from distributed import Client

from dask_fits import COLUMNS, content_of, frame_of, kill_itself_at, left_behind, quick_estimator, rows_of_traffic
from trueup.distributed import _growing, fit_dask
from trueup.errors import ClusterWarning, TrainingError

pytestmark = pytest.mark.slow

ROWS = rows_of_traffic(900)[["country", "device", "hour", "session_length", "clicked", "p"]]
FRAME = frame_of(ROWS[:300], ROWS[300:500], ROWS[500:])
TREES = quick_estimator().lightgbm_params["n_estimators"]


def fitted(client: Client) -> bytes:
    model = fit_dask(FRAME, client=client, estimator=quick_estimator(), **COLUMNS)
    assert model.n_rounds_ == 2
    return content_of(model)


@pytest.fixture(scope="module")
def expected(alone: Client) -> bytes:
    """The model of a fit in which no worker is lost."""
    return fitted(alone)


def doom(client: Client, module: str, name: str, call: int) -> str:
    """Let one of the workers end itself at a function's so many-th call; which."""
    client.wait_for_workers(2)
    worker = str(min(client.nthreads()))
    client.run(kill_itself_at, module, name, call, workers=[worker])
    return worker


GROWING = {
    "while it prepares its rows for round two": ("trueup.distributed._shard", "copy_bins", 2),
    "in the middle of growing round two": ("trueup._fitting._growing", "add_tree", TREES + 3),
}


@pytest.mark.parametrize("when", GROWING)
def test_a_worker_lost_in_round_two_changes_nothing_in_the_model(mortal: Client, expected: bytes, when: str) -> None:
    worker = doom(mortal, *GROWING[when])
    with pytest.warns(ClusterWarning, match=r"^(Worker .* is gone|A .*)\. The round is grown again\.$") as told:
        assert fitted(mortal) == expected
    assert worker not in mortal.nthreads()
    assert [warning.filename for warning in told] == [__file__]
    assert set(mortal.run(left_behind).values()) == {(0, 0, 0)}


def test_a_worker_lost_between_rounds_is_no_concern_of_ours(mortal: Client, expected: bytes) -> None:
    # What it had computed is computed again by Dask.
    worker = doom(mortal, "trueup.distributed._partitions", "scale_sums", 5)
    assert fitted(mortal) == expected
    assert worker not in mortal.nthreads()


def test_too_many_losses_end_the_fit_and_say_why(alone: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    tries = []

    def refused(*arguments: object) -> None:
        tries.append(arguments)
        raise _growing._Lost("Worker tcp://far:1 is gone")

    monkeypatch.setattr(_growing, "_start", refused)
    with (
        pytest.warns(ClusterWarning, match="is grown again") as told,
        pytest.raises(TrainingError, match="could not be grown in 5 tries: Worker tcp://far:1 is gone"),
    ):
        fitted(alone)
    assert (len(tries), len(told)) == (5, 4)
    monkeypatch.undo()
    fitted(alone)
