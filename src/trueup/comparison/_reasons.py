"""The rules of the verdict, and why it is what it is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Any

from trueup.comparison._metrics import MetricDifference
from trueup.metrics import METRICS

__all__ = ["Facts", "Reason", "reasons_of", "verdict_of"]


@dataclass(frozen=True)
class Reason:
    """One of the conditions for shipping, and whether it holds.

    Attributes
    ----------
    code : str
        What was found, for programs.
    kind : {"primary", "guardrail", "segment", "data"}
        What it is about.
    holds : bool
        Whether it speaks for shipping.
    text : str
        The same for people.
    values : dict
        The numbers that it rests on.

    Examples
    --------
    >>> import trueup
    >>> trueup.compare(None, [0, 1] * 50, [0.5] * 100, [0.5] * 100).reasons[-1].code
    'identical_scores'
    """

    code: str
    kind: str
    holds: bool
    text: str
    values: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Facts:
    """What the verdict rests on besides the metrics."""

    n_groups: int  # how many groups there are, or rows if these are not grouped
    is_grouped: bool
    is_identical: bool  # whether both models give every row the same score
    n_segments: int  # segments that were tested
    harmed: Sequence[str]  # segments that are significantly worse, worst first
    significance: float
    power: float  # the chance with which a difference is to be found

    @property
    def unit(self) -> str:
        """What is counted."""
        return "groups" if self.is_grouped else "rows"


def verdict_of(reasons: Sequence[Reason]) -> str:
    """Ship if every condition holds, keep if one fails clearly, else inconclusive."""
    if any(reason.code in ("primary_worsens", "guardrail_fails", "segment_harmed") for reason in reasons):
        return "keep"
    return "ship" if all(reason.holds for reason in reasons) else "inconclusive"


def reasons_of(metrics: Sequence[MetricDifference], facts: Facts) -> tuple[Reason, ...]:
    """The conditions for shipping one by one: the primary metric, the guardrails, the segments, the data."""
    primary = next(metric for metric in metrics if metric.role == "primary")
    guardrails = [metric for metric in metrics if metric.role == "guardrail"]
    reasons = [_primary(primary, facts), *(_guardrail(metric, facts) for metric in guardrails), _segments(facts)]
    return (*reasons, *_data(primary, facts, all(reason.holds for reason in reasons)))


def _primary(metric: MetricDifference, facts: Facts) -> Reason:
    outcome = metric.outcome
    verb = {"improves": "improves", "worsens": "worsens", "unclear": "does not change by more than noise explains"}
    name = METRICS[metric.metric].subject
    text = f"{name} {verb[outcome]}: {metric.base:.5g} → {metric.candidate:.5g}{_interval(metric)}."
    values = {**_values(metric), "significance": facts.significance}
    return Reason(f"primary_{outcome}", "primary", outcome == "improves", text, values)


def _guardrail(metric: MetricDifference, facts: Facts) -> Reason:
    """Whether a guardrail holds: a loss beyond its margin is ruled out, or the metric does not get worse at all.

    The second is no proof where rows are few. But to ask for proof of what a candidate does not even seem to do
    would keep back candidates that are better in everything: docs/decisions/comparing.md has the simulations.
    """
    margin, values = metric.margin, _values(metric) | {"margin": metric.margin}
    name, allowed = METRICS[metric.metric].subject, _signed(-margin if metric.better == "higher" else margin)
    changes = f"it changes by {_signed(metric.low)} to {_signed(metric.high)}"
    if metric.worst <= margin:
        text = f"{name} holds: {changes}, and {allowed} would be allowed."
        return Reason("guardrail_holds", "guardrail", True, text, values)
    if metric.best > margin:
        text = f"{name} gets worse by more than is allowed: {changes}, and {allowed} would be allowed."
        return Reason("guardrail_fails", "guardrail", False, text, values)
    needed = _needed_for(metric, facts)
    values |= {"n_needed": needed, "unit": facts.unit}
    if needed is not None and metric.loss <= 0:
        text = (
            f"{name} does not get worse on these rows: {changes}. "
            f"To rule out a change beyond {allowed} takes about {_rounded(needed):,} {facts.unit}."
        )
        return Reason("guardrail_not_worse", "guardrail", True, text, values)
    enough = "" if needed is None else f" About {_rounded(needed):,} {facts.unit} would tell."
    text = f"{name} may get worse by more than is allowed: {changes}, and {allowed} would be allowed.{enough}"
    return Reason("guardrail_unclear", "guardrail", False, text, values)


def _needed_for(metric: MetricDifference, facts: Facts) -> int | None:
    """How many rows or groups tell on which side of its margin a guardrail is, if it changes as it did here.

    It is the end of the interval on the margin's side that must come closer, as the root of the rows does. None
    where there is no interval, or the estimate is the margin itself.
    """
    apart = abs(metric.margin - metric.loss)
    reach = metric.worst - metric.loss if metric.loss <= metric.margin else metric.loss - metric.best
    if not apart > 0 or not math.isfinite(reach):
        return None
    return math.ceil(facts.n_groups * (_powered(facts) * reach / apart) ** 2)


def _segments(facts: Facts) -> Reason:
    values = {"n_segments": facts.n_segments, "n_harmed": len(facts.harmed), "worst": list(facts.harmed[:5])}
    if facts.harmed:
        n = len(facts.harmed)
        what = "1 segment is" if n == 1 else f"{n:,} segments are"
        text = f"{what} significantly worse off, first of all: {facts.harmed[0]}."
        return Reason("segment_harmed", "segment", False, text, values)
    if not facts.n_segments:
        return Reason("segments_not_tested", "segment", True, "No segments were tested.", values)
    what = "The one segment is not" if facts.n_segments == 1 else f"None of {facts.n_segments:,} segments is"
    return Reason("no_segment_harmed", "segment", True, f"{what} significantly worse off.", values)


def _data(primary: MetricDifference, facts: Facts, all_hold: bool) -> list[Reason]:
    if facts.is_identical:
        text = "The candidate gives every row the same score as the base, so there is nothing to compare."
        return [Reason("identical_scores", "data", False, text)]
    if all_hold or primary.outcome != "unclear":
        return []
    if math.isnan(primary.low):
        text = f"There is only one {'group' if facts.is_grouped else 'row'}, so nothing shows how much results vary."
        return [Reason("too_little_data", "data", False, text, {"n": facts.n_groups})]
    detectable = _detectable(primary, facts)
    unit = facts.unit
    values: dict[str, Any] = {"minimum_detectable": detectable, "n": facts.n_groups, "unit": unit}
    text = (
        f"With {facts.n_groups:,} {unit}, a difference of {detectable:.2g} would be found {100 * facts.power:g} % of "
        "the time"
    )
    if primary.difference != 0:
        needed = math.ceil(facts.n_groups * (detectable / abs(primary.difference)) ** 2)
        values["n_needed"] = needed
        text += f"; for one of {abs(primary.difference):.2g}, as seen here, it takes about {_rounded(needed):,} {unit}"
    return [Reason("too_little_data", "data", False, f"{text}.", values)]


def _detectable(metric: MetricDifference, facts: Facts) -> float:
    """The difference that is found with the power asked for: the interval excludes 0 that often."""
    return _powered(facts) * (metric.high - metric.low) / 2


def _powered(facts: Facts) -> float:
    """How many halves of an interval a difference must be to leave it out with the power asked for."""
    normal = NormalDist()
    critical = normal.inv_cdf(1 - facts.significance / 2)
    return (critical + normal.inv_cdf(facts.power)) / critical


def _values(metric: MetricDifference) -> dict[str, Any]:
    names = ("metric", "base", "candidate", "difference", "low", "high", "p_value", "better")
    return {name: getattr(metric, name) for name in names}


def _interval(metric: MetricDifference) -> str:
    return f" ({_signed(metric.low)} to {_signed(metric.high)})"


def _signed(value: float) -> str:
    """A change with two digits that mean something."""
    if not math.isfinite(value) or value == 0:
        return "0" if value == 0 else "–"
    digits = max(0, 1 - math.floor(math.log10(abs(value))))
    return f"{value:+.{digits}f}".replace("-", "−")


def _rounded(n: int) -> int:
    """A number of rows with two digits that mean something, rounded up."""
    scale: int = 10 ** max(0, len(str(n)) - 2)
    return math.ceil(n / scale) * scale
