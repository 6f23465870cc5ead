"""No group and no moment is on both sides, and the order of rows has no part in it."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trueup._data import Column, read_rows, read_table
from trueup.errors import ColumnError, DataError
from trueup.evaluation._split import drawn_at_random, drawn_by_group, latest_rows
from trueup.evaluation._times import read_times, time_in_words


def column(values: Any) -> Column:
    return read_table({"when": values}).column("when")


def codes_of(groups: Any) -> Any:
    return read_rows(None, [0, 1] * (len(groups) // 2) + [0] * (len(groups) % 2), {}, groups=groups).groups


def all_count(n: int) -> np.ndarray[Any, Any]:
    return np.ones(n, dtype=bool)


def test_with_few_years_the_last_one_tests() -> None:
    years = np.repeat([2015, 2016, 2017, 2018], [250, 250, 260, 240])
    # 24 % of the rows are of 2018 and 50 % of 2017 and later: 24 is nearer to 30.
    split = latest_rows(years, all_count(1000), test_size=0.3, what="Column 'year'")
    np.testing.assert_array_equal(split, years == 2018)


def test_the_last_years_test_if_they_come_nearer_to_the_share() -> None:
    years = np.repeat([2015, 2016, 2017, 2018], 250)
    # 25 % against 50 %, and 45 are wanted.
    split = latest_rows(years, all_count(1000), test_size=0.45, what="year")
    np.testing.assert_array_equal(split, years >= 2017)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(0, 8), min_size=2, max_size=60).filter(lambda values: len(set(values)) > 1),
    st.floats(0.05, 0.95),
    st.randoms(use_true_random=False),
)
def test_a_split_in_time_has_no_moment_on_both_sides_and_does_not_depend_on_the_order(
    values: list[int], share: float, random: Any
) -> None:
    times = np.array(values)
    test = latest_rows(times, all_count(len(times)), test_size=share, what="when")
    assert 0 < test.sum() < len(times)
    assert times[~test].max() < times[test].min()
    order = np.array(random.sample(range(len(times)), len(times)))
    again = latest_rows(times[order], all_count(len(times)), test_size=share, what="when")
    np.testing.assert_array_equal(again, test[order])


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sampled_from("abcdefgh"), min_size=2, max_size=60).filter(lambda values: len(set(values)) > 1),
    st.floats(0.05, 0.95),
    st.integers(0, 5),
    st.randoms(use_true_random=False),
)
def test_a_split_by_group_has_no_group_on_both_sides_and_does_not_depend_on_the_order(
    values: list[str], share: float, seed: int, random: Any
) -> None:
    users = np.array(values)
    options: dict[str, Any] = {"test_size": share, "seed": seed, "what": "user"}
    test = drawn_by_group(codes_of(users), all_count(len(users)), **options)
    assert 0 < test.sum() < len(users)
    assert set(users[test]).isdisjoint(users[~test])
    order = np.array(random.sample(range(len(users)), len(users)))
    again = drawn_by_group(codes_of(users[order]), all_count(len(users)), **options)
    np.testing.assert_array_equal(again, test[order])


def test_groups_are_drawn_until_they_have_about_the_share() -> None:
    users = np.repeat(np.arange(1000), 5)
    split = drawn_by_group(users, all_count(5000), test_size=0.3, seed=0, what="user")
    assert split.sum() == 1500  # of 1,000 groups of 5, exactly 300
    other = drawn_by_group(users, all_count(5000), test_size=0.3, seed=1, what="user")
    assert (other != split).any()


def test_rows_without_a_weight_do_not_count_towards_the_share() -> None:
    years = np.repeat([2020, 2021, 2022], [100, 100, 100])
    counts = years != 2022
    # Of the rows that count, 2021 is one half; 2022 comes after it and tests too, though it weighs nothing.
    split = latest_rows(years, counts, test_size=0.3, what="year")
    np.testing.assert_array_equal(split, years >= 2021)


def test_a_random_split_keeps_the_classes_in_proportion() -> None:
    labels = np.repeat([0.0, 1.0], [900, 100])
    split = drawn_at_random(labels, soft=False, test_size=0.3, seed=3)
    assert (split.sum(), split[labels == 1].sum()) == (300, 30)
    soft = drawn_at_random(np.linspace(0, 1, 1000), soft=True, test_size=0.25, seed=3)
    assert soft.sum() == 250


def test_one_time_or_one_group_only_is_an_error() -> None:
    with pytest.raises(DataError, match="Column 'year' is 2020 in all rows, so none is later"):
        latest_rows(np.full(10, 2020), all_count(10), test_size=0.3, what="Column 'year'")
    with pytest.raises(DataError, match="Column 'user' has the same value in all rows"):
        drawn_by_group(np.zeros(10, dtype=np.int64), all_count(10), test_size=0.3, seed=0, what="Column 'user'")


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([2019, 2018], [2019, 2018]),
        ([0.5, 1.5], [0.5, 1.5]),
        ([dt.date(2024, 1, 2), dt.date(2023, 1, 2)], ["2024-01-02", "2023-01-02"]),
        (["2024-03", "2023-12"], ["2024-03-01", "2023-12-01"]),
        (["2024-03-05", "2024-03-05T12:00:00"], ["2024-03-05", "2024-03-05T12:00"]),
        # Noon in New York is 16:00 in UTC in summer.
        (["2024-07-01T12:00:00-04:00", "2024-07-01T15:00:00Z"], ["2024-07-01T16:00", "2024-07-01T15:00"]),
    ],
)
def test_times_are_numbers_dates_and_text_in_iso_format(values: list[Any], expected: list[Any]) -> None:
    times = read_times(column(values), "when")
    if times.dtype.kind == "M":
        expected = [np.datetime64(text) for text in expected]
    assert all(time == other for time, other in zip(times, expected, strict=True))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (["Jan", "Feb"], "holds text such as 'Jan', whose order in time is unknown"),
        (["10", "9"], "holds text such as '10'"),
        ([True, False], "has no order in time"),
        ([None, None], "all 2 times are missing"),
        ([2019.0, np.nan], r"1 of 2 times are missing \(first at row 1\)"),
        ([dt.date(2024, 1, 1), None], r"1 of 2 times are missing \(first at row 1\)"),
    ],
)
def test_a_time_that_can_not_be_ordered_is_an_error(values: list[Any], message: str) -> None:
    with pytest.raises(ColumnError, match=f"when.*{message}|when: {message}"):
        read_times(column(values), "when")


def test_times_read_as_people_write_them() -> None:
    assert [time_in_words(value) for value in (np.int16(2018), np.float64(2018), np.float64(0.25))] == [
        "2018",
        "2018",
        "0.25",
    ]
    assert time_in_words(np.datetime64("2024-03-01")) == "2024-03-01"
    assert time_in_words(np.datetime64("2024-03-01T10:30", "us")) == "2024-03-01 10:30:00"
