"""Whether train and test are of one population, and which columns differ how."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from trueup._data import listed
from trueup.evaluation._diagnosis._finding import Finding, Severity
from trueup.evaluation._diagnosis._joined import JoinedColumn, Measure, joined_amounts
from trueup.evaluation._diagnosis._row_set import Floats, RowSet, Sample
from trueup.evaluation._diagnosis._separation import separation, tell_apart
from trueup.evaluation._diagnosis._survey import ColumnFacts, Survey
from trueup.evaluation._diagnosis._words import columns, percent, short, shown_value

__all__ = ["compare_populations"]

_TOGETHER = 0.02
_SHIFT = 0.1  # of a standard deviation
_SURE = 1e-3
_NOTABLE, _LARGE, _APART = 0.55, 0.65, 0.95
_LEAST_LOSS = 0.1  # of the AUC beyond a half
_MOST_GIVEAWAYS = 5
_SCORE = "scores"
_TIME_NAME = re.compile(
    r"(?i:(^|[_ .\-])(year|yr|month|week|day|date|time|timestamp|ts|quarter|period|epoch|fold|split|set|cohort|vintage)"
    r"([_ .\-]|$))|(?i:(year|month|week|date|time|timestamp))$"
)
_YEARS = range(1900, 2101)


def compare_populations(
    train: RowSet, test: RowSet, survey: Survey, sample: Sample, *, n_threads: int, seed: int
) -> tuple[list[Finding], dict[str, Any]]:
    """Say whether train and test come from one population; give what was measured too."""
    keys = [facts for facts in survey.columns if facts.separates]
    usable = [facts.sampled for facts in survey.columns if not (facts.separates or facts.is_id or facts.is_constant)]
    score = _score_column(train, test, sample, taken=[column.name for column in usable])
    tried = usable if score is None else [*usable, score]
    population = tell_apart(tried, sample, n_threads, seed)
    found = _separating(keys, None if population is None else population.separation.auc)
    if population is None:
        return found, {}
    apart = population.separation
    low, high = apart.interval()
    facts: dict[str, Any] = {
        "population_auc": apart.auc,
        "population_low": low,
        "population_high": high,
        "population_p_value": apart.p_value,
    }
    if apart.p_value >= _SURE or apart.auc < _NOTABLE:
        return found, facts
    by_name = {column.name: column for column in tried}
    least = _LEAST_LOSS * (apart.auc - 0.5)
    main = [name for name, loss in population.importances.items() if loss >= least][:_MOST_GIVEAWAYS]
    giveaways = [_difference_of(by_name[name], sample) for name in main]
    severity: Severity = "error" if apart.auc >= _APART else "warning" if apart.auc >= _LARGE else "note"
    return [*found, _different(severity, facts, giveaways, population.importances)], facts


def _different(
    severity: Severity, facts: dict[str, Any], giveaways: list[Difference], importances: dict[str, float]
) -> Finding:
    how = {
        "note": "somewhat different populations",
        "warning": "different populations",
        "error": "populations that have little in common",
    }[severity]
    text = (
        f"The training rows and the test rows come from {how}: a classifier tells them apart with an AUC of "
        f"{facts['population_auc']:.2f} (95 % interval {facts['population_low']:.2f}–{facts['population_high']:.2f}; "
        "0.5 means not at all)."
    )
    if giveaways:
        text += f" The main differences: {'; '.join(one.words for one in giveaways)}."
    advice = (
        "Were both tables made in the same way, from the same period and traffic? If rows just drift, expect smaller "
        "gains in production."
    )
    values = {**facts, "giveaways": [vars(one) | {"importance": importances[one.column]} for one in giveaways]}
    return Finding("different_populations", severity, text, advice, values)


def _score_column(train: RowSet, test: RowSet, sample: Sample, taken: list[str]) -> JoinedColumn | None:
    """The scores as one column more, under a name that no column of the user has."""
    if train.raw_scores is None or test.raw_scores is None:
        return None
    name = _SCORE if _SCORE not in taken else "the scores"
    return joined_amounts(name, train.raw_scores, test.raw_scores).of_rows(sample.rows, sample.n_train)


def _separating(keys: list[ColumnFacts], auc: float | None) -> list[Finding]:
    """Columns that tell train from test on their own: what rows were split by, or a fault."""
    it = "it" if len(keys) == 1 else "them"
    without = "" if auc is None else f" Without {it} the AUC is {auc:.2f}."
    of_split = [facts for facts in keys if _is_key(facts)]
    found = []
    if of_split:
        it = "it" if len(of_split) == 1 else "them"
        names = [facts.name for facts in of_split]
        ranges = "; ".join(_ranges(facts) for facts in of_split[:3])
        verb = "separates" if len(names) == 1 else "each separate"
        what = columns(names)
        text = f"{what[0].upper()}{what[1:]} {verb} the training rows from the test rows ({ranges}).{without}"
        advice = (
            f"If rows were split by {it}, that is as it should be. But {it} can teach a model nothing about rows to "
            f"come: leave {it} out (ignore=, or --drop)."
        )
        found.append(Finding("split_key", "note", text, advice, {"columns": names, "population_auc_without": auc}))
    for facts in keys:
        if facts not in of_split:
            text = f"Column {facts.name!r} alone separates the training rows from the test rows ({_ranges(facts)})."
            advice = (
                "Was it made differently for the two, in another unit or spelling? If rows were split by it, leave it "
                "out (ignore=, or --drop)."
            )
            values = {"column": facts.name, "population_auc_without": auc}
            found.append(Finding("separating_column", "warning", text + without, advice, values))
    return found


def _is_key(facts: ColumnFacts) -> bool:
    """Whether a column that separates train from test is a time, numbers rows, or is named like one that does."""
    if facts.sampled.measure is Measure.TIME or facts.is_id or _TIME_NAME.search(facts.name):
        return True
    if facts.ranges is None:
        return False
    ends = [end for pair in facts.ranges for end in pair]
    return all(isinstance(end, float) and end.is_integer() and int(end) in _YEARS for end in ends)


def _ranges(facts: ColumnFacts) -> str:
    if facts.ranges is None:
        shown = listed(facts.unseen_values) if facts.unseen_values else "nothing"
        return f"{facts.name!r}: no value is in both; the test rows have {shown}"
    (low, high), (other_low, other_high) = facts.ranges
    return f"{facts.name!r}: {_range(low, high)} in train, {_range(other_low, other_high)} in test"


def _range(low: object, high: object) -> str:
    ends = [f"{end:g}" if isinstance(end, float) and abs(end) < 1e6 else shown_value(end) for end in (low, high)]
    return ends[0] if ends[0] == ends[1] else f"{ends[0]} to {ends[1]}"


@dataclass(frozen=True)
class Difference:
    """What is different about a column."""

    column: str
    statistic: str  # what was compared
    size: float  # by how much train and test differ, from 0 for not at all to 1 for nothing in common
    words: str  # the same in words


def _difference_of(column: JoinedColumn, sample: Sample) -> Difference:
    """The largest difference of a column between the training rows and the test rows of the sample."""
    missing = np.isnan(column.values)
    shares = [float(np.average(missing, weights=weights)) for weights in (sample.of_train, sample.of_test)]
    gap = abs(shares[1] - shares[0])
    of_values = _of_categories(column, sample) if column.measure is Measure.CATEGORY else _of_amounts(column, sample)
    if of_values is None or gap > of_values.size:
        words = f"{column.name!r}: missing in {percent(shares[0])} of train, {percent(shares[1])} of test"
        return Difference(column.name, "missing", gap, words)
    if of_values.size < _TOGETHER:
        return Difference(
            column.name, "together", of_values.size, f"{column.name!r}: only in combination with other columns"
        )
    return of_values


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
        moments = [shown_value(column.value(float(np.median(values[weights > 0])))) for weights in (first, second)]
        return Difference(column.name, "median", size, _beside(column.name, "median", moments))
    means = [float(np.average(values, weights=weights)) for weights in (first, second)]
    spreads = [
        math.sqrt(float(np.average((values - mean) ** 2, weights=weights)))
        for mean, weights in zip(means, (first, second), strict=True)
    ]
    moved = abs(separation(values, first, second).auc - 0.5)
    if abs(means[1] - means[0]) >= _SHIFT * max(spreads) > 0:
        return Difference(column.name, "mean", size, _beside(column.name, "mean", _distinct(means)))
    if moved >= _SHIFT / 3:  # skewed, so that the means hide it
        middles = [float(np.median(values[weights > 0])) for weights in (first, second)]
        if middles[0] != middles[1]:
            return Difference(column.name, "median", size, _beside(column.name, "median", _distinct(middles)))
    return Difference(column.name, "spread", size, _beside(column.name, "standard deviation", _distinct(spreads)))


def _beside(name: str, what: str, values: list[str]) -> str:
    return f"{name!r}: {what} {values[0]} in train, {values[1]} in test"


def _distinct(numbers: list[float]) -> list[str]:
    """Both numbers with as few digits as tell them apart."""
    words = [short(number) for number in numbers]
    return words if words[0] != words[1] else [f"{number:.4g}" for number in numbers]


def _largest_gap(values: Floats, first: Floats, second: Floats) -> float:
    """The Kolmogorov-Smirnov statistic: the largest gap between the two distributions."""
    order = np.argsort(values, kind="stable")
    ends = np.flatnonzero(np.append(values[order][1:] != values[order][:-1], True))
    gaps = np.cumsum(second[order] / second.sum()) - np.cumsum(first[order] / first.sum())
    return float(np.abs(gaps[ends]).max())
