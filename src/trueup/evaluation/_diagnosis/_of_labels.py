"""Whether the positive class is as frequent in test as in train, and whether the scores foresaw it."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np

from trueup.evaluation._diagnosis._finding import Finding, Severity
from trueup.evaluation._diagnosis._sides import Floats, Side
from trueup.evaluation._diagnosis._words import percent

__all__ = ["find_in_labels"]

_SURE = 1e-4
_NOTABLE_ODDS = 1.1
_GRAVE_ODDS = 1.25


def find_in_labels(train: Side, test: Side | None) -> list[Finding]:
    """Say whether the rate of the positive class differs by more than noise."""
    if test is None or train.labels is None or test.labels is None:
        return []
    rates = train.rate, test.rate
    if not all(0 < rate < 1 for rate in rates):
        only = [side.name for side, rate in zip((train, test), rates, strict=True) if not 0 < rate < 1]
        text = f"All labels of {' and '.join(only)} are of one class."
        return [Finding("one_class", "error", text, "Add rows of the other class.", {"sides": only})]
    error = math.hypot(_standard_error(train, train.labels.values), _standard_error(test, test.labels.values))
    p_value = 2 * NormalDist().cdf(-abs(rates[1] - rates[0]) / error)
    odds = _odds(rates[1]) / _odds(rates[0])
    if p_value >= _SURE or max(odds, 1 / odds) < _NOTABLE_ODDS:
        return []
    text = f"{percent(rates[0])} of train and {percent(rates[1])} of test are positive"
    values = {"train_rate": rates[0], "test_rate": rates[1], "p_value": p_value, "odds_ratio": odds}
    severity: Severity = "warning" if max(odds, 1 / odds) >= _GRAVE_ODDS else "note"
    advice = "Were labels counted in the same way, and for as long? Late labels and sampling by class look like this."
    if train.scores is None or test.scores is None:
        return [Finding("label_shift", severity, f"{text}.", advice, values)]
    foreseen = _unexplained(train, test)
    values |= {"train_mean_score": train.mean_score, "test_mean_score": test.mean_score, "unexplained_odds": foreseen}
    predicted = f"predict {percent(train.mean_score)} and {percent(test.mean_score)}"
    if max(foreseen, 1 / foreseen) < _GRAVE_ODDS and abs(math.log(foreseen)) < abs(math.log(odds)) / 2:
        text += f", which the scores foresaw: they {predicted}."
        return [Finding("label_shift", "note", text, "The rows differ, but the scores know it.", values)]
    return [
        Finding("label_shift", severity, f"{text}, which the scores did not foresee: they {predicted}.", advice, values)
    ]


def _standard_error(side: Side, values: Floats) -> float:
    weights = side.row_weights
    residuals = values - np.average(values, weights=weights)
    return float(np.sqrt((weights**2 * residuals**2).sum()) / weights.sum())


def _odds(rate: float) -> float:
    return rate / (1 - rate)


def _unexplained(train: Side, test: Side) -> float:
    """How the odds changed beside what the scores predict."""
    tiny = 1e-9
    predicted = [min(max(side.mean_score, tiny), 1 - tiny) for side in (train, test)]
    return (_odds(test.rate) / _odds(predicted[1])) / (_odds(train.rate) / _odds(predicted[0]))
