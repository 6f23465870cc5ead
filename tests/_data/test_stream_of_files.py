"""Files, folders and patterns as one table."""

from __future__ import annotations

import gzip
import itertools
import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import csv, feather, ipc

from trueup._data import Batch, Stream, naming, open_stream
from trueup._model import ValueKind
from trueup.errors import ColumnError, FileError, ParameterError, ScoreError


def write(path: Path, table: pa.Table) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".parquet":
        pq.write_table(table, path, row_group_size=4, write_page_checksum=True)
    elif path.suffix == ".feather":
        feather.write_feather(table, path, chunksize=3)
    elif path.suffix == ".arrow":
        with ipc.new_stream(path, table.schema) as writer:
            writer.write_table(table, max_chunksize=3)
    elif path.suffix == ".gz":
        with gzip.open(path, "wb") as file:
            csv.write_csv(table, file)
    else:
        csv.write_csv(table, path)
    return path


def rows_of(stream: Stream, columns: list[str] | None = None, batch_rows: int = 3) -> list[dict[str, Any]]:
    return [row for batch in stream.batches(columns, batch_rows=batch_rows) for row in batch.table.to_pylist()]


def numbers(first: int, last: int) -> pa.Table:
    return pa.table({"n": range(first, last), "word": [f"w{n}" for n in range(first, last)]})


@pytest.mark.parametrize("ending", [".parquet", ".feather", ".arrow", ".csv", ".csv.gz"])
def test_a_file_comes_in_batches_that_say_where_they_are_from(tmp_path: Path, ending: str) -> None:
    path = write(tmp_path / f"t{ending}", numbers(0, 7))
    stream = open_stream(path)
    assert stream.columns == ("n", "word")
    assert stream.n_rows == (7 if ending == ".parquet" else None)
    batches = list(stream.batches(["word", "n"], batch_rows=3))
    assert [batch.table.num_rows for batch in batches] == [3, 3, 1]
    assert batches[1].where == f"{str(path)!r}, rows 3 to 5"
    assert batches[1].table.to_pydict() == {"word": ["w3", "w4", "w5"], "n": [3, 4, 5]}
    assert rows_of(stream) == numbers(0, 7).to_pylist()


def test_a_file_in_one_batch_is_called_by_its_name_alone(tmp_path: Path) -> None:
    path = write(tmp_path / "t.parquet", numbers(0, 7))
    assert [batch.where for batch in open_stream(str(path)).batches()] == [repr(str(path))]


def test_a_folder_is_read_with_all_folders_in_it_in_the_order_of_names(tmp_path: Path) -> None:
    write(tmp_path / "b.parquet", numbers(4, 6))
    write(tmp_path / "a" / "deep" / "x.feather", numbers(0, 2))
    write(tmp_path / "a" / "y.csv", numbers(2, 4))
    stream = open_stream(tmp_path)
    assert rows_of(stream) == numbers(0, 6).to_pylist()
    assert stream.files == tuple(str(tmp_path / name) for name in ("a/deep/x.feather", "a/y.csv", "b.parquet"))


def test_markers_checksums_and_unfinished_files_are_passed_over(tmp_path: Path) -> None:
    write(tmp_path / "part-0.parquet", numbers(0, 2))
    (tmp_path / "_SUCCESS").touch()
    (tmp_path / ".part-0.parquet.crc").write_bytes(b"crc")
    (tmp_path / "_metadata").write_bytes(b"?")
    write(tmp_path / "_temporary" / "part-1.parquet", numbers(2, 4))
    assert rows_of(open_stream(tmp_path)) == numbers(0, 2).to_pylist()
    assert rows_of(open_stream(f"{tmp_path}/**/*.parquet")) == numbers(0, 2).to_pylist()
    with pytest.raises(FileError, match=r"No file matches '.*/_\*' \(3 with names that begin with _ or \. are passed"):
        open_stream(f"{tmp_path}/_*")


