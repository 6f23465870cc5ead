"""`trueup apply` on several files, folders and patterns."""

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from trueup.cli import _writing

BOUNDS = [(0, 700), (700, 0), (700, 1_300)]


@pytest.fixture
def parts(shared, tmp_path):
    """The table in three files, one of them without rows."""
    folder = tmp_path / "parts"
    folder.mkdir()
    for i, (begin, length) in enumerate(BOUNDS):
        pq.write_table(shared.scored.slice(begin, length), folder / f"part-{i}.parquet")
    return folder


@pytest.fixture
def whole(run, shared, tmp_path):
    """What the whole table gives, as a table and as a CSV file."""
    for ending in ("parquet", "csv"):
        run("apply", shared.table, "-m", shared.model, "-o", tmp_path / f"whole.{ending}")
    return tmp_path


@pytest.mark.parametrize("source", ["folder", "pattern", "files"])
def test_parts_give_what_the_whole_table_gives(run, shared, parts, whole, source):
    arguments = {"folder": [parts], "pattern": [parts / "*.parquet"], "files": sorted(parts.iterdir())}[source]
    outcome = run("apply", *arguments, "-m", shared.model, "-o", whole / "o.parquet", "--json")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.json["rows"] == 2_000
    assert outcome.json["mean_score"] == pytest.approx(shared.scored["p"].to_numpy().mean())
    assert outcome.json["mean_calibrated"] == pytest.approx(shared.expected.mean())
    assert pq.read_table(whole / "o.parquet").equals(pq.read_table(whole / "whole.parquet"))
    assert run("apply", *arguments, "-m", shared.model, "-o", whole / "o.csv").code == 0
    assert (whole / "o.csv").read_bytes() == (whole / "whole.csv").read_bytes()
    assert run("apply", *arguments, "-m", shared.model, "-o", whole / "o.arrow").code == 0
    assert pa.ipc.open_file(whole / "o.arrow").read_all().equals(pq.read_table(whole / "whole.parquet"))


def test_batches_of_different_types_are_written_as_one(run, shared, tmp_path):
    one = shared.scored.append_column("id", pa.array(range(2_000), pa.int32()))
    two = shared.scored.append_column("id", pa.array([0.5] * 2_000))
    for name, table in (("a", one), ("b", two)):
        pq.write_table(table, tmp_path / f"{name}.parquet")
    arguments = [tmp_path / "a.parquet", tmp_path / "b.parquet", "-m", shared.model, "-o"]
    assert run("apply", *arguments, tmp_path / "o.parquet").code == 0
    found = pq.read_table(tmp_path / "o.parquet")
    assert found["id"].to_pylist() == [float(i) for i in range(2_000)] + [0.5] * 2_000


def test_csv_files_go_through_as_they_were(run, shared, tmp_path):
    folder = tmp_path / "in"
    for name, zip_code in (("year=2023", "01234"), ("year=2024", "K1A")):
        (folder / name).mkdir(parents=True)
        table = shared.scored.slice(0, 2).append_column("zip", pa.array([zip_code, "8.10"]))
        pa.csv.write_csv(table, folder / name / "t.csv")
    outcome = run("apply", folder, "-m", shared.model, "-o", tmp_path / "o.csv")
    assert (outcome.code, outcome.err) == (0, "")
    options = pa.csv.ConvertOptions(column_types={"zip": pa.string()})
    parse = pa.csv.ParseOptions(newlines_in_values=True)
    found = pa.csv.read_csv(tmp_path / "o.csv", convert_options=options, parse_options=parse)
    assert found["zip"].to_pylist() == ["01234", "8.10", "K1A", "8.10"]
    assert found["year"].to_pylist() == [2023, 2023, 2024, 2024]
    assert found["calibrated"].to_pylist() == [*shared.expected[:2], *shared.expected[:2]]
    refused = run("apply", folder, "-m", shared.model, "-o", tmp_path / "o.parquet")
    assert refused.code == 3
    assert "Column 'zip' holds numbers in" in refused.err


@pytest.mark.parametrize("place", ["parts/new.parquet", "parts/part-0.parquet"])
def test_the_output_is_never_among_what_is_read(run, shared, parts, tmp_path, place):
    before = {file.name: file.read_bytes() for file in parts.iterdir()}
    for source in (parts, parts / "*.parquet", tmp_path / "**" / "*.parquet"):
        outcome = run("apply", source, "-m", shared.model, "-o", tmp_path / place)
        assert outcome.code == 2
        assert "-o names" in outcome.err
    assert {file.name: file.read_bytes() for file in parts.iterdir()} == before


def test_a_place_that_the_pattern_does_not_find_is_fine(run, shared, parts):
    assert run("apply", parts / "part-*.parquet", "-m", shared.model, "-o", parts / "done.parquet").code == 0
    assert run("apply", parts / "part-0.parquet", "-m", shared.model, "-o", parts / "done.csv").code == 0


def test_one_of_several_is_not_overwritten(run, shared, parts):
    files = sorted(parts.iterdir())
    outcome = run("apply", *files, "-m", shared.model, "-o", files[0])
    assert outcome.code == 2
    assert "one of the tables to read" in outcome.err


def test_nothing_is_left_if_a_later_file_is_damaged_or_the_run_is_stopped(run, shared, parts, tmp_path, monkeypatch):
    arguments = ("apply", parts, "-m", shared.model, "-o", tmp_path / "o.parquet")
    content = bytearray((parts / "part-2.parquet").read_bytes())
    content[60:90] = bytes(30)
    (parts / "part-2.parquet").write_bytes(content)
    damaged = run(*arguments)
    assert damaged.code == 3
    assert "part-2.parquet' can't be read as parquet" in damaged.err
    assert sorted(file.name for file in tmp_path.iterdir()) == ["parts"]

    def stopped(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(_writing.TableWriter, "write", stopped)
    outcome = run(*arguments)
    assert (outcome.code, outcome.err) == (130, "Stopped. Nothing was written.\n")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["parts"]


def test_errors_name_the_file(run, shared, parts, tmp_path):
    bad = shared.scored.set_column(shared.scored.column_names.index("p"), "p", pa.array([1.5] * 2_000))
    pq.write_table(bad, parts / "part-3.parquet")
    outcome = run("apply", parts, "-m", shared.model, "-o", tmp_path / "o.parquet")
    assert outcome.code == 3
    assert "part-3.parquet': Column 'p': 2,000 of 2,000" in outcome.err


def test_stdin_is_not_one_of_several(run, shared):
    outcome = run("apply", "-", shared.table, "-m", shared.model, "-o", "-")
    assert outcome.code == 2
    assert "stdin can be read only once" in outcome.err


def test_no_rows_at_all_give_a_table_without_rows(run, shared, tmp_path):
    for name in ("a", "b"):
        pq.write_table(shared.scored.slice(0, 0), tmp_path / f"{name}.parquet")
    for output in ("o.parquet", "o.csv", "o.arrow"):
        arguments = [tmp_path / "a.parquet", tmp_path / "b.parquet", "-m", shared.model, "-o", tmp_path / output]
        assert run("apply", *arguments).code == 0
    assert pq.read_table(tmp_path / "o.parquet").column_names == [*shared.scored.column_names, "calibrated"]
    assert (tmp_path / "o.csv").read_text(encoding="utf-8").count("calibrated") == 1
