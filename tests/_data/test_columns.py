"""Columns of every library and type, and what is read from them."""

from __future__ import annotations

import datetime as dt
import uuid
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trueup._data import Column, arrow_to_numpy, read_table
from trueup._model import OpaqueValue, ValueKind
from trueup.errors import ColumnError, TableError

NUMBER, STRING, BOOLEAN = ValueKind.NUMBER, ValueKind.STRING, ValueKind.BOOLEAN
DATE, DATETIME, MIXED, EMPTY = ValueKind.DATE, ValueKind.DATETIME, ValueKind.MIXED, ValueKind.EMPTY

DAY, NOON = dt.date(2024, 2, 29), dt.datetime(2024, 2, 29, 12)
UTC = dt.timezone.utc
BIG = 2**53 + 1


def column(values: Any) -> Column:
    return read_table({"c": values}).column("c")


@pytest.mark.parametrize(
    ("values", "kind", "expected"),
    [
        # lists and arrays of objects
        ([], EMPTY, []),
        ([None, None], EMPTY, [None, None]),
        ([pd.NA, pd.NaT, None], EMPTY, [None, None, None]),
        ([np.nan, None], NUMBER, [None, None]),
        ([np.float64("nan"), pd.NA], NUMBER, [None, None]),
        ([1, 2, None], NUMBER, [1, 2, None]),
        ([1, 2.5, np.nan], NUMBER, [1, 2.5, None]),
        ([BIG, None], NUMBER, [BIG, None]),
        ([BIG, 0.5, np.nan], NUMBER, [BIG, 0.5, None]),
        ([2**64, 2**64 + 1], NUMBER, [2**64, 2**64 + 1]),
        ([Decimal("0.1"), Decimal("2.0"), Decimal("sNaN")], NUMBER, [0.1, 2, None]),
        ([Fraction(1, 4), 1], NUMBER, [0.25, 1]),
        ([np.int8(1), np.float32(0.5)], NUMBER, [1, 0.5]),
        ([True, None, np.bool_(False)], BOOLEAN, [True, None, False]),
        ([True, 2], MIXED, [True, 2]),
        (["a", None, np.nan], STRING, ["a", None, None]),
        ([np.str_("a"), pd.NA], STRING, ["a", None]),
        (["\ud800", "a"], STRING, ["\ud800", "a"]),
        (["a", b"a", 1], MIXED, ["a", b"a", 1]),
        ([bytearray(b"a"), None], MIXED, [b"a", None]),
        ([DAY, None], DATE, [DAY, None]),
        ([NOON, pd.NaT], DATETIME, [NOON, None]),
        ([DAY, NOON], MIXED, [DAY, NOON]),
        ([NOON.replace(tzinfo=dt.timezone(dt.timedelta(hours=2)))], DATETIME, [NOON.replace(hour=10)]),
        ([pd.Timestamp(NOON), np.datetime64("2024-02-29T12")], DATETIME, [NOON, NOON]),
        ([np.datetime64("2024-02-29"), None], DATE, [DAY, None]),
        ([uuid.UUID(int=1)], MIXED, [OpaqueValue("UUID", str(uuid.UUID(int=1)))]),
        (range(3), NUMBER, [0, 1, 2]),
        (("a", "b"), STRING, ["a", "b"]),
        # NumPy
        (np.array([1, 255], np.uint8), NUMBER, [1, 255]),
        (np.array([0.5, np.nan], np.float16), NUMBER, [0.5, None]),
        (np.array([0.5], ">f8"), NUMBER, [0.5]),
        (np.array([True, False]), BOOLEAN, [True, False]),
        (np.array(["a", ""]), STRING, ["a", ""]),
        (np.array([b"a"]), MIXED, [b"a"]),
        (np.array(["2024-02-29", "NaT"], "M8[D]"), DATE, [DAY, None]),
        (np.array(["2024-02-29T12", "NaT"], "M8[ns]"), DATETIME, [NOON, None]),
        (np.array([-1500], "M8[ns]"), DATETIME, [dt.datetime(1969, 12, 31, 23, 59, 59, 999998)]),
        (np.array([1500, "NaT"], "m8[ns]"), MIXED, [dt.timedelta(microseconds=1), None]),
        (np.ma.masked_array([1, 2], [False, True]), NUMBER, [1, None]),
        (np.ma.masked_array([True, False], [False, True]), BOOLEAN, [True, None]),
        # pandas
        (pd.Series(["a", None], dtype=object), STRING, ["a", None]),
        (pd.Series(["a", None], dtype="str"), STRING, ["a", None]),
        (pd.Series(["\ud800", None], dtype=pd.StringDtype("python")), STRING, ["\ud800", None]),
        (pd.Series([1, None], dtype="Int64"), NUMBER, [1, None]),
        (pd.Series([BIG, None], dtype="Int64"), NUMBER, [BIG, None]),
        (pd.Series([0.5, None], dtype="Float64"), NUMBER, [0.5, None]),
        (pd.Series([True, None], dtype="boolean"), BOOLEAN, [True, None]),
        (pd.Series([True, None], dtype=object), BOOLEAN, [True, None]),
        (pd.Series([NOON]).dt.tz_localize("Europe/Oslo"), DATETIME, [NOON.replace(hour=11)]),
        (pd.Series([0.0, 1.0], dtype="Sparse[float]"), NUMBER, [0, 1]),
        (pd.Series([pd.Timedelta(1, "D"), pd.NaT]), MIXED, [dt.timedelta(1), None]),
        (pd.Series(pd.interval_range(0, 1)), MIXED, [OpaqueValue("Interval", "(0, 1]")]),
        (pd.Series(pd.period_range("2024", periods=1, freq="Y")), MIXED, [OpaqueValue("Period", "2024")]),
        (pd.Categorical(["b", None, "a", "b"]), STRING, ["b", None, "a", "b"]),
        (pd.Series([2, None], dtype="category"), NUMBER, [2, None]),
        (pd.Series([None, None], dtype="category"), EMPTY, [None, None]),
        (pd.CategoricalIndex(["x", "y"]), STRING, ["x", "y"]),
        (pd.Index([3, 4]), NUMBER, [3, 4]),
        (pd.array([1, None]), NUMBER, [1, None]),
        # polars
        (pl.Series(["a", None]), STRING, ["a", None]),
        (pl.Series(["a", None], dtype=pl.Categorical), STRING, ["a", None]),
        (pl.Series(["a", None], dtype=pl.Enum(["b", "a"])), STRING, ["a", None]),
        (pl.Series([0.5, None, np.nan], dtype=pl.Float32), NUMBER, [0.5, None, None]),
        (pl.Series([BIG, None]), NUMBER, [BIG, None]),
        (pl.Series([2**100, None], dtype=pl.Int128), NUMBER, [2**100, None]),
        (pl.Series([Decimal("0.1"), None]), NUMBER, [0.1, None]),
        (pl.Series([True, None]), BOOLEAN, [True, None]),
        (pl.Series([None, None]), EMPTY, [None, None]),
        (pl.Series([DAY, None]), DATE, [DAY, None]),
        (pl.Series([NOON, None]).dt.cast_time_unit("ns"), DATETIME, [NOON, None]),
        (pl.Series([NOON]).dt.replace_time_zone("Asia/Tokyo"), DATETIME, [NOON.replace(hour=3)]),
        (pl.Series([dt.timedelta(1), None]), MIXED, [dt.timedelta(1), None]),
        (pl.Series([dt.time(1), None]), MIXED, [dt.time(1), None]),
        (pl.Series([b"a", None]), MIXED, [b"a", None]),
        (pl.Series([uuid.UUID(int=1)], dtype=pl.Object), MIXED, [OpaqueValue("UUID", str(uuid.UUID(int=1)))]),
        # Arrow
        (pa.array(["a", None], pa.large_string()), STRING, ["a", None]),
        (pa.array(["a", None], pa.string_view()), STRING, ["a", None]),
        (pa.array(["a", None, "a"]).dictionary_encode(), STRING, ["a", None, "a"]),
        (pa.array([2.5, None]).dictionary_encode(), NUMBER, [2.5, None]),
        (pa.array([None, None]), EMPTY, [None, None]),
        (pa.array([0.5, None], pa.float16()), NUMBER, [0.5, None]),
        (pa.array([2**64 - 1, None], pa.uint64()), NUMBER, [2**64 - 1, None]),
        (pa.array([Decimal("0.1"), None], pa.decimal128(9, 5)), NUMBER, [0.1, None]),
        (pa.array([True, None]), BOOLEAN, [True, None]),
        (pa.array([DAY, None]), DATE, [DAY, None]),
        (pa.array([DAY, None], pa.date64()), DATE, [DAY, None]),
        (pa.array([NOON, None], pa.timestamp("s")), DATETIME, [NOON, None]),
        (pa.array([NOON], pa.timestamp("ms", "Asia/Tokyo")), DATETIME, [NOON]),
        (pa.array([-1500]).cast(pa.timestamp("ns")), DATETIME, [dt.datetime(1969, 12, 31, 23, 59, 59, 999998)]),
        (pa.array([dt.timedelta(1), None]), MIXED, [dt.timedelta(1), None]),
        (pa.array([dt.time(1), None]), MIXED, [dt.time(1), None]),
        (pa.array([b"ab"], pa.binary(2)), MIXED, [b"ab"]),
        (pa.chunked_array([], pa.string()), STRING, []),
        (pa.chunked_array([["a"], [], [None]], pa.string()), STRING, ["a", None]),
    ],
)
def test_a_column_is_read_as_what_it_is(values: Any, kind: ValueKind, expected: list[Any]) -> None:
    found = column(values)
    assert found.kind is kind
    assert len(found) == len(expected)
    objects = found.objects().tolist()
    assert objects == expected
    assert list(map(type, objects)) == list(map(type, expected))
    assert found.distinct() == set(expected) - {None}


