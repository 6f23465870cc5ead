"""Scoring a Dask frame: what the local model gives, where the rows are."""

from __future__ import annotations

from pathlib import Path

import dask.dataframe as dd
import numpy as np
import pytest
from distributed import Client
from sklearn.exceptions import NotFittedError

import trueup
from dask_fits import COLUMNS, content_of, frame_of, kind_of_fit, rows_of_traffic
from trueup import MCGrad
from trueup.distributed import DaskMCGrad
from trueup.errors import ColumnError, MissingScoreWarning, ParameterError

ROWS = rows_of_traffic(800).drop(columns=["user", "w", "chance"])
ROWS.index = ROWS.index * 3 + 7
PARTS = [ROWS[:0], ROWS[:300], ROWS[300:300], ROWS[300:]]


@pytest.fixture(scope="module")
def model(alone: Client) -> DaskMCGrad:
    return kind_of_fit().fit(frame_of(*PARTS[1:], like=ROWS), client=alone, **COLUMNS)


def test_scores_are_those_of_the_local_model_bit_for_bit(client: Client, model: DaskMCGrad) -> None:
    frame = frame_of(*PARTS, like=ROWS)
    found = model.calibrate(frame)
    assert isinstance(found, dd.Series)
    assert found.npartitions == 4
    values = client.compute(found).result()
    assert values.name == "calibrated"
    assert values.dtype == np.float64
    np.testing.assert_array_equal(values.index, ROWS.index)
    np.testing.assert_array_equal(values, model.to_local().calibrate(ROWS))
    assert not np.array_equal(values, ROWS["p"])
    sizes = client.compute(found.map_partitions(len, meta=(None, "int64"))).result()
    assert sizes.tolist() == [0, 300, 0, 500]


def test_another_column_can_hold_the_scores(client: Client, model: DaskMCGrad) -> None:
    others = ROWS.drop(columns="p").assign(q=0.5 * ROWS["p"])
    found = client.compute(model.calibrate(frame_of(others[:100], others[100:]), "q")).result()
    np.testing.assert_array_equal(found, model.to_local().calibrate(ROWS.drop(columns="p"), 0.5 * ROWS["p"]))


def test_a_row_without_a_score_gets_nan_and_the_others_their_own(client: Client, model: DaskMCGrad) -> None:
    some = ROWS.assign(p=ROWS["p"].where(np.arange(800) % 10 != 3))
    found = client.compute(model.calibrate(frame_of(some[:500], some[500:]))).result().to_numpy()
    with pytest.warns(MissingScoreWarning):
        expected = model.to_local().calibrate(some)
    np.testing.assert_array_equal(found, expected)
    assert np.isnan(found).sum() == 80


def test_a_table_in_memory_is_scored_at_once(model: DaskMCGrad) -> None:
    np.testing.assert_array_equal(model.calibrate(ROWS), model.to_local().calibrate(ROWS))
    np.testing.assert_array_equal(model.calibrate(ROWS.drop(columns="p"), ROWS["p"]), model.to_local().calibrate(ROWS))


def test_what_is_missing_is_told_before_anything_is_computed(model: DaskMCGrad) -> None:
    with pytest.raises(ColumnError, match=r"The frame has no column 'hour'. Its columns are 'country'"):
        model.calibrate(frame_of(ROWS.drop(columns="hour")))
    with pytest.raises(ColumnError, match="has no column 'p'"):
        model.calibrate(frame_of(ROWS.drop(columns="p")))
    with pytest.raises(ColumnError, match="has no column 'q'"):
        model.calibrate(frame_of(ROWS), "q")
    with pytest.raises(ParameterError, match="pass the column's name"):
        model.calibrate(frame_of(ROWS), ROWS["p"])
    with pytest.raises(NotFittedError):
        DaskMCGrad().calibrate(frame_of(ROWS))


def test_the_local_estimator_is_the_same_model_with_the_same_parameters(model: DaskMCGrad) -> None:
    local = model.to_local()
    assert type(local) is MCGrad
    assert local.get_params() == model.get_params()
    assert local.model_ is model.model_
    assert local.history_ == model.history_
    assert content_of(local) == content_of(model)
    with pytest.raises(NotFittedError):
        DaskMCGrad().to_local()


def test_a_saved_model_needs_no_cluster(model: DaskMCGrad, tmp_path: Path) -> None:
    model.save(tmp_path / "model.trueup")
    expected = model.calibrate(ROWS)
    np.testing.assert_array_equal(trueup.load(tmp_path / "model.trueup").calibrate(ROWS), expected)
    again = DaskMCGrad.load(tmp_path / "model.trueup")
    assert type(again) is DaskMCGrad
    assert again.n_rounds_ == model.n_rounds_ == 2
    np.testing.assert_array_equal(again.calibrate(frame_of(ROWS)).compute(scheduler="sync"), expected)


def test_a_model_without_scores_needs_none(alone: Client) -> None:
    rows = ROWS.drop(columns="p")
    model = kind_of_fit(max_rounds=1).fit(frame_of(rows[:400], rows[400:]), label="clicked", client=alone)
    found = model.calibrate(frame_of(rows[:0], rows)).compute(scheduler="sync")
    np.testing.assert_array_equal(found, model.to_local().calibrate(rows))
