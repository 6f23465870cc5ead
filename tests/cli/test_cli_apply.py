"""`trueup apply`."""

import io

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest


def read(path):
    if str(path).endswith((".csv", ".gz")):
        options = pa.csv.ParseOptions(newlines_in_values=True)
        return pa.csv.read_csv(path, parse_options=options)
    if str(path).endswith(".parquet"):
        return pq.read_table(path)
    with pa.ipc.open_file(path) as reader:
        return reader.read_all()


def test_one_column_more_and_all_others_as_they_were(run, shared, tmp_path):
    outcome = run("apply", shared.table, "--score=p", "--model", shared.model, "-o", tmp_path / "o.parquet")
    assert outcome.code == 0
    found = pq.read_table(tmp_path / "o.parquet")
    assert found.drop_columns(["calibrated"]).equals(shared.scored)
    np.testing.assert_array_equal(found["calibrated"].to_numpy(), shared.expected, strict=True)
    assert "2,000 rows" in outcome.out


@pytest.mark.parametrize("ending", [".csv", ".csv.gz", ".arrow", ".feather", ".ipc", ".parquet"])
def test_every_format_gives_the_same_scores_and_keeps_odd_names(run, shared, tmp_path, ending):
    one, two = tmp_path / f"one{ending}", tmp_path / f"two{ending}"
    assert run("apply", shared.table, "-m", shared.model, "-o", one).code == 0
    assert run("apply", one, "-m", shared.model, "--column=again", "-o", two).code == 0
    found = read(two)
    assert found.column_names == [*shared.scored.column_names, "calibrated", "again"]
    for name in ("calibrated", "again"):
        np.testing.assert_array_equal(found[name].to_numpy(), shared.expected)


def test_the_column_of_scores_is_the_one_of_the_fit_unless_another_is_named(run, shared, tmp_path):
    doubled = shared.scored.append_column("p2", pa.array(np.sqrt(shared.scored["p"].to_numpy())))
    pq.write_table(doubled, tmp_path / "t.parquet")
    run("apply", tmp_path / "t.parquet", "-m", shared.model, "-o", tmp_path / "a.parquet")
    run("apply", tmp_path / "t.parquet", "-m", shared.model, "--score=p2", "-o", tmp_path / "b.parquet")
    np.testing.assert_array_equal(pq.read_table(tmp_path / "a.parquet")["calibrated"].to_numpy(), shared.expected)
    assert pq.read_table(tmp_path / "b.parquet")["calibrated"].to_numpy().mean() > shared.expected.mean() + 0.1


def test_a_column_is_not_replaced_unless_asked(run, shared, tmp_path):
    arguments = ("apply", shared.table, "-m", shared.model, "-o", tmp_path / "o.parquet", "--column=w")
    refused = run(*arguments)
    assert refused.code == 3
    assert "--overwrite-column" in refused.err
    assert not (tmp_path / "o.parquet").exists()
    assert run(*arguments, "--overwrite-column").code == 0
    found = pq.read_table(tmp_path / "o.parquet")
    assert found.column_names.count("w") == 1
    np.testing.assert_array_equal(found["w"].to_numpy(), shared.expected)


def test_a_missing_score_gives_a_missing_probability_and_a_warning(run, shared, tmp_path):
    few = shared.scored.slice(0, 4)
    few = few.set_column(few.column_names.index("p"), "p", pa.array([0.1, None, 0.3, float("nan")]))
    pq.write_table(few, tmp_path / "t.parquet")
    outcome = run("apply", tmp_path / "t.parquet", "-m", shared.model, "-o", tmp_path / "o.csv", "--json")
    assert outcome.err.startswith("warning: ")
    assert "2 of 4 scores are missing" in outcome.err
    assert outcome.json["missing_scores"] == 2
    assert outcome.json["rows"] == 4
    assert read(tmp_path / "o.csv")["calibrated"].null_count == 2


