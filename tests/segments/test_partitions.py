"""Columns cut into parts: the paper's rules, and parts whose words and rows agree."""

from __future__ import annotations

import datetime as dt
import math
from decimal import ROUND_CEILING, Context, Decimal
from random import Random
from typing import Any

import numpy as np
import pandas as pd  # type: ignore[import-untyped,unused-ignore]
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from trueup._data import read_table
from trueup._features import learn_columns
from trueup.segments import Partition, between, parse_segment
from trueup.segments._partitions import cut_column


def cut(values: Any, max_values: int = 3, *, categorical: bool = False, splits_lumps: bool = True) -> Partition | None:
    table = read_table({"x": values})
    ((column, feature),) = learn_columns(table, categorical_features=["x"] if categorical else "from_dtype")
    return cut_column(column, feature, max_values, splits_lumps=splits_lumps)


def parts(values: Any, max_values: int = 3, **options: Any) -> dict[str, list[int]]:
    """The words of each part, and where its rows are."""
    partition = cut(values, max_values, **options)
    assert partition is not None
    return {str(part): np.flatnonzero(partition.codes == code).tolist() for code, part in enumerate(partition.parts)}


def test_the_two_most_frequent_categories_stay_and_the_others_are_pooled() -> None:
    assert parts(list("abacbacdae")) == {"x = a": [0, 2, 5, 8], "x = b": [1, 4], "x not in {a, b}": [3, 6, 7, 9]}


def test_three_categories_stay_as_they_are_the_most_frequent_first() -> None:
    assert parts(list("cabbcb")) == {"x = b": [2, 3, 5], "x = c": [0, 4], "x = a": [1]}


def test_categories_of_one_frequency_are_taken_in_their_order_whatever_that_of_the_rows() -> None:
    assert list(parts(list("dcba"))) == ["x = a", "x = b", "x not in {a, b}"]
    assert list(parts(list("abcd"))) == ["x = a", "x = b", "x not in {a, b}"]


def test_more_values_may_be_kept() -> None:
    assert list(parts(list("aaabbcd"), 4)) == ["x = a", "x = b", "x = c", "x = d"]
    assert list(parts(list("aaabbcdd"), 3)) == ["x = a", "x = b", "x not in {a, b}"]
    assert list(parts(list("aaabbcdd"), 2)) == ["x = a", "x ≠ a"]


def test_missing_is_a_part_of_its_own_besides_the_others() -> None:
    assert parts(["a", None, "b", "c", "d", "a", "b"])["x is missing"] == [1]
    assert parts([1.0, math.nan, 2.0, 3.0]) == {"x = 1": [0], "x = 2": [2], "x = 3": [3], "x is missing": [1]}
    assert list(parts([*range(9), None])) == ["x ≤ 2", "2 < x ≤ 5", "x > 5", "x is missing"]


def test_a_constant_column_says_nothing_unless_some_of_it_is_missing() -> None:
    for constant in (["a"] * 5, [3] * 5, [True] * 5, [None] * 5, [math.nan] * 5, []):
        assert cut(constant) is None
    assert parts(["a", None, "a"]) == {"x = a": [0, 2], "x is missing": [1]}
    assert parts([3, None]) == {"x = 3": [0], "x is missing": [1]}


def test_few_numbers_are_the_values_that_they_are() -> None:
    assert parts([3, 1.5, 2, 1.5]) == {"x = 1.5": [1, 3], "x = 2": [2], "x = 3": [0]}


def test_many_numbers_are_cut_at_their_terciles() -> None:
    # The terciles of 1 to 9 are 1 + 8/3 and 1 + 16/3: after 3 and after 6.
    assert parts(range(1, 10)) == {"x ≤ 3": [0, 1, 2], "3 < x ≤ 6": [3, 4, 5], "x > 6": [6, 7, 8]}
    assert list(parts(range(1, 10), 4)) == ["x ≤ 3", "3 < x ≤ 5", "5 < x ≤ 7", "x > 7"]


def test_parts_are_closed_to_the_right() -> None:
    # The terciles of 1, 2, 3, 4 are 2 and 3 themselves.
    assert parts([1, 2, 3, 4]) == {"x ≤ 2": [0, 1], "2 < x ≤ 3": [2], "x > 3": [3]}


def test_terciles_that_are_one_value_make_one_cut() -> None:
    # Of 1, 2, 5, 5, 5, 8, 9 both terciles are 5.
    assert parts([1, 2, 5, 5, 5, 8, 9]) == {"x ≤ 5": [0, 1, 2, 3, 4], "x > 5": [5, 6]}


def test_a_lump_at_the_end_is_cut_off() -> None:
    # Most are 0, so both terciles are, and no tercile cuts anything.
    assert parts([1, 2, 3] + [0] * 8) == {"x = 0": [*range(3, 11)], "x > 0": [0, 1, 2]}
    assert parts([1, 2, 3] + [7] * 8) == {"x < 7": [0, 1, 2], "x = 7": [*range(3, 11)]}


