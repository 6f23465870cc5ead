"""A scorer gives Arrow batches back with the probabilities that the calibrator gives."""

from __future__ import annotations

import itertools
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import trueup
from small_fits import quick
from trueup import BatchScorer
from trueup.baselines import PlattCalibrator
from trueup.errors import ColumnError, ModelFileError, ParameterError, ScoreError, TableError


@pytest.fixture(scope="module")
def scorer(model_file: Path) -> BatchScorer:
    return BatchScorer(model_file, score="p")


@pytest.fixture(scope="module")
def expected(model_file: Path, table: pa.Table) -> np.ndarray:
    calibrated = trueup.load(model_file).calibrate(table, table["p"])
    assert np.abs(calibrated - table["p"].to_numpy()).max() > 0.01
    return calibrated


def test_a_table_comes_back_with_the_calibrators_probabilities(scorer, table, expected):
    scored = scorer(table)
    assert isinstance(scored, pa.Table)
    assert scored.drop(["calibrated"]).equals(table)
    assert scored.schema == scorer.output_schema(table.schema)
    np.testing.assert_array_equal(scored["calibrated"].to_numpy(), expected)


def test_a_record_batch_comes_back_as_one(scorer, table, expected):
    (batch,) = table.combine_chunks().to_batches()
    scored = scorer(batch)
    assert isinstance(scored, pa.RecordBatch)
    np.testing.assert_array_equal(scored["calibrated"].to_numpy(), expected)


@given(cuts=st.lists(st.integers(0, 2000), max_size=6))
def test_however_the_rows_are_cut_into_batches_the_probabilities_are_the_same(scorer, table, expected, cuts):
    edges = [0, *sorted(cuts), 2000]
    pieces = [table.slice(start, end - start) for start, end in itertools.pairwise(edges)]
    scored = pa.concat_tables(scorer.map(pieces))
    np.testing.assert_array_equal(scored["calibrated"].to_numpy(), expected)


def test_map_takes_no_batch_before_the_one_before_it_is_used(scorer, table):
    taken = []

    def batches():
        for batch in table.to_batches(max_chunksize=500):
            taken.append(batch)
            yield batch

    scored = scorer.map(batches())
    assert taken == []
    next(scored)
    assert len(taken) == 1


def test_a_missing_score_gives_null_without_a_warning_and_leaves_the_others_alone(scorer, table, expected):
    place = table.column_names.index("p")
    scores = table["p"].to_pylist()
    scores[3], scores[7] = None, float("nan")
    scored = scorer(table.set_column(place, "p", pa.array(scores)))["calibrated"]
    assert [row for row, value in enumerate(scored.to_pylist()) if value is None] == [3, 7]
    there = np.ones(2000, dtype=bool)
    there[[3, 7]] = False
    np.testing.assert_array_equal(scored.to_numpy()[there], expected[there])


def test_scores_that_are_all_missing_give_nulls(scorer, table):
    place = table.column_names.index("p")
    scored = scorer(table.set_column(place, "p", pa.nulls(2000, pa.float64())))
    assert scored["calibrated"].null_count == 2000


def test_a_score_outside_the_unit_interval_is_an_error_that_names_the_column(scorer, table):
    wrong = table.slice(0, 3).set_column(table.column_names.index("p"), "p", pa.array([0.1, 1.7, 0.2]))
    with pytest.raises(ScoreError, match=r"Column 'p': 1 of 3 scores are outside \[0, 1\] \(first at row 1: 1.7"):
        scorer(wrong)


@pytest.mark.parametrize("missing", ["country", "p"])
def test_a_missing_column_is_an_error_that_names_it(scorer, table, missing):
    without = table.drop([missing])
    with pytest.raises(ColumnError, match=f"1 column that the model reads is missing: '{missing}'. Present: 'd?"):
        scorer(without)
    with pytest.raises(ColumnError, match=f"'{missing}'"):
        scorer.probabilities(without)
    with pytest.raises(ColumnError, match=f"'{missing}'"):
        scorer.output_schema(without.schema)


def test_the_columns_are_the_features_and_the_score(scorer, table):
    assert set(scorer.columns) == set(table.column_names) - {"visit"}
    assert scorer.columns[-1] == "p"


def test_empty_batches_work(scorer, table):
    for empty in (table.slice(0, 0), table.schema.empty_table(), pa.RecordBatch.from_pylist([], table.schema)):
        scored = scorer(empty)
        assert type(scored) is type(empty)
        assert scored.num_rows == 0
        assert scored.schema == scorer.output_schema(table.schema)


def test_dictionary_columns_work_whatever_their_dictionaries(scorer, table, expected):
    encoded = table
    for name in ("country", "device", "referrer"):
        place = table.column_names.index(name)
        encoded = encoded.set_column(place, name, table[name].dictionary_encode())
    np.testing.assert_array_equal(scorer(encoded)["calibrated"].to_numpy(), expected)
    pieces = [scorer(piece.unify_dictionaries()) for piece in (encoded.slice(0, 700), encoded.slice(700))]
    found = np.concatenate([piece["calibrated"].to_numpy() for piece in pieces])
    np.testing.assert_array_equal(found, expected)


