"""What happens to a partition on a worker, and where pieces are: plain functions, with numbers done by hand."""

from __future__ import annotations

import math
import socket
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from distributed import Client
from hypothesis import given
from hypothesis import strategies as st

from dask_fits import frame_of, sum_of_rows
from trueup._fitting import Rescaling, StreamRoles, dealing_for
from trueup.distributed._cluster import Partitions, reduced, spread
from trueup.distributed._fit import _gradient_unit
from trueup.distributed._growing import RoundStart, _crew, _of_network
from trueup.distributed._partitions import (
    PackedPartition,
    affine_sums,
    dealt,
    describe_partition,
    facts_of,
    label_sums,
    losses_of,
    merged_facts,
    moved_logits,
    pack_partition,
    sampled_codes,
    sampled_logits,
    scale_sums,
    step_sums,
    summed,
)
from trueup.distributed._shard import Network, NotReadyError, free_ports
from trueup.errors import DataError

ROWS = pd.DataFrame({"x": [1.0, 2.0, np.nan, 4.0], "y": [0, 1, 1, 0], "p": [0.5, 0.5, 0.8, 0.2], "w": [1.0, 2, 3, 4]})
LOGITS = np.array([0.0, 0.0, math.log(4), -math.log(4)])
FOLDS = np.array([0, 1, 1, 0], np.int8)  # the first row and the last are held out


def piece_of(weight: str | None = "w") -> PackedPartition:
    roles = StreamRoles("y", "p", weight, None, ("x",))
    plan = merged_facts([facts_of(ROWS, roles, 0)]).facts.plan(253)
    return dealt(pack_partition(ROWS, plan, 2**64 - 1, 0), 0, FOLDS, dealing_for(0.5, 4, 0))


def test_a_piece_keeps_logits_labels_and_weights() -> None:
    piece = piece_of()
    np.testing.assert_allclose(piece.rows.base_logits, LOGITS, atol=1e-12)
    assert piece.rows.labels.tolist() == [0, 1, 1, 0]
    assert piece.sampled.tolist() == [0, 1, 2, 3]  # the cut is above all hashes
    assert piece.trains(0).tolist() == [1, 2]
    assert piece.validates(0).tolist() == [0, 3]
    assert piece.trains(None).tolist() == [0, 1, 2, 3]
    assert piece.validates(None).tolist() == []


def test_sums_of_a_piece_are_those_of_its_rows() -> None:
    # Weights 1 to 4; the positive rows weigh 2 and 3.
    assert label_sums(piece_of()) == (10, 5)
    assert label_sums(piece_of(None)) == (4, 2)
    # p (1 - p) is 1/4 and 4/25; rows 1 and 2 train and weigh 2 and 3.
    sizes = describe_partition(piece_of(), LOGITS, [0, None], soft=False)
    assert (sizes.n_rows, sizes.largest_weight, sizes.n_validation) == (4, 4.0, (2, 0))
    assert sizes.train[0] == pytest.approx((2, 2.0, 2 / 4 + 3 * 4 / 25))
    assert sizes.train[1] == pytest.approx((4, 2.0, 3 / 4 + 7 * 4 / 25))


def test_losses_are_those_of_either_side() -> None:
    # The first row loses log 2 and the last -log 0.8; those that train -log 0.5 and -log 0.8.
    train, train_weight, held_out, held_out_weight = losses_of(piece_of(), LOGITS, 0, soft=False)
    assert (train_weight, held_out_weight) == (5, 5)
    assert train == pytest.approx(2 * math.log(2) + 3 * math.log(1.25))
    assert held_out == pytest.approx(1 * math.log(2) + 4 * math.log(1.25))


def test_steps_are_of_the_rows_that_train() -> None:
    after = LOGITS + np.array([9, 1, -2, 9])
    weight, change, square, largest = step_sums(piece_of(), LOGITS, after, 0)
    assert (weight, change, square) == pytest.approx((5, 2 * 1 + 3 * 2, 2 * 1 + 3 * 4))
    assert largest == pytest.approx(math.log(4))