def test_two_lumps_are_cut_around_the_middle() -> None:
    # The terciles are the least and the greatest value.
    assert parts([0, 0, 0, 0, 4, 5, 9, 9, 9, 9]) == {"x < 5": [0, 1, 2, 3, 4], "x = 5": [5], "x > 5": [6, 7, 8, 9]}


def test_the_paper_leaves_lumps_whole() -> None:
    lump = [1, 2, 3] + [0] * 8
    assert cut(lump, splits_lumps=False) is None
    assert parts([*lump, None], splits_lumps=False) == {"x is not missing": [*range(11)], "x is missing": [11]}
    # Where terciles cut, nothing changes.
    assert parts(range(9), splits_lumps=False) == parts(range(9))


def test_infinite_numbers_are_numbers() -> None:
    assert parts([1, math.inf, -math.inf]) == {"x = -inf": [2], "x = 1": [0], "x = inf": [1]}
    assert parts([1, 2, 3, *[math.inf] * 8]) == {"x < inf": [0, 1, 2], "x = inf": [*range(3, 11)]}
    assert parts([-math.inf, -math.inf, 1, 2, 3, math.inf]) == {
        "x ≤ -inf": [0, 1],
        "-inf < x ≤ 2": [2, 3],
        "x > 2": [4, 5],
    }


def test_integers_that_floats_cannot_hold_are_told_apart_as_far_as_floats_can() -> None:
    # 2**60 + 1 is 2**60 as a float.
    values = np.array([2**60, 2**60 + 1, 5])
    power = repr(float(2**60))
    assert parts(values) == {"x = 5": [2], f"{power} ≤ x ≤ {power}": [0, 1]}


def test_categories_that_are_numbers_stay_exact() -> None:
    assert list(parts(np.array([2**60, 2**60 + 1, 2**60]), categorical=True)) == [f"x = {2**60}", f"x = {2**60 + 1}"]


@pytest.mark.parametrize(
    "column",
    [
        ["a", "b", None, "a"],
        pd.Categorical(["a", "b", None, "a"], ["z", "b", "a"]),
        pl.Series(["a", "b", None, "a"], dtype=pl.Enum(["z", "b", "a"])),
        pa.array(["a", "b", None, "a"]).dictionary_encode(),
    ],
    ids=["list", "pandas", "polars", "arrow"],
)
def test_categories_of_any_library_make_the_same_parts(column: Any) -> None:
    # A category that no row has is none.
    assert parts(column) == {"x = a": [0, 3], "x = b": [1], "x is missing": [2]}


def test_booleans_and_intervals_read_as_such() -> None:
    assert parts([True, False, True]) == {"x = true": [0, 2], "x = false": [1]}
    assert parts(pd.cut(pd.Series([1, 5, 6]), [0, 3, 9])) == {'x = "(3, 9]"': [1, 2], 'x = "(0, 3]"': [0]}


def test_a_partition_has_at_most_a_byte_of_parts() -> None:
    for column in (np.append(np.arange(1_000.0), np.nan), [*map(str, range(1_000)), None]):
        partition = cut(column, 255)
        assert partition is not None
        assert len(partition.parts) == 256
        assert np.unique(partition.codes).tolist() == list(range(256))


FLOATS = st.one_of(
    st.integers(-4, 4).map(float),
    st.floats(-1e307, 1e307),
    st.floats(0, 1),
    st.sampled_from([0.0, -0.0, 1e-300, 1e307, -1e307, math.inf, -math.inf, 5e-324]),
)
COLUMNS = st.one_of(
    st.lists(FLOATS, max_size=40),
    st.lists(st.integers(-3, 3), max_size=40),
    st.lists(st.integers(-(2**62), 2**62), max_size=40),
    st.lists(st.one_of(FLOATS, st.none()), max_size=40),
    st.lists(st.one_of(st.text(max_size=2), st.sampled_from("abc"), st.none()), max_size=40),
    st.lists(st.one_of(st.booleans(), st.none()), max_size=12),
    st.lists(st.one_of(st.sampled_from([1, "1", True, 0.5, "a", b"z", None]), st.integers(0, 9)), max_size=30),
)


def assert_words_and_rows_agree(values: list[Any], partition: Partition, max_values: int) -> None:
    assert len(partition.parts) <= max_values + (None in values)
    assert partition.codes.shape == (len(values),)
    insides = [part.mask({"x": values}) for part in partition.parts]
    assert np.sum(insides, axis=0).tolist() == [1] * len(values)
    for code, inside in enumerate(insides):
        assert inside.tolist() == (partition.codes == code).tolist()
    assert len(np.unique(partition.codes)) >= 2


