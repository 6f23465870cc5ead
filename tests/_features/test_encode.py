"""Tables and rows as numbers, by what was learned."""

from __future__ import annotations

import datetime as dt
import sys
import threading
import uuid
from decimal import Decimal
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from trueup._data import read_table
from trueup._features import FeatureEncoder, learn_features
from trueup._model import Feature, FeatureSpec, ValueKind
from trueup.errors import ColumnError, TableError

NAN = pytest.approx(np.nan, nan_ok=True)


def encoder_of(*categories: Any, kind: ValueKind = ValueKind.STRING) -> FeatureEncoder:
    return FeatureEncoder(FeatureSpec(("c",), (Feature("c", kind, categories),)))


def codes(encoder: FeatureEncoder, values: Any) -> list[float]:
    return list(encoder.encode(read_table({"c": values}))[:, 0])


def test_a_category_is_its_place_and_anything_else_is_nan() -> None:
    encoder = encoder_of("a", "b")
    assert codes(encoder, ["b", "a", None, "c"]) == [1, 0, NAN, NAN]
    assert [encoder.encode_row({"c": value}) for value in ("b", "a", None, "c")] == [[1], [0], [NAN], [NAN]]


def test_numbers_stay_as_they_are_and_the_matrix_is_in_fortran_order() -> None:
    table = read_table({"x": [1, 2], "y": [0.5, None]})
    matrix = FeatureEncoder(learn_features(table)).encode(table)
    np.testing.assert_array_equal(matrix, [[1, 0.5], [2, np.nan]])
    assert matrix.flags.f_contiguous


def test_codes_do_not_depend_on_the_order_of_a_file() -> None:
    encoder = encoder_of(30, 10, 20, kind=ValueKind.NUMBER)
    for values in ([10, 20, 30, 40], np.array([10.0, 20.0, 30.0, 40.0]), pl.Series([10, 20, 30, 40])):
        assert codes(encoder, values) == [1, 2, 0, NAN]


@pytest.mark.parametrize("few", [True, False])
def test_a_lone_surrogate_is_no_question_mark(few: bool) -> None:
    """Arrow can't hold the one, and must not take the other for it."""
    encoder = encoder_of("a", "\ud800")
    more = [] if few else ["a"] * 9
    assert codes(encoder, pa.array(["?", "a", *more]))[:2] == [NAN, 0]
    assert codes(encoder, ["\ud800", "?", *more])[:2] == [1, NAN]


def test_numbers_beyond_53_bits_are_told_apart() -> None:
    big = 2**53
    encoder = encoder_of(big, big + 1, kind=ValueKind.NUMBER)
    for values in ([big + 1, big, big + 2], np.array([big + 1, big, big + 2], np.uint64), pl.Series([big + 1, big, 5])):
        assert codes(encoder, values) == [1, 0, NAN]
    assert codes(encoder, pa.array([big + 1, None, big])) == [1, NAN, 0]
    assert codes(encoder, np.array([float(big), 0.5, np.nan])) == [0, NAN, NAN]
    with_fractions = encoder_of(0.5, big, kind=ValueKind.NUMBER)
    assert codes(with_fractions, np.array([big + 1, big])) == [NAN, 1]
    beyond = encoder_of(2**63, 2**63 + 1, kind=ValueKind.NUMBER)
    assert codes(beyond, np.array([2**63 + 1, 2**63, 1], np.uint64)) == [1, 0, NAN]
    assert codes(encoder_of(-1, 5, kind=ValueKind.NUMBER), np.array([2**64 - 1, 5], np.uint64)) == [NAN, 1]


def test_booleans_and_numbers_are_not_each_other() -> None:
    for encoder, wrong in (
        (encoder_of(0, 1, kind=ValueKind.NUMBER), True),
        (encoder_of(False, True, kind=ValueKind.BOOLEAN), 1),
    ):
        with pytest.raises(ColumnError, match="Column 'c' holds"):
            codes(encoder, [wrong])
        with pytest.raises(ColumnError, match="Column 'c' holds"):
            encoder.encode_row({"c": wrong})