def test_the_metadata_of_the_schema_stays(scorer, table):
    told = table.replace_schema_metadata({"owner": "ads"})
    assert scorer(told).schema.metadata == {b"owner": b"ads"}


def test_the_probabilities_alone_come_from_any_table(scorer, table, expected):
    polars = pytest.importorskip("polars")
    for rows in (table, table.to_pandas(), polars.from_arrow(table)):
        found = scorer.probabilities(rows)
        assert found.type == pa.float64()
        np.testing.assert_array_equal(found.to_numpy(), expected)


def test_a_column_that_is_there_already_is_not_written_over(scorer, table, model_file):
    with pytest.raises(ColumnError, match="already has a column 'calibrated'"):
        scorer(scorer(table))
    with pytest.raises(ParameterError, match="The model reads a column 'p'"):
        BatchScorer(model_file, score="p", column="p")
    assert BatchScorer(model_file, score="p", column="again")(scorer(table)).column_names[-1] == "again"


def test_what_is_no_arrow_batch_is_refused(scorer, table):
    with pytest.raises(TableError, match=r"The batch is a DataFrame. Pass a pyarrow RecordBatch or Table"):
        scorer(table.to_pandas())


def test_a_model_that_knows_its_score_column_need_not_be_told(table, tmp_path):
    y = (table["p"].to_numpy() > 0.1).astype(int)
    quick(score_column="p").fit(table.drop(["visit"]), y).save(tmp_path / "model.trueup")
    scorer = BatchScorer(tmp_path / "model.trueup")
    expected = trueup.load(tmp_path / "model.trueup").calibrate(table)
    np.testing.assert_array_equal(scorer(table)["calibrated"].to_numpy(), expected)


def test_a_model_of_the_base_rate_needs_no_scores(table, tmp_path):
    X, y = table.drop(["p", "visit"]), (table["p"].to_numpy() > 0.1).astype(int)
    quick().fit(X, y).save(tmp_path / "model.trueup")
    expected = trueup.load(tmp_path / "model.trueup").calibrate(X)
    np.testing.assert_array_equal(BatchScorer(tmp_path / "model.trueup")(X)["calibrated"].to_numpy(), expected)
    with pytest.raises(ScoreError, match=r"starts from the base rate. Leave the scores out"):
        BatchScorer(tmp_path / "model.trueup", score="p")


def test_a_map_of_the_score_scores_batches_too(tmp_path):
    fitted = PlattCalibrator().fit({"x": [0, 0, 0, 0]}, [0, 1, 0, 1], scores=[0.1, 0.3, 0.3, 0.5])
    fitted.save(tmp_path / "model.trueup")
    scorer = BatchScorer(tmp_path / "model.trueup", score="p")
    scored = scorer(pa.table({"x": [0, 0], "p": [0.2, None]}))["calibrated"].to_pylist()
    assert scored == [fitted.calibrate({"x": [0]}, [0.2])[0], None]


def test_columns_without_names_are_refused_before_a_job_starts(tmp_path):
    rng = np.random.default_rng(0)
    X, scores = rng.normal(size=(200, 2)), rng.random(200)
    quick().fit(X, (rng.random(200) < scores).astype(int), scores=scores).save(tmp_path / "model.trueup")
    with pytest.raises(ColumnError, match="fitted on columns without names"):
        BatchScorer(tmp_path / "model.trueup", score="p")


def test_what_is_wrong_with_the_options_or_the_file_is_told_at_once(model_file, tmp_path):
    with pytest.raises(ScoreError, match="Name the column that holds them with score="):
        BatchScorer(model_file)
    with pytest.raises(ParameterError, match="ship must be one of 'bytes', 'path', got 'url'"):
        BatchScorer(model_file, score="p", ship="url")
    with pytest.raises(ParameterError, match='ship="path" needs the path'):
        BatchScorer(model_file.read_bytes(), score="p", ship="path")
    with pytest.raises(FileNotFoundError):
        BatchScorer(tmp_path / "not-there.trueup", score="p")
    (tmp_path / "half.trueup").write_bytes(model_file.read_bytes()[:5000])
    with pytest.raises(ModelFileError, match=r"half.trueup' can't be used as a trueup model"):
        BatchScorer(tmp_path / "half.trueup", score="p")


def test_scoring_imports_no_lightgbm_scikit_learn_or_pandas(model_file, table, tmp_path):
    import pyarrow.feather

    pyarrow.feather.write_feather(table, tmp_path / "rows.arrow", compression="uncompressed")
    program = (
        "import sys, pyarrow as pa\nfrom trueup import BatchScorer\n"
        f"rows = pa.ipc.open_file({str(tmp_path / 'rows.arrow')!r}).read_all()\n"
        f"scorer = BatchScorer({str(model_file)!r}, score='p')\n"
        "assert scorer(rows).num_columns == rows.num_columns + 1\n"
        "print(*sorted({'lightgbm', 'sklearn', 'scipy', 'pandas'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
