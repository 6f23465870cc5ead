"""Scoring of tables that come batch by batch."""

from __future__ import annotations

import itertools
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trueup import Calibrator, MCGrad
from trueup.baselines import IsotonicCalibrator
from trueup.datasets import make_traffic
from trueup.errors import ColumnError, DataWarning, MissingScoreWarning, ScoreError

TRAFFIC = make_traffic(6_000, random_state=3)
TABLE = TRAFFIC.X.append_column("p", pa.array(TRAFFIC.scores))


@pytest.fixture(scope="module")
def calibrator() -> Calibrator:
    fitted = MCGrad(max_rounds=3, validation=None, rescale="train").fit(TRAFFIC.X, TRAFFIC.y, scores=TRAFFIC.scores)
    return Calibrator(fitted.model_)


@settings(max_examples=15)
@given(cuts=st.lists(st.integers(0, 6_000), max_size=5), batch_rows=st.integers(100, 7_000))
def test_batches_get_the_scores_of_the_whole_table_bit_for_bit(
    calibrator: Calibrator, cuts: list[int], batch_rows: int
) -> None:
    bounds = [0, *sorted(cuts), 6_000]
    parts = [TABLE.slice(begin, end - begin) for begin, end in itertools.pairwise(bounds)]
    found = pa.concat_tables(calibrator.calibrate_stream(parts, score="p", batch_rows=batch_rows))
    assert found.drop_columns(["calibrated"]).equals(TABLE)
    np.testing.assert_array_equal(found["calibrated"].to_numpy(), calibrator.calibrate(TRAFFIC.X, TRAFFIC.scores))


def test_a_map_of_the_score_does_it_too() -> None:
    fitted = IsotonicCalibrator().fit(TRAFFIC.X, TRAFFIC.y, scores=TRAFFIC.scores)
    calibrator = Calibrator(fitted.model_)
    found = pa.concat_tables(calibrator.calibrate_stream(TABLE, score="p", column="q", batch_rows=1_000))
    np.testing.assert_array_equal(found["q"].to_numpy(), calibrator.calibrate(TRAFFIC.X, TRAFFIC.scores))


def test_the_score_column_of_the_fit_is_known(calibrator: Calibrator) -> None:
    fitted = MCGrad(max_rounds=1, validation=None, rescale="train", score_column="p").fit(TABLE, TRAFFIC.y)
    found = pa.concat_tables(Calibrator(fitted.model_).calibrate_stream(pl.from_arrow(TABLE).lazy()))  # type: ignore[union-attr]
    np.testing.assert_array_equal(found["calibrated"].to_numpy(), Calibrator(fitted.model_).calibrate(TABLE))
    with pytest.raises(ScoreError, match="Name the column that holds them with score="):
        calibrator.calibrate_stream(TABLE)


def test_a_model_of_the_base_rate_needs_no_scores() -> None:
    fitted = MCGrad(max_rounds=0).fit(TRAFFIC.X, TRAFFIC.y)
    batches = Calibrator(fitted.model_).calibrate_stream(TRAFFIC.X)
    assert {*next(batches)["calibrated"].to_pylist()} == {fitted.model_.base_rate}
    with pytest.raises(ScoreError, match="fitted without scores"):
        Calibrator(fitted.model_).calibrate_stream(TABLE, score="p")


def test_missing_scores_are_told_of_once_with_the_first_batch_that_has_some(calibrator: Calibrator) -> None:
    scores = TRAFFIC.scores.copy()
    scores[[2_500, 2_501, 5_000]] = np.nan
    table = TABLE.set_column(TABLE.column_names.index("p"), "p", pa.array(scores))
    message = r"^Column 'p': 3 of 6,000 scores are missing \(first in the table, rows 2,000 to 2,999\)\. Those"
    with pytest.warns(MissingScoreWarning, match=message) as told:
        found = pa.concat_tables(calibrator.calibrate_stream(table, score="p", batch_rows=1_000))
    assert len(told) == 1
    assert np.flatnonzero(found["calibrated"].is_null().to_numpy()).tolist() == [2_500, 2_501, 5_000]


def test_what_is_wrong_with_columns_is_told_before_the_first_batch(calibrator: Calibrator, tmp_path: Path) -> None:
    name = calibrator.model.features.names[0]
    with pytest.raises(ColumnError, match=f"1 column that the model was fitted on is missing: {name!r}"):
        calibrator.calibrate_stream(TABLE.drop_columns([name]), score="p")
    with pytest.raises(ColumnError, match="The table has no column 'q'"):
        calibrator.calibrate_stream(TABLE, score="q")
    with pytest.raises(ColumnError, match="the table already has a column 'p'"):
        calibrator.calibrate_stream(TABLE, score="p", column="p")
    pq.write_table(TABLE, tmp_path / "a.parquet")
    pq.write_table(TABLE.drop_columns([name]), tmp_path / "b.parquet")
    with pytest.raises(ColumnError, match=rf"b.parquet' has no column {name!r}, but others in"):
        calibrator.calibrate_stream(tmp_path, score="p")


def test_columns_that_some_files_lack_are_left_out_with_a_warning(calibrator: Calibrator) -> None:
    extra = TABLE.append_column("extra", pa.array(range(6_000)))
    with pytest.warns(DataWarning, match="Ignoring column 'extra': batch 1 doesn't have it"):
        batches = calibrator.calibrate_stream([extra, TABLE], score="p")
    assert [batch.column_names for batch in batches] == [[*TABLE.column_names, "calibrated"]] * 2


def test_errors_in_the_rows_name_the_batch(calibrator: Calibrator) -> None:
    scores = TRAFFIC.scores.copy()
    scores[4_321] = 1.5
    table: Any = TABLE.set_column(TABLE.column_names.index("p"), "p", pa.array(scores))
    batches = calibrator.calibrate_stream(table, score="p", batch_rows=1_000)
    with pytest.raises(ScoreError, match=r"^The table, rows 4,000 to 4,999: Column 'p': 1 of 1,000"):
        list(batches)


def test_no_warning_if_nothing_is_missing(calibrator: Calibrator) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert sum(batch.num_rows for batch in calibrator.calibrate_stream(TABLE, score="p")) == 6_000
