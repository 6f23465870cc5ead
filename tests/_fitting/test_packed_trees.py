"""Trees that grew on codes send every number of a table where its code went."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trueup._fitting import ColumnCodes, TrainingData, edges_of_sample
from trueup._fitting._lightgbm import LightGBMGrower
from trueup._fitting._packed import SAMPLE_ROWS, PackedMatrix, reference_rows
from trueup._fitting._parameters import growth_parameters
from trueup._model import Trees
from trueup._scoring import correction

SMALL = {"min_child_samples": 1, "min_data_per_group": 1, "cat_smooth": 1, "min_data_in_bin": 1, "n_estimators": 6}


def packed(matrix: np.ndarray, categorical: list[bool], labels: np.ndarray, most: int = 253) -> TrainingData:
    columns = [
        ColumnCodes.of_categories(int(np.nanmax(column, initial=-1)) + 1)
        if of_categories
        else ColumnCodes.of_numbers(edges_of_sample(column, most))
        for column, of_categories in zip(matrix.T, categorical, strict=True)
    ]
    codes = PackedMatrix.encode(columns, matrix)
    logits = np.linspace(-1, 1, len(labels))
    return TrainingData(codes, np.array(categorical, np.uint8), labels, logits, None, soft=False)


def grown(data: TrainingData, **params: Any) -> Trees:
    parameters = growth_parameters(
        {**SMALL, **params}, min_sum_hessian_in_leaf=0.0, n_features=data.n_features, monotone_score=False, seed=0
    )
    prepared = LightGBMGrower(data, parameters).prepare(None, threading.Event())
    return prepared.grow(data.base_logits, 1).trees


def of_numbers(trees: Trees, data: TrainingData, matrix: np.ndarray) -> np.ndarray:
    return correction(trees, data.categorical, np.asfortranarray(matrix), data.base_logits, 1)


def check_same_way(trees: Trees, data: TrainingData, matrix: np.ndarray) -> None:
    of_codes = data.corrections(trees, data.base_logits, None, 1)
    np.testing.assert_array_equal(of_numbers(trees, data, matrix), of_codes)


RNG = np.random.default_rng(0)
N = 500
MISSING = RNG.random(N) < 0.3
ODD_COLUMNS = {
    "many numbers": RNG.normal(size=N),
    "many numbers, some missing": np.where(MISSING, np.nan, RNG.normal(size=N)),
    "far above one, some missing": np.where(MISSING, np.nan, RNG.lognormal(8, 3, size=N)),
    "far below zero": -RNG.lognormal(8, 3, size=N),
    "one value": np.full(N, 7.0),
    "one value, some missing": np.where(MISSING, np.nan, 7.0),
    "nothing": np.full(N, np.nan),
    "infinities": RNG.choice([-np.inf, -3.0, 0.0, 2.0, np.inf], N),
    "infinities, some missing": np.where(MISSING, np.nan, RNG.choice([-np.inf, 2.0, np.inf], N)),
    "the largest floats": RNG.choice([-1.7e308, -1e301, 1.0, 1e299, 1.7e308], N),
    "the smallest floats": RNG.choice([-1e-40, -5e-324, 0.0, 5e-324, 1e-36, 1e-34], N),
    "neighbours": 1 + RNG.integers(0, 6, N) * np.finfo(float).eps,
    "few integers": RNG.integers(-3, 4, N).astype(float),
}


@pytest.mark.parametrize("name", ODD_COLUMNS)
@pytest.mark.parametrize("most", [3, 253])
def test_numbers_go_where_their_codes_went(name: str, most: int) -> None:
    column = ODD_COLUMNS[name]
    high = np.nan_to_num(column, nan=3.0) > np.nanmedian(np.append(column, 0.0))
    labels = (RNG.random(N) < np.where(MISSING, 0.95, np.where(high, 0.6, 0.1))).astype(float)
    matrix = np.column_stack([column, RNG.normal(size=N)])
    data = packed(matrix, [False, False], labels, most)
    trees = grown(data)
    clipped = np.clip(matrix, -1e300, 1e300)  # as a table is read
    check_same_way(trees, data, clipped)
    check_same_way(trees, data, matrix)  # as a row alone is read
    if name not in ("one value", "nothing"):
        assert (trees.split_feature == 0).any()


def test_what_parts_numbers_from_missing_values_has_no_upper_end() -> None:
    # All numbers of the sample are 7; when numbers beyond come, they are numbers as well, and not missing.
    matrix = np.where(MISSING, np.nan, 7.0).reshape(-1, 1)
    data = packed(matrix, [False], MISSING.astype(float))
    trees = grown(data)
    larger = np.where(MISSING, np.nan, 1e6).reshape(-1, 1)
    np.testing.assert_array_equal(of_numbers(trees, data, larger), of_numbers(trees, data, matrix))


@settings(max_examples=60)
@given(
    st.lists(st.floats(width=64) | st.sampled_from([0.0, 1.0, 2.0, np.nan]), min_size=40, max_size=80),
    st.integers(2, 12),
    st.integers(0, 2**32 - 1),
)
def test_any_numbers_go_where_their_codes_went(values: list[float], most: int, seed: int) -> None:
    column = np.array(values)
    labels = (np.random.default_rng(seed).random(len(column)) < 0.5).astype(float)
    labels[np.argsort(column)[: len(column) // 3]] = 1.0
    data = packed(column.reshape(-1, 1), [False], labels, most)
    check_same_way(grown(data, n_estimators=3), data, column.reshape(-1, 1))


@pytest.mark.parametrize(("n_categories", "n_bytes"), [(3, 1), (300, 2), (66_000, 4)])
def test_categories_go_where_their_codes_went(n_categories: int, n_bytes: int) -> None:
    n = 3_000
    rng = np.random.default_rng(n_categories)
    codes = rng.integers(0, n_categories, n).astype(float)
    codes[-1] = n_categories - 1
    labels = (rng.random(n) < np.where(codes % 3 == 0, 0.8, 0.1)).astype(float)
    codes[rng.random(n) < 0.1] = np.nan
    codes[-1] = n_categories - 1
    data = packed(codes.reshape(-1, 1), [True], labels)
    assert isinstance(data.matrix, PackedMatrix)
    assert data.matrix.codes[0].dtype.itemsize == n_bytes
    trees = grown(data)
    assert ((trees.split_feature == 0) & (trees.decision_type & 1).astype(bool)).any()
    check_same_way(trees, data, codes.reshape(-1, 1))


@pytest.mark.parametrize("kind", ["numbers", "categories"])
def test_trees_of_few_values_are_those_of_the_numbers_themselves(kind: str) -> None:
    rng = np.random.default_rng(3)
    n = 4_000
    values = rng.integers(0, 12, n)
    effect = np.array([0, 1, 0, 2, 2, 0, -1, -1, 0, 1, -2, 0.5])[values]
    labels = (rng.random(n) < 1 / (1 + np.exp(-effect))).astype(float)
    column = values.astype(float) if kind == "categories" else values * 2.5 - 10
    column = np.where(rng.random(n) < 0.1, np.nan, column)
    matrix = np.asfortranarray(np.column_stack([column, rng.integers(0, 5, n) / 4]))
    data = packed(matrix, [kind == "categories", False], labels)
    codes, numbers = grown(data, min_child_samples=20), grown(replace(data, matrix=matrix), min_child_samples=20)
    assert codes.n_splits > 20
    for name in ("node_offsets", "split_feature", "left_child", "right_child", "category_words"):
        np.testing.assert_array_equal(getattr(codes, name), getattr(numbers, name), err_msg=name)
    np.testing.assert_array_equal(codes.decision_type & 1, numbers.decision_type & 1)
    np.testing.assert_array_equal(codes.leaf_values, numbers.leaf_values)
    np.testing.assert_array_equal(of_numbers(codes, data, matrix), of_numbers(numbers, data, matrix))


def test_what_is_missing_only_outside_the_sample_still_goes_its_own_way() -> None:
    # 300,000 rows, of which LightGBM's bins come from 200,000; missing are three rows that are not among them.
    n = 300_000
    matrix = np.tile([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0]], (n // 3, 1))
    labels = np.zeros(n)
    labels[::5] = 1.0
    data = packed(matrix, [False, True], labels)
    assert isinstance(data.matrix, PackedMatrix)
    of_sample = reference_rows(data.matrix, SAMPLE_ROWS)
    assert len(of_sample) == SAMPLE_ROWS + 1
    for place, codes in enumerate(data.matrix.codes):
        outside = np.flatnonzero(~np.isin(np.arange(n), _sampled(data.matrix)))[place::7][:300]
        codes[outside] = len(data.matrix.columns[place].upper)
        labels[outside] = 1.0
    of_sample = reference_rows(data.matrix, SAMPLE_ROWS)
    assert np.isnan(of_sample[-1]).all()
    assert not np.isnan(of_sample[:-1]).any()
    trees = grown(data, min_child_samples=50)
    check_same_way(trees, data, data.matrix.numbers_of(slice(None)))
    added = data.corrections(trees, data.base_logits, None, 1)
    assert added[np.isnan(data.matrix.codes_of(slice(None))[:, 0])].min() > np.median(added) + 0.5


def _sampled(matrix: PackedMatrix) -> np.ndarray:
    """Which rows are the reference: a matrix whose codes are the numbers of rows tells."""
    n = matrix.n_rows
    numbered = PackedMatrix((ColumnCodes.of_categories(n),), (np.arange(n, dtype=np.uint32),), n)
    return reference_rows(numbered, SAMPLE_ROWS)[:-1, 0]


def test_the_rows_that_bins_come_from_are_spread_and_not_at_a_fixed_distance() -> None:
    n = 1_000_000
    chosen = _sampled(PackedMatrix((), (), n))
    assert len(chosen) == SAMPLE_ROWS
    assert (np.diff(chosen) > 0).all()
    assert np.diff(chosen).max() < 10  # one in every five rows
    assert set(chosen % 5) == {0, 1, 2, 3, 4}


def test_a_rare_value_that_all_rows_can_split_on_is_not_lost_with_the_sample() -> None:
    # 1 in 2,000: in the sample that bins come from fewer than a leaf needs, among all rows more.
    n = 600_000
    rare = np.zeros(n)
    rare[::2_000] = 1.0
    labels = (np.random.default_rng(0).random(n) < np.where(rare == 1, 0.9, 0.1)).astype(float)
    data = replace(packed(rare.reshape(-1, 1), [False], labels), base_logits=np.full(n, -2.2))
    assert (grown(data, min_child_samples=160, n_estimators=1).split_feature == 0).any()
