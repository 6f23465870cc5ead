"""Hashes of groups: the same for the same value, in whatever column, file and process it comes."""

from __future__ import annotations

import datetime as dt
import os
import subprocess
import sys
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trueup._data import hash_column, mix_hashes
from trueup.errors import DataError

WHOLE = [0, 1, -1, 7, 2**31 - 1, -(2**31)]
TEXTS = ["", "a", "ab", "ba", "Zürich", "日本", "a\x00b", "x" * 300]


@pytest.mark.parametrize(
    "column",
    [
        np.array(WHOLE, np.int32),
        np.array(WHOLE, np.int64),
        np.array(WHOLE, np.float64),
        np.array(WHOLE, object),
        pa.array(WHOLE, pa.int32()),
        pa.array(WHOLE, pa.float64()),
        pa.array(WHOLE).dictionary_encode(),
        pa.array([9, *WHOLE, 9]).slice(1, len(WHOLE)),
        pa.chunked_array([WHOLE[:2], [], WHOLE[2:]]),
        pa.array([*WHOLE, 10**25], pa.decimal128(30, 0)).slice(0, len(WHOLE)),
    ],
    ids=[
        "int32",
        "int64",
        "float64",
        "objects",
        "Arrow int32",
        "Arrow float64",
        "codes",
        "slice",
        "chunks",
        "decimals",
    ],
)
def test_whole_numbers_have_one_hash_in_all_types(column: Any) -> None:
    np.testing.assert_array_equal(hash_column(column), hash_column(WHOLE))


@pytest.mark.parametrize(
    "column",
    [
        np.array(TEXTS, object),
        pa.array(TEXTS),
        pa.array(TEXTS, pa.large_string()),
        pa.array(TEXTS, pa.string_view()),
        pa.array(TEXTS).dictionary_encode(),
        pa.array(["before", *TEXTS, "after"]).slice(1, len(TEXTS)),
        pa.array(["before", *TEXTS]).dictionary_encode().slice(1),
        pa.chunked_array([TEXTS[:3], [], TEXTS[3:]]),
        pa.chunked_array([pa.array(TEXTS[:3]).dictionary_encode(), pa.array(TEXTS[3:]).dictionary_encode()]),
    ],
    ids=["objects", "plain", "large", "view", "codes", "slice", "slice of codes", "chunks", "chunks of codes"],
)
def test_strings_have_one_hash_in_all_types(column: Any) -> None:
    np.testing.assert_array_equal(hash_column(column), hash_column(TEXTS))


@given(st.lists(st.text(max_size=8) | st.sampled_from(TEXTS), max_size=12), st.data())
def test_a_slice_has_the_hashes_of_its_rows(texts: list[str], data: st.DataObject) -> None:
    texts = [text.encode("utf-8", "ignore").decode() for text in texts]
    first = data.draw(st.integers(0, len(texts)))
    whole = pa.array(texts, pa.string())
    np.testing.assert_array_equal(hash_column(whole.slice(first)), hash_column(whole)[first:])
    np.testing.assert_array_equal(hash_column(whole.slice(0, first).dictionary_encode()), hash_column(whole)[:first])


def test_a_number_has_the_same_hash_beside_numbers_of_any_size() -> None:
    # A column with an integer of more than 64 bits is one of objects, and the 1 in it is still a 1.
    beside = hash_column(np.array([1, 2**63, 10**25], object))
    assert beside[0] == hash_column([1])[0]
    assert beside[1] == hash_column(np.array([2**63], np.uint64))[0] == hash_column(np.array([2.0**63]))[0]


def test_a_string_has_the_same_hash_beside_values_of_other_types() -> None:
    mixed = hash_column(np.array(["a", 1, 2.5, True, dt.date(2024, 1, 2)], object))
    alone = [hash_column([value])[0] for value in ("a", 1, 2.5, True, dt.date(2024, 1, 2))]
    assert mixed.tolist() == alone


