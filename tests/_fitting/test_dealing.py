"""In which fold a row is: decided by its group alone, wherever the row is."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trueup._data import hash_column
from trueup._fitting import Dealing, dealing_for
from trueup._fitting._splits import AUTO_FOLDS_MAX_ROWS
from trueup.errors import ParameterError

USERS = [f"user-{number}" for number in range(500)]


@settings(max_examples=30)
@given(st.integers(0, 2**32), st.floats(0.01, 0.99), st.integers(7, 50))
def test_no_row_changes_its_fold_when_the_files_are_cut_otherwise(seed: int, fraction: float, size: int) -> None:
    dealing, users = dealing_for(fraction, 10**7, seed), USERS[:60]
    of_user = dict(zip(users, dealing.by_hash(hash_column(users)).tolist(), strict=True))
    again = np.random.default_rng(seed).permutation(users * 2).tolist()
    for first in range(0, len(again), size):
        piece = pa.array(again[first : first + size]).dictionary_encode()
        assert dealing.by_hash(hash_column(piece)).tolist() == [of_user[user] for user in again[first : first + size]]


IN_ANOTHER_PROCESS = """
import pyarrow as pa
from trueup._fitting import dealing_for
from trueup._data import hash_column
users = pa.array([f"user-{number}" for number in range(499, -1, -1)]).dictionary_encode()
for validation in (0.2, 5):
    print(dealing_for(validation, 10**7, 42).by_hash(hash_column(users)).tolist()[::-1])
"""


def test_two_processes_agree_on_the_fold_of_every_row() -> None:
    environment = {**os.environ, "PYTHONHASHSEED": "random"}
    told = subprocess.run(
        [sys.executable, "-c", IN_ANOTHER_PROCESS], env=environment, capture_output=True, text=True, check=True
    )
    expected = [dealing_for(validation, 10**7, 42).by_hash(hash_column(USERS)).tolist() for validation in (0.2, 5)]
    assert told.stdout.splitlines() == [str(folds) for folds in expected]


def test_a_hold_out_has_its_share_of_the_groups_and_folds_have_the_same_each() -> None:
    hashes = hash_column(np.arange(100_000))
    held_out = (dealing_for(0.2, 10**7, 1).by_hash(hashes) == 0).sum()
    assert abs(held_out - 20_000) < 5 * 126.5  # the standard deviation is sqrt(100,000 · 0.2 · 0.8)
    folds = np.bincount(dealing_for(5, 10**7, 1).by_hash(hashes), minlength=5)
    assert len(folds) == 5
    assert abs(folds - 20_000).max() < 5 * 126.5


@pytest.mark.parametrize(("n_groups", "validation"), [(5, 5), (14, 5), (100, 7), (2, 0.2), (10, 0.3)])
def test_few_groups_are_dealt_in_turn_so_that_no_fold_is_empty(n_groups: int, validation: Any) -> None:
    groups = hash_column(np.arange(1_000) % n_groups)
    for seed in range(20):
        dealing = dealing_for(validation, 1_000, seed)
        splits = dealing.splits(np.tile([0.0, 1.0], 500), soft=True, groups=groups)
        assert not isinstance(splits, str)
        sizes = [len(set(groups[valid])) for _, valid in splits]
        if isinstance(validation, int):
            assert max(sizes) - min(sizes) <= 1
            assert sum(sizes) == n_groups
        else:
            assert sizes == [max(1, round(validation * n_groups))]
        assert all(not set(groups[train]) & set(groups[valid]) for train, valid in splits)


def test_another_seed_holds_out_others() -> None:
    hashes = hash_column(np.arange(10_000))
    one, other = (dealing_for(0.5, 10**7, seed).by_hash(hashes) for seed in (1, 2))
    assert abs((one == other).mean() - 0.5) < 5 * 0.005


@given(st.integers(2, 100))
def test_every_hash_has_a_fold(n_folds: int) -> None:
    ends = np.array([0, 1, 2**63, 2**64 - 1], np.uint64)
    folds = Dealing(n_folds, 0.0, 0).by_hash(np.concatenate([ends, hash_column(np.arange(200))]))
    assert folds.min() >= 0
    assert folds.max() < n_folds


def test_auto_is_five_folds_up_to_a_million_rows_and_a_hold_out_above() -> None:
    assert dealing_for("auto", AUTO_FOLDS_MAX_ROWS, 0).n_folds == 5
    assert dealing_for("auto", AUTO_FOLDS_MAX_ROWS + 1, 0) == Dealing(1, 0.2, 0)
    assert list(dealing_for(None, 10, 0).folds) == []


@pytest.mark.parametrize("validation", [0, 1, 101, -3, 0.0, 1.0, float("nan"), True, "folds", [0.2], object()])
def test_a_validation_that_deals_no_rows_is_refused(validation: Any) -> None:
    with pytest.raises(ParameterError, match="validation"):
        dealing_for(validation, 100, 0)
