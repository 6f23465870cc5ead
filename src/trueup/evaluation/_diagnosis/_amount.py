"""Whether there is enough data for the question, and how much would do."""

from __future__ import annotations

import math

import numpy as np

from trueup.evaluation._diagnosis._finding import Finding, Severity
from trueup.evaluation._diagnosis._sides import Side
from trueup.evaluation._diagnosis._words import percent, short

__all__ = ["find_in_amount"]

# An error of so much of the rate, in a segment of so much of the rows, should be seen with this chance. It is a note if
# that is not so, and a warning if not even an error as large as the rate would be seen.
_SEGMENT = 0.1
_RELATIVE_ERROR = 0.5
_LEVEL, _POWER = 0.05, 0.8
_FEWEST_OF_A_CLASS = 50


def find_in_amount(train: Side, test: Side | None) -> list[Finding]:
    """Say whether trees can grow on train, and whether an error could be seen on test."""
    return [*_growing(train), *_seeing(train if test is None else test)]


def _growing(train: Side) -> list[Finding]:
    """Whether a leaf could hold as much evidence as `MCGrad` wants by default."""
    from trueup._fitting import DEFAULTS
    from trueup.calibration import MCGrad

    least = 2 * MCGrad().min_sum_hessian_in_leaf, 2 * DEFAULTS["min_child_samples"]
    chances = np.full(train.n, train.rate) if train.scores is None else train.scores
    evidence = float((train.row_weights * chances * (1 - chances)).sum())
    if not evidence > 0 or (evidence >= least[0] and train.n >= least[1]):
        return []
    needed = max(least[1], math.ceil(train.n * least[0] / evidence))
    text = (
        f"No tree can grow on the {train.n:,} rows of train: a split needs {least[1]} rows and an evidence, "
        f"Σ w·p·(1−p), of {short(least[0])}, and there is {short(evidence)}."
    )
    values = {"side": "train", "rows": train.n, "evidence": evidence, "rows_needed": needed}
    advice = f"About {needed:,} such rows are the least; ten times as many are a start."
    return [Finding("too_few_to_fit", "warning", text, advice, values)]


def _seeing(side: Side) -> list[Finding]:
    from trueup.auditing import critical_evidence, detectable_sum

    rate = side.rate
    if not 0 < rate < 1:
        return []
    rarer = min(rate, 1 - rate)
    expected = rarer * side.effective_rows
    inside = _SEGMENT * side.effective_rows
    variance = np.array([max(inside * rate * (1 - rate), 1e-12)])
    detectable = float(detectable_sum(variance, np.ones(1), critical_evidence((), 1, _LEVEL), _POWER)[0] / inside)
    relative = detectable / rarer
    if relative <= _RELATIVE_ERROR and expected >= _FEWEST_OF_A_CLASS:
        return []
    needed = math.ceil(side.n * max((relative / _RELATIVE_ERROR) ** 2, _FEWEST_OF_A_CLASS / expected))
    needed = int(float(f"{needed:.2g}")) if needed >= 100 else needed
    what = "positive" if rate <= 0.5 else "negative"
    text = (
        f"{side.name} has {expected:,.0f} {what} rows{_effective(side)}. In a segment of {percent(_SEGMENT)} of it, "
        f"only errors of {_points(min(detectable, 1.0))} and more would be seen, beside a rate of {percent(rarer)}."
    )
    severity: Severity = "warning" if relative > 1 or expected < _FEWEST_OF_A_CLASS else "note"
    advice = f"About {needed:,} rows would show an error of {percent(_RELATIVE_ERROR)} of that rate."
    values = {
        "side": side.name,
        "rarer_class_rows": expected,
        "detectable": detectable,
        "relative": relative,
        "rows_needed": needed,
    }
    return [Finding("too_few_to_see", severity, text, advice, values)]


def _points(share: float) -> str:
    return f"{short(100 * share)} points"


def _effective(side: Side) -> str:
    return "" if side.weights is None else ", as its weights count them"
