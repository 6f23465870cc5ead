"""Scoring a Dask frame: what the local model gives, where the rows are."""

from __future__ import annotations

from pathlib import Path

import dask.dataframe as dd
import numpy as np
import pytest
from distributed import Client
from sklearn.exceptions import NotFittedError

import trueup
from dask_fits import COLUMNS, frame_of, quick_estimator, rows_of_traffic
from trueup import MCGrad
from trueup.distributed import calibrate_dask, fit_dask
from trueup.errors import ColumnError, MissingScoreWarning, ParameterError

ROWS = rows_of_traffic(800).drop(columns=["user", "w", "chance"])
ROWS.index = ROWS.index * 3 + 7
PARTS = [ROWS[:0], ROWS[:300], ROWS[300:300], ROWS[300:]]


@pytest.fixture(scope="module")
def model(alone: Client) -> MCGrad:
    return fit_dask(frame_of(*PARTS[1:], like=ROWS), client=alone, estimator=quick_estimator(), **COLUMNS)


def test_scores_are_those_of_the_local_model_bit_for_bit(client: Client, model: MCGrad) -> None:
    frame = frame_of(*PARTS, like=ROWS)
    found = calibrate_dask(model, frame)
    assert isinstance(found, dd.Series)
    assert found.npartitions == 4
    values = client.compute(found).result()
    assert values.name == "calibrated"
    assert values.dtype == np.float64
    np.testing.assert_array_equal(values.index, ROWS.index)
    np.testing.assert_array_equal(values, model.calibrate(ROWS))
    assert not np.array_equal(values, ROWS["p"])
    sizes = client.compute(found.map_partitions(len, meta=(None, "int64"))).result()
    assert sizes.tolist() == [0, 300, 0, 500]


def test_another_column_can_hold_the_scores(client: Client, model: MCGrad) -> None:
    others = ROWS.drop(columns="p").assign(q=0.5 * ROWS["p"])
    found = client.compute(calibrate_dask(model, frame_of(others[:100], others[100:]), "q")).result()
    np.testing.assert_array_equal(found, model.calibrate(ROWS.drop(columns="p"), 0.5 * ROWS["p"]))


def test_a_row_without_a_score_gets_nan_and_the_others_their_own(client: Client, model: MCGrad) -> None:
    some = ROWS.assign(p=ROWS["p"].where(np.arange(800) % 10 != 3))
    found = client.compute(calibrate_dask(model, frame_of(some[:500], some[500:]))).result().to_numpy()
    with pytest.warns(MissingScoreWarning):
        expected = model.calibrate(some)
    np.testing.assert_array_equal(found, expected)
    assert np.isnan(found).sum() == 80


def test_what_is_missing_is_told_before_anything_is_computed(model: MCGrad) -> None:
    with pytest.raises(ColumnError, match=r"The frame has no column 'hour'. Its columns are 'country'"):
        calibrate_dask(model, frame_of(ROWS.drop(columns="hour")))
    with pytest.raises(ColumnError, match="has no column 'p'"):
        calibrate_dask(model, frame_of(ROWS.drop(columns="p")))
    with pytest.raises(ColumnError, match="has no column 'q'"):
        calibrate_dask(model, frame_of(ROWS), "q")
    with pytest.raises(ParameterError, match="pass the column's name"):
        calibrate_dask(model, frame_of(ROWS), ROWS["p"])
    with pytest.raises(NotFittedError):
        calibrate_dask(MCGrad(), frame_of(ROWS))


def test_a_saved_model_needs_no_cluster(model: MCGrad, tmp_path: Path) -> None:
    model.save(tmp_path / "model.trueup")
    expected = model.calibrate(ROWS)
    np.testing.assert_array_equal(trueup.load(tmp_path / "model.trueup").calibrate(ROWS), expected)
    again = MCGrad.load(tmp_path / "model.trueup")
    assert again.n_rounds_ == model.n_rounds_ == 2
    for loaded in (again, trueup.load(tmp_path / "model.trueup")):
        np.testing.assert_array_equal(calibrate_dask(loaded, frame_of(ROWS)).compute(scheduler="sync"), expected)


def test_a_model_without_scores_needs_none(alone: Client) -> None:
    rows = ROWS.drop(columns="p")
    model = fit_dask(
        frame_of(rows[:400], rows[400:]), label="clicked", client=alone, estimator=quick_estimator(max_rounds=1)
    )
    found = calibrate_dask(model, frame_of(rows[:0], rows)).compute(scheduler="sync")
    np.testing.assert_array_equal(found, model.calibrate(rows))
