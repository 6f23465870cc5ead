"""Numbers and categories as codes: what is kept of them, and where numbers are cut."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from trueup._fitting import ColumnCodes, edges_of_sample
from trueup._fitting._packed import PackedMatrix

ANY_NUMBER = st.floats(width=64)
FEW_NUMBERS = st.sampled_from(
    [-np.inf, -1e308, -2.0, -1e-40, 0.0, 1e-310, 1.0, np.nextafter(1.0, 2), 7.5, np.inf, np.nan]
)
COLUMNS = st.lists(ANY_NUMBER | FEW_NUMBERS, max_size=60).map(np.array).map(np.float64)
MOST = st.integers(2, 12)


@given(COLUMNS, MOST)
def test_edges_ascend_and_make_at_most_so_many_intervals(numbers: np.ndarray, most: int) -> None:
    edges = edges_of_sample(numbers, most)
    assert (np.diff(edges) > 0).all()
    assert len(edges) + 1 <= most
    assert np.isfinite(edges).all()


@given(COLUMNS, MOST)
def test_no_interval_is_empty_in_the_sample(numbers: np.ndarray, most: int) -> None:
    edges = edges_of_sample(numbers, most)
    there = numbers[~np.isnan(numbers)]
    codes = ColumnCodes.of_numbers(edges).encode(there)
    assert len(there) == 0 or set(codes) == set(range(len(edges) + 1))


@given(COLUMNS, MOST, st.randoms(use_true_random=False))
def test_edges_do_not_depend_on_the_order_of_the_sample(numbers: np.ndarray, most: int, random: object) -> None:
    shuffled = numbers.copy()
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    np.testing.assert_array_equal(edges_of_sample(shuffled, most), edges_of_sample(numbers, most))


@given(st.lists(st.integers(-50, 50), min_size=1, max_size=60), st.integers(101, 253))
def test_few_values_are_all_told_apart(values: list[int], most: int) -> None:
    numbers = np.array(values, dtype=np.float64)
    n_distinct = len(set(values))
    codes = ColumnCodes.of_numbers(edges_of_sample(numbers, most)).encode(numbers)
    assert len(set(codes)) == n_distinct


@given(st.lists(st.integers(1, 300), min_size=1, max_size=60), MOST)
def test_a_value_more_than_twice_as_frequent_as_an_even_share_is_alone(counts: list[int], most: int) -> None:
    numbers = np.repeat(np.arange(len(counts), dtype=np.float64), counts)
    column = ColumnCodes.of_numbers(edges_of_sample(numbers, most))
    sharing = np.bincount(column.encode(np.arange(len(counts), dtype=np.float64)))
    for value, count in enumerate(counts):
        if count > 2 * len(numbers) / most:
            assert sharing[column.encode(np.array([float(value)]))[0]] == 1


def test_intervals_of_many_numbers_hold_about_the_same_number_each() -> None:
    numbers = np.random.default_rng(0).lognormal(size=100_000)
    counts = np.bincount(ColumnCodes.of_numbers(edges_of_sample(numbers, 253)).encode(numbers))
    assert len(counts) == 253
    assert set(counts) <= {395, 396}  # 100,000 / 253 is 395.3


def test_numbers_that_are_neighbours_are_told_apart_with_the_lower_as_the_edge() -> None:
    neighbours = np.array([1.0, np.nextafter(1.0, 2)])
    assert edges_of_sample(neighbours, 5).tolist() == [1.0]


@given(COLUMNS, COLUMNS, MOST)
def test_a_code_says_between_which_edges_a_number_lies(sample: np.ndarray, numbers: np.ndarray, most: int) -> None:
    edges = edges_of_sample(sample, most)
    column = ColumnCodes.of_numbers(edges)
    codes = column.encode(numbers)
    ends = np.concatenate([[-np.inf], edges, [np.inf]])
    for number, code in zip(numbers, codes.astype(int), strict=True):
        if np.isnan(number):
            assert code == len(column.upper)
        else:
            assert number <= ends[code + 1]
            assert number > ends[code] or code == 0


@given(COLUMNS, COLUMNS, MOST)
def test_what_a_code_stands_for_has_that_code(sample: np.ndarray, numbers: np.ndarray, most: int) -> None:
    column = ColumnCodes.of_numbers(edges_of_sample(sample, most))
    codes = column.encode(numbers)
    np.testing.assert_array_equal(column.encode(column.decoded[codes]), codes)
    np.testing.assert_array_equal(column.encode(column.decoded), np.arange(len(column.upper) + 1))


@given(COLUMNS, COLUMNS, MOST, st.integers(0, 11))
def test_a_number_and_what_its_code_stands_for_are_on_one_side_of_every_edge(
    sample: np.ndarray, numbers: np.ndarray, most: int, which: int
) -> None:
    edges = edges_of_sample(sample, most)
    if len(edges):
        column, edge = ColumnCodes.of_numbers(edges), edges[which % len(edges)]
        np.testing.assert_array_equal(column.decoded[column.encode(numbers)] <= edge, numbers <= edge)


@pytest.mark.parametrize(
    ("n_categories", "n_bytes"), [(0, 1), (1, 1), (255, 1), (256, 2), (65_535, 2), (65_536, 4), (100_000, 4)]
)
def test_codes_take_as_few_bytes_as_the_missing_value_allows(n_categories: int, n_bytes: int) -> None:
    column = ColumnCodes.of_categories(n_categories)
    numbers = np.array([*range(min(n_categories, 3)), *([n_categories - 1] if n_categories else []), np.nan])
    codes = column.encode(numbers)
    assert codes.dtype.itemsize == n_bytes
    np.testing.assert_array_equal(column.decoded[codes], numbers)


@given(hnp.arrays(np.float64, st.tuples(st.integers(0, 20), st.just(2)), elements=ANY_NUMBER), st.data())
def test_rows_of_a_packed_matrix_are_those_of_the_matrix(matrix: np.ndarray, data: st.DataObject) -> None:
    columns = [ColumnCodes.of_numbers(edges_of_sample(matrix[:, place], 253)) for place in range(2)]
    packed = PackedMatrix.encode(columns, matrix)
    assert packed.shape == matrix.shape
    assert sum(codes.nbytes for codes in packed.codes) == matrix.size  # one byte per value
    cut = data.draw(st.integers(0, len(matrix)))
    rows = np.array(
        data.draw(st.lists(st.integers(0, len(matrix) - 1), max_size=5) if len(matrix) else st.just([])), int
    )
    everything = packed.numbers_of(slice(None))
    np.testing.assert_array_equal(packed.numbers_of(slice(cut, None)), everything[cut:])
    np.testing.assert_array_equal(packed.numbers_of(rows), everything[rows])
    parts = [PackedMatrix.encode(columns, part) for part in (matrix[:cut], matrix[cut:])]
    np.testing.assert_array_equal(np.concatenate([part.numbers_of(slice(None)) for part in parts]), everything)
    codes = packed.codes_of(slice(None))
    np.testing.assert_array_equal(np.isnan(codes), np.isnan(matrix))
    for place, column in enumerate(columns):
        there = ~np.isnan(codes[:, place])
        np.testing.assert_array_equal(column.upper[codes[there, place].astype(int)], everything[there, place])
