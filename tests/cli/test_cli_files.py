"""Files that are there or not, whole or not, and what the program says about them."""

import errno

import pyarrow as pa
import pyarrow.csv
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest

from trueup.cli._files import Format, TableSource
from trueup.cli._writing import check_output, format_of, write_table
from trueup.errors import FileError

TABLE = pa.table({"a": [1, 2], "b": ["x", None]})


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("t.parquet", Format.PARQUET),
        ("T.CSV", Format.CSV),
        ("a.b/t.csv.gz", Format.CSV),
        ("t.tsv", Format.CSV),
        ("t.csv.zst", Format.CSV),
        ("t.csv.bz2", Format.CSV),
        ("t.arrow", Format.ARROW),
        ("t.feather", Format.ARROW),
        ("t.ipc", Format.ARROW),
        ("-", Format.CSV),
    ],
)
def test_the_ending_says_the_format(path, expected):
    assert format_of(path, None, "--input-format") is expected


def test_an_unknown_ending_is_an_error_that_lists_the_known_ones():
    assert format_of("t.txt", Format.ARROW, "--input-format") is Format.ARROW
    with pytest.raises(FileError, match=r"\.parquet, \.csv, \.tsv, \.arrow, \.feather, \.ipc"):
        format_of("t.txt", None, "--input-format")


@pytest.mark.parametrize("name", ["t.parquet", "t.csv", "t.csv.gz", "t.csv.bz2", "t.csv.zst", "t.tsv", "t.arrow"])
def test_what_is_written_is_what_is_read(tmp_path, name):
    path = str(tmp_path / name)
    write_table(TABLE, path, format_of(path, None, ""))
    assert TableSource.of(path, None).read().equals(TABLE)
    assert [file.name for file in tmp_path.iterdir()] == [name]


def test_dictionaries_that_differ_between_chunks_are_written(tmp_path):
    chunks = [pa.array(["a", "b"]).dictionary_encode(), pa.array(["c"]).dictionary_encode()]
    table = pa.table({"d": pa.chunked_array(chunks)})
    for name in ("t.arrow", "t.parquet", "t.csv"):
        path = str(tmp_path / name)
        write_table(table, path, format_of(path, None, ""))
        assert TableSource.of(path, None).read()["d"].cast(pa.string()).to_pylist() == ["a", "b", "c"]


def test_a_folder_in_the_path_makes_no_column(tmp_path):
    folder = tmp_path / "year=2024"
    folder.mkdir()
    pq.write_table(TABLE, folder / "t.parquet")
    assert TableSource.of(str(folder / "t.parquet"), None).read().column_names == ["a", "b"]


@pytest.mark.parametrize("name", ["t.parquet", "t.csv", "t.csv.gz", "t.arrow"])
@pytest.mark.parametrize(
    "content", [b"a,b\n\xff,1\n", b"", b"PAR1 and some nonsense", b"ARROW1\0\0", b"\x00\xff\xfe\n\xff"]
)
def test_a_file_that_is_something_else_is_one_line(run, shared, tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    outcome = run("apply", tmp_path / name, "-m", shared.model, "-o", tmp_path / "o.csv")
    assert outcome.code == 3
    assert outcome.err.startswith("error: ")
    assert outcome.err.count("\n") == 1
    assert outcome.err.isascii()


def test_a_file_that_is_cut_off_is_one_line(run, shared, tmp_path):
    for name in ("t.parquet", "t.arrow", "t.csv.gz"):
        path = tmp_path / name
        write_table(pa.table({"a": list(range(1000))}), str(path), format_of(str(path), None, ""))
        path.write_bytes(path.read_bytes()[:-100])
        outcome = run("fit", path, "--label=a", "-o", tmp_path / "m.trueup")
        assert outcome.code == 3
        assert "can't be read" in outcome.err


def test_a_file_that_is_not_there_is_one_line(run, shared, tmp_path):
    model = shared.model
    for missing in (tmp_path / "nothing.csv", tmp_path):
        outcome = run("apply", missing, "-m", model, "-o", tmp_path / "o.csv", "--input-format=csv")
        assert outcome.code == 3
        assert repr(str(missing)) in outcome.err
    outcome = run("inspect", tmp_path / "nothing.trueup")
    assert outcome.code == 3
    assert "nothing.trueup" in outcome.err


def test_two_columns_of_one_name_are_refused(tmp_path):
    (tmp_path / "t.csv").write_text("a,a\n1,2\n")
    with pytest.raises(ValueError, match="more than one column called 'a'"):
        TableSource.of(str(tmp_path / "t.csv"), None).read()


def test_a_place_that_cannot_be_written_is_found_out_early(tmp_path):
    (tmp_path / "file").write_text("")
    for place in ("no/file.csv", "", "file/x.csv"):
        with pytest.raises(FileError):
            check_output(str(tmp_path / place))
    check_output(str(tmp_path / "new.csv"))
    check_output(str(tmp_path / "file"))


@pytest.fixture(params=[OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()], ids=["full", "stopped"])
def failing_writes(request, monkeypatch):
    """Make every write fail half way; gives what the program should say, and its exit code."""

    def half_a_write(table, sink, *_):
        sink.write(b"half of the new")
        raise request.param

    monkeypatch.setattr(pa.csv, "write_csv", half_a_write)
    monkeypatch.setattr(pq, "ParquetWriter", lambda sink, schema: half_a_write(None, sink))
    monkeypatch.setattr(pa.ipc, "new_file", lambda sink, schema: half_a_write(None, sink))
    if isinstance(request.param, KeyboardInterrupt):
        return "Stopped. Nothing was written.\n", 130
    return "error: ", 3


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet", "arrow"])
def test_a_write_that_fails_leaves_the_old_file(run, shared, tmp_path, failing_writes, ending):
    said, code = failing_writes
    old = tmp_path / f"o.{ending}"
    old.write_bytes(b"the old file")
    outcome = run("apply", shared.table, "-m", shared.model, "-o", old)
    assert outcome.code == code
    assert outcome.err.startswith(said)
    assert old.read_bytes() == b"the old file"
    assert [file.name for file in tmp_path.iterdir()] == [old.name]


def test_what_csv_cannot_hold_is_said(run, shared, tmp_path):
    nested = shared.scored.append_column("list", pa.array([[1]] * len(shared.scored)))
    pq.write_table(nested, tmp_path / "t.parquet")
    arguments = ("apply", tmp_path / "t.parquet", "-m", shared.model, "-o")
    refused = run(*arguments, tmp_path / "o.csv")
    assert refused.code == 3
    assert "can't be written as csv" in refused.err
    assert run(*arguments, tmp_path / "o.parquet").code == 0
