"""Rows that belong together may err together, and an audit puts that down to noise."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import trueup
from simulated import Rows, rows_of_users
from trueup._data import read_table
from trueup.errors import InsufficientDataWarning, ParameterError
from trueup.segments import cross_columns, grid_of, measure_segments, sort_rows, spread_by_groups


def small_users(seed: int = 0) -> tuple[Rows, Any]:
    return rows_of_users(seed, n_users=60, rows_per_user=10)


few_groups = pytest.mark.filterwarnings("ignore:groups has only:trueup.errors.InsufficientDataWarning")


@few_groups
def test_sigma_is_that_of_whole_groups_by_hand() -> None:
    # Two groups of 8 rows at 0.5 err together: by +4 and by -4. Independent rows: 16 * 0.25 = 4.
    y, p, groups = [1] * 8 + [0] * 8, [0.5] * 16, ["a"] * 8 + ["b"] * 8
    result = trueup.audit(None, y, p, groups=groups)
    assert result.n_groups == 2
    assert result.sigma == pytest.approx(math.sqrt(2 * 4**2) / 16)
    assert trueup.audit(None, y, p).sigma == pytest.approx(math.sqrt(4) / 16)
    # Of groups whose errors cancel, sigma stays that of independent rows.
    assert trueup.audit(None, y, p, groups=["a", "b"] * 8).sigma == pytest.approx(math.sqrt(4) / 16)


def test_the_spread_of_every_segment_is_that_of_its_groups() -> None:
    (y, p, X), groups = small_users()
    weights = np.random.default_rng(1).uniform(0.5, 2, len(y))
    rows = sort_rows(y.astype(float), p, weights, groups)
    grid = grid_of(cross_columns(read_table(X), max_depth=2), max_depth=2)
    codes = grid.codes_in_order(rows)
    cells = grid.cells(rows, codes)
    alone = measure_segments(rows, grid, cells, min_rows=5, min_variance=1, max_segments=None, n_threads=1)
    found = spread_by_groups(rows, grid, codes, alone, 2)
    assert rows.groups is not None

    def squares(values: Any, inside: Any) -> float:
        assert rows.groups is not None
        return sum(values[inside & (rows.groups == one)].sum() ** 2 for one in range(60))

    everywhere = np.ones(len(y), dtype=bool)
    own, spreads = rows.variances(), np.sqrt(rows.variances())
    most = squares(spreads, everywhere)
    correlation = (squares(rows.residuals(), everywhere) - own.sum()) / (most - own.sum())
    assert 0.1 < correlation < 0.9
    assert len(found) > 50
    for place in range(len(found)):
        inside = np.ones(len(y), dtype=bool)
        for member, code in grid.parts_of(int(found.combination[place]), int(found.cell[place])):
            inside &= codes[member] == code
        variance = own[inside].sum()
        typical = variance + correlation * (squares(spreads, inside) - variance)
        assert found.variance[place] == pytest.approx(max(typical, squares(rows.residuals(), inside)))
        assert 1 <= found.inflation[place] <= max(1.0, squares(spreads, inside) / variance) + 1e-9
    np.testing.assert_array_equal(found.range, alone.range)


def test_a_group_each_is_much_the_same_as_none() -> None:
    (y, p, X), _ = small_users()
    apart = trueup.audit(X, y, p, groups=np.arange(len(y)), max_depth=1)
    plain = trueup.audit(X, y, p, max_depth=1)
    assert (apart.n_groups, plain.n_groups) == (len(y), len(y))
    assert apart.ecce == plain.ecce
    assert plain.sigma <= apart.sigma < 1.2 * plain.sigma


def test_few_groups_are_warned_of() -> None:
    y, p = [1, 0] * 60, [0.5] * 120
    with pytest.warns(InsufficientDataWarning, match="groups has only 49 different values. With fewer than 50"):
        trueup.audit(None, y, p, groups=[row % 49 for row in range(120)])
    trueup.audit(None, y, p, groups=[row % 50 for row in range(120)])


@few_groups
def test_nothing_is_significant_in_a_single_group() -> None:
    y, p = [1] * 199 + [0], [0.1] * 200
    assert trueup.audit(None, y, p).significant
    result = trueup.audit(None, y, p, groups=["everybody"] * 200)
    assert not result.significant
    assert result.mce_p_value == 1


def test_neither_names_of_groups_nor_the_order_of_rows_nor_threads_matter() -> None:
    (y, p, X), groups = small_users()
    table = {**X, "user": np.array([f"user {one}" for one in groups]), "y": y, "p": np.round(p, 1)}
    options: dict[str, Any] = {"groups": "user", "max_depth": 2}
    found = trueup.audit(table, "y", "p", **options, n_jobs=1).to_dict(None)
    assert found["n_groups"] == 60
    assert not any("user" in segment["segment"] for segment in found["segments"])
    shuffled = np.random.default_rng(5).permutation(len(y))
    moved = {name: values[shuffled] for name, values in table.items()}
    assert trueup.audit(moved, "y", "p", **options, n_jobs=2).to_dict(None) == found


def test_rows_of_no_weight_and_their_groups_do_not_count() -> None:
    (y, p, X), groups = small_users()
    weights = np.where(groups < 5, 0.0, 1.5)
    kept = weights > 0
    options: dict[str, Any] = {"features": ["plan"], "max_depth": 1}
    found = trueup.audit(X, y, p, groups=groups, sample_weight=weights, **options)
    only = {name: values[kept] for name, values in X.items()}
    alone = trueup.audit(only, y[kept], p[kept], groups=groups[kept], sample_weight=weights[kept], **options)
    assert found.n_groups == 55
    assert found.to_dict() == alone.to_dict()


def test_trees_find_segments_among_other_groups_than_they_are_tested_on() -> None:
    (y, p, X), groups = rows_of_users(3, n_users=400, rows_per_user=10, off=0.3)
    result = trueup.audit(X, y, p, groups=groups, discover="tree", max_depth=1)
    audited = result._listing.audited
    assert audited is not None
    found = audited.grid.partitions[audited.grid.n_crossed :]
    assert found
    for partition in found:
        assert partition.among is not None
        assert not set(groups[partition.among]) & set(groups[~partition.among])


def test_wrong_scores_of_0_and_1_stay_certain_errors() -> None:
    y, p, groups = [0] * 99 + [1], [0.0] * 100, list(range(50)) * 2
    result = trueup.audit(None, y, p, groups=groups)
    assert result.significant
    assert result.segments["observed_low"].to_pylist()[0] < 0.01


def test_groups_need_draws_and_a_value_per_row() -> None:
    with pytest.raises(ParameterError, match=r"^With groups, .* pass null_samples of at least 19\.$"):
        trueup.audit(None, [0, 1], [0.5, 0.5], groups=["a", "b"], null_samples=0)
    with pytest.raises(trueup.errors.DataError, match="groups"):
        trueup.audit(None, [0, 1], [0.5, 0.5], groups=["a"])


@pytest.mark.slow
def test_true_scores_raise_few_alarms_however_users_err_together() -> None:
    # 5 % of 300 runs is 15, with a standard deviation of 3.8. Without groups, nearly every audit would alarm.
    runs, alarms, by_mce, without = 300, 0, 0, 0
    for seed in range(1_000, 1_000 + runs):
        (y, p, X), users = rows_of_users(seed)
        result = trueup.audit(X, y, p, groups=users, null_samples=99, random_state=seed, n_jobs=1)
        alarms += result.significant
        by_mce += result.mce_p_value <= 0.05
        if seed % 10 == 0:
            without += trueup.audit(X, y, p, null_samples=99, random_state=seed, n_jobs=1).significant
    assert 0.02 <= alarms / runs <= 0.08
    assert 0.02 <= by_mce / runs <= 0.08
    assert without >= 0.6 * runs / 10


@pytest.mark.slow
def test_a_planted_error_is_still_found() -> None:
    found = 0
    for seed in range(30):
        (y, p, X), users = rows_of_users(seed, off=0.25)
        result = trueup.audit(X, y, p, groups=users, null_samples=99, random_state=seed, n_jobs=1)
        first = result.segments.slice(0, 1).to_pylist()[0]
        found += result.significant and "site" in first["segment"]
    assert found >= 27
