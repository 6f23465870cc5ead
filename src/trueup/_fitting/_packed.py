"""Features as small codes: one byte per value, or two or four if a feature has too many values for that.

A table of floats takes eight bytes per value, but LightGBM tells only some hundred values of a feature apart. So
numbers are cut into intervals before a fit, and only each number's interval stays in memory. Trees are grown on the
intervals; then each threshold becomes the upper end of an interval, so that plain numbers go the same way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import lightgbm as lgb
import numpy as np
import numpy.typing as npt

from trueup._model import Trees

Floats: TypeAlias = npt.NDArray[np.float64]
Codes: TypeAlias = npt.NDArray[np.unsignedinteger]
_LARGEST = 1e300  # a table's numbers are cut there
_CATEGORICAL_SPLIT = 1  # the bit of a split's decision type that says so


@dataclass(frozen=True, eq=False)
class ColumnCodes:
    """What the codes of a feature mean."""

    # For numbers, the upper ends of the intervals, ascending, the last beyond all others. For categories, their codes
    # from 0 on. The next code after the last one is a missing value.
    upper: Floats
    categorical: bool

    @classmethod
    def of_categories(cls, n_categories: int) -> ColumnCodes:
        """The codes of a categorical feature."""
        return cls(np.arange(n_categories, dtype=np.float64), categorical=True)

    @classmethod
    def of_numbers(cls, edges: Floats) -> ColumnCodes:
        """The codes of numbers that are cut at these edges, each the upper end of an interval."""
        beyond = 2 * edges[-1] + 1 if len(edges) and edges[-1] > 0 else 1.0
        return cls(np.append(edges, beyond), categorical=False)

    @property
    def dtype(self) -> np.dtype[np.unsignedinteger]:
        """The smallest type that holds every code."""
        return np.min_scalar_type(len(self.upper))

    @cached_property
    def decoded(self) -> Floats:
        """The number that stands for each code: an interval's upper end, a category, or NaN."""
        return np.append(self.upper, np.nan)

    def encode(self, numbers: Floats) -> Codes:
        """The codes of numbers or categories; NaN is missing."""
        missing = np.isnan(numbers)
        if self.categorical:
            codes = np.where(missing, len(self.upper), numbers).astype(self.dtype)
        else:
            codes = np.searchsorted(self.upper[:-1], numbers, side="left").astype(self.dtype)
            codes[missing] = len(self.upper)
        return codes


