"""Packed features as a data set of LightGBM, without a copy of them as floats."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import lightgbm as lgb
import numpy as np
import numpy.typing as npt

from trueup._fitting._packed import PackedMatrix

__all__ = ["PACKED_PARAMETERS", "SAMPLE_ROWS", "packed_dataset", "reference_rows"]

Floats: TypeAlias = npt.NDArray[np.float64]
SAMPLE_ROWS = 200_000  # from which LightGBM finds bins, by its own default
_BATCH_ROWS = 65_536
# Bins are made from a sample, in which a feature may seem to have nothing to split that it has in all rows.
PACKED_PARAMETERS: dict[str, Any] = {"feature_pre_filter": False}


def packed_dataset(
    matrices: Sequence[PackedMatrix], parameters: dict[str, Any], reference: Floats | None = None
) -> lgb.Dataset:
    """The features of all rows, binned, without labels."""
    columns = matrices[0].columns
    if reference is None:
        reference = reference_rows(matrices[0], int(parameters.get("bin_construct_sample_cnt", SAMPLE_ROWS)))
    bins = lgb.Dataset(
        reference,
        categorical_feature=[place for place, column in enumerate(columns) if column.categorical],
        feature_name=[f"f{place}" for place in range(len(columns))],
        params={**parameters, "bin_construct_sample_cnt": len(reference)},
    )
    return lgb.Dataset(
        [_CodeRows(matrix) for matrix in matrices], reference=bins.construct(), params=bins.params
    ).construct()


def reference_rows(matrix: PackedMatrix, n_rows: int) -> Floats:
    """The codes of rows from which bins are made.

    One row at random from each of many stretches of the same length: a pattern that repeats in the order of the rows
    can't hide from them. A last row has what is missing anywhere, for a missing value needs a bin of its own.
    """
    n_rows = min(n_rows, matrix.n_rows)
    within = np.random.default_rng(0).random(n_rows) if n_rows < matrix.n_rows else np.zeros(n_rows)
    chosen = ((np.arange(n_rows) + within) * (matrix.n_rows / n_rows)).astype(np.int64)
    chosen = np.minimum(chosen, matrix.n_rows - 1)  # rounding may lead beyond the last
    rows = matrix.codes_of(chosen)
    some = rows[:1].copy()
    for place, column in enumerate(matrix.columns):
        if np.isnan(rows[:, place]).any():
            continue
        if (matrix.codes[place] == len(column.upper)).any():
            some[0, place] = np.nan
    return np.concatenate([rows, some])


class _CodeRows(lgb.Sequence):
    """The rows as LightGBM reads them: some at a time."""

    batch_size = _BATCH_ROWS

    def __init__(self, matrix: PackedMatrix) -> None:
        self._matrix = matrix

    def __len__(self) -> int:
        return self._matrix.n_rows

    def __getitem__(self, rows: Any) -> Floats:
        codes = self._matrix.codes_of(rows if isinstance(rows, slice) else np.atleast_1d(rows))
        return codes if isinstance(rows, (slice, list)) else codes[0]