def test_a_single_value_of_another_kind_is_refused_in_tables_as_in_rows() -> None:
    encoder = encoder_of("1", "2")
    at_fit = r"but at fit it was a categorical column of strings\."
    with pytest.raises(ColumnError, match=rf"Column 'c' holds numbers in 1 of 3 rows \(first at row 1\), {at_fit}"):
        codes(encoder, ["1", 2, None])
    with pytest.raises(ColumnError, match=rf"Column 'c' holds numbers, {at_fit}"):
        encoder.encode_row({"c": 2})
    numbers = FeatureEncoder(FeatureSpec(("c",), (Feature("c", ValueKind.NUMBER),)))
    with pytest.raises(ColumnError, match="holds strings in 1 of 2 rows"):
        codes(numbers, ["1", 2])


def test_a_mixed_column_may_hold_each_of_its_kinds_and_no_other() -> None:
    mixed = encoder_of(1, "1", kind=ValueKind.MIXED)
    assert codes(mixed, [1, 2]) == [0, NAN]
    assert codes(mixed, ["1", "2"]) == [1, NAN]
    assert codes(mixed, [True, None]) == [0, NAN]  # in Python, True is 1
    with pytest.raises(ColumnError, match=r"holds bytes in 1 of 2 rows .* of booleans and numbers and strings"):
        codes(mixed, [b"1", 1])
    with pytest.raises(ColumnError, match="holds bytes"):
        mixed.encode_row({"c": b"1"})


def test_a_column_without_a_value_in_the_rows_that_counted_at_fit_takes_any_later() -> None:
    nothing = encoder_of(kind=ValueKind.MIXED)
    assert codes(nothing, [None, dt.timedelta(0), "1"]) == [NAN, NAN, NAN]
    assert nothing.encode_row({"c": dt.timedelta(0)}) == [NAN]


UUIDS = [uuid.UUID(int=place) for place in range(3)]
UNUSUAL: dict[str, tuple[list[Any], list[Any]]] = {
    "values of type UUID": (UUIDS, [[str(u) for u in UUIDS], [u.bytes for u in UUIDS]]),
    "times of day": ([dt.time(hour) for hour in range(3)], [["00:00:00"], [0], [dt.timedelta(hours=1)]]),
    "durations": ([dt.timedelta(hour) for hour in range(3)], [["1 day"], [86_400], [dt.time(1)]]),
    "bytes": ([b"a", b"b"], [["a", "b"], [97]]),
    "values of type Interval": (list(pd.interval_range(0, 3)), [["(0, 1]"], [0.5]]),
}


@pytest.mark.parametrize("kind", UNUSUAL)
def test_unusual_values_that_come_back_as_another_kind_are_not_unseen_in_silence(kind: str) -> None:
    known, others = UNUSUAL[kind]
    encoder = FeatureEncoder(learn_features(read_table({"c": known}), categorical_features=["c"]))
    assert sorted(codes(encoder, known)) == list(range(len(known)))
    for values in others:
        with pytest.raises(ColumnError, match=f"Column 'c' holds .*, but at fit it was a categorical column of {kind}"):
            codes(encoder, values)
        with pytest.raises(ColumnError, match=f"Column 'c' holds .*, but at fit it was a categorical column of {kind}"):
            encoder.encode_row({"c": values[0]})


def test_uuids_that_another_library_turned_into_bytes_or_strings_are_refused() -> None:
    uuids = pa.table({"c": pa.array([u.bytes for u in UUIDS], pa.uuid())})
    encoder = FeatureEncoder(learn_features(read_table(uuids)))
    assert codes(encoder, uuids["c"]) == [0, 1, 2]
    assert codes(encoder, uuids.to_pandas()["c"]) == [0, 1, 2]
    for found, column in (
        ("bytes", pl.from_arrow(uuids)["c"]),
        ("strings", duckdb.sql("select * from uuids").to_arrow_table()["c"]),
    ):
        with pytest.raises(ColumnError, match=f"Column 'c' holds {found}.*of values of type UUID"):
            codes(encoder, column)