def test_no_rows_are_fine(run, shared, tmp_path):
    pq.write_table(shared.scored.slice(0, 0), tmp_path / "t.parquet")
    outcome = run("apply", tmp_path / "t.parquet", "-m", shared.model, "-o", tmp_path / "o.parquet")
    assert outcome.code == 0
    assert pq.read_table(tmp_path / "o.parquet").num_rows == 0


def test_a_table_can_replace_itself(run, shared, tmp_path):
    pq.write_table(shared.scored, tmp_path / "t.parquet")
    assert run("apply", tmp_path / "t.parquet", "-m", shared.model, "-o", tmp_path / "t.parquet", "--force").code == 0
    np.testing.assert_array_equal(pq.read_table(tmp_path / "t.parquet")["calibrated"].to_numpy(), shared.expected)


def test_a_model_of_the_base_rate_takes_no_scores(run, shared, tmp_path):
    table, model = shared.table, tmp_path / "m.trueup"
    run("fit", table, "--label=y", "--drop=p,w", "--max-rounds=0", "-q", "-o", model)
    assert run("apply", table, "-m", model, "-o", tmp_path / "o.parquet").code == 0
    assert set(pq.read_table(tmp_path / "o.parquet")["calibrated"].to_pylist()) == {shared.rate}
    refused = run("apply", table, "-m", model, "--score=p", "-o", tmp_path / "o.parquet")
    assert refused.code == 2
    assert "Leave --score out" in refused.err


@pytest.mark.parametrize("column", ["country", "p"])
def test_a_column_that_is_not_there_is_named(run, shared, tmp_path, column):
    pq.write_table(shared.scored.drop_columns([column]), tmp_path / "t.parquet")
    outcome = run("apply", tmp_path / "t.parquet", "-m", shared.model, "-o", tmp_path / "o.parquet")
    assert outcome.code == 3
    assert repr(column) in outcome.err
    assert outcome.err.count("\n") == 1


def test_json_and_a_table_do_not_both_go_to_stdout(run, shared):
    assert run("apply", shared.table, "-m", shared.model, "-o", "-", "--json").code == 2


@pytest.mark.parametrize("format_", ["csv", "parquet", "arrow"])
def test_tables_pass_through_pipes(run_process, shared, format_):
    sink = io.BytesIO()
    if format_ == "csv":
        pa.csv.write_csv(shared.scored, sink)
    elif format_ == "parquet":
        pq.write_table(shared.scored, sink)
    else:
        with pa.ipc.new_stream(sink, shared.scored.schema) as writer:  # the stream format is read as well
            writer.write_table(shared.scored)
    options = [] if format_ == "csv" else [f"--input-format={format_}", f"--output-format={format_}"]
    done = run_process("apply", "-", "-m", shared.model, "-o", "-", *options, stdin=sink.getvalue())
    assert (done.returncode, done.stderr) == (0, b"")
    source = pa.BufferReader(done.stdout)
    if format_ == "csv":
        found = pa.csv.read_csv(source, parse_options=pa.csv.ParseOptions(newlines_in_values=True))
    elif format_ == "parquet":
        found = pq.read_table(source)
    else:
        found = pa.ipc.open_file(source).read_all()
    assert found.column_names == [*shared.scored.column_names, "calibrated"]
    np.testing.assert_array_equal(found["calibrated"].to_numpy(), shared.expected)


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_rows_whose_categories_are_all_unseen_are_told_and_written(run, shared, tmp_path, ending):
    lower = pa.array([None if c is None else c.lower() for c in shared.scored["country"].to_pylist()])
    changed = shared.scored.set_column(0, "country", lower)
    path = tmp_path / f"t{ending}"
    pa.csv.write_csv(changed, path) if ending == ".csv" else pq.write_table(changed, path)
    outcome = run("apply", path, "-m", shared.model, "-o", tmp_path / f"o{ending}")
    present = len(lower) - lower.null_count
    assert outcome.code == 0
    assert outcome.err.count("warning: ") == 1
    assert f"Column 'country': {present:,} of {present:,} values were not seen at fit" in outcome.err