def test_links_are_followed_but_no_file_counts_twice(tmp_path: Path) -> None:
    elsewhere = write(tmp_path / "elsewhere" / "x.parquet", numbers(0, 2))
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "linked").symlink_to(elsewhere.parent)
    (folder / "round").symlink_to(folder)
    assert rows_of(open_stream(folder)) == numbers(0, 2).to_pylist()
    (folder / "again.parquet").symlink_to(elsewhere)
    with pytest.raises(FileError, match=r"again.parquet' and '.*/linked/x.parquet' are the same file: its rows would"):
        open_stream(folder)


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("*.parquet", ["a.parquet"]),
        ("**/*.parquet", ["a.parquet", "in/b.parquet", "in/in/c.parquet"]),
        ("in*", ["in/b.parquet", "in/in/c.parquet"]),
        ("in/[bc].parquet", ["in/b.parquet"]),
    ],
)
def test_patterns_name_files(tmp_path: Path, pattern: str, found: list[str]) -> None:
    for name in ("a", "in/b", "in/in/c"):
        write(tmp_path / f"{name}.parquet", numbers(0, 2))
    assert open_stream(tmp_path / pattern).files == tuple(str(tmp_path / name) for name in found)


def test_a_file_whose_name_looks_like_a_pattern_is_that_file(tmp_path: Path) -> None:
    path = write(tmp_path / "day[1].parquet", numbers(0, 2))
    write(tmp_path / "day1.parquet", numbers(2, 4))
    assert open_stream(path).files == (str(path),)


def test_a_list_keeps_its_order_and_names_each_file_once(tmp_path: Path) -> None:
    one, two = (write(tmp_path / f"{name}.parquet", numbers(n, n + 2)) for name, n in (("b", 0), ("a", 2)))
    assert rows_of(open_stream([one, str(two)])) == numbers(0, 4).to_pylist()
    with pytest.raises(FileError, match=r"a.parquet' is named twice: its rows would count twice"):
        open_stream([two, f"{tmp_path}/*.parquet"])


def test_nothing_to_read_is_an_error_that_says_so(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileError, match=r"No file matches '.*\*\.parquet'\.$"):
        open_stream(f"{tmp_path}/*.parquet")
    with pytest.raises(FileError, match=r"There is no file '.*gone\.parquet'"):
        open_stream(tmp_path / "gone.parquet")
    with pytest.raises(FileError, match=r"The folder '.*empty' has no files to read"):
        open_stream(tmp_path / "empty")
    with pytest.raises(FileError, match="A path is empty"):
        open_stream("")


def test_a_file_of_no_known_format_is_named(tmp_path: Path) -> None:
    write(tmp_path / "a.parquet", numbers(0, 2))
    (tmp_path / "notes.txt").write_text("hello")
    with pytest.raises(FileError, match=r"notes\.txt' has none of the known endings .* or name the others with a pat"):
        open_stream(tmp_path)
    (tmp_path / "notes.txt").unlink()
    (tmp_path / "a.parquet").rename(tmp_path / "part-0")
    assert open_stream(tmp_path, file_format="parquet").n_rows == 2


@pytest.mark.parametrize("ending", [".parquet", ".feather", ".arrow", ".csv.gz"])
def test_a_damaged_file_is_named_before_anything_is_read(tmp_path: Path, ending: str) -> None:
    write(tmp_path / "a.parquet", numbers(0, 2))
    (tmp_path / f"b{ending}").write_bytes(b"this is not a table at all")
    with pytest.raises(FileError, match=rf"b{ending}' can't be read as "):
        open_stream(tmp_path)


def test_a_damaged_page_is_an_error_that_names_its_file(tmp_path: Path) -> None:
    write(tmp_path / "a.parquet", numbers(0, 2))
    path = write(tmp_path / "b.parquet", numbers(2, 900))
    content = bytearray(path.read_bytes())
    content[100:110] = bytes(255 - byte for byte in content[100:110])
    path.write_bytes(content)
    stream = open_stream(tmp_path)
    with pytest.raises(FileError, match=r"b\.parquet' can't be read as parquet"):
        rows_of(stream)


def test_a_file_that_went_away_is_named(tmp_path: Path) -> None:
    path = write(tmp_path / "a.parquet", numbers(0, 2))
    stream = open_stream(tmp_path)
    path.unlink()
    with pytest.raises(FileError, match=r"a\.parquet' can't be read as parquet"):
        rows_of(stream)