def test_decimals_are_compared_as_they_are_and_not_as_floats() -> None:
    big = 2**53
    encoder = encoder_of(big, big + 1, big + 2, kind=ValueKind.NUMBER)
    values = [Decimal(big + 1), Decimal(big), Decimal(big) + Decimal("0.5"), None]
    columns = [values, pa.array(values, pa.decimal128(38, 1)), pl.Series(values, dtype=pl.Decimal(38, 1))]
    for column in columns:
        assert codes(encoder, column) == [1, 0, NAN, NAN]
    assert [encoder.encode_row({"c": value})[0] for value in values] == [1, 0, NAN, NAN]
    whole = pa.array([Decimal(big + 1), Decimal(big + 2)], pa.decimal128(38, 0))
    assert codes(encoder, whole) == [1, 2]
    assert codes(encoder, pa.array([Decimal(2**70 + 1), Decimal(big)], pa.decimal128(38, 0))) == [NAN, 0]


def test_decimals_with_more_digits_than_a_float_are_categories_of_their_own() -> None:
    near = [Decimal("0.1"), Decimal("0.10000000000000000001"), Decimal("0.3")]
    for column in (near, pa.array(near), pl.Series(near)):
        encoder = FeatureEncoder(learn_features(read_table({"c": column}), categorical_features=["c"]))
        for again in (near, pa.array(near), pl.Series(near)):
            assert codes(encoder, again) == [1, 0, 2]  # the float that is written 0.1 is a little more than both
        assert codes(encoder, [0.1, 0.3]) == [1, 2]
        assert encoder.encode_row({"c": near[1]}) == [0]
    numbers = FeatureEncoder(learn_features(read_table({"c": near})))
    assert codes(numbers, pa.array(near)) == [0.1, 0.1, 0.3]


def test_what_was_all_missing_at_fit_may_hold_anything_later() -> None:
    encoder = encoder_of(kind=ValueKind.EMPTY)
    for values in (["a"], [1.5], [True], [None], [b"x"], [dt.date.min]):
        assert codes(encoder, values) == [NAN]
        assert encoder.encode_row({"c": values[0]}) == [NAN]


def test_times_with_a_zone_are_the_same_moments_in_utc() -> None:
    encoder = encoder_of(dt.datetime(2024, 1, 1), dt.datetime(2024, 1, 1, 12), kind=ValueKind.DATETIME)
    there = dt.datetime(2024, 1, 1, 21, tzinfo=dt.timezone(dt.timedelta(hours=9)))
    for moment in (there, pd.Timestamp(there), np.datetime64("2024-01-01T12")):
        assert encoder.encode_row({"c": moment}) == [1]
        assert codes(encoder, [moment]) == [1]
    for column in (pd.Series([there, pd.NaT]), pl.Series([there, None]), pa.array([there, None])):
        assert codes(encoder, column) == [1, NAN]


def test_infinite_numbers_are_larger_than_any_other() -> None:
    table = read_table({"x": [np.inf, -np.inf, 1e308, 1.0]})
    matrix = FeatureEncoder(learn_features(table)).encode(table)
    assert matrix[0, 0] == matrix[2, 0] == 1e300
    assert matrix[1, 0] == -1e300


