"""CSV: strings stay strings, empty is missing, and nothing changes on the way through."""

import csv

import pyarrow as pa
import pytest

from trueup._data._csv import read_csv, with_category_text, with_faithful_text
from trueup._model import ValueKind
from trueup.cli._files import Format, TableSource
from trueup.cli._writing import write_table


@pytest.fixture
def source(tmp_path):
    def of(text):
        path = tmp_path / "t.csv"
        path.write_text(text, encoding="utf-8", newline="")
        return TableSource.of(str(path), None)

    return of


def test_strings_stay_strings_and_empty_is_missing(source):
    table = source('country,n,s\nNA,1,""\nNO,NA,null\n,3,x\n').read()
    assert table.to_pydict() == {
        "country": ["NA", "NO", None],  # Namibia, Norway, and nothing
        "n": [1, None, 3],  # NA is no number
        "s": [None, "null", "x"],
    }


def test_lines_may_break_inside_quotes(source):
    table = source('"a\nb",c\n"x\ny",1\n').read()
    assert table.to_pydict() == {"a\nb": ["x\ny"], "c": [1]}


def test_what_the_model_knows_to_be_strings_is_read_as_strings(source):
    table = source("zip,on\n01234,0\n99999,1\n").read({"zip": ValueKind.STRING, "on": ValueKind.BOOLEAN})
    assert table.to_pydict() == {"zip": ["01234", "99999"], "on": [False, True]}


def test_numbers_named_as_categories_keep_their_text_unless_they_are_plain_integers(source):
    text = "version,zip,id,word\n8.1,01234,7,x\n8.10,00001,-12,y\n,3,,z\n"
    file = source(text)
    found = file.with_category_text(file.read(), ["version", "zip", "id", "word"])
    assert found.to_pydict() == {
        "version": ["8.1", "8.10", None],
        "zip": ["01234", "00001", "3"],
        "id": [7, -12, None],
        "word": ["x", "y", "z"],
    }


def test_a_column_that_would_be_written_differently_is_kept_as_text(source):
    header = "zip,price,n,ratio,when,truth,gap\n"
    file = source(header + "01234,1.50,1,0.25,2024-01-02,true,NA\n2,2.00,2,0.5,2024-01-03,false,3\n")
    found = file.with_faithful_text(file.read(), Format.CSV)
    kept_as_text = [field.name for field in found.schema if field.type == pa.string()]
    assert kept_as_text == ["zip", "price", "gap"]
    assert found["gap"].to_pylist() == ["NA", "3"]
    assert file.with_faithful_text(file.read(), Format.PARQUET)["zip"].to_pylist() == [1234, 2]


def test_apply_changes_nothing_else_in_a_csv_file(run, shared, tmp_path):
    columns = shared.scored.slice(0, 3).to_pydict()
    columns |= {"zip": ["01234", "", "7"], "price": ["1.50", "2.00", "1e3"], "note": ['say "x"', "a,b", "NA"]}
    names = list(columns)
    lines = [[columns[name][row] for name in names] for row in range(3)]

    def quoted(value):
        return "" if value is None else '"' + str(value).replace('"', '""') + '"'

    text = "\n".join(",".join(map(quoted, line)) for line in [names, *lines]) + "\n"
    (tmp_path / "t.csv").write_text(text, encoding="utf-8", newline="")
    assert run("apply", tmp_path / "t.csv", "-m", shared.model, "-o", tmp_path / "o.csv").code == 0
    with open(tmp_path / "t.csv", newline="") as before, open(tmp_path / "o.csv", newline="") as after:
        assert [line[:-1] for line in csv.reader(after)] == list(csv.reader(before))


def test_a_fit_from_csv_is_the_fit_from_parquet(run, shared, tmp_path):
    write_table(shared.scored, str(tmp_path / "t.csv"), Format.CSV)
    options = ["--label=y", "--score=p", "--categorical=version", "--max-rounds=1", "--validation=0.3", "-q"]
    options += ["--min-sum-hessian=1", "--jobs=1"]
    assert run("fit", tmp_path / "t.csv", *options, "-o", tmp_path / "a.trueup").code == 0
    assert run("fit", shared.table, *options, "-o", tmp_path / "b.trueup").code == 0
    described = [run("inspect", tmp_path / name, "--json").json for name in ("a.trueup", "b.trueup")]
    for one in described:
        one.pop("model")
    assert described[0] == described[1]


def test_reading_twice_from_memory_is_reading_the_same():
    content = b"zip,x\n012,1.0\n"
    typed = read_csv(pa.BufferReader(content), {})
    assert typed["zip"].to_pylist() == [12]
    assert with_category_text(typed, pa.BufferReader(content), ["zip"])["zip"].to_pylist() == ["012"]
    assert with_faithful_text(typed, pa.BufferReader(content)).to_pydict() == {"zip": ["012"], "x": ["1.0"]}
