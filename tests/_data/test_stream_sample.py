"""Samples of streams."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trueup._data import open_stream
from trueup.errors import ParameterError, TableError


def parts_of(n: int, cuts: list[int]) -> list[pa.Table]:
    table = pa.table({"n": np.arange(n), "twice": 2 * np.arange(n)})
    bounds = [0, *sorted(min(cut, n) for cut in cuts), n]
    return [table.slice(begin, end - begin) for begin, end in zip(bounds, bounds[1:], strict=False)]  # noqa: RUF007


@given(
    n=st.integers(1, 3_000),
    size=st.integers(1, 500),
    cuts=st.lists(st.integers(0, 3_000), max_size=8),
    seed=st.integers(0, 9),
)
def test_a_sample_depends_on_the_rows_alone_and_keeps_their_order(
    n: int, size: int, cuts: list[int], seed: int
) -> None:
    found = open_stream(parts_of(n, cuts)).sample(size, seed=seed)
    assert found.num_rows == min(size, n)
    numbers = found["n"].to_numpy()
    assert (np.diff(numbers) > 0).all()
    assert found["twice"].to_numpy().tolist() == (2 * numbers).tolist()
    assert found.equals(open_stream(parts_of(n, [])).sample(size, seed=seed))


def test_every_row_has_the_same_chance() -> None:
    # 400 samples of 100 of 1,000 rows: each row is in 40 of them, give or take a standard deviation of 6.
    stream = open_stream(parts_of(1_000, [10, 700]))
    counts = np.zeros(1_000)
    for seed in range(400):
        counts[stream.sample(100, seed=seed)["n"].to_numpy()] += 1
    assert counts.sum() == 400 * 100
    assert abs(counts.mean() - 40) < 1e-9
    assert counts.std() == pytest.approx(6, rel=0.1)
    assert np.abs(counts.reshape(10, 100).sum(axis=1) - 4_000).max() < 4 * 60 + 1  # tenths of the rows, too


def test_rows_of_different_types_come_together() -> None:
    words = pa.array(["a", "b"])
    stream = open_stream(
        [
            pa.table({"x": pa.array([1, 2], pa.int32()), "w": words}),
            pa.table({"x": [0.5, None], "w": words.dictionary_encode()}),
            pa.table({"x": pa.array([None], pa.null()), "w": pa.array([None], pa.null())}),
        ]
    )
    found = stream.sample(5)
    assert found.to_pydict() == {"x": [1.0, 2.0, 0.5, None, None], "w": ["a", "b", "a", "b", None]}
    assert found.schema == pa.schema([("x", pa.float64()), ("w", pa.string())])
    assert stream.schema() == found.schema


def test_a_sample_needs_rows_and_a_size() -> None:
    with pytest.raises(TableError, match="all batches are empty"):
        open_stream([pa.table({"x": pa.array([], pa.int64())})]).sample(3)
    with pytest.raises(ParameterError, match="at least 1 row"):
        open_stream(pa.table({"x": [1]})).sample(0)
