"""The grid of all segments: which there are, in what order, and how each is found again."""

from __future__ import annotations

import itertools
import math
import re
from typing import Any

import numpy as np
import pandas as pd  # type: ignore[import-untyped,unused-ignore]
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trueup._data import read_table
from trueup.errors import ColumnError, ParameterError
from trueup.segments import Partition, Segment, SegmentGrid, cross_columns, enumerate_segments, grid_of, sort_rows
from trueup.segments import _measure as measure

PALETTE = {
    "color": ["red", "red", "blue", "blue"],
    "size": [1, 2, 1, 2],
}


def partition(n_parts: int, codes: Any = ()) -> Partition:
    return Partition(np.array(codes, dtype=np.uint8), tuple(Segment(name=f"part {code}") for code in range(n_parts)))


def plain_segments(X: Any, max_depth: int, max_values: int, min_rows: int) -> list[tuple[Segment, list[bool]]]:
    """All conjunctions, with a mask each: all rows, then one column, then two, columns and parts in order."""
    crossed = cross_columns(read_table(X), max_values=max_values, max_depth=max_depth)
    n_rows = read_table(X).n_rows
    found = []
    for depth in range(min(max_depth, len(crossed)) + 1):
        for columns in itertools.combinations(crossed, depth):
            for parts in itertools.product(*(column.parts for column in columns)):
                segment = Segment(tuple(condition for part in parts for condition in part.conditions))
                inside = segment.mask(X)
                if np.count_nonzero(inside) >= min_rows and n_rows:
                    found.append((segment, inside.tolist()))
    return found


def test_segments_come_by_depth_then_columns_then_parts() -> None:
    assert [str(segment) for segment in enumerate_segments(PALETTE, min_rows=1)] == [
        "all rows",
        "color = blue",
        "color = red",
        "size = 1",
        "size = 2",
        "color = blue and size = 1",
        "color = blue and size = 2",
        "color = red and size = 1",
        "color = red and size = 2",
    ]


def test_segments_of_too_few_rows_are_left_out() -> None:
    assert len(list(enumerate_segments(PALETTE, min_rows=2))) == 5
    assert [str(segment) for segment in enumerate_segments(PALETTE, min_rows=3)] == ["all rows"]
    assert list(enumerate_segments(PALETTE, min_rows=5)) == []


@pytest.mark.parametrize(("depth", "count"), [(0, 1), (1, 5), (2, 9), (3, 9), (16, 9)])
def test_the_depth_is_the_most_columns_that_are_combined(depth: int, count: int) -> None:
    assert len(list(enumerate_segments(PALETTE, max_depth=depth, min_rows=1))) == count


def test_columns_are_taken_in_the_order_in_which_they_are_named() -> None:
    segments = enumerate_segments(PALETTE, features=["size", "color"], max_depth=1, min_rows=1)
    assert [segment.columns for segment in segments] == [(), ("size",), ("size",), ("color",), ("color",)]


@pytest.mark.parametrize(
    "X",
    [
        PALETTE,
        pd.DataFrame(PALETTE),
        pd.DataFrame(PALETTE).astype({"color": "category", "size": "Int8"}),
        pl.DataFrame(PALETTE),
        pl.DataFrame(PALETTE, schema_overrides={"color": pl.Categorical}),
        pa.table(PALETTE),
    ],
    ids=["dict", "pandas", "pandas types", "polars", "polars categories", "arrow"],
)
def test_tables_of_any_library_have_the_same_segments(X: Any) -> None:
    assert list(enumerate_segments(X, min_rows=1)) == list(enumerate_segments(PALETTE, min_rows=1))


def test_columns_that_say_nothing_are_left_out() -> None:
    X = {"constant": [1] * 4, "empty": [None] * 4, **PALETTE}
    assert list(enumerate_segments(X, min_rows=1)) == list(enumerate_segments(PALETTE, min_rows=1))


def test_without_columns_there_are_all_rows() -> None:
    assert [str(segment) for segment in enumerate_segments(np.empty((4, 0)), min_rows=4)] == ["all rows"]
    assert list(enumerate_segments({"a": []}, min_rows=1)) == []
    assert list(enumerate_segments({}, min_rows=1)) == []


def test_numbers_named_as_categories_are_categories() -> None:
    X = {"zip": [1, 2, 3, 4, 4, 3, 4]}
    segments = enumerate_segments(X, categorical_features=["zip"], max_depth=1, min_rows=1)
    assert [str(segment) for segment in segments] == ["all rows", "zip = 4", "zip = 3", "zip not in {4, 3}"]