@pytest.mark.parametrize("ending", [".parquet", ".feather", ".arrow", ".csv"])
def test_files_without_rows_are_fine_and_their_columns_don_t_count(tmp_path: Path, ending: str) -> None:
    write(tmp_path / f"a{ending}", numbers(0, 0))
    write(tmp_path / "b.parquet", numbers(0, 3))
    write(tmp_path / "c.parquet", pa.table({"n": pa.array([], pa.string())}))
    stream = open_stream(tmp_path)
    assert stream.columns == ("n", "word")
    assert rows_of(stream) == numbers(0, 3).to_pylist()


def test_every_file_keeps_its_own_types(tmp_path: Path) -> None:
    types = [pa.int32(), pa.int64(), pa.float64(), pa.null()]
    for i, arrow_type in enumerate(types):
        write(tmp_path / f"{i}.parquet", pa.table({"n": pa.array([None if i == 3 else i], arrow_type)}))
    stream = open_stream(tmp_path)
    assert [batch.table.schema.field("n").type for batch in stream.batches()] == types


def test_strings_here_and_numbers_there_are_an_error_that_names_both_files(tmp_path: Path) -> None:
    for i, values in enumerate([[None], [1], ["x"]]):
        write(tmp_path / f"{i}.parquet", pa.table({"mixed": values, "fine": [i]}))
    stream = open_stream(tmp_path)
    assert rows_of(stream, ["fine"]) == [{"fine": 0}, {"fine": 1}, {"fine": 2}]
    expected = r"Column 'mixed' holds numbers in '.*/1.parquet' and strings in '.*/2.parquet'\. Give it one type"
    with pytest.raises(ColumnError, match=expected):
        stream.batches(["fine", "mixed"])


def test_types_that_are_guessed_are_compared_when_they_are_read(tmp_path: Path) -> None:
    for name, text in {"a": "zip\n0123\n", "b": "zip\nK1A\n"}.items():
        (tmp_path / f"{name}.csv").write_text(text)
    stream = open_stream(tmp_path)
    with pytest.raises(ColumnError, match=r"holds numbers in '.*a.csv' and strings in '.*b.csv'"):
        rows_of(stream)
    known = stream.with_kinds({"zip": ValueKind.STRING})
    assert rows_of(known) == rows_of(open_stream(tmp_path, kinds={"zip": ValueKind.STRING}))
    assert rows_of(known) == [{"zip": "0123"}, {"zip": "K1A"}]


def test_columns_that_some_files_lack_are_known_and_refused(tmp_path: Path) -> None:
    write(tmp_path / "a.parquet", pa.table({"x": [1], "only": [1], "y": [1]}))
    write(tmp_path / "b.parquet", pa.table({"y": [2], "x": [2]}))
    stream = open_stream(tmp_path)
    assert stream.columns == ("x", "y")
    assert dict(stream.partial_columns) == {"only": repr(str(tmp_path / "b.parquet"))}
    with pytest.raises(ColumnError, match=r"b.parquet' has no column 'only', but others in '.*' do"):
        stream.batches(["only"])
    with pytest.raises(ColumnError, match=r"has no column 'z'\. The columns are 'x', 'y'"):
        stream.batches(["z"])
    with pytest.raises(ParameterError, match="batch_rows must be at least 1"):
        stream.batches(batch_rows=0)


def test_two_columns_of_one_name_are_refused_with_the_file(tmp_path: Path) -> None:
    write(tmp_path / "a.parquet", pa.table([[1], [2]], names=["x", "x"]))
    with pytest.raises(ColumnError, match=r"a.parquet' has more than one column called 'x'"):
        open_stream(tmp_path)


def test_names_with_dots_are_columns_of_their_own(tmp_path: Path) -> None:
    table = pa.table({"a": [1, 2], "a.b": [3, 4], "s": [{"t": 5}, {"t": 6}]})
    stream = open_stream(write(tmp_path / "t.parquet", table))
    assert rows_of(stream, ["a"]) == [{"a": 1}, {"a": 2}]
    assert rows_of(stream, ["a.b", "s"]) == table.select(["a.b", "s"]).to_pylist()