@dataclass(frozen=True, eq=False)
class PackedMatrix:
    """A matrix of features as codes."""

    columns: tuple[ColumnCodes, ...]
    codes: tuple[Codes, ...]
    n_rows: int

    @classmethod
    def encode(cls, columns: Sequence[ColumnCodes], matrix: Floats) -> PackedMatrix:
        """Pack a matrix of numbers."""
        codes = tuple(column.encode(matrix[:, place]) for place, column in enumerate(columns))
        return cls(tuple(columns), codes, len(matrix))

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and features."""
        return self.n_rows, len(self.columns)

    def numbers_of(self, rows: npt.NDArray[np.integer] | slice) -> Floats:
        """Some rows as numbers, in Fortran order."""
        n = len(range(*rows.indices(self.n_rows))) if isinstance(rows, slice) else len(rows)
        taken = np.empty((n, len(self.columns)), order="F")
        for place, (column, codes) in enumerate(zip(self.columns, self.codes, strict=True)):
            np.take(column.decoded, codes[rows], out=taken[:, place])
        return taken

    def codes_of(self, rows: npt.NDArray[np.integer] | slice) -> Floats:
        """The codes of some rows as floats, NaN where missing, in C order: what trees are grown on."""
        n = len(range(*rows.indices(self.n_rows))) if isinstance(rows, slice) else len(rows)
        taken = np.empty((n, len(self.columns)))
        for place, (column, codes) in enumerate(zip(self.columns, self.codes, strict=True)):
            of_rows = codes[rows]
            taken[:, place] = of_rows
            taken[of_rows == len(column.upper), place] = np.nan
        return taken


def with_real_thresholds(trees: Trees, columns: Sequence[ColumnCodes]) -> Trees:
    """Trees grown on codes, made to split numbers: a threshold becomes the upper end of the last interval on its left.

    The very last interval has no end; a threshold there only parts numbers from missing values, and becomes infinite.
    """
    thresholds = trees.threshold.copy()
    numerical = (trees.decision_type & _CATEGORICAL_SPLIT) == 0
    for place, column in enumerate(columns):
        at = numerical & (trees.split_feature == place)
        if at.any():
            ends = np.concatenate([[-_LARGEST], column.upper[:-1], [np.inf]])
            last_on_the_left = np.clip(np.floor(thresholds[at]), -1, len(column.upper) - 1)
            thresholds[at] = ends[last_on_the_left.astype(np.intp) + 1]
    return replace(trees, threshold=thresholds)


def edges_of_sample(numbers: Floats, most: int) -> Floats:
    """Where to cut numbers into at most `most` intervals, learned from a sample of them.

    If there are few distinct numbers, each gets an interval, cut half-way between neighbours. Otherwise intervals hold
    about equally many rows, and a number that alone has more than twice as many gets an interval of its own.

    Examples
    --------
    >>> import numpy as np
    >>> edges_of_sample(np.array([1.0, 2.0, 2.0, 4.0, np.nan]), most=255).tolist()
    [1.5, 3.0]
    >>> edges_of_sample(np.arange(100.0), most=4).tolist()
    [24.5, 49.5, 74.5]
    """
    numbers = np.clip(numbers[~np.isnan(numbers)], -_LARGEST, _LARGEST)
    distinct, counts = np.unique(numbers, return_counts=True)
    if len(distinct) < 2:
        return np.empty(0)
    half_way = distinct[:-1] + (distinct[1:] - distinct[:-1]) / 2
    # Between neighbouring floats there is nothing half-way: rounding may give the upper one, which must stay outside.
    half_way = np.where(half_way < distinct[1:], half_way, distinct[:-1])
    if len(distinct) <= most:
        return half_way
    return half_way[_last_of_intervals(counts, most)]


def _last_of_intervals(counts: npt.NDArray[np.intp], most: int) -> npt.NDArray[np.intp]:
    """The place of the last value in each interval but the last, filled evenly from the least value up."""
    upto = np.cumsum(counts, dtype=np.float64)  # as floats, or every search below would convert all of them
    lasts: list[int] = []
    first, done = 0, 0
    for intervals in range(most, 1, -1):
        share = (upto[-1] - done) / intervals
        last = int(np.searchsorted(upto, done + share))
        if last > first and upto[last] - done >= 2 * share:
            last -= 1  # this value would overfill the interval, so it gets one of its own
        if last >= len(counts) - 1:
            break
        lasts.append(last)
        first, done = last + 1, int(upto[last])
    return np.array(lasts, dtype=np.intp)


SAMPLE_ROWS = 200_000  # from which bins are made, as by LightGBM's own default
_BATCH_ROWS = 65_536
# A feature that is constant in the sample of rows from which bins are made may still vary among all rows.
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
    """The codes of the rows from which bins are made.

    They are one random row from each of many equal stretches, so that a pattern which repeats in the order of the rows
    can't hide. In one more row, every feature is missing that is missing anywhere: missing values need a bin.
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
    """The rows as LightGBM reads them, some at a time."""

    batch_size = _BATCH_ROWS

    def __init__(self, matrix: PackedMatrix) -> None:
        self._matrix = matrix

    def __len__(self) -> int:
        return self._matrix.n_rows

    def __getitem__(self, rows: Any) -> Floats:
        codes = self._matrix.codes_of(rows if isinstance(rows, slice) else np.atleast_1d(rows))
        return codes if isinstance(rows, (slice, list)) else codes[0]