@pytest.mark.parametrize(
    ("values", "error", "what"),
    [
        ([[1], [2]], ColumnError, "a list holds many values"),
        ([{1}, None], ColumnError, "a set holds many values"),
        ([frozenset("ab")], ColumnError, "a frozenset holds many values"),
        ([np.ones(2)], ColumnError, "it is an array"),
        ([1, 2j], ColumnError, "complex"),
        (np.array([1j]), ColumnError, "complex"),
        (np.zeros(1, [("a", "f8")]), ColumnError, "type .*'a'"),
        ([dt.datetime.min.replace(tzinfo=dt.timezone(dt.timedelta(hours=1)))], ColumnError, "out of range"),
        ([10**400, None], ColumnError, "too large even for floats"),
        (pa.array([[1]]), ColumnError, "type list"),
        (pl.Series([{"a": 1}]), ColumnError, "type struct"),
        (np.ones((2, 2)), TableError, "2 dimensions"),
        (pd.DataFrame({"a": [1]}), TableError, "2 dimensions"),
        (5, TableError, "is a single int"),
        ("abc", TableError, "is a single str"),
        (np.array(5), TableError, "is a single ndarray"),
        ({"a"}, TableError, "is a set"),
    ],
)
def test_what_is_no_column_is_refused_by_name(values: Any, error: type[Exception], what: str) -> None:
    with pytest.raises(error, match=rf"olumn 'c' .*{what}"):
        column(values)


