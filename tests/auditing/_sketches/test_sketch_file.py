"""Files of sketches: what goes in comes out, and what is damaged or hostile is an error."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from sketch_cases import KINDS, rows_of
from trueup.auditing import Sketch, SketchSpec, load_sketch, make_sketch
from trueup.auditing._sketches._file import _batch_of, _checksum
from trueup.auditing._sketches._sums import Sums
from trueup.errors import SketchFileError


def small_sketch() -> Sketch:
    rows = rows_of(1, 300)
    return rows.sketch(rows.spec(max_depth=2, score_bins=[20, 5, 3]))


@pytest.mark.parametrize("kind", KINDS)
def test_a_sketch_comes_back_as_it_went(kind: str, tmp_path: Path) -> None:
    rows = rows_of(2, 500, kind)
    sketch = rows.sketch(rows.spec(max_depth=2))
    sketch.save(tmp_path / "one.arrow")
    found = load_sketch(tmp_path / "one.arrow")
    assert found == sketch
    found.save(tmp_path / "two.arrow")
    assert (tmp_path / "two.arrow").read_bytes() == (tmp_path / "one.arrow").read_bytes()


def test_an_empty_sketch_comes_back_too(tmp_path: Path) -> None:
    for spec in (SketchSpec.learn(), rows_of(3, 100).spec()):
        nothing = make_sketch({name: [] for name in spec.columns} or None, [], [], spec)
        nothing.save(tmp_path / "empty.arrow")
        assert load_sketch(tmp_path / "empty.arrow") == nothing


def test_categories_and_labels_of_any_type_come_back(tmp_path: Path) -> None:
    days = [dt.date(2026, 1, day) for day in (1, 2, 3)] * 20
    X = {
        "day": days,
        "flag": [True, False, None] * 20,
        "size": [-np.inf, np.inf, 0.5] * 20,
        "word": ["ä", "\ud800", "c"] * 20,
    }
    spec = SketchSpec.learn(X, [0.2, 0.5, 0.7] * 20, classes=("nein", "ja"), categorical_features=["day"])
    sketch = make_sketch(X, ["ja", "nein", "ja"] * 20, [0.2, 0.5, 0.7] * 20, spec)
    sketch.save(tmp_path / "types.arrow")
    found = load_sketch(tmp_path / "types.arrow")
    assert found == sketch
    assert make_sketch(X, ["ja", "nein", "ja"] * 20, [0.2, 0.5, 0.7] * 20, found.spec) == sketch


def test_others_can_read_it(tmp_path: Path) -> None:
    sketch = small_sketch()
    sketch.save(tmp_path / "sketch.arrow")
    with pa.ipc.open_file(tmp_path / "sketch.arrow") as file:
        table = file.read_all()
    assert table["rows"][0].as_py() == 300
    assert table["bin"][0].as_py() == sketch.sums.bin[: sketch.sums.offsets[1]].tolist()


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "sketch.arrow"
    small_sketch().save(path)
    before = path.read_bytes()

    def full_disk(source: Any, target: Any) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(os, "replace", full_disk)
    with pytest.raises(OSError, match="no space left"):
        make_sketch(None, [0], [0.5], SketchSpec.learn()).save(path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["sketch.arrow"]


def test_what_is_no_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        load_sketch(tmp_path / "absent.arrow")
    with pytest.raises(SketchFileError, match="it is not a file"):
        load_sketch(tmp_path)
    (tmp_path / "text.arrow").write_text("rows")
    with pytest.raises(SketchFileError, match=r"text.arrow' can't be used as a sketch: it is not an Arrow file"):
        load_sketch(tmp_path / "text.arrow")


def test_another_arrow_file_is_an_error(tmp_path: Path) -> None:
    with pa.OSFile(str(tmp_path / "other.arrow"), "wb") as file:
        table = pa.table({"a": [1, 2]})
        with pa.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table)
    with pytest.raises(SketchFileError, match="an Arrow file, but not a sketch"):
        load_sketch(tmp_path / "other.arrow")


def test_no_cut_or_flipped_byte_gives_another_sketch(tmp_path: Path) -> None:
    sketch, path = small_sketch(), tmp_path / "sketch.arrow"
    sketch.save(path)
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    n_refused = 0
    for place in rng.integers(0, len(whole), 300).tolist():
        damaged = bytearray(whole)
        damaged[place] ^= 1 << int(rng.integers(8))
        path.write_bytes(damaged)
        try:  # what pads or repeats the schema is never read
            assert load_sketch(path) == sketch
        except SketchFileError:
            n_refused += 1
    assert n_refused > 200
    for length in rng.integers(0, len(whole) - 1, 60).tolist():
        path.write_bytes(whole[:length])
        with pytest.raises(SketchFileError):
            load_sketch(path)


def write(path: Path, batch: pa.RecordBatch, **metadata: bytes) -> None:
    named = {f"trueup.{name}".encode(): value for name, value in metadata.items()}
    batch = batch.replace_schema_metadata({**batch.schema.metadata, **named})
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, batch.schema) as writer:
        writer.write_batch(batch)


def test_a_newer_format_says_so(tmp_path: Path) -> None:
    write(tmp_path / "new.arrow", _batch_of(small_sketch()), sketch=b"2")
    with pytest.raises(SketchFileError, match=r"of format 2, and 1 is the newest known here. Upgrade trueup"):
        load_sketch(tmp_path / "new.arrow")
    write(tmp_path / "odd.arrow", _batch_of(small_sketch()), sketch=b"one")
    with pytest.raises(SketchFileError, match="not a sketch"):
        load_sketch(tmp_path / "odd.arrow")


def test_compressed_or_missing_values_are_no_sketch(tmp_path: Path) -> None:
    batch = _batch_of(small_sketch())
    fields = [field.with_nullable(True) for field in batch.schema]
    columns = [pa.array([None] * batch.num_rows, type=batch.schema[0].type), *batch.columns[1:]]
    holes = pa.RecordBatch.from_arrays(columns, schema=pa.schema(fields, metadata=batch.schema.metadata))
    write(tmp_path / "holes.arrow", holes)
    with pytest.raises(SketchFileError, match="columns are not those of a sketch"):
        load_sketch(tmp_path / "holes.arrow")


@pytest.mark.parametrize("codec", ["zstd", "lz4"])
def test_a_compressed_file_is_refused_before_it_unfolds(codec: str, tmp_path: Path) -> None:
    batch, n = _batch_of(small_sketch()), 1_000_000
    columns = [pa.array(np.zeros(n, dtype=field.type.to_pandas_dtype())) for field in batch.schema][:8]
    no_bins = pa.array(np.zeros(n + 1, np.int32))
    lists = [pa.ListArray.from_arrays(no_bins, list_.values[:0], type=list_.type) for list_ in batch.columns[8:]]
    path, how = tmp_path / "bomb.arrow", pa.ipc.IpcWriteOptions(compression=codec)
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, batch.schema, options=how) as writer:
        writer.write_batch(pa.RecordBatch.from_arrays([*columns, *lists], schema=batch.schema))
    assert path.stat().st_size < 1_000_000  # and it would unfold to 68 MB
    before, most = pa.total_allocated_bytes(), pa.default_memory_pool().max_memory()
    with pytest.raises(SketchFileError, match="it is compressed"):
        load_sketch(path)
    assert pa.total_allocated_bytes() - before < 1_000_000
    assert pa.default_memory_pool().max_memory() == most


def test_a_schema_of_many_fields_is_refused_before_it_is_read(tmp_path: Path) -> None:
    schema = pa.schema([pa.field(f"{i}", pa.int64()) for i in range(1_000)])
    with pa.OSFile(str(tmp_path / "wide.arrow"), "wb") as file, pa.ipc.new_file(file, schema):
        pass
    with pytest.raises(SketchFileError, match="an Arrow file, but not a sketch"):
        load_sketch(tmp_path / "wide.arrow")


def spoiled(change: Callable[[dict[str, Any]], None]) -> Sketch:
    """A sketch that no rows have, whose file has a right checksum."""
    sketch = small_sketch()
    arrays = {name: np.array(value) for name, value in vars(sketch.sums).items()}
    change(arrays)
    return Sketch(sketch.spec, Sums(**arrays))


def set_to(name: str, place: Any, value: Any) -> Callable[[dict[str, Any]], None]:
    def change(arrays: dict[str, Any]) -> None:
        arrays[name][place] = value

    return change


def swap_cells(arrays: dict[str, Any]) -> None:
    arrays["cell"][[1, 2]] = arrays["cell"][[2, 1]]


def drop_last_cell(arrays: dict[str, Any]) -> None:
    n_bins = arrays["offsets"][-2]
    for name in ("combination", "cell", "lanes"):
        arrays[name] = arrays[name][:-1]
    for name in ("bin", "rises", "falls"):
        arrays[name] = arrays[name][:n_bins]
    arrays["offsets"] = arrays["offsets"][:-1]


def move_errors(arrays: dict[str, Any]) -> None:
    """To another sum that the bins no longer explain."""
    arrays["rises"][0] += 1


def rise_and_fall(arrays: dict[str, Any]) -> None:
    """More than any rows could, though it cancels."""
    arrays["rises"][0] += 2**50
    arrays["falls"][0] += 2**50


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (set_to("combination", -1, 999), "not in the spec"),
        (set_to("combination", 0, -1), "not in the spec"),
        (set_to("cell", -1, 10**6), "not in the spec"),
        (set_to("cell", 0, 1), "not in the spec"),
        (swap_cells, "not in order"),
        (set_to("lanes", (3, 0), 0), "of no rows"),
        (set_to("lanes", (3, 1), -5), "negative"),
        (set_to("lanes", (3, 1), 2**62), "too large"),
        (set_to("lanes", (3, 1), 7), "don't add up"),
        (drop_last_cell, "don't add up"),
        (set_to("bin", 0, 30_000), "bin is not in the spec"),
        (set_to("bin", slice(0, 2), 1), "bins are not in order"),
        (set_to("rises", 0, -1), "negative"),
        (set_to("falls", 0, 2**62), "too large"),
        (move_errors, "bins don't add up"),
        (rise_and_fall, "errors are more than its rows"),
    ],
)
def test_sums_that_no_rows_have_are_refused(
    change: Callable[[dict[str, Any]], None], reason: str, tmp_path: Path
) -> None:
    spoiled(change).save(tmp_path / "spoiled.arrow")
    with pytest.raises(SketchFileError, match=reason):
        load_sketch(tmp_path / "spoiled.arrow")


def with_spec(change: Callable[[dict[str, Any]], None], path: Path) -> None:
    """Write a sketch with another spec and a right checksum."""
    sketch = small_sketch()
    batch = _batch_of(sketch)
    entries = json.loads(batch.schema.metadata[b"trueup.spec"])
    change(entries)
    text = json.dumps(entries).encode()
    write(path, batch, spec=text, sha256=_checksum(text, sketch.sums).encode())


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda spec: spec.pop("classes"), "the field 'classes' is missing"),
        (lambda spec: spec.update(more=1), "the field 'more' is unknown"),
        (lambda spec: spec.update(max_depth=2.0), "expected int, found float"),
        (lambda spec: spec.update(max_depth=99), "max_depth must be"),
        (lambda spec: spec.update(fraction_bits=-4), "fraction_bits must be"),
        (lambda spec: spec.update(weight_exponent=10**6), "weight_exponent must be"),
        (lambda spec: spec.update(classes=[1]), "classes must be two labels"),
        (lambda spec: spec["score_edges"][0].reverse(), "must increase"),
        (lambda spec: spec["score_edges"][0].append(float("nan")), "not a finite number"),
        (lambda spec: spec["score_edges"].pop(), "must be 3 lists"),
        (lambda spec: spec["cuts"].append(spec["cuts"][0]), "each column only once"),
        (lambda spec: spec["cuts"][0].update(kind="COLOURS"), "no known kind"),
        (lambda spec: spec["cuts"][0].update(kind="NUMBER"), "are not numbers"),
        (lambda spec: spec["cuts"][0].update(conditions=[]), "must have 1 to"),
        (lambda spec: spec["cuts"][2].update(is_categorical=True), "its parts must be values"),
        (lambda spec: spec["cuts"][0].update(is_categorical=False), "its parts must be numbers"),
        (lambda spec: spec["cuts"][2]["conditions"][0].update(test="looks_like"), "no known test"),
        (lambda spec: spec["cuts"][2]["conditions"][0].update(low="a"), "needs one or two numbers"),
        (lambda spec: spec["cuts"][0]["conditions"][0].update(values=[]), "at least one value"),
        (lambda spec: spec["cuts"][0]["conditions"].__delitem__(slice(1, None)), "a segment is not in the spec"),
    ],
)
def test_a_spec_that_was_never_learned_is_refused(
    change: Callable[[dict[str, Any]], None], reason: str, tmp_path: Path
) -> None:
    with_spec(change, tmp_path / "spec.arrow")
    with pytest.raises(SketchFileError, match=reason):
        load_sketch(tmp_path / "spec.arrow")


def test_the_bytes_of_format_1_stay_what_they_are(tmp_path: Path) -> None:
    # Two bins, (.., 0.5] with a rise of 0.75 and (0.5, ..] with a fall of 0.625, in units of 2^-28.
    sketch = make_sketch(None, [1, 0], [0.25, 0.625], SketchSpec((), 0, ((0.5,),)))
    sums = sketch.sums
    assert sums.lanes.tolist() == [[2, 2**28, 7 * 2**25, int((0.25 * 0.75 + 0.625 * 0.375) * 2**28), 2**29, 2 * 2**20]]
    assert (sums.bin.tolist(), sums.rises.tolist(), sums.falls.tolist()) == ([0, 1], [3 * 2**26, 0], [0, 5 * 2**25])
    batch = _batch_of(sketch)
    spec = b'{"cuts":[],"max_depth":0,"score_edges":[[0.5]],"classes":[0,1],"weight_exponent":0,"fraction_bits":28}'
    assert batch.schema.metadata[b"trueup.spec"] == spec
    assert batch.schema.names == [
        "combination", "cell", "rows", "label", "score", "variance", "weight", "square", "bin", "rises", "falls"
    ]  # fmt: skip
    numbers = [sums.combination, sums.cell, sums.lanes, sums.offsets, sums.bin, sums.rises, sums.falls]
    expected = hashlib.sha256(spec + b"".join(array.tobytes() for array in numbers)).hexdigest()
    assert batch.schema.metadata[b"trueup.sha256"].decode() == expected
