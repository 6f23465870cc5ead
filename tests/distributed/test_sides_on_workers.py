"""On which side of a split a row is on a cluster: what its key says, whichever process asks, however rows are dealt."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from distributed import Client

from dask_fits import COLUMNS, frame_of, quick_estimator, rows_of_traffic, sides_here
from trueup._data import hash_column
from trueup._fitting import seeds_from, sides_for
from trueup.distributed import _fit, fit_dask
from trueup.distributed._cluster import Pieces
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


def test_all_workers_and_the_client_agree_on_the_side_of_every_row(client: Client) -> None:
    for key in ("user", "name"):
        keys = ROWS[key].tolist()
        told = [sides_here(keys), *client.run(sides_here, keys).values()]
        assert len({process for process, _ in told}) == 3
        assert told[0][1] == told[1][1] == told[2][1]


def held_out(client: Client, monkeypatch: pytest.MonkeyPatch, parts: list[pd.DataFrame], **columns: str) -> set[int]:
    """The numbers of the rows that validate, as the workers that hold them say."""
    seen: list[Pieces] = []

    def packed(*arguments: Any) -> Any:
        found = function(*arguments)
        seen.append(found[0].pieces)
        return found

    function = _fit._packed
    monkeypatch.setattr(_fit, "_packed", packed)
    fit_dask(frame_of(*parts), client=client, estimator=quick_estimator(**OPTIONS), **COLUMNS, **columns)
    monkeypatch.undo()
    places = client.gather(seen[0].map(_places_held_out))
    return {int(part["row"].iloc[place]) for part, some in zip(parts, places, strict=True) for place in some}


def _places_held_out(piece: Any) -> list[int]:
    assert not set(piece.trains(0)) & set(piece.watches(0))
    assert len(piece.trains(0)) + len(piece.watches(0)) == piece.rows.n_rows
    return piece.watches(0).tolist()


def test_however_rows_are_dealt_the_same_are_held_out(alone: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = (held_out(alone, monkeypatch, parts, group="name") for parts in CUTS.values())
    dealt = sides_for(0.3, 2_000, seeds_from(quick_estimator().random_state)[0]).of_rows(hash_column(ROWS["name"]))
    assert first == second == set(np.flatnonzero(dealt == 0).tolist())
    assert not set(ROWS["user"].iloc[sorted(first)]) & set(ROWS["user"].drop(sorted(first)))
    assert 0.2 < len(first) / 2_000 < 0.4


def test_without_groups_other_partitions_deal_rows_otherwise(alone: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = (held_out(alone, monkeypatch, [ROWS[:cut], ROWS[cut:]]) for cut in (900, 1_000))
    assert first != second
    assert {row for row in first if row < 900} == {row for row in second if row < 900}  # whose places are the same


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