def test_values_whose_own_methods_fail_are_refused_by_name() -> None:
    class Unwilling:
        def __str__(self) -> str:
            raise RuntimeError("no")

    with pytest.raises(ColumnError, match=r"Column 'c' holds a value of type Unwilling .*: no"):
        column([Unwilling()])


def test_text_that_is_not_unicode_is_refused_by_name() -> None:
    broken = pa.Array.from_buffers(pa.string(), 1, [None, pa.py_buffer(np.array([0, 1], "i4")), pa.py_buffer(b"\xff")])
    with pytest.raises(ColumnError, match="Column 'c' holds text that is not UTF-8"):
        column(broken).distinct()


def test_numbers_and_booleans_become_floats_and_nothing_else_does() -> None:
    assert column([True, None]).floats().tolist() == [1.0, pytest.approx(np.nan, nan_ok=True)]
    assert np.isnan(column([None]).floats()).all()
    assert column(pd.Categorical([3, 5, 3])).floats().tolist() == [3, 5, 3]
    assert column([BIG, None]).floats()[0] == float(BIG)
    with pytest.raises(ColumnError, match="Column 'c' holds strings"):
        column(["0.5"]).floats()


def test_objects_are_read_alike_with_and_without_pandas(monkeypatch: pytest.MonkeyPatch) -> None:
    values = ["a", None, np.nan, "b", np.str_("c")] * 50
    with_pandas = column(values)
    monkeypatch.delitem(__import__("sys").modules, "pandas")
    without = column(values)
    assert isinstance(with_pandas.values, pa.Array)
    assert isinstance(without.values, np.ndarray)
    assert with_pandas.objects().tolist() == without.objects().tolist() == ["a", None, None, "b", "c"] * 50
    assert with_pandas.distinct() == without.distinct()