@pytest.mark.parametrize("weight", ["w", None])
def test_sums_for_rescaling_are_derivatives_of_the_loss(weight: str | None) -> None:
    piece, correction, step = piece_of(weight), np.array([0.3, -0.2, 0.5, 0.1]), 1e-5
    weights = ROWS["w"].to_numpy() if weight else np.ones(4)

    def loss(rows: list[int], theta: float, shift: float = 0.0) -> float:
        logits = theta * (LOGITS + correction)[rows] + shift
        return float(weights[rows] @ (np.logaddexp(0, logits) - ROWS["y"].to_numpy()[rows] * logits))

    first, second = scale_sums(piece, LOGITS, correction, fold=0, theta=1.1)
    losses = [loss([1, 2], 1.1 + place * step) for place in (-1, 0, 1)]
    assert first == pytest.approx((losses[2] - losses[0]) / (2 * step), rel=1e-5)
    assert second == pytest.approx((losses[2] - 2 * losses[1] + losses[0]) / step**2, rel=1e-3)
    held_out = affine_sums(piece, LOGITS, correction, fold=0, theta=1.1, intercept=0.2)
    assert held_out[0] == pytest.approx(loss([0, 3], 1.1, 0.2), rel=1e-9)


def test_logits_move_by_the_trees_and_the_rescaling() -> None:
    moved = moved_logits(np.array([1.0, 2.0]), np.array([0.5, -1.0]), Rescaling(theta=2.0, shift=0.25))
    assert moved.tolist() == [2 * (1 + 0.5 + 0.25), 2 * (2 - 1 + 0.25)]


def test_samples_hold_codes_and_what_is_missing_anywhere() -> None:
    codes = sampled_codes(piece_of())
    assert codes.shape == (5, 1)
    assert np.isnan(codes[:, 0]).tolist() == [False, False, True, False, True]
    np.testing.assert_array_equal(sampled_logits(piece_of(), LOGITS, 0), LOGITS[[1, 2]])
    np.testing.assert_array_equal(sampled_logits(piece_of(), LOGITS, None), LOGITS)


@given(st.lists(st.lists(st.floats(-1e9, 1e9), min_size=3, max_size=3), min_size=1, max_size=40))
def test_sums_of_pieces_are_correctly_rounded(sums: list[list[float]]) -> None:
    assert summed(sums) == tuple(float(sum(map(Fraction, column))) for column in zip(*sums, strict=True))


@given(st.integers(1, 2**31), st.floats(1e-6, 1e6))
def test_no_sum_of_derivatives_is_rounded(n_rows: int, largest: float) -> None:
    unit = _gradient_unit(n_rows, largest)
    assert math.log2(unit).is_integer()
    assert n_rows * largest / unit <= 2**53  # so that a double holds it exactly
    assert unit <= largest * 2.0**-20


class FakeClient:
    """Says where pieces are."""

    def __init__(self, *holders: tuple[str, ...]) -> None:
        self.holders = holders

    def nthreads(self) -> dict[str, int]:
        return {worker: 1 for held in self.holders for worker in held}

    def who_has(self, futures: list[Any]) -> dict[str, tuple[str, ...]]:
        return {future.key: held for future, held in zip(futures, self.holders, strict=True)}


def pieces_at(monkeypatch: pytest.MonkeyPatch, *holders: tuple[str, ...]) -> Partitions:
    monkeypatch.setattr("distributed.wait", lambda futures: None)
    futures = [SimpleNamespace(key=str(number), status="finished") for number in range(len(holders))]
    return Partitions(FakeClient(*holders), futures)


def test_a_piece_stays_with_the_worker_that_had_it(monkeypatch: pytest.MonkeyPatch) -> None:
    pieces = pieces_at(monkeypatch, ("a",), ("b",), ("a", "b"), ("b", "a"))
    assert pieces.locate() == {"a": [0, 2], "b": [1, 3]}  # copies go to whoever has fewer
    pieces.client.holders = (("b", "a"), ("a", "b"), ("b",), ("a", "b"))  # Dask has moved the third
    assert pieces.locate() == {"a": [0, 2], "b": [1, 3]}
    pieces.client.holders = (("b",), ("b",), ("c", "b"), ("b",))  # a is lost, and some pieces were made again
    assert pieces.locate() == {"b": [0, 1, 3], "c": [2]}


