"""Trees find what the grid misses, on rows that don't judge it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import trueup
from simulated import true_scores
from trueup._data import read_table
from trueup.auditing._discover import discover_segments


def wrong_in(inside: Any, p: Any, by: float, seed: int) -> Any:
    truth = np.clip(p + by * inside, 0.005, 0.995)
    return (np.random.default_rng(seed).random(len(p)) < truth).astype(int)


def test_a_cut_that_no_tercile_makes_is_found() -> None:
    _, p, X = true_scores(0, n=40_000)
    y = wrong_in(X["age"] < 3, p, 0.2, 1)  # 5 % of the rows; the lower tercile ends at 20
    row = trueup.audit(X, y, p, discover="tree", null_samples=20).segments.to_pylist()[0]
    assert row["segment"] == "age ≤ 2"
    assert row["adjusted_p_value"] <= 0.05
    # Tested on half of the rows: 1,000 of 20,000.
    assert 900 < row["rows"] < 1_100
    assert row["share"] == pytest.approx(0.05, abs=0.005)


def test_a_conjunction_deeper_than_the_grid_is_found() -> None:
    _, p, X = true_scores(1, n=60_000)
    inside = (X["device"] == "phone") & (X["plan"] != "pro") & (X["income"] > 0) & (X["age"] < 30)
    y = wrong_in(inside, p, 0.15, 2)
    found = trueup.audit(X, y, p, max_depth=1, discover="tree", null_samples=20)
    best = trueup.segments.parse_segment(found.segments["segment"][0].as_py()).mask(X)
    # Among all rows that are in one of the two, most are in both.
    assert (best & inside).sum() > 0.8 * (best | inside).sum()


def test_rare_categories_are_found_by_name() -> None:
    rng = np.random.default_rng(0)
    p, site = rng.uniform(0.2, 0.8, 40_000), np.array([f"s{i}" for i in range(30)])[rng.integers(0, 30, 40_000)]
    y = wrong_in(np.isin(site, ["s7", "s23"]), p, 0.15, 3)
    rows = trueup.audit({"site": site}, y, p, discover="tree", null_samples=20).segments.to_pylist()
    assert rows[0]["segment"] == "site in {s23, s7}"
    assert rows[0]["direction"] == "under-estimates"


def test_missing_values_are_found_and_named() -> None:
    rng = np.random.default_rng(1)
    p, age = rng.uniform(0.2, 0.8, 20_000), rng.uniform(18, 80, 20_000)
    age[rng.random(20_000) < 0.1] = np.nan
    y = wrong_in(np.isnan(age), p, 0.15, 4)
    rows = trueup.audit({"age": age}, y, p, max_depth=0, discover="tree", null_samples=20).segments.to_pylist()
    assert rows[0]["segment"] == "age is missing"


@pytest.mark.parametrize("seed", range(3))
def test_words_and_rows_agree_and_no_row_is_both_searched_and_tested(seed: int) -> None:
    y, p, X = true_scores(seed, n=3_000)
    X["site"] = np.where(np.arange(3_000) % 7 == 0, None, X["site"].astype(object))
    options: dict[str, Any] = {"features": None, "categorical_features": "from_dtype", "rows": None}
    found = discover_segments(
        read_table(X), y.astype(float), p, None, min_rows=10, n_threads=1, random_state=seed, **options
    )
    assert len(found) > 5
    for partition in found:
        assert partition.among is not None
        assert partition.among.sum() == 1_500
        inside = partition.parts[1].mask(X)
        assert np.array_equal(partition.codes == 1, inside & partition.among)


def test_weights_and_soft_labels_are_fine() -> None:
    _, p, X = true_scores(2, n=4_000)
    weights = np.random.default_rng(0).integers(0, 3, 4_000).astype(float)
    soft = np.clip(p + 0.1 * (X["age"] < 10), 0, 1)
    result = trueup.audit(X, soft, p, discover="tree", sample_weight=weights, null_samples=20)
    assert result.n == (weights > 0).sum()


def test_few_rows_are_not_searched() -> None:
    y, p, X = true_scores(3, n=50)
    found = trueup.audit(X, y, p, discover="tree", null_samples=20)
    assert found.n_segments == trueup.audit(X, y, p, null_samples=20).n_segments