@pytest.mark.parametrize("values", [pd.Categorical(["b", None, "a"]), ["b", None, "a"], np.array([2.0, np.nan, 1.0])])
def test_some_rows_of_a_column_are_a_column(values: Any) -> None:
    whole = column(values)
    part = whole.of_rows(np.array([False, True, True]))
    assert part.objects().tolist() == whole.objects().tolist()[1:]
    assert part.distinct() == set(whole.objects()[2:])


ARROW_TYPES = [pa.int8(), pa.uint16(), pa.int64(), pa.float32(), pa.float64(), pa.timestamp("us"), pa.duration("ms")]


@settings(max_examples=100)
@given(
    st.sampled_from(ARROW_TYPES),
    st.lists(st.none() | st.integers(0, 100), max_size=40),
    st.integers(0, 20),
    st.integers(0, 20),
    st.booleans(),
)
def test_buffers_hold_what_arrow_says_that_they_hold(
    kind: pa.DataType, values: list[Any], start: int, length: int, chunked: bool
) -> None:
    array = pa.array(values, pa.int64()).cast(kind)
    whole = pa.chunked_array([array, array.slice(3, 2), array.slice(1, 0)]) if chunked else array
    part = whole.slice(start, length)
    found = arrow_to_numpy(part).tolist()
    assert [None if pd.isna(value) else value for value in found] == part.to_pylist()


def test_integers_that_floats_cannot_hold_stay_integers_beside_a_gap() -> None:
    assert arrow_to_numpy(pa.array([BIG, None])).tolist() == [BIG, None]
    assert arrow_to_numpy(pa.array([2**53, None])).dtype == np.float64
    assert arrow_to_numpy(pa.array([-(2**63), None])).tolist() == [-(2**63), None]
    assert np.isnan(arrow_to_numpy(pa.array([None, None], pa.int64()))).all()


@pytest.mark.parametrize("cut", [4, 2, 1])
@pytest.mark.parametrize("values", [["a", None, "b"], [None], [1, None], [DAY, None]])
def test_a_null_in_a_dictionary_of_arrow_is_missing_in_whatever_chunks(values: list[Any], cut: int) -> None:
    indices = [0, len(values) - 1, None, 0]
    whole = pa.DictionaryArray.from_arrays(pa.array(indices, pa.int8()), pa.array(values))
    chunks = pa.chunked_array([whole.slice(start, cut) for start in range(0, 4, cut)])
    expected = [None if index is None else values[index] for index in indices]
    assert column(chunks).objects().tolist() == expected


def test_chunks_that_each_have_a_dictionary_with_a_null_keep_their_values() -> None:
    parts = [
        pa.DictionaryArray.from_arrays(pa.array(codes, pa.int8()), pa.array(words))
        for codes, words in (([0, 1], ["a", None]), ([None, 1, 2], [None, "b", "a"]))
    ]
    assert column(pa.chunked_array(parts)).objects().tolist() == ["a", None, None, "b", "a"]


def test_what_arrow_can_not_convert_is_an_error_that_names_the_column() -> None:
    decimals = pa.array([Decimal("1")], pa.decimal128(5, 0))
    no_float = pa.Array.from_buffers(pa.decimal128(38, -(2**30)), 1, decimals.buffers())
    with pytest.raises(ColumnError, match=r"Column 'c' of Arrow type decimal128\(38, -1073741824\) can't be read"):
        column(no_float)
