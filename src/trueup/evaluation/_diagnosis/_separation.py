"""How well a number tells two groups of rows apart."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from trueup.evaluation._diagnosis._sides import Floats

__all__ = ["Separation", "mean_separation", "separation"]

_NORMAL = NormalDist()


@dataclass(frozen=True)
class Separation:
    """The chance that a row of one group has a higher number than a row of the other, and its standard error."""

    auc: float
    standard_error: float

    @property
    def p_value(self) -> float:
        """The chance of at least as high a value if the number says nothing about the group."""
        if self.standard_error == 0:
            return 1.0 if self.auc <= 0.5 else 0.0
        return 1 - _NORMAL.cdf((self.auc - 0.5) / self.standard_error)

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Where the value lies with that chance."""
        reach = _NORMAL.inv_cdf((1 + confidence) / 2) * self.standard_error
        return max(0.0, self.auc - reach), min(1.0, self.auc + reach)


def separation(numbers: Floats, of_first: Floats, of_second: Floats) -> Separation:
    """How often the second group has the higher number; a tie counts half.

    Parameters
    ----------
    numbers : array of float64
        A number a row, none missing.
    of_first, of_second : array of float64
        How much of each row belongs to the groups: its weight in the one that it is in, and 0 in the other.

    Returns
    -------
    Separation
        The weighted AUC.

    Notes
    -----
    DeLong's variance: a row's placement is the share of the other group below it, and the AUC is the mean of
    the placements in either group. With weights the variance of either mean is ``Σ w² (v - AUC)² / (Σ w)²``.
    """
    order = np.argsort(numbers, kind="stable")
    values, first, second = numbers[order], of_first[order], of_second[order]
    starts = np.flatnonzero(np.concatenate(([True], values[1:] != values[:-1])))
    sizes = np.diff(starts, append=len(values))
    first_total, second_total = float(first.sum()), float(second.sum())

    def share_below(weights: Floats, total: float) -> Floats:
        """Which share of a group lies below each row, a tie counting half."""
        tied = np.add.reduceat(weights, starts)
        return np.repeat((np.cumsum(tied) - tied / 2) / total, sizes)

    of_seconds = share_below(first, first_total)
    of_firsts = 1 - share_below(second, second_total)
    auc = float((second * of_seconds).sum() / second_total)
    variance = float((second**2 * (of_seconds - auc) ** 2).sum() / second_total**2)
    variance += float((first**2 * (of_firsts - auc) ** 2).sum() / first_total**2)
    return Separation(auc, math.sqrt(variance))


def mean_separation(parts: list[Separation]) -> Separation:
    """The mean of several folds, each of which was held out of what was learned on the others.

    Notes
    -----
    The folds are not independent: where two of them differ from train to test in the same way by chance, either
    confirms what was learned on the other. If d_k is the chance difference of fold k along the direction that
    is learned, fold k's excess is d_k times the sum of the others, and the sum over k counts each product
    d_j d_k twice. That doubles the variance that independent folds would have.
    """
    auc = sum(part.auc for part in parts) / len(parts)
    return Separation(auc, math.sqrt(2 * sum(part.standard_error**2 for part in parts)) / len(parts))
