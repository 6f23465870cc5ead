"""What is wrong with labels and weights, and whether there are enough rows for the question."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np

from trueup.evaluation._diagnosis._finding import Finding, Severity
from trueup.evaluation._diagnosis._row_set import Floats, RowSet
from trueup.evaluation._diagnosis._words import percent, short

__all__ = ["find_in_amount", "find_in_labels", "find_in_weights"]

_SURE = 1e-4
_NOTABLE_ODDS, _GRAVE_ODDS = 1.1, 1.25
_UNEVEN = 0.1
_OTHER_SCALE = 3.0
_SATURATED = 0.01  # with less of the evidence that scores of the base rate would have, it is not the rows that lack
# An error of so much of the rate, in a segment of so much of the rows, should be seen with this chance. It is a note if
# that is not so, and a warning if not even an error as large as the rate would be seen.
_SEGMENT = 0.1
_RELATIVE_ERROR = 0.5
_SIGNIFICANCE, _POWER = 0.05, 0.8
_FEWEST_OF_A_CLASS = 50


def find_in_labels(train: RowSet, test: RowSet | None) -> list[Finding]:
    """Say whether the rate of the positive class differs by more than noise, and whether the scores foresaw it."""
    if test is None or train.labels is None or test.labels is None:
        return []
    rates = train.rate, test.rate
    if not all(0 < rate < 1 for rate in rates):
        only = [rows for rows, rate in zip((train, test), rates, strict=True) if not 0 < rate < 1]
        text = f"All labels of {' and '.join(rows.words for rows in only)} are of one class."
        advice = "Add rows of the other class."
        return [Finding("one_class", "error", text, advice, {"rows_of": [rows.name for rows in only]})]
    error = math.hypot(_standard_error(train, train.labels.values), _standard_error(test, test.labels.values))
    p_value = 2 * NormalDist().cdf(-abs(rates[1] - rates[0]) / error)
    odds = _odds(rates[1]) / _odds(rates[0])
    if p_value >= _SURE or max(odds, 1 / odds) < _NOTABLE_ODDS:
        return []
    text = f"{percent(rates[0])} of the training rows and {percent(rates[1])} of the test rows are positive"
    values = {"train_rate": rates[0], "test_rate": rates[1], "p_value": p_value, "odds_ratio": odds}
    severity: Severity = "warning" if max(odds, 1 / odds) >= _GRAVE_ODDS else "note"
    advice = (
        "Were labels collected in the same way, and for as long? Labels that arrive late and sampling by class look "
        "like this."
    )
    if train.scores is None or test.scores is None:
        return [Finding("label_shift", severity, f"{text}.", advice, values)]
    foreseen = _unexplained(train, test)
    values |= {"train_mean_score": train.mean_score, "test_mean_score": test.mean_score, "unexplained_odds": foreseen}
    predicted = f"predict {percent(train.mean_score)} and {percent(test.mean_score)}"
    if max(foreseen, 1 / foreseen) < _GRAVE_ODDS and abs(math.log(foreseen)) < abs(math.log(odds)) / 2:
        text += f", which the scores foresaw: they {predicted}."
        return [Finding("label_shift", "note", text, "The rows differ, and the scores account for it.", values)]
    text += f", which the scores did not foresee: they {predicted}."
    return [Finding("label_shift", severity, text, advice, values)]


def _standard_error(rows: RowSet, values: Floats) -> float:
    weights = rows.row_weights
    residuals = values - np.average(values, weights=weights)
    return float(np.sqrt((weights**2 * residuals**2).sum()) / weights.sum())


def _odds(rate: float) -> float:
    return rate / (1 - rate)


def _unexplained(train: RowSet, test: RowSet) -> float:
    """By which factor the odds changed beyond what the scores predict."""
    tiny = 1e-9
    predicted = [min(max(rows.mean_score, tiny), 1 - tiny) for rows in (train, test)]
    return (_odds(test.rate) / _odds(predicted[1])) / (_odds(train.rate) / _odds(predicted[0]))


def find_in_weights(train: RowSet, test: RowSet | None, given: tuple[bool, bool]) -> list[Finding]:
    """Say what is wrong with the weights; `given` says which rows came with weights, usable or not."""
    found = [finding for rows in (train, test) if rows is not None for finding in _unevenness(rows)]
    if test is None:
        return found
    if given[0] != given[1]:
        has, lacks = (train, test) if given[0] else (test, train)
        text = f"{has.words.capitalize()} have weights, and {lacks.words} have none."
        advice = f"Pass the weights of {lacks.words} too: what is learned with weights must be tested with weights."
        found.append(Finding("weights_on_one_side", "warning", text, advice, {"with": has.name, "without": lacks.name}))
    if train.weights is not None and test.weights is not None:
        means = float(train.weights.mean()), float(test.weights.mean())
        ratio = means[1] / means[0]
        if max(ratio, 1 / ratio) >= _OTHER_SCALE:
            text = f"The mean weight is {short(means[0])} in the training rows and {short(means[1])} in the test rows."
            advice = "Do both mean the same? Metrics ignore the scale, but the least weight of a leaf depends on it."
            found.append(Finding("weights_of_other_scale", "note", text, advice, {"train": means[0], "test": means[1]}))
    return found


def _unevenness(rows: RowSet) -> list[Finding]:
    if rows.weights is None or rows.n < 10 or rows.effective_rows >= _UNEVEN * rows.n:
        return []
    effective, heaviest = rows.effective_rows, float(rows.weights.max() / rows.weights.sum())
    text = (
        f"The weights of {rows.words} are so uneven that {rows.n:,} rows say as much as {short(effective)} of one "
        f"weight; the heaviest row alone carries {percent(heaviest)}."
    )
    advice = "Cap the weights, or look at the few rows that decide everything."
    values = {"rows_of": rows.name, "effective_rows": effective, "rows": rows.n, "heaviest": heaviest}
    return [Finding("uneven_weights", "warning", text, advice, values)]


def find_in_amount(train: RowSet, test: RowSet | None) -> list[Finding]:
    """Say whether trees can grow on the training rows, and whether an error could be seen on the test rows."""
    return [*_growing(train), *_seeing(train if test is None else test)]


def _growing(train: RowSet) -> list[Finding]:
    """Whether a leaf could hold as much evidence as `MCGrad` wants by default."""
    from trueup._fitting import DEFAULTS
    from trueup.calibration import MCGrad

    least = 2 * MCGrad().min_sum_hessian_in_leaf, 2 * DEFAULTS["min_child_samples"]
    chances = np.full(train.n, train.rate) if train.scores is None else train.scores
    evidence = float((train.row_weights * chances * (1 - chances)).sum())
    if not evidence > 0 or (evidence >= least[0] and train.n >= least[1]):
        return []
    if train.n >= least[1] and evidence < _SATURATED * train.n * train.rate * (1 - train.rate):
        text = (
            f"No tree can grow on the {train.n:,} training rows: their scores are so close to 0 and 1 that they leave "
            f"no doubt. A split needs an evidence, Σ w·p·(1−p), of {short(least[0])}, and there is {short(evidence)}."
        )
        advice = "More rows won't help. Pass probabilities that say how sure the model is, not classes."
        return [Finding("saturated_scores", "warning", text, advice, {"rows": train.n, "evidence": evidence})]
    needed = max(least[1], math.ceil(train.n * least[0] / evidence))
    text = (
        f"No tree can grow on the {train.n:,} training rows: a split needs {least[1]} rows and an evidence, "
        f"Σ w·p·(1−p), of {short(least[0])}, and there is {short(evidence)}."
    )
    values = {"rows_of": "train", "rows": train.n, "evidence": evidence, "rows_needed": needed}
    advice = f"It takes at least {needed:,} such rows; ten times as many are a good start."
    return [Finding("too_few_to_fit", "warning", text, advice, values)]


def _seeing(rows: RowSet) -> list[Finding]:
    from trueup.auditing import critical_evidence, detectable_sum

    rate = rows.rate
    if not 0 < rate < 1:
        return []
    rarer = min(rate, 1 - rate)
    expected = rarer * rows.effective_rows
    inside = _SEGMENT * rows.effective_rows
    variance = np.array([max(inside * rate * (1 - rate), 1e-12)])
    critical = critical_evidence((), 1, _SIGNIFICANCE)
    detectable = float(detectable_sum(variance, np.ones(1), critical, _POWER)[0] / inside)
    relative = detectable / rarer
    if relative <= _RELATIVE_ERROR and expected >= _FEWEST_OF_A_CLASS:
        return []
    needed = math.ceil(rows.n * max((relative / _RELATIVE_ERROR) ** 2, _FEWEST_OF_A_CLASS / expected))
    needed = int(float(f"{needed:.2g}")) if needed >= 100 else needed
    what = "positive" if rate <= 0.5 else "negative"
    effective = "" if rows.weights is None else ", as the weights count them"
    text = (
        f"There are {expected:,.0f} {what} rows among {rows.words}{effective}. In a segment of {percent(_SEGMENT)} "
        f"of them, only errors of at least {short(100 * min(detectable, 1.0))} percentage points would be seen, and "
        f"the {what} rate is {percent(rarer)}."
    )
    severity: Severity = "warning" if relative > 1 or expected < _FEWEST_OF_A_CLASS else "note"
    advice = f"About {needed:,} rows would show an error of {percent(_RELATIVE_ERROR)} of that rate."
    values = {
        "rows_of": rows.name,
        "rarer_class_rows": expected,
        "detectable": detectable,
        "relative": relative,
        "rows_needed": needed,
    }
    return [Finding("too_few_to_see", severity, text, advice, values)]
