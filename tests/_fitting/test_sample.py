"""Rows drawn at random, the same in whatever order they come."""

from __future__ import annotations

import random

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from trueup._fitting import row_hashes
from trueup._fitting._packing import RowSample


def sampled(pieces: list[np.ndarray], most: int) -> RowSample:
    """A sample of rows whose only value is their number."""
    sample = RowSample(most)
    for rows in pieces:
        hashes = np.array([row_hashes(int(row), 1)[0] for row in rows], np.uint64)
        chosen = sample.candidates(hashes)
        sample.add(hashes[chosen], {"row": rows[chosen].astype(float)})
    return sample


@given(st.integers(1, 60), st.integers(1, 20), st.integers(1, 7), st.randoms())
def test_the_rows_with_the_least_hashes_are_kept_in_their_order(
    n: int, most: int, size: int, order: random.Random
) -> None:
    least = np.argsort(row_hashes(0, n))[:most]
    pieces = [np.arange(n)[first : first + size] for first in range(0, n, size)]
    order.shuffle(pieces)
    assert sampled(pieces, most).columns()["row"].tolist() == least.tolist()
    half = len(pieces) // 2
    merged = sampled(pieces[:half], most)
    merged.merge(sampled(pieces[half:], most))
    merged.columns()
    assert len(merged) == min(n, most)
    assert merged.columns()["row"].tolist() == least.tolist()


def test_each_row_is_as_likely_as_any_other() -> None:
    # 20,000 of 200,000 rows; a tenth of the rows has 2,000 of them, with a standard deviation of 40.
    sample = RowSample(20_000)
    sample.add(row_hashes(0, 200_000), {"row": np.arange(200_000.0)})
    tenths = np.bincount((sample.columns()["row"] // 20_000).astype(int), minlength=10)
    assert abs(tenths - 2_000).max() < 4 * 40


def test_a_column_that_is_not_there_yet_is_missing_in_the_rows_before() -> None:
    sample = RowSample(10)
    sample.add(row_hashes(0, 2), {"a": np.array([1.0, 2.0])})
    sample.add(row_hashes(2, 1), {"b": np.array([3.0])})
    columns = sample.columns()
    assert sorted(columns["a"][~np.isnan(columns["a"])].tolist()) == [1.0, 2.0]
    assert columns["b"][~np.isnan(columns["b"])].tolist() == [3.0]
    assert np.isnan(columns["a"]).sum() == 1


def test_no_more_than_twice_as_many_rows_as_are_wanted_are_held() -> None:
    sample = RowSample(100)
    most_held = 0
    for first in range(0, 10_000, 100):
        hashes = row_hashes(first, 100)
        chosen = sample.candidates(hashes)
        sample.add(hashes[chosen], {"row": chosen.astype(float)})
        most_held = max(most_held, len(sample))
    assert most_held <= 200
    assert len(sample.candidates(row_hashes(10_000, 1_000))) < 100  # of later rows, one in 50 to 100 is worth a look
