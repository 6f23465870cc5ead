"""How a column differs between train and test, in words."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from trueup.evaluation._diagnosis._joined import JoinedColumn, Measure
from trueup.evaluation._diagnosis._separation import separation
from trueup.evaluation._diagnosis._sides import Floats
from trueup.evaluation._diagnosis._survey import Sample
from trueup.evaluation._diagnosis._words import percent, short, shown_value

__all__ = ["Difference", "difference_of"]

_TOGETHER = 0.02
_SHIFT = 0.1  # of a standard deviation


@dataclass(frozen=True)
class Difference:
    """What is different about a column.

    Attributes
    ----------
    column : str
        Its name.
    statistic : str
        What was compared.
    size : float
        By how much the sides differ, from 0 for not at all to 1 for nothing in common.
    words : str
        The same in words.
    """

    column: str
    statistic: str
    size: float
    words: str

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {"column": self.column, "statistic": self.statistic, "size": self.size, "words": self.words}


def difference_of(column: JoinedColumn, sample: Sample) -> Difference:
    """The largest difference of a column between the two sides of the sample."""
    missing = np.isnan(column.values)
    shares = tuple(
        float(np.average(missing[side], weights=sample.weights[side])) for side in _sides(sample.n_train, len(missing))
    )
    gap = abs(shares[1] - shares[0])
    of_values = _of_categories(column, sample) if column.measure is Measure.CATEGORY else _of_amounts(column, sample)
    if of_values is None or gap > of_values.size:
        words = f"{column.name!r}: missing in {percent(shares[0])} of train, {percent(shares[1])} of test"
        return Difference(column.name, "missing", gap, words)
    if of_values.size < _TOGETHER:
        return Difference(column.name, "together", of_values.size, f"{column.name!r}: only together with other columns")
    return of_values


def _sides(n_train: int, n: int) -> tuple[slice, slice]:
    return slice(0, n_train), slice(n_train, n)


def _of_categories(column: JoinedColumn, sample: Sample) -> Difference | None:
    there = ~np.isnan(column.values)
    codes = column.values[there].astype(np.int64)
    shares = []
    for weights in (sample.of_train, sample.of_test):
        if not weights[there].any():
            return None
        shares.append(np.bincount(codes, weights[there], minlength=len(column.categories)) / weights.sum())
    gaps = shares[1] - shares[0]
    most = int(np.argmax(np.abs(gaps)))
    words = (
        f"{column.name!r}: {shown_value(column.value(most))} in {percent(shares[0][most])} of train, "
        f"{percent(shares[1][most])} of test"
    )
    # Every rare category differs a little by chance, so the size counts what the largest gap shows, not all of them.
    return Difference(column.name, "share", float(abs(gaps[most])), words)


def _of_amounts(column: JoinedColumn, sample: Sample) -> Difference | None:
    there = ~np.isnan(column.values)
    values, first, second = column.values[there], sample.of_train[there], sample.of_test[there]
    if not first.any() or not second.any():
        return None
    size = _largest_gap(values, first, second)
    if column.measure is Measure.TIME:
        moments = [shown_value(column.value(float(np.median(values[side > 0])))) for side in (first, second)]
        return Difference(column.name, "median", size, _beside(column.name, "median", moments))
    means = [float(np.average(values, weights=side)) for side in (first, second)]
    spreads = [
        math.sqrt(float(np.average((values - mean) ** 2, weights=side)))
        for mean, side in zip(means, (first, second), strict=True)
    ]
    moved = abs(separation(values, first, second).auc - 0.5)
    if abs(means[1] - means[0]) >= _SHIFT * max(spreads) > 0:
        return Difference(column.name, "mean", size, _beside(column.name, "mean", _distinct(means)))
    if moved >= _SHIFT / 3:  # skewed, so that the means hide it
        middles = [float(np.median(values[side > 0])) for side in (first, second)]
        if middles[0] != middles[1]:
            return Difference(column.name, "median", size, _beside(column.name, "median", _distinct(middles)))
    return Difference(column.name, "spread", size, _beside(column.name, "standard deviation", _distinct(spreads)))


def _beside(name: str, what: str, values: list[str]) -> str:
    return f"{name!r}: {what} {values[0]} in train, {values[1]} in test"


def _distinct(numbers: list[float]) -> list[str]:
    """Both numbers with as few digits as tell them apart."""
    told = [short(number) for number in numbers]
    return told if told[0] != told[1] else [f"{number:.4g}" for number in numbers]


def _largest_gap(values: Floats, first: Floats, second: Floats) -> float:
    """The statistic of Kolmogorov and Smirnov: the largest gap between the two distributions."""
    order = np.argsort(values, kind="stable")
    ends = np.flatnonzero(np.append(values[order][1:] != values[order][:-1], True))
    gaps = np.cumsum(second[order] / second.sum()) - np.cumsum(first[order] / first.sum())
    return float(np.abs(gaps[ends]).max())
