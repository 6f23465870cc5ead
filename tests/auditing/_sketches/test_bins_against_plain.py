"""The compiled sums of cells and bins agree with a mask for every cell."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plain_bins import BinCase, Found, case_of
from trueup import _native


def compiled_sums(case: BinCase, n_threads: int = 1) -> Found:
    """What the kernel gives, in the form of the plain sums."""
    combination, cell, lanes, n_bins, bin_, rises, falls = _native.sum_bins(**case.arguments(), n_threads=n_threads)
    ends = np.cumsum(n_bins)
    found: Found = {}
    keys = list(zip(combination.tolist(), cell.tolist(), strict=True))
    assert keys == sorted(keys)
    for i, key in enumerate(keys):
        inside = slice(int(ends[i] - n_bins[i]), int(ends[i]))
        bins = dict(
            zip(bin_[inside].tolist(), zip(rises[inside].tolist(), falls[inside].tolist(), strict=True), strict=True)
        )
        assert list(bins) == sorted(bins)
        found[key] = (lanes[i].tolist(), bins)
    return found


# A chunk of rows is 512.
@settings(max_examples=60)
@given(
    seed=st.integers(0, 2**32),
    n=st.sampled_from([0, 1, 2, 7, 60, 511, 512, 513, 1100]),
    n_lanes=st.sampled_from([4, 6]),
)
def test_sums_agree_with_a_mask_a_cell(seed: int, n: int, n_lanes: int) -> None:
    case = case_of(seed, n, n_lanes)
    assert compiled_sums(case) == case.plain_sums()


def test_threads_change_nothing() -> None:
    case = case_of(3, 2_000)
    many = BinCase(**{**vars(case), "combinations": case.combinations * 40})
    assert compiled_sums(many, n_threads=5) == compiled_sums(many, n_threads=1)


def spoiled(name: str, value: Any) -> dict[str, Any]:
    return {**case_of(0, 100).arguments(), name: value}


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("n_bins", np.zeros(4, dtype=np.uint32), "no such number of bins"),
        ("n_bins", np.full(4, 2**15 + 1, dtype=np.uint32), "no such number of bins"),
        ("slots", np.full((4, 100), 2**16 - 1, dtype=np.uint16), "in no bin"),
        ("slots", np.zeros((4, 99), dtype=np.uint16), "rows differ"),
        ("slots", np.zeros((3, 100), dtype=np.uint16), "a depth"),
        ("steps", np.zeros(99, dtype=np.int64), "rows differ"),
        ("lanes", np.ones((100, 5), dtype=np.int64), "four or six"),
        ("codes", np.full((3, 100), 200, dtype=np.uint8), "beyond its number of values"),
        ("members", np.full(12, 9, dtype=np.int32), "no such partition"),
        ("offsets", np.zeros(0, dtype=np.int32), "must not be empty"),
    ],
)
def test_what_the_kernel_would_index_with_is_checked(name: str, value: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        _native.sum_bins(**spoiled(name, value))


def test_a_combination_deeper_than_the_bins_is_refused() -> None:
    arguments = case_of(0, 100).arguments()
    with pytest.raises(ValueError, match="too deep"):
        _native.sum_bins(**{**arguments, "n_bins": arguments["n_bins"][:3], "slots": arguments["slots"][:3].copy()})


def test_a_combination_of_too_many_bins_is_refused() -> None:
    # 250 · 250 cells with 1,000 bins each are 62.5 million bins, and 2^24 is 16.8 million.
    with pytest.raises(ValueError, match="too many bins"):
        _native.sum_bins(
            codes=np.zeros((2, 1), dtype=np.uint8),
            n_values=np.array([250, 250], dtype=np.uint32),
            offsets=np.array([0, 2], dtype=np.int32),
            members=np.array([0, 1], dtype=np.int32),
            slots=np.zeros((3, 1), dtype=np.uint16),
            n_bins=np.full(3, 1_000, dtype=np.uint32),
            steps=np.zeros(1, dtype=np.int64),
            lanes=np.ones((1, 4), dtype=np.int64),
        )


BINS = st.dictionaries(st.integers(0, 30), st.tuples(st.integers(0, 2**61), st.integers(0, 2**61)))


def as_arrays(bins: dict[int, tuple[int, int]]) -> list[np.ndarray[Any, np.dtype[np.int64]]]:
    keys = sorted(bins)
    columns = [keys, [bins[key][0] for key in keys], [bins[key][1] for key in keys]]
    return [np.array(column, dtype=np.int64) for column in columns]


@settings(max_examples=100)
@given(one=BINS, other=BINS)
def test_added_bins_agree_with_a_dict(one: dict[int, tuple[int, int]], other: dict[int, tuple[int, int]]) -> None:
    found = _native.add_bins(*as_arrays(one), *as_arrays(other))
    nothing = (0, 0)
    expected = {
        key: tuple(a + b for a, b in zip(one.get(key, nothing), other.get(key, nothing), strict=True))
        for key in one.keys() | other.keys()
    }
    assert [column.tolist() for column in found] == [column.tolist() for column in as_arrays(expected)]  # type: ignore[arg-type]


def test_bins_out_of_order_or_of_different_lengths_are_refused() -> None:
    good, twice = as_arrays({1: (2, 3), 4: (5, 6)}), np.array([1, 1])
    with pytest.raises(ValueError, match="keys must rise"):
        _native.add_bins(*good, twice, twice, twice)
    with pytest.raises(ValueError, match="differ in number"):
        _native.add_bins(good[0][:1], *good[1:], *good)
