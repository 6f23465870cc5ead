"""Packed features as a data set of LightGBM, without a copy of them as floats."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import lightgbm as lgb
import numpy as np
import numpy.typing as npt

from trueup.training._packed import PackedMatrix

__all__ = ["PACKED_PARAMETERS", "SAMPLE_ROWS", "packed_dataset", "reference_rows"]

Floats: TypeAlias = npt.NDArray[np.float64]
SAMPLE_ROWS = 200_000  # from which LightGBM finds bins, by its own default
_BATCH_ROWS = 65_536
# Bins are made from a sample, in which a feature may seem to have nothing to split that it has in all rows.
PACKED_PARAMETERS: dict[str, Any] = {"feature_pre_filter": False}


def packed_dataset(
    matrices: Sequence[PackedMatrix], parameters: dict[str, Any], reference: Floats | None = None
) -> lgb.Dataset:
    """The features of all rows, binned, without labels.

    Parameters
    ----------
    matrices : sequence of PackedMatrix
        The features, in pieces of the same columns.
    parameters : dict
        LightGBM's.
    reference : float64 array, optional
        The rows from which bins are made; by default some of the first piece, from its beginning to its end.

    Returns
    -------
    lightgbm.Dataset
        Constructed.
    """
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
        [_Decoded(matrix) for matrix in matrices], reference=bins.construct(), params=bins.params
    ).construct()


def reference_rows(matrix: PackedMatrix, n_rows: int) -> Floats:
    """Rows from which bins are made, and one with what is missing anywhere: a missing value needs a bin of its own."""
    chosen = np.unique(np.linspace(0, matrix.n_rows - 1, min(n_rows, matrix.n_rows)).astype(np.int64))
    rows = matrix.numbers_of(chosen)
    some = rows[:1].copy()
    for place, column in enumerate(matrix.columns):
        if np.isnan(rows[:, place]).any():
            continue
        if (matrix.codes[place] == len(column.upper)).any():
            some[0, place] = np.nan
    return np.concatenate([rows, some])


class _Decoded(lgb.Sequence):
    """The rows as LightGBM reads them: some at a time."""

    batch_size = _BATCH_ROWS

    def __init__(self, matrix: PackedMatrix) -> None:
        self._matrix = matrix

    def __len__(self) -> int:
        return self._matrix.n_rows

    def __getitem__(self, rows: Any) -> Floats:
        numbers = self._matrix.numbers_of(rows if isinstance(rows, slice) else np.atleast_1d(rows))
        return np.ascontiguousarray(numbers if isinstance(rows, (slice, list)) else numbers[0])