def test_errors_about_the_data_say_where(tmp_path: Path) -> None:
    with (
        pytest.raises(ScoreError, match=r"^Batch 3, rows 0 to 9: scores are bad"),
        naming(Batch(None, "batch 3, rows 0 to 9")),
    ):
        raise ScoreError("scores are bad")


HIVE = {
    "integers": ["year=2023/month=01", "year=2024/month=12"],
    "strings": ["region=eu%20west", "region=us", "region=1"],
    "missing": ["n=__HIVE_DEFAULT_PARTITION__", "n=3"],
    "large": ["id=1", "id=99999999999"],
    "plain folders too": ["year=1/more/k=v", "year=-2/other/k=w"],
}


@pytest.mark.parametrize("folders", HIVE.values(), ids=HIVE)
def test_folders_become_columns_as_pyarrow_makes_them(tmp_path: Path, folders: list[str]) -> None:
    for i, folder in enumerate(folders):
        write(tmp_path / folder / "part.parquet", pa.table({"x": [i, i]}))
    expected = ds.dataset(tmp_path, partitioning="hive").to_table().sort_by("x")
    stream = open_stream(tmp_path)
    found = pa.concat_tables([batch.table for batch in stream.batches()]).sort_by("x")
    assert found.equals(expected)
    assert found.schema == expected.schema.remove_metadata()
    by_pattern = open_stream(f"{tmp_path}/**/*.parquet")
    assert by_pattern.columns == stream.columns
    assert rows_of(by_pattern) == rows_of(stream)


def test_the_folder_that_is_named_and_those_above_are_no_columns(tmp_path: Path) -> None:
    path = write(tmp_path / "year=2024" / "a.parquet", pa.table({"x": [1]}))
    for source in (path, path.parent, f"{path.parent}/*.parquet"):
        assert open_stream(source).columns == ("x",)


def test_a_file_s_own_column_comes_before_what_its_folder_says(tmp_path: Path) -> None:
    write(tmp_path / "zip=0123" / "a.parquet", pa.table({"zip": ["0123"]}))
    assert rows_of(open_stream(tmp_path)) == [{"zip": "0123"}]


VALUES = st.tuples(
    st.none() | st.integers(-(2**40), 2**40),
    st.none() | st.floats(allow_nan=False),
    st.none() | st.text(st.characters(codec="utf-8"), max_size=5),
    st.none() | st.booleans(),
)
TYPES = {"i": pa.int64(), "f": pa.float64(), "s": pa.string(), "b": pa.bool_()}


@settings(max_examples=60)
@given(
    rows=st.lists(VALUES, max_size=40),
    cuts=st.lists(st.integers(0, 40), max_size=6),
    formats=st.lists(st.sampled_from([".parquet", ".feather", ".arrow"]), min_size=7, max_size=7),
    batch_rows=st.integers(1, 50),
)
def test_rows_in_any_partition_into_files_come_back_the_same_and_in_order(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[tuple[Any, ...]],
    cuts: list[int],
    formats: list[str],
    batch_rows: int,
) -> None:
    folder = tmp_path_factory.mktemp("parts")
    columns = [[row[i] for row in rows] for i in range(len(TYPES))]
    table = pa.table({name: pa.array(values, TYPES[name]) for name, values in zip(TYPES, columns, strict=True)})
    bounds = [0, *sorted(min(cut, len(rows)) for cut in cuts), len(rows)]
    for i, (begin, end) in enumerate(itertools.pairwise(bounds)):
        write(folder / f"{i}{formats[i]}", table.slice(begin, end - begin))
    stream = open_stream(folder)
    for _ in range(2):  # and again
        batches = [batch.table for batch in stream.batches(batch_rows=batch_rows)]
        assert all(0 < batch.num_rows <= batch_rows for batch in batches)
        assert pa.concat_tables([table.slice(0, 0), *batches]).equals(table)


def test_the_working_folder_may_hold_the_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "k=1" / "a.parquet", numbers(0, 2))
    monkeypatch.chdir(tmp_path)
    for source in ("*/*.parquet", "./*/*.parquet", ".", "**"):
        stream = open_stream(source)
        assert stream.columns == ("n", "word", "k")
        assert [os.path.normpath(file) for file in stream.files] == ["k=1/a.parquet"]
