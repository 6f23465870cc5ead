"""All rows as one segment."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from trueup.auditing._power import detectable_sum
from trueup.metrics import brownian_range_survival, ecce
from trueup.segments import ScoredRows, certain_variance, evidence

__all__ = ["Whole", "whole_of"]


@dataclass(frozen=True)
class Whole:
    """Sums over all rows.

    Attributes
    ----------
    weight : float
        The sum of the weights.
    prevalence, mean_score : float
        What happened and what was promised.
    ecce : float
        The ECCE.
    variance : float
        Of the sum of weighted errors, if the scores are true; never quite 0.
    unit : float
        The typical weight of a row.
    certain : float
        The sum of the errors of scores that are exactly 0 or 1.
    min_variance : float
        Sigma is that of at least this variance, in squared units.
    """

    weight: float
    prevalence: float
    mean_score: float
    ecce: float
    variance: float
    unit: float
    certain: float
    min_variance: float

    @property
    def sigma(self) -> float:
        """The standard error of the ECCE."""
        return math.sqrt(max(self.variance, self.min_variance * self.unit**2)) / self.weight

    @property
    def ecce_sigma(self) -> float:
        """The ECCE in standard errors."""
        return self.ecce / self.sigma

    @property
    def p_value(self) -> float:
        """The chance of as much if the scores are true."""
        weight, unit = np.array([self.weight]), np.array([self.unit])
        of_range = evidence(self.ecce * weight, np.array([self.variance]), unit)
        of_certain = evidence(np.array([self.certain]), certain_variance(weight, unit), unit)
        return brownian_range_survival(max(self.ecce_sigma, float(of_range[0]), float(of_certain[0])))

    @property
    def effective_rows(self) -> float:
        """How many rows of equal weight would say as much."""
        return self.weight / self.unit

    def detectable(self, critical: float, power: float) -> float:
        """The error, as a share of all rows, that is found wherever it is."""
        return float(detectable_sum(np.array([self.variance]), np.array([self.unit]), critical, power)[0]) / self.weight


def whole_of(rows: ScoredRows, min_variance: float) -> Whole:
    """All rows as one segment."""
    weights = np.ones(rows.n) if rows.weights is None else rows.weights
    total, unit = rows.total_weight, float(weights @ weights) / rows.total_weight
    return Whole(
        weight=total,
        prevalence=float(weights @ rows.labels) / total,
        mean_score=float(weights @ rows.scores) / total,
        ecce=ecce(rows.labels, rows.scores, sample_weight=rows.weights),
        variance=max(float(rows.variances().sum()), float(certain_variance(np.array(total), np.array(unit)))),
        unit=unit,
        certain=float(rows.certain_errors().sum()),
        min_variance=float(min_variance),
    )
