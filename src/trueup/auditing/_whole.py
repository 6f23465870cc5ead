"""All rows as one segment."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from trueup.auditing._power import detectable_sum
from trueup.metrics import ecce
from trueup.segments import ScoredRows

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
        Of the sum of weighted errors, if the scores are true.
    unit : float
        The typical weight of a row.
    """

    weight: float
    prevalence: float
    mean_score: float
    ecce: float
    variance: float
    unit: float

    @property
    def sigma(self) -> float:
        """The standard error of the ECCE."""
        return math.sqrt(self.variance) / self.weight

    @property
    def ecce_sigma(self) -> float:
        """The ECCE in standard errors."""
        if self.sigma > 0:
            return self.ecce / self.sigma
        return math.inf if self.ecce > 0 else 0.0

    @property
    def effective_rows(self) -> float:
        """How many rows of equal weight would say as much."""
        return self.weight / self.unit

    def detectable(self, critical: float, power: float) -> float:
        """The error, as a share of all rows, that is found wherever it is."""
        if self.variance == 0:
            return math.nan
        return float(detectable_sum(np.array([self.variance]), np.array([self.unit]), critical, power)[0]) / self.weight


def whole_of(rows: ScoredRows) -> Whole:
    """All rows as one segment."""
    weights = np.ones(rows.n) if rows.weights is None else rows.weights
    total = rows.total_weight
    return Whole(
        weight=total,
        prevalence=float(weights @ rows.labels) / total,
        mean_score=float(weights @ rows.scores) / total,
        ecce=ecce(rows.labels, rows.scores, sample_weight=rows.weights),
        variance=float(rows.variances().sum()),
        unit=float(weights @ weights) / total,
    )
