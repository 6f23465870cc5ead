"""In which fold a row is on a cluster: where its group or its place says, whichever process asks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from distributed import Client

from dask_fits import COLUMNS, folds_here, frame_of, quick_estimator, rows_of_traffic
from trueup._data import hash_column
from trueup._fitting import _splits, dealing_for, make_splits, seeds_from
from trueup.distributed import _fit, fit_dask
from trueup.distributed._cluster import Partitions
from trueup.metrics import log_loss

ROWS = rows_of_traffic(2_000)[["country", "device", "hour", "clicked", "p", "user"]].assign(
    row=np.arange(2_000), name=lambda rows: "u" + rows["user"].astype(str)
)
FEATURES = ["country", "device", "hour", "row"]
OPTIONS: dict[str, Any] = {"validation": 0.3, "max_rounds": 1, "rescale": "honest", "features": FEATURES}
SHUFFLED = ROWS.sample(frac=1.0, random_state=3)
CUTS = {
    "three partitions": [ROWS[:900], ROWS[900:1_000], ROWS[1_000:]],
    "seven of shuffled rows": [SHUFFLED[begin : begin + 300] for begin in range(0, 2_000, 300)],
}


def test_all_workers_and_the_client_agree_on_the_fold_of_every_row(client: Client) -> None:
    for name in ("user", "name"):
        groups = ROWS[name].tolist()
        told = [folds_here(groups), *client.run(folds_here, groups).values()]
        assert len({process for process, _ in told}) == 3
        assert told[0][1] == told[1][1] == told[2][1]


def held_out(client: Client, monkeypatch: pytest.MonkeyPatch, parts: list[pd.DataFrame], **columns: str) -> set[int]:
    """The numbers of the rows that validate, as the workers that hold them say."""
    seen: list[Partitions] = []

    def packed(*arguments: Any) -> Any:
        found = function(*arguments)
        seen.append(found[0].partitions)
        return found

    function = _fit._packed
    monkeypatch.setattr(_fit, "_packed", packed)
    fit_dask(frame_of(*parts), client=client, estimator=quick_estimator(**OPTIONS), **COLUMNS, **columns)
    monkeypatch.undo()
    places = client.gather(seen[0].map(_places_held_out))
    return {int(part["row"].iloc[place]) for part, some in zip(parts, places, strict=True) for place in some}


def _places_held_out(piece: Any) -> list[int]:
    assert not set(piece.trains(0)) & set(piece.validates(0))
    assert len(piece.trains(0)) + len(piece.validates(0)) == piece.rows.n_rows
    return piece.validates(0).tolist()


def test_however_rows_are_dealt_the_same_are_held_out(alone: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = (held_out(alone, monkeypatch, parts, group="name") for parts in CUTS.values())
    dealt = dealing_for(0.3, 2_000, seeds_from(quick_estimator().random_state)[0]).by_hash(hash_column(ROWS["name"]))
    assert first == second == set(np.flatnonzero(dealt == 0).tolist())
    assert not set(ROWS["user"].iloc[sorted(first)]) & set(ROWS["user"].drop(sorted(first)))
    assert 0.2 < len(first) / 2_000 < 0.4


def test_few_groups_are_dealt_in_turn_as_in_memory(alone: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = ROWS.assign(day=ROWS["user"] % 9)
    ((_, valid),) = dealing_for(0.3, 2_000, seeds_from(0)[0]).splits(
        rows["clicked"].to_numpy(float), soft=False, groups=hash_column(rows["day"])
    )
    assert held_out(alone, monkeypatch, [rows[:900], rows[900:]], group="day") == set(valid.tolist())


@pytest.mark.parametrize("most_stratified", [1_000_000, 100], ids=["stratified", "by place"])
def test_without_groups_rows_are_dealt_as_in_memory_whatever_the_partitions(
    alone: Client, monkeypatch: pytest.MonkeyPatch, most_stratified: int
) -> None:
    for module in (_splits, _fit):
        monkeypatch.setattr(module, "STRATIFIED_MAX_ROWS", most_stratified)
    ((_, valid),) = make_splits(0.3, ROWS["clicked"].to_numpy(float), soft=False, seed=seeds_from(0)[0])
    for parts in ([ROWS[:900], ROWS[900:]], [ROWS[:1_000], ROWS[1_000:]]):
        with monkeypatch.context() as patched:
            assert held_out(alone, patched, parts) == set(valid.tolist())


def test_models_of_other_partitions_are_as_good(client: Client) -> None:
    one, other = (
        fit_dask(frame_of(*parts), group="user", client=client, estimator=quick_estimator(**OPTIONS), **COLUMNS)
        for parts in CUTS.values()
    )
    assert one.n_rounds_ == other.n_rounds_ == 1
    assert one.history_[0].validation_loss == pytest.approx(other.history_[0].validation_loss, rel=1e-12)
    assert one.history_[1].validation_loss == pytest.approx(other.history_[1].validation_loss, rel=1e-6)
    losses = [log_loss(ROWS["clicked"], model.calibrate(ROWS)) for model in (one, other)]
    assert losses[0] == pytest.approx(losses[1], rel=1e-6)