COLUMNS = st.sampled_from(
    [
        ["a", "b", None],
        ["a", "b", "c", "d"],
        [1, 2, 3, 4, 5, 6, 7.5],
        [0.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 4.0],
        [1, None],
        [True, False],
        ["constant"],
    ]
)


@settings(max_examples=60)
@given(
    pools=st.lists(COLUMNS, max_size=4),
    n_rows=st.integers(0, 40),
    max_depth=st.integers(0, 4),
    max_values=st.integers(2, 4),
    min_rows=st.integers(1, 6),
    seed=st.integers(0, 2**32),
)
def test_segments_are_those_of_a_plain_enumeration(
    pools: list[list[Any]], n_rows: int, max_depth: int, max_values: int, min_rows: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    X = {f"c{i}": [pool[j] for j in rng.integers(0, len(pool), n_rows)] for i, pool in enumerate(pools)}
    options = {"max_depth": max_depth, "max_values": max_values, "min_rows": min_rows}
    found = list(enumerate_segments(X, **options))
    expected = plain_segments(X, **options)
    assert found == [segment for segment, _ in expected]
    assert [segment.mask(X).tolist() for segment in found] == [inside for _, inside in expected]


def test_many_batches_give_the_same_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    X = {f"c{i}": rng.integers(0, 3, 60) for i in range(6)}
    whole = list(enumerate_segments(X, min_rows=2))
    monkeypatch.setattr(measure, "_VISITS_PER_BATCH", 1)
    # 1 + 6 + 15 + 20 combinations, 16 at a time.
    assert list(measure.batches(60, 42)) == [(0, 16), (16, 32), (32, 42)]
    assert list(enumerate_segments(X, min_rows=2)) == whole


@settings(max_examples=50)
@given(st.lists(st.integers(1, 5), max_size=6), st.integers(0, 6))
def test_a_grid_has_every_combination_once_and_finds_each_cell_again(sizes: list[int], max_depth: int) -> None:
    alone = [partition(2), partition(2)]
    grid = grid_of([partition(size) for size in sizes], alone, max_depth=max_depth)
    combinations = [tuple(grid.members_of(c).tolist()) for c in range(grid.n_combinations)]
    depths = range(min(max_depth, len(sizes)) + 1)
    expected = [combo for depth in depths for combo in itertools.combinations(range(len(sizes)), depth)]
    assert combinations == [*expected, (len(sizes),), (len(sizes) + 1,)]
    assert len(expected) == sum(math.comb(len(sizes), depth) for depth in depths)
    for place, members in enumerate(expected):
        codes = list(itertools.product(*(range(sizes[member]) for member in members)))
        for cell, combo in enumerate(codes):
            parts = list(zip(members, combo, strict=True))
            assert grid.parts_of(place, cell) == parts
            assert grid.place_of(parts) == (place, cell)


def test_a_cell_of_groups_is_the_group_itself() -> None:
    grid = grid_of([partition(2)], [partition(3)], max_depth=1)
    assert grid.segment(2, 1).name == "part 1"
    assert grid.segment(0, 0) == Segment()


def test_some_combinations_are_numbered_from_nought() -> None:
    grid = grid_of([partition(2)] * 3, max_depth=2)
    # (), 0, 1, 2, 01, 02, 12: those from 2 to 4 are 1, 2 and 01.
    offsets, members = grid.combinations_of(2, 5)
    assert offsets.tolist() == [0, 1, 2, 4]
    assert members.tolist() == [1, 2, 0, 1]
    assert offsets.dtype == members.dtype == np.int32


def test_codes_are_put_in_order_of_score() -> None:
    rows = sort_rows(np.zeros(3), np.array([0.9, 0.1, 0.5]))
    grid = grid_of([partition(3, [0, 1, 2]), partition(2, [1, 0, 0])])
    assert grid.codes_in_order(rows).tolist() == [[1, 2, 0], [0, 0, 1]]


def test_the_most_segments_are_cells_or_rows_whichever_is_less() -> None:
    # Cells: 1, 2, 3, 3, 6, 6, 9. Of 8 rows there are at most 4 segments of 2.
    grid = grid_of([partition(2), partition(3), partition(3)], max_depth=2)
    assert grid.most_segments(1_000, 1) == 30
    assert grid.most_segments(8, 2) == 1 + 2 + 3 + 3 + 4 + 4 + 4
    assert SegmentGrid((), np.array([0, 0], np.int32), np.zeros(0, np.int32), 0).most_segments(5, 1) == 1


def test_many_columns_have_many_combinations() -> None:
    # 1 + 300 + 300 × 299 / 2.
    grid = grid_of([partition(3)] * 300, max_depth=2)
    assert grid.n_combinations == 45_151
    assert grid.members_of(45_150).tolist() == [298, 299]
    assert grid.place_of([(298, 2), (299, 1)]) == (45_150, 7)
    assert grid.parts_of(45_150, 7) == [(298, 2), (299, 1)]


def test_too_many_combinations_are_refused_before_any_is_made() -> None:
    # 1 + 1000 + 1000 × 999 / 2 + 1000 × 999 × 998 / 6.
    message = "1,000 features have 166,667,501 combinations of at most 3; the limit is 20,000,000."
    with pytest.raises(ParameterError, match=re.escape(message) + ".*Lower max_depth, or name fewer features"):
        grid_of([partition(3)] * 1_000, max_depth=3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_depth": -1}, "max_depth must be a whole number from 0 to 16, got -1"),
        ({"max_depth": 17}, "max_depth must be a whole number from 0 to 16, got 17"),
        ({"max_depth": 1.5}, "max_depth must be a whole number from 0 to 16, got 1.5"),
        ({"max_depth": True}, "max_depth must be a whole number from 0 to 16, got True"),
        ({"max_depth": None}, "max_depth must be a whole number from 0 to 16, got None"),
        ({"max_values": 1}, "max_values must be a whole number from 2 to 255, got 1"),
        ({"max_values": 256}, "max_values must be a whole number from 2 to 255, got 256"),
        ({"max_values": "3"}, "max_values must be a whole number from 2 to 255, got '3'"),
        ({"max_values": {"size": 1}}, "max_values of 'size' must be a whole number from 2 to 255, got 1"),
        ({"max_values": {"size": 3.5}}, "max_values of 'size' must be a whole number from 2 to 255, got 3.5"),
        ({"min_rows": 0}, "min_rows must be a whole number of at least 1, got 0"),
        ({"min_rows": -3}, "min_rows must be a whole number of at least 1, got -3"),
        ({"min_rows": 2.5}, "min_rows must be a whole number of at least 1, got 2.5"),
        ({"features": "color"}, "features must be a list of names"),
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=re.escape(message)):
        list(enumerate_segments(PALETTE, **options))


def test_a_depth_is_checked_without_columns_too() -> None:
    with pytest.raises(ParameterError, match="max_depth must be a whole number from 0 to 16, got 'deep'"):
        grid_of([], max_depth="deep")  # type: ignore[arg-type]


def test_a_column_that_is_not_there_is_named() -> None:
    with pytest.raises(ColumnError, match=re.escape("features: X has no column 'colour'. Did you mean 'color'?")):
        list(enumerate_segments(PALETTE, features=["colour"]))


def test_a_column_may_have_a_number_of_values_of_its_own() -> None:
    X = {"a": list("wxyz"), "b": list("wxyz"), "c": [1, 2, 3, 4]}
    words = [str(segment) for segment in enumerate_segments(X, max_values={"a": 4, "c": 2}, max_depth=1, min_rows=1)]
    assert words == [
        "all rows",
        *("a = w", "a = x", "a = y", "a = z"),
        *("b = w", "b = x", "b not in {w, x}"),
        *("c ≤ 2", "c > 2"),
    ]
    with pytest.raises(ColumnError, match="max_values: X has no column 'd'"):
        list(enumerate_segments(X, max_values={"d": 4}))


def test_a_combination_of_too_many_cells_is_refused() -> None:
    # Twelve columns of 4 values make 2^24 cells, just as many as may be; thirteen make four times as many.
    X = {f"c{i}": list("wxyz") for i in range(13)}
    message = "max_depth=13 make 67,108,864 cells of one combination; the limit is 16,777,216"
    with pytest.raises(ParameterError, match=message):
        cross_columns(read_table(X), max_values=4, max_depth=13)
    assert len(cross_columns(read_table(X), max_values=4, max_depth=12)) == 13
    assert len(cross_columns(read_table(X), max_values=2, max_depth=13)) == 13
