"""Which rows train and which ones test: at random, by group, or in time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from trueup._data import Column
from trueup.errors import DataError, ParameterError
from trueup.evaluation._times import Times, time_in_words

__all__ = [
    "Codes",
    "Split",
    "SplitKind",
    "check_share",
    "group_codes",
    "split_at_random",
    "split_by_group",
    "split_in_time",
]

BoolArray: TypeAlias = npt.NDArray[np.bool_]
Codes: TypeAlias = npt.NDArray[np.int64]
SplitKind: TypeAlias = Literal["random", "group", "time"]


@dataclass(frozen=True, eq=False)
class Split:
    """Which rows test, and how they were chosen.

    Attributes
    ----------
    kind : "random", "group" or "time"
        How.
    test : array of bool
        The rows that test; the others train.
    """

    kind: SplitKind
    test: BoolArray


def check_share(test_size: Any) -> float:
    """A share of rows between 0 and 1, or an error."""
    is_number = isinstance(test_size, (int, float, np.number)) and not isinstance(test_size, bool)
    if not is_number or not 0 < test_size < 1:
        raise ParameterError(f"test_size must be a share of the rows between 0 and 1, got {test_size!r}.")
    return float(test_size)


def split_at_random(labels: npt.NDArray[np.float64], *, soft: bool, test_size: float, seed: int) -> Split:
    """Draw the rows that test; both classes in the same proportion, if there are classes."""
    generator = np.random.default_rng(seed)
    test = np.zeros(len(labels), dtype=bool)
    for members in [np.arange(len(labels))] if soft else [np.flatnonzero(labels == value) for value in (0, 1)]:
        drawn = generator.permutation(members)
        test[drawn[: round(test_size * len(drawn))]] = True
    return Split("random", test)


def split_by_group(codes: Codes, counts: BoolArray, *, test_size: float, seed: int, what: str) -> Split:
    """Draw groups until they have about as many rows as are to test; no group is on both sides.

    Parameters
    ----------
    codes : array of int
        The group of each row, numbered in the order of their values: so the split does not depend on the order
        of the rows.
    counts : array of bool
        The rows that have a weight.
    test_size : float
        The share of rows to test on.
    seed : int
        For the draw.
    what : str
        What messages call the groups.
    """
    sizes = np.bincount(codes[counts], minlength=int(codes.max()) + 1)
    there = np.flatnonzero(sizes)
    if len(there) < 2:
        raise DataError(f"{what} has one value only in all rows, so there are no two sides. Name another column.")
    drawn = np.random.default_rng(seed).permutation(there)
    n_groups = _nearest(np.cumsum(sizes[drawn]), test_size)
    chosen = np.zeros(len(sizes), dtype=bool)
    chosen[drawn[:n_groups]] = True
    return Split("group", chosen[codes])


def split_in_time(times: Times, counts: BoolArray, *, test_size: float, what: str) -> Split:
    """Test on the latest rows, about as many as are to test; no moment is on both sides.

    Where there are few distinct times, such as years, those are whole years.
    """
    moments, sizes = np.unique(times[counts], return_counts=True)
    if len(moments) < 2:
        raise DataError(
            f"{what} is {time_in_words(moments[0])} in all rows, so none is later than another. Name another column, "
            "or leave it out: then rows are drawn at random."
        )
    n_latest = _nearest(np.cumsum(sizes[::-1]), test_size)
    return Split("time", times >= moments[len(moments) - n_latest])


def _nearest(cumulated: npt.NDArray[Any], share: float) -> int:
    """How many parts come nearest to a share of all; at least one, and not all."""
    distance = np.abs(cumulated[:-1] - share * cumulated[-1])
    return int(np.argmin(distance)) + 1


def group_codes(column: Column, what: str) -> Codes:
    """Number the values of a column, whatever the order of the rows; a missing one is an error."""
    values = column.objects()
    missing = np.fromiter((value is None for value in values), bool, len(values))
    if missing.any():
        first = int(np.argmax(missing))
        raise DataError(
            f"{what}: {int(missing.sum()):,} of {len(values):,} values are missing (first at row {first:,}), and it "
            "is unknown which of those rows belong together. Drop them, or fill the values."
        )
    # Any order will do that the order of the rows has no part in; not all values can be compared.
    distinct = sorted(set(values.tolist()), key=repr)
    places = {value: place for place, value in enumerate(distinct)}
    return np.fromiter((places[value] for value in values.tolist()), np.int64, len(values))
