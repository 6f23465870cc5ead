"""CSV files as people have them: other delimiters, decimal commas, packed, and misnamed."""

import gzip

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from trueup._data import open_stream
from trueup.cli._files import Format, Reading, TableSource
from trueup.errors import DataWarning, FileError, ParameterError

ROWS = {"name": ["a", "b;c,d"], "n": [1, 2], "x": [0.25, 1.5]}


def written(path, delimiter, decimal_point="."):
    lines = [["name", "n", "x"], ["a", "1", f"0{decimal_point}25"], ['"b;c,d"', "2", f"1{decimal_point}5"]]
    path.write_text("".join(delimiter.join(line) + "\n" for line in lines), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(("delimiter", "said"), [(";", "';' between columns"), ("\t", "tabs"), ("|", r"'\|'")])
def test_a_delimiter_that_is_no_comma_is_found_and_told_of(tmp_path, delimiter, said):
    path = written(tmp_path / "t.csv", delimiter)
    with pytest.warns(DataWarning, match=f"Reading .* with {said}"):
        assert TableSource.of(path).read().to_pydict() == ROWS
    with pytest.warns(DataWarning, match=f"Reading .* with {said}"):
        stream = open_stream(path)
    assert [batch.table.to_pydict() for batch in stream.batches()] == [ROWS]


def test_a_comma_is_nothing_to_tell_of(tmp_path):
    assert TableSource.of(written(tmp_path / "t.csv", ",")).read().to_pydict() == ROWS


def test_the_ending_and_the_option_say_the_delimiter_without_a_warning(tmp_path):
    assert TableSource.of(written(tmp_path / "t.tsv", "\t")).read().to_pydict() == ROWS
    for name, delimiter in ((";", ";"), ("tab", "\t"), ("\\t", "\t"), ("%", "%")):
        path = written(tmp_path / "t.csv", delimiter)
        assert TableSource.of(path, Reading.of(None, name)).read().to_pydict() == ROWS
    for wrong in ("", "ab", '"', "\n"):
        with pytest.raises(ParameterError, match="one character"):
            Reading.of(None, wrong)


def test_decimal_commas_are_numbers_and_thousands_are_no_evidence_of_them(tmp_path):
    path = written(tmp_path / "t.csv", ";", decimal_point=",")
    with pytest.warns(DataWarning, match="';' between columns and decimal commas"):
        assert TableSource.of(path).read().to_pydict() == ROWS
    (tmp_path / "t.csv").write_text("name;n\na;1,234\nb;2,000\n")
    with pytest.warns(DataWarning, match="';' between columns, as"):
        assert TableSource.of(path).read()["n"].to_pylist() == ["1,234", "2,000"]


def test_files_are_known_by_their_first_bytes(tmp_path):
    pq.write_table(pa.table(ROWS), tmp_path / "t.csv")
    with pytest.warns(DataWarning, match="t.csv' as what it is: a Parquet file"):
        assert TableSource.of(str(tmp_path / "t.csv")).read().to_pydict() == ROWS
    with pytest.warns(DataWarning, match="a Parquet file"):
        assert open_stream(str(tmp_path / "t.csv")).n_rows == 2
    with pytest.raises(FileError, match="is not a csv file but a Parquet file"):
        TableSource.of(str(tmp_path / "t.csv"), Reading(Format.CSV))
    (tmp_path / "t.csv").rename(tmp_path / "t.dat")
    assert TableSource.of(str(tmp_path / "t.dat")).read().to_pydict() == ROWS
    plain = written(tmp_path / "u.csv", ",")
    (tmp_path / "v.csv").write_bytes(gzip.compress((tmp_path / "u.csv").read_bytes()))
    assert TableSource.of(str(tmp_path / "v.csv")).read().equals(TableSource.of(plain).read())


def test_files_of_a_stream_may_differ_and_one_warning_tells_of_all(tmp_path):
    paths = [written(tmp_path / f"{i}.csv", delimiter) for i, delimiter in enumerate((",", ";", "\t"))]
    with pytest.warns(DataWarning) as told:
        stream = open_stream(paths)
    assert [str(one.message) for one in told] == [
        f"Reading {paths[1]!r} with ';' between columns, as its first lines suggest. The same goes for 1 more."
    ]
    assert [batch.table.to_pydict() for batch in stream.batches()] == [ROWS] * 3


def in_german(value):
    text = "" if value is None else str(value).replace(".", ",") if isinstance(value, float) else str(value)
    return '"' + text.replace('"', '""') + '"' if any(char in text for char in '";\n') else text


@pytest.mark.parametrize("n_files", [1, 2])
def test_apply_writes_a_file_with_semicolons_as_it_found_it(run, shared, tmp_path, n_files):
    rows = shared.scored.slice(0, 5).drop_columns(["y", "w"])
    lines = [rows.column_names, *([row[name] for name in rows.column_names] for row in rows.to_pylist())]
    text = "".join(";".join(map(in_german, line)) + "\n" for line in lines)
    tables = [tmp_path / f"in{i}.csv" for i in range(n_files)]
    for table in tables:
        table.write_text(text, encoding="utf-8")
    outcome = run("apply", *tables, "-m", shared.model, "-o", tmp_path / "o.csv")
    assert outcome.code == 0, outcome.err
    assert "decimal commas" in outcome.err
    with pytest.warns(DataWarning, match="decimal commas"):
        found = TableSource.of(str(tmp_path / "o.csv")).read()
    assert found["calibrated"].to_pylist() == pytest.approx(list(shared.expected[:5]) * n_files)
    assert found["p"].to_pylist() == pytest.approx(rows["p"].to_pylist() * n_files)
