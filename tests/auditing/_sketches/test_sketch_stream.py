"""Tables that come batch by batch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sketch_cases import rows_of
from trueup._data import open_stream
from trueup.auditing import SketchSpec, audit_stream, sketch_stream
from trueup.errors import ColumnError, LabelError, TableError


def table_of(seed: int = 1, n: int = 3_000, kind: str = "plain") -> pa.Table:
    rows = rows_of(seed, n, kind)
    weights = {} if rows.weights is None else {"w": rows.weights}
    columns = {
        **{name: pa.array(values, from_pandas=True) for name, values in rows.X.items()},
        "y": rows.y,
        "p": rows.p,
    }
    return pa.table(columns | weights)


@pytest.mark.parametrize("kind", ["plain", "weights"])
def test_batches_give_what_the_whole_table_gives(kind: str) -> None:
    table = table_of(kind=kind)
    weight = "w" if kind == "weights" else None
    X = table.drop_columns(["y", "p", *([weight] if weight else [])])
    spec = SketchSpec.learn(X, table["p"], sample_weight=table[weight] if weight else None, max_depth=2)
    batches = [table.slice(0, 0), *table.to_batches(max_chunksize=257), table.slice(0, 0)]
    options: dict[str, Any] = {"label": "y", "score": "p", "weight": weight}
    found = sketch_stream(iter(batches), **options, max_depth=2)
    assert found.spec == spec
    assert found == sketch_stream([table], **options, spec=spec)
    audited = audit_stream(batches, **options, spec=spec, significance=0.01)
    assert (audited.n, audited.significance) == (found.n, 0.01)


def test_the_spec_is_learned_from_rows_of_all_parts_of_what_can_be_read_again() -> None:
    table = table_of().append_column("row", pa.array(range(3_000)))
    found = sketch_stream(table.to_batches(max_chunksize=500), label="y", score="p", sample_rows=900)
    sample = open_stream(table).sample(900)
    assert found.spec == SketchSpec.learn(sample.drop_columns(["y", "p"]), sample["p"])
    assert found.n == 3_000
    again = sketch_stream([table.slice(0, 1_999), table.slice(1_999)], label="y", score="p", sample_rows=900)
    assert again == found  # whatever the batches are


def test_the_spec_of_what_can_be_read_once_is_learned_from_the_first_rows() -> None:
    table = table_of()
    found = sketch_stream(iter(table.to_batches(max_chunksize=500)), label="y", score="p", sample_rows=900)
    first = table.slice(0, 1_000)
    assert found.spec == SketchSpec.learn(first.drop_columns(["y", "p"]), first["p"])
    assert found.n == 3_000


@pytest.mark.parametrize("as_native", [pl.from_arrow, pa.Table.to_pandas], ids=["polars", "pandas"])
def test_batches_may_be_of_other_libraries(as_native: Any) -> None:
    table = table_of()
    spec = SketchSpec.learn(table.drop_columns(["y", "p"]), table["p"], max_depth=2)
    batches = [as_native(table.slice(begin, 1_000)) for begin in range(0, 3_000, 1_000)]
    found = sketch_stream(batches, label="y", score="p", spec=spec)
    assert found == sketch_stream([table], label="y", score="p", spec=spec)


def test_dictionaries_that_differ_between_batches_are_one_column() -> None:
    batches = [
        pa.record_batch({"x": pa.array(words).dictionary_encode(), "y": [0, 1, 1], "p": [0.2, 0.5, 0.9]})
        for words in (["a", "b", "a"], ["b", "c", "c"], ["c", "a", "new"])
    ]
    found = sketch_stream(iter(batches), label="y", score="p", sample_rows=6).audit(min_rows=1, min_variance=0)
    rows = {row["segment"]: row["rows"] for row in found.segments.to_pylist()}
    assert rows == {"all rows": 9, "x = a": 3, "x = b": 2, "x = c": 3, "x not in {a, b, c}": 1}


def test_errors_say_in_which_batch() -> None:
    table = table_of()
    batches = table.to_batches(max_chunksize=1_000)
    spec = SketchSpec.learn(table.drop_columns(["y", "p"]), table["p"], max_depth=1)
    options: dict[str, Any] = {"label": "y", "score": "p", "spec": spec}
    with pytest.raises(ColumnError, match="batch 2 has no column 'income', but others in"):
        sketch_stream([*batches[:2], table.drop_columns(["income"])], **options)
    words = table.set_column(0, "site", pa.array(np.arange(3_000)))
    with pytest.raises(ColumnError, match="Column 'site' holds strings in batch 0 and numbers in batch 1"):
        sketch_stream([batches[0], words], **options)
    strange = table.set_column(table.column_names.index("y"), "y", pa.array(np.full(3_000, 2)))
    with pytest.raises(LabelError, match="Batch 1: y: 3,000 of 3,000 labels are neither 0 nor 1"):
        sketch_stream([batches[0], strange], **options)


def test_what_is_no_table_is_refused() -> None:
    with pytest.raises(TableError, match="Batch 0 is a int, which gives no Arrow data"):
        sketch_stream([3], label="y", score="p")
    with pytest.raises(TableError, match="all batches are empty"):
        sketch_stream([table_of().slice(0, 0)], label="y", score="p")
    with pytest.raises(ColumnError, match="no column 'label'"):
        sketch_stream([table_of()], label="label", score="p")
    with pytest.raises(TypeError, match="'max_depth' can't be given with a spec"):
        sketch_stream([table_of()], label="y", score="p", spec=SketchSpec.learn(), max_depth=1)


def test_a_column_that_changes_type_in_the_sample_is_refused() -> None:
    batches = [pa.table({"x": column, "y": [0, 1], "p": [0.2, 0.9]}) for column in ([1, 2], ["a", "b"])]
    with pytest.raises(ColumnError, match="Column 'x' holds numbers in batch 0 and strings in batch 1"):
        sketch_stream(batches, label="y", score="p")


def test_an_empty_batch_of_a_data_frame_is_passed_over() -> None:
    frame = pd.DataFrame({"x": [1, 2, 3, 4], "y": [0, 1, 0, 1], "p": [0.2, 0.4, 0.6, 0.8]})
    assert sketch_stream([frame[:0], frame], label="y", score="p").n == 4