@pytest.mark.parametrize(
    "day",
    [
        pa.array([dt.date(2024, 1, 2)]),
        pa.array([dt.datetime(2024, 1, 2)], pa.timestamp("ns")),
        pa.array([dt.datetime(2024, 1, 2)], pa.timestamp("s")),
        np.array(["2024-01-02"], "datetime64[D]"),
    ],
    ids=["date", "nanoseconds", "seconds", "NumPy"],
)
def test_a_day_has_one_hash_in_all_types(day: Any) -> None:
    assert hash_column(day).tolist() == hash_column([dt.date(2024, 1, 2)]).tolist()


@given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=20, unique=True))
def test_different_numbers_have_different_hashes(numbers: list[float]) -> None:
    assert len(set(hash_column(np.array(numbers)).tolist())) == len(numbers)


def test_zero_has_no_sign() -> None:
    assert hash_column(np.array([0.0]))[0] == hash_column(np.array([-0.0]))[0] == hash_column([0])[0]


def test_consecutive_numbers_are_scattered_evenly() -> None:
    # 16 cells of 6,250 expected each; the standard deviation of a cell is 76.5.
    counts = np.bincount((hash_column(np.arange(100_000)) >> np.uint64(60)).astype(int), minlength=16)
    assert abs(counts - 6_250).max() < 5 * 76.5


def test_another_seed_deals_otherwise_and_one_to_one() -> None:
    hashes = hash_column(np.arange(1_000))
    mixed = [mix_hashes(hashes, seed) for seed in (0, 1, 2**63)]
    assert all(len(set(some.tolist())) == 1_000 for some in mixed)
    assert not (mixed[0] == mixed[1]).any()
    assert not (mixed[0] == mixed[2]).any()


IN_ANOTHER_PROCESS = """
import pyarrow as pa
from trueup._data import hash_column
print(hash_column(pa.array({texts!r})).tolist() + hash_column({numbers!r}).tolist())
"""


def test_another_process_gives_the_same_hashes() -> None:
    program = IN_ANOTHER_PROCESS.format(texts=TEXTS, numbers=WHOLE)
    environment = {**os.environ, "PYTHONHASHSEED": "random"}
    told = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert told.stdout.strip() == str(hash_column(TEXTS).tolist() + hash_column(WHOLE).tolist())


def test_the_hashes_of_today_are_those_of_yesterday() -> None:
    # Written down once: whoever split by a key before must be able to split so again.
    assert hash_column(["user-1", ""]).tolist() == [7288745308016672555, 10304146226213213222]
    assert hash_column([1, -1]).tolist() == [16572613472718614229, 2717770620714153248]


@pytest.mark.parametrize(
    "column",
    [
        [1.0, np.nan],
        pa.array([1, None]),
        pa.array(["a", None]),
        pa.array(["a", None]).dictionary_encode(),
        pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array(["a", None])),
        np.array(["a", None], object),
        pa.array([dt.date(2024, 1, 2), None]),
        pa.array([True, None]),
    ],
    ids=["NaN", "integers", "strings", "codes", "codes of nothing", "objects", "dates", "booleans"],
)
def test_a_row_without_a_key_is_told_of(column: Any) -> None:
    with pytest.raises(DataError, match=r"Column 'user': 1 of 2 rows belong to no group \(first at row 1\)"):
        hash_column(column, name="Column 'user'")


def test_what_a_dictionary_has_and_no_row_uses_may_be_missing() -> None:
    codes = pa.DictionaryArray.from_arrays(pa.array([2, 0]), pa.array(["a", None, "b"]))
    assert hash_column(codes).tolist() == hash_column(["b", "a"]).tolist()


@pytest.mark.parametrize("column", [[], pa.array([], pa.string()), pa.array([], pa.string()).dictionary_encode()])
def test_no_rows_have_no_hashes(column: Any) -> None:
    assert len(hash_column(column)) == 0
