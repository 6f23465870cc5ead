"""Every metric of both models, and what can be said of the difference."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from trueup.comparison._intervals import Intervals
from trueup.comparison._options import CompareOptions
from trueup.comparison._ranked import HALVED, halve, rank_rows, resample
from trueup.comparison._rows import LOSSES, PairedRows, paired_loss
from trueup.metrics import METRICS, Better

__all__ = ["MetricDifference", "measure_metrics", "with_role"]

# What a guardrail may lose by default: of the base's own value, as an absolute number, or of the rarer class's rate.
_OF_BASE = {"log_loss": 0.01, "brier": 0.01, "prauc": 0.02}
_ABSOLUTE = {"auroc": 0.005, "mce": 1.0}
_OF_RARER_CLASS = {"ecce": 0.05, "ece": 0.05}


@dataclass(frozen=True)
class MetricDifference:
    """A metric of both models."""

    metric: str
    base: float
    candidate: float
    low: float = math.nan  # the interval for the candidate's minus the base's; NaN without one
    high: float = math.nan
    p_value: float = math.nan  # the chance of a difference at least as far from 0 if there is none
    role: str = "shown"  # or "primary", or "guardrail"
    margin: float = math.nan  # by how much a guardrail may be worse

    @property
    def difference(self) -> float:
        """The candidate's value minus the base's."""
        return self.candidate - self.base

    @property
    def better(self) -> Better:
        """Which values are better."""
        return METRICS[self.metric].better

    @property
    def loss(self) -> float:
        """How much worse the candidate is; below 0 if it is better."""
        return -self.difference if self.better == "higher" else self.difference

    @property
    def worst(self) -> float:
        """The end of the interval at which the candidate looks worst, as how much worse it is."""
        return -self.low if self.better == "higher" else self.high

    @property
    def best(self) -> float:
        """The end of the interval at which the candidate looks best, as how much worse it is."""
        return -self.high if self.better == "higher" else self.low

    @property
    def outcome(self) -> str:
        """Whether the candidate improves or worsens it, beyond what noise explains."""
        if self.worst < 0:
            return "improves"
        return "worsens" if self.best > 0 else "unclear"


def measure_metrics(
    rows: PairedRows, options: CompareOptions, n_threads: int, advance: Callable[[int], None]
) -> list[MetricDifference]:
    """All metrics but the MCE, with their intervals."""
    interval = Intervals(rows, options.significance)
    found = []
    for name in LOSSES:
        loss = paired_loss(rows, name)
        low, high, p_value = interval.normal(loss.mean_difference, loss.standard_error)
        candidate = loss.mean_base + loss.mean_difference
        found.append(MetricDifference(name, loss.mean_base, candidate, low, high, p_value))
    drawing: dict[str, Any] = {"seed": options.random_state, "n_threads": n_threads, "advance": advance}
    measured, drawn, sigmas = [], [], 0.0
    for scores in (rows.base, rows.candidate):
        model = rank_rows(rows, scores)
        measured.append(model.measured())
        sigmas = max(sigmas, model.ecce_in_sigmas())
        replicates = resample(model, n_replicates=options.n_bootstrap, **drawing)
        drawn.append(replicates | halve(model, n_splits=options.n_splits, **drawing))
    for name in ("prauc", "auroc", "ecce", "ece"):
        values = [one[name] for one in measured]
        difference, varied = values[1] - values[0], drawn[1][name] - drawn[0][name]
        halved = name in HALVED
        ends = interval.of_halves(difference, varied, sigmas) if halved else interval.spread(difference, varied)
        found.append(MetricDifference(name, values[0], values[1], *ends))
    prevalence = rows.mean(rows.labels)
    return [with_role(metric, options, prevalence) for metric in found]


def with_role(metric: MetricDifference, options: CompareOptions, prevalence: float) -> MetricDifference:
    """The same metric, with what it is to the verdict."""
    name = metric.metric
    if name == options.primary:
        return replace(metric, role="primary")
    if name not in options.guardrails:
        return metric
    rarer = min(prevalence, 1 - prevalence)
    default = _ABSOLUTE.get(name, _OF_BASE.get(name, 0.0) * metric.base + _OF_RARER_CLASS.get(name, 0.0) * rarer)
    return replace(metric, role="guardrail", margin=float(options.margins.get(name, default)))