def test_a_worker_deals_its_pieces_to_its_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    pieces = pieces_at(monkeypatch, ("a",), ("b",), ("a",), ("a",))
    pieces.locate()
    assert pieces._shares({"a": 1, "b": 1}) == [("a", [0, 2, 3]), ("b", [1])]
    # A task each, and none without pieces.
    assert pieces._shares({"a": 2, "b": 2}) == [("a", [0, 3]), ("a", [2]), ("b", [1])]
    assert pieces._shares({"b": 2}) == [("a", [0, 2, 3]), ("b", [1])]  # nothing is known of a yet


def test_what_is_found_of_each_piece_comes_in_their_order(client: Client) -> None:
    with client.as_current():
        pieces = Partitions(client, client.map(float, range(7), pure=False))
        assert pieces.each(pow, [2] * 7) == [0, 1, 4, 9, 16, 25, 36]
        assert pieces.total(divmod, [2] * 7) == (0 + 0 + 1 + 1 + 2 + 2 + 3, 3)


def test_a_piece_that_can_not_be_made_again_is_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    pieces = pieces_at(monkeypatch, ("a",))

    def result() -> None:
        raise DataError("the file is gone")

    pieces.futures[0].status, pieces.futures[0].result = "error", result
    with pytest.raises(DataError, match="the file is gone"):
        pieces.locate()


def test_a_worker_that_holds_all_pieces_is_two_machines(monkeypatch: pytest.MonkeyPatch) -> None:
    def crew(n_train: list[int], *holders: tuple[str, ...]) -> Any:
        return _crew(RoundStart(pieces_at(monkeypatch, *holders), [], n_train, None, None))

    assert crew([5, 5, 5], ("a",), ("a",), ("a",)) == {"a": [(0,), (1, 2)]}
    assert crew([5, 5, 5], ("b",), ("a",), ("b",)) == {"a": [(1,)], "b": [(0, 2)]}
    assert crew([5, 0, 5], ("b",), ("a",), ("b",)) == {"b": [(0,), (2,)]}  # what trains nothing grows nothing
    assert crew([5], ("a",)) == {"a": [(0,)]}


def test_partitions_are_spread_over_all_workers(client: Client) -> None:
    parts = list(frame_of(*[ROWS] * 6).to_delayed())
    with client.as_current():
        futures = spread(client, parts, sum_of_rows, 10.0)
        assert client.gather(futures) == [17.0 + number for number in range(6)]
        held = client.has_what()
    keys = {future.key for future in futures}
    assert sorted(len(keys & set(some)) for some in held.values()) == [3, 3]


def test_any_number_of_results_is_put_together_in_order(alone: Client) -> None:
    for n in (1, 16, 17, 300):
        futures = alone.map(_as_list, range(n), pure=False)
        assert reduced(alone, _joined, futures).result() == list(range(n))


def _as_list(number: int) -> list[int]:
    return [number]


def _joined(lists: list[list[int]]) -> list[int]:
    return [number for some in lists for number in some]


def test_ports_are_free_and_differ() -> None:
    ports = free_ports(5)
    assert len(set(ports)) == 5
    for port in ports:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", port))


def test_a_network_tells_lightgbm_who_is_who() -> None:
    network = Network(("10.0.0.1:5000", "10.0.0.2:6000"), 1)
    assert network.address == ("10.0.0.2", 6000)
    assert network.ports == {5000, 6000}
    assert network.parameters["machines"] == "10.0.0.1:5000,10.0.0.2:6000"
    assert (network.parameters["local_listen_port"], network.parameters["num_machines"]) == (6000, 2)
    assert Network(("10.0.0.1:5000",), 0).parameters == {}


def test_only_what_is_of_the_network_is_tried_again() -> None:
    assert _of_network(NotReadyError("anew"))
    assert _of_network(RuntimeError("Socket recv error, Connection reset by peer (code: 104)"))
    assert _of_network(RuntimeError("Binding port 12345 failed"))
    assert not _of_network(ValueError("Check failed: (best_split_info.left_count) > (0)"))