def test_a_row_may_be_any_mapping_and_have_any_names() -> None:
    encoder = FeatureEncoder(learn_features(read_table({1: [5.0], "b": ["x"]})))
    for row in ({"1": 7, "b": "x"}, {1: 7, "b": "x", "more": object()}, pd.Series({"1": 7, "b": "x"}, dtype=object)):
        assert encoder.encode_row(row) == [7, 0]
    with pytest.raises(ColumnError, match="1 column that the model was fitted on is missing: 'b'"):
        encoder.encode_row({1: 7})
    for wrong in ([7, "x"], "x", 7, None):
        with pytest.raises(TableError, match="A row must be a dict"):
            encoder.encode_row(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (3, 3.0),
        (2**60 + 1, float(2**60)),
        (np.int8(3), 3.0),
        (np.float32(0.1), float(np.float32(0.1))),
        (np.longdouble(0.5), 0.5),
        (np.array(2.5), 2.5),
        (float("inf"), float("inf")),
        (None, NAN),
        (pd.NA, NAN),
    ],
)
def test_a_number_of_any_type_is_that_number(value: Any, expected: float) -> None:
    encoder = FeatureEncoder(FeatureSpec(("x",), (Feature("x", ValueKind.NUMBER),)))
    assert encoder.encode_row({"x": value}) == [expected]
    assert type(encoder.encode_row({"x": value})[0]) is float


def test_categories_of_another_kind_than_the_file_says_are_refused() -> None:
    for kind, value in ((ValueKind.DATE, "a"), (ValueKind.STRING, 1), (ValueKind.EMPTY, "a"), (ValueKind.NUMBER, True)):
        with pytest.raises(ValueError, match="the categories of feature 'c' are not"):
            encoder_of(value, kind=kind)


texts = st.text(st.characters(codec=None), max_size=3)


@settings(max_examples=100)
@given(st.sets(texts, max_size=6), st.lists(texts | st.none(), max_size=30), st.booleans())
@example({"?", "a"}, ["\ud800", "?", None], True)
def test_arrow_and_the_plain_lookup_agree(known: set[str], values: list[str | None], in_arrow: bool) -> None:
    if in_arrow:
        values = [None if value is None else value.encode("utf-8", "replace").decode() for value in values]
    categories = sorted(known)
    encoder = encoder_of(*categories)
    expected = [categories.index(value) if value in known else NAN for value in values]
    assert codes(encoder, pa.array(values, pa.string()) if in_arrow else values) == expected
    assert [encoder.encode_row({"c": value})[0] for value in values] == expected


EDGES = [0, -0.0, 0.5, 1, 2**53, 2**53 + 1, 2.0**53, 2**63 - 1, 2**63, -(2**63), 2**64, np.inf, -np.inf, 5e-324]
numbers = st.sampled_from(EDGES) | st.floats(allow_nan=False) | st.integers(-(2**65), 2**65)


@settings(max_examples=150)
@given(st.sets(numbers, max_size=8), st.lists(numbers | st.none(), max_size=30))
def test_bisection_and_the_plain_lookup_agree(known: set[float], values: list[Any]) -> None:
    categories = [int(value) if isinstance(value, float) and value.is_integer() else value for value in known]
    encoder = encoder_of(*categories, kind=ValueKind.NUMBER)
    expected = [categories.index(value) if value in known else NAN for value in values]
    assert [encoder.encode_row({"c": value})[0] for value in values] == expected
    assert codes(encoder, values) == expected
    for kind in (float, int):
        part = [value for value in values if type(value) is kind and (kind is float or -(2**63) <= value < 2**63)]
        array = np.array(part * 3, dtype=np.float64 if kind is float else np.int64)
        assert codes(encoder, array) == [categories.index(value) if value in known else NAN for value in part] * 3


def test_many_threads_may_share_an_encoder() -> None:
    spec = learn_features(
        read_table({"c": [f"v{i}" for i in range(500)], "d": list(range(500))}), categorical_features=["d"]
    )
    table = {"c": pa.array([f"v{i % 600}" for i in range(5000)]), "d": np.arange(5000) % 600}
    expected = FeatureEncoder(spec).encode(read_table(table))
    encoder, found = FeatureEncoder(spec), [np.empty(0)] * 8
    start = threading.Barrier(8)

    def run(place: int) -> None:
        start.wait()
        found[place] = encoder.encode(read_table(table))

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=run, args=(place,)) for place in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    for matrix in found:
        np.testing.assert_array_equal(matrix, expected)
