"""Rows in order of score, and the sums of every segment, against the metrics of its rows."""

from __future__ import annotations

import math
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trueup._data import read_table
from trueup.metrics import ecce, ecce_sigma, ecce_standard_error
from trueup.segments import (
    ScoredRows,
    SegmentGrid,
    SegmentSums,
    cross_columns,
    grid_of,
    measure_segments,
    sort_rows,
    sum_again,
)
from trueup.segments import _measure as measure

Rows = tuple[Any, Any, Any]


def sums_of(rows: ScoredRows, grid: SegmentGrid, **options: Any) -> SegmentSums:
    cells = grid.cells(rows, grid.codes_in_order(rows))
    defaults = {"min_rows": 1, "min_variance": 0.0, "max_segments": None, "n_threads": 1}
    return measure_segments(rows, grid, cells, **{**defaults, **options})


def table_of(seed: int, n: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    return {
        "color": rng.choice(["red", "blue", "green", "grey"], n),
        "age": np.where(rng.random(n) < 0.1, np.nan, rng.integers(18, 80, n)),
        "flag": rng.random(n) < 0.3,
    }


def grid_for(X: Any, max_depth: int = 3) -> SegmentGrid:
    return grid_of(cross_columns(read_table(X), max_depth=max_depth), max_depth=max_depth)


SCORES = st.one_of(st.floats(0.01, 0.99), st.sampled_from([0.1, 0.25, 0.5, 0.9]))
ROWS = st.lists(
    st.tuples(st.one_of(st.sampled_from([0.0, 1.0]), st.floats(0, 1)), SCORES, st.floats(0.1, 8)),
    min_size=1,
    max_size=60,
)


@settings(max_examples=30)
@given(ROWS, st.booleans(), st.integers(0, 9))
def test_every_segment_has_the_metrics_of_its_rows(rows: list[Rows], weighted: bool, seed: int) -> None:
    y, p, weights = (np.array(column) for column in zip(*rows, strict=True))
    w = weights if weighted else None
    X = table_of(seed, len(y))
    grid = grid_for(X)
    sums = sums_of(sort_rows(y, p, w), grid)
    for i in range(len(sums)):
        inside = grid.segment(int(sums.combination[i]), int(sums.cell[i])).mask(X)
        own_weights = weights[inside] if weighted else np.ones(np.count_nonzero(inside))
        arguments: Any = (y[inside], p[inside])
        options: Any = {"sample_weight": own_weights}
        assert sums.rows[i] == np.count_nonzero(inside)
        assert sums.weight[i] == pytest.approx(own_weights.sum(), rel=1e-12)
        assert sums.score[i] == pytest.approx(own_weights @ p[inside], rel=1e-12)
        assert sums.label[i] == pytest.approx(own_weights @ y[inside], rel=1e-12)
        assert sums.unit[i] == pytest.approx(own_weights @ own_weights / own_weights.sum(), rel=1e-12)
        assert sums.range[i] / sums.weight[i] == pytest.approx(ecce(*arguments, **options), rel=1e-12, abs=1e-15)
        sigma = ecce_standard_error(*arguments, **options)
        assert math.sqrt(sums.variance[i]) / sums.weight[i] == pytest.approx(sigma, rel=1e-12)
        assert sums.sigmas[i] == pytest.approx(ecce_sigma(*arguments, **options), rel=1e-12, abs=1e-14)


@given(ROWS, st.booleans(), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_change_a_bit_of_any_sum(rows: list[Rows], weighted: bool, random: Random) -> None:
    order = list(range(len(rows)))
    random.shuffle(order)
    y, p, w = (np.array(column) for column in zip(*rows, strict=True))
    color = np.array(["red", "blue", "green"])[(y * 7 + np.arange(len(y))).astype(int) % 3]
    results = []
    for place in (np.arange(len(y)), np.array(order)):
        sorted_rows = sort_rows(y[place], p[place], w[place] if weighted else None)
        results.append(sums_of(sorted_rows, grid_for({"color": color[place]})))
    for name in ("combination", "cell", "rows", "weight", "score", "label", "range", "variance", "unit"):
        np.testing.assert_array_equal(getattr(results[0], name), getattr(results[1], name))


def test_rows_are_sorted_by_score_and_ties_by_label_and_weight() -> None:
    y, p, w = np.array([1.0, 0, 1, 0]), np.array([0.5, 0.5, 0.25, 0.5]), np.array([1.0, 3, 1, 2])
    rows = sort_rows(y, p, w)
    assert rows.order.tolist() == [2, 3, 1, 0]
    assert rows.score_ids.tolist() == [0, 1, 1, 1]
    assert (rows.n, rows.total_weight) == (4, 7)
    assert rows.residuals().tolist() == [0.75, -1.0, -1.5, 0.5]
    assert rows.residuals(np.zeros(4)).tolist() == [1, 0, 0, 1]
    assert rows.variances().tolist() == [0.1875, 1.0, 2.25, 0.25]
    assert rows.lanes().tolist() == [
        [0.75, 0.25, 0.1875, 1],
        [-1.0, 1.0, 1.0, 0],
        [-1.5, 1.5, 2.25, 0],
        [0.5, 0.5, 0.25, 1],
    ]
    assert rows.further_lanes()[:, :3].tolist() == [[1, 1, 0], [2, 4, 0], [3, 9, 0], [1, 1, 0]]


@pytest.mark.parametrize("n", [0, 1])
def test_a_row_or_none_can_be_sorted(n: int) -> None:
    rows = sort_rows(np.ones(n), np.full(n, 0.5))
    assert rows.score_ids.tolist() == [0] * n
    assert rows.lanes().shape == (n, 4)


def coins(n: int, positives: int, score: float = 0.5) -> ScoredRows:
    return sort_rows(np.array([1.0] * positives + [0.0] * (n - positives)), np.full(n, score))


@pytest.mark.parametrize(("min_variance", "variance"), [(0, 1), (1, 1), (1.5, 1.5), (4, 4)])
def test_sigmas_are_those_of_the_least_variance_where_a_segment_has_less(min_variance: float, variance: float) -> None:
    # A coin has a variance of 1/4, and four of them have 1. All four come up, where two are expected.
    sums = sums_of(coins(4, 4), grid_of([]), min_variance=min_variance)
    assert sums.sigmas.tolist() == [2 / math.sqrt(variance)]
    assert sums.evidence.tolist() == sums_of(coins(4, 4), grid_of([])).evidence.tolist()


def test_the_least_variance_is_in_squared_rows_whatever_the_weights() -> None:
    # Weights of 10 make the variance 100 times and the unit 10 times as large.
    y, p = np.ones(4), np.full(4, 0.5)
    for scale in (0.1, 1.0, 10.0):
        sums = sums_of(sort_rows(y, p, np.full(4, scale)), grid_of([]), min_variance=4)
        assert sums.sigmas.tolist() == pytest.approx([1.0])


def test_a_wrong_score_of_0_is_a_certain_error_and_a_right_one_is_none() -> None:
    right, wrong = (sums_of(sort_rows(np.array(y), np.array([0.0, 0, 1])), grid_of([])) for y in ([0, 0, 1], [1, 0, 1]))
    assert (right.sigmas.tolist(), right.evidence.tolist(), right.certain.tolist()) == ([0], [0], [0])
    assert wrong.certain.tolist() == [1]
    assert 8 < wrong.evidence[0] < 9  # sqrt(2 · (log(2**53 / 3) - 1)): finite, and more than any noise shows


def test_a_certain_error_counts_however_much_noise_is_around_it() -> None:
    p = np.append(np.full(10_000, 0.5), 0.0)
    alone, among = np.ones(1), np.append(np.tile([0.0, 1.0], 5_000), 1.0)
    among_noise = sums_of(sort_rows(among, p), grid_of([]))
    assert among_noise.sigmas[0] < 0.1
    # Less than that of the row alone, for it had 10,000 chances to err.
    assert 7 < among_noise.evidence[0] < sums_of(sort_rows(alone, np.zeros(1)), grid_of([])).evidence[0] < 9


@pytest.mark.parametrize("most", [1, 2, 60, 140, 10_000])
def test_the_first_segments_only_can_be_taken(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    X = {f"c{i}": rng.integers(0, 2, 80) for i in range(6)}  # 42 combinations: three batches of 16 at most
    rows, grid = sort_rows(rng.integers(0, 2, 80).astype(float), rng.random(80)), grid_for(X)
    whole = sums_of(rows, grid)
    for visits in (100_000_000, 1):
        monkeypatch.setattr(measure, "_VISITS_PER_BATCH", visits)
        some = sums_of(rows, grid, max_segments=most)
        assert some.range.tolist() == whole.range[:most].tolist()
        assert len(some) == min(most, len(whole))


def test_batches_and_threads_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    X = {f"c{i}": rng.integers(0, 3, 200) for i in range(6)}
    rows = sort_rows(rng.integers(0, 2, 200).astype(float), np.round(rng.random(200), 2), rng.uniform(1, 2, 200))
    grid = grid_for(X)
    whole = sums_of(rows, grid)
    seen: list[int] = []
    monkeypatch.setattr(measure, "_VISITS_PER_BATCH", 1)
    again = sums_of(rows, grid, n_threads=3, advance=seen.append)
    assert seen == [16, 16, 10]
    for name in ("combination", "cell", "rows", "weight", "score", "label", "range", "variance", "unit"):
        np.testing.assert_array_equal(getattr(whole, name), getattr(again, name))
    cells = grid.cells(rows, grid.codes_in_order(rows))
    some = whole.of(np.arange(0, len(whole), 3))
    sums, range_ = sum_again(some, grid, cells, rows.lanes(), 2)
    np.testing.assert_array_equal(sums[:, 2], some.variance)
    np.testing.assert_array_equal(range_, some.range)


def test_batches_cover_every_combination_once() -> None:
    assert list(measure.batches(1, 5)) == [(0, 5)]
    assert list(measure.batches(10**9, 40)) == [(0, 16), (16, 32), (32, 40)]
    assert list(measure.batches(50_000_000, 3)) == [(0, 3)]
    assert list(measure.batches(0, 0)) == []
