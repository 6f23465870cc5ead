"""`trueup fit` of several files, folders and patterns, which are read batch by batch."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import trueup
import trueup.cli._fit


@pytest.fixture
def folder(shared, tmp_path: Path) -> Path:
    """The rows in a file each quarter."""
    folder = tmp_path / "days"
    folder.mkdir()
    for part in range(4):
        pq.write_table(shared.scored.slice(500 * part, 500), folder / f"{part}.parquet")
    return folder


OPTIONS = ["--label=y", "--score=p", "--drop=w", "--json"]


@pytest.mark.parametrize("named", ["folder", "pattern", "files"])
def test_files_folders_and_patterns_give_the_same_model(run, quick, folder, tmp_path, named):
    tables = {
        "folder": [folder],
        "pattern": [folder / "*.parquet"],
        "files": [folder / f"{part}.parquet" for part in range(4)],
    }[named]
    outcome = run("fit", *tables, "-o", tmp_path / "m.trueup", *OPTIONS, *quick)
    assert outcome.code == 0
    assert outcome.json["rows"] == 2000
    assert outcome.json["rounds"] >= 1
    run("fit", folder, "-o", tmp_path / "again.trueup", *OPTIONS, *quick)
    assert (tmp_path / "m.trueup").read_bytes() == (tmp_path / "again.trueup").read_bytes()


def test_a_streamed_model_scores_about_as_one_in_memory(run, quick, folder, shared, tmp_path):
    run("fit", folder, "-o", tmp_path / "m.trueup", *OPTIONS, *quick)
    streamed = trueup.load(tmp_path / "m.trueup").calibrate(shared.scored)
    assert np.corrcoef(streamed, shared.expected)[0, 1] > 0.95  # the rows that validate are others


def test_one_file_is_streamed_if_asked_for_or_if_it_has_many_rows(run, quick, folder, shared, tmp_path, monkeypatch):
    def fitted(*more: str) -> bytes:
        outcome = run("fit", shared.table, "-o", tmp_path / "m.trueup", *OPTIONS, *quick, *more)
        assert outcome.code == 0
        return (tmp_path / "m.trueup").read_bytes()

    in_memory, streamed = fitted(), fitted("--stream")
    assert in_memory != streamed
    monkeypatch.setattr(trueup.cli._fit, "STREAMED_FROM", 1_999)
    assert fitted() == streamed
    assert fitted("--in-memory") == in_memory


def test_a_key_is_no_feature_and_keeps_rows_together(run, quick, folder, tmp_path):
    outcome = run("fit", folder, "--group=version", "-o", tmp_path / "m.trueup", *OPTIONS, *quick)
    assert "version" not in {feature["name"] for feature in outcome.json["features"]}
    # Three values, of which a fold of their own can't be made for a tenth of the rows: it is said, not guessed.
    assert outcome.code == 0


def test_the_index_of_a_pandas_frame_is_no_feature_here_either(run, quick, folder, shared, tmp_path):
    for path in folder.iterdir():
        pq.read_table(path).to_pandas().query("hour > 3").to_parquet(path)
    outcome = run("fit", folder, "-o", tmp_path / "m.trueup", *OPTIONS, *quick)
    assert "Ignoring column '__index_level_0__': it is the index" in outcome.err
    assert "__index_level_0__" not in {feature["name"] for feature in outcome.json["features"]}


def test_csv_files_are_streamed_too(run, quick, folder, shared, tmp_path):
    for part in range(2):
        pa.csv.write_csv(shared.scored.slice(1000 * part, 1000).select(["country", "y", "p"]), tmp_path / f"{part}.csv")
    outcome = run("fit", tmp_path / "*.csv", "--label=y", "--score=p", "--json", "-o", tmp_path / "m.trueup", *quick)
    assert outcome.json["rows"] == 2000
    assert outcome.json["features"][0]["categories"] == 3


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda path: path.write_bytes(path.read_bytes()[:2000]), "2.parquet' can't be read as parquet"),
        (lambda path: pq.write_table(pq.read_table(path).drop_columns(["p"]), path), "'p'"),
        (
            lambda path: pq.write_table(pq.read_table(path).set_column(2, "hour", pa.array(["noon"] * 500)), path),
            "Column 'hour' holds numbers in",
        ),
    ],
    ids=["cut off", "without scores", "of another type"],
)
def test_a_bad_file_among_good_ones_is_named(run, quick, folder, tmp_path, spoil, message):
    spoil(folder / "2.parquet")
    outcome = run("fit", folder, "-o", tmp_path / "m.trueup", *OPTIONS, *quick)
    assert outcome.code == 3
    assert message in outcome.err
    assert "2.parquet" in outcome.err
    assert not (tmp_path / "m.trueup").exists()


def test_missing_labels_are_told_with_file_and_rows(run, quick, folder, tmp_path):
    table = pq.read_table(folder / "1.parquet")
    y = table["y"].to_pylist()
    y[7] = None
    pq.write_table(table.set_column(table.column_names.index("y"), "y", pa.array(y)), folder / "1.parquet")
    outcome = run("fit", folder, "-o", tmp_path / "m.trueup", *OPTIONS, *quick)
    assert outcome.code == 3
    assert "1.parquet" in outcome.err
    assert "The labels, column 'y'" in outcome.err
    assert "row 7" in outcome.err


def test_a_model_is_not_written_among_the_tables(run, quick, folder):
    outcome = run("fit", folder, "-o", folder / "m.parquet", *OPTIONS, *quick)
    assert outcome.code == 2
    assert "Write it elsewhere" in outcome.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--in-memory"], "--in-memory reads one file"),
        (["--in-memory", "--scheduler=tcp://127.0.0.1:1"], "the workers of a cluster read the files"),
    ],
)
def test_options_that_contradict_each_other_are_refused(run, quick, folder, tmp_path, arguments, message):
    outcome = run("fit", folder, "-o", tmp_path / "m.trueup", *OPTIONS, *quick, *arguments)
    assert outcome.code == 2
    assert message in " ".join(outcome.err.split())


def test_stdin_can_not_be_streamed(run, quick, tmp_path):
    outcome = run("fit", "-", "--stream", "-o", tmp_path / "m.trueup", *OPTIONS, *quick)
    assert outcome.code == 2
    assert "stdin can be read only once" in outcome.err