@settings(max_examples=150)
@given(COLUMNS, st.integers(2, 6), st.booleans())
@example([-1e308, 1e308, 0.0, 5e-324], 3, True)
@example([-math.inf, -math.inf, math.inf, math.inf, 0.0, 1.0, 2.0], 2, True)
@example([0.0] * 9 + [5e-324, -5e-324], 2, True)
@example([2.0**53, 2.0**53 + 2, 1.0, 2.0], 3, False)
def test_every_row_is_in_the_one_part_whose_words_say_so(values: list[Any], max_values: int, splits: bool) -> None:
    partition = cut(values, max_values, splits_lumps=splits)
    if partition is not None:
        assert_words_and_rows_agree(values, partition, max_values)


@given(st.lists(st.one_of(FLOATS, st.none()), min_size=2, max_size=30), st.integers(2, 6))
def test_the_words_of_parts_read_back_as_the_same_rows(values: list[Any], max_values: int) -> None:
    partition = cut(values, max_values)
    for part in partition.parts if partition else ():
        assert parse_segment(str(part)).mask({"x": values}).tolist() == part.mask({"x": values}).tolist()


@settings(max_examples=40)
@given(st.lists(st.sampled_from([dt.date(2024, 1, day) for day in range(1, 9)]), max_size=20), st.integers(2, 4))
def test_dates_named_as_categories_are_parts_too(values: list[Any], max_values: int) -> None:
    partition = cut(values, max_values, categorical=True)
    if partition is not None:
        assert_words_and_rows_agree(values, partition, max_values)


@given(COLUMNS, st.integers(2, 4), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_change_the_parts(values: list[Any], max_values: int, random: Random) -> None:
    order = list(range(len(values)))
    random.shuffle(order)
    one, other = cut(values, max_values), cut([values[place] for place in order], max_values)
    assert (one is None) == (other is None)
    if one is not None and other is not None:
        assert one.parts == other.parts
        assert one.codes[order].tolist() == other.codes.tolist()


@pytest.mark.parametrize(
    ("below", "above", "number"),
    [
        (3.0, 4.0, 3),
        (3.14159, 7.0, 4),  # 3 would leave 3.14159 above
        (3.14159, 3.5, 3.2),
        (0.1234, 0.1236, 0.1234),
        (1.5, 2.1, 2),
        (19.5, 21.0, 20),
        (1234.0, 5678.0, 2000),
        (99.5, 200.0, 100),
        (-3.7, -2.5, -3),
        (-3.7, -3.6, -3.7),
        (-1234.0, 10.0, -1000),
        (-1e-7, 1e-7, -1e-7),
        (0.0, 1e-300, 0),
        (-2.0, 0.0, -2),
        (1.5e-9, 2.5e-9, 2e-9),
        (2.0**53, 2.0**53 + 2, 2.0**53),
        (1.7e308, math.inf, 1.7e308),
        (-math.inf, 0.0, -math.inf),
        (5e-324, 1.0, 5e-324),
        (0.1 + 0.2, 1.0, 0.4),
        (0.3, 0.1 + 0.2, 0.3),
    ],
)
def test_the_bound_between_two_numbers_is_short(below: float, above: float, number: float) -> None:
    bound = between(np.array([above, below]), below)
    assert bound == number
    assert isinstance(bound, int) == (float(number).is_integer() and abs(number) < 2**53)


def test_a_cut_below_or_above_all_values_parts_them_too() -> None:
    values = np.array([1.0, 2.0])
    assert between(values, np.float64(0.37)) == 0.4
    assert between(values, np.float64(5.0)) == 2


@settings(max_examples=100)
@given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=12), st.floats(allow_nan=False), st.data())
@example([1.7e308, 1.75e308], 1.72e308, None)
def test_a_bound_parts_the_values_as_the_cut_does(numbers: list[float], cut: float, data: Any) -> None:
    if data is not None and data.draw(st.booleans()):
        cut = data.draw(st.sampled_from(numbers))
    values = np.array(numbers)
    bound = between(values, cut)
    assert ((values <= bound) == (values <= cut)).all()
    assert parse_segment(f"x ≤ {bound!r}").mask({"x": values}).tolist() == (values <= cut).tolist()


@given(st.integers(-9_999, 9_999), st.integers(1, 500), st.integers(-6, 4))
def test_no_shorter_number_lies_between(low: int, step: int, power: int) -> None:
    below, above = (Decimal(number).scaleb(power) for number in (low, low + step))
    bound = Decimal(repr(between(np.array([float(below), float(above)]), float(below))))
    for digits in range(1, len(bound.normalize().as_tuple().digits)):
        # The least number of so many digits that is not below.
        shorter = Context(prec=digits, rounding=ROUND_CEILING).create_decimal(below)
        assert shorter >= above
