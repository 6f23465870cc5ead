"""What is wrong with single columns: gone, of another kind, empty, full of new categories, or the label itself."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from trueup._data import listed, rates_of_bins
from trueup.evaluation._diagnosis._finding import Finding, Severity
from trueup.evaluation._diagnosis._joined import JoinedColumn, Measure
from trueup.evaluation._diagnosis._of_scores import ranking
from trueup.evaluation._diagnosis._row_set import Floats, RowSet, Sample
from trueup.evaluation._diagnosis._separation import separation
from trueup.evaluation._diagnosis._survey import ColumnFacts, Survey
from trueup.evaluation._diagnosis._words import columns, percent, shown_value

__all__ = ["find_in_columns", "find_leaks"]

Bins: TypeAlias = npt.NDArray[np.int64]

_MOSTLY_MISSING = 0.95
_MISSING_GAP, _LARGE_MISSING_GAP = 0.05, 0.1
_UNSEEN, _MANY_UNSEEN = 0.01, 0.05
_SIGMAS = 4.0
_LABEL_AUC = 0.99
_MOST_BINS = 64
_FEWEST_OF_A_CLASS = 20
# A value knows the label if so many rows of a class were to be expected among its rows, and so great a share, and none
# is there.
_EXPECTED_ROWS, _EXPECTED_SHARE = 30.0, 0.1
_MOST_SHOWN = 3


def find_in_columns(train: RowSet, test: RowSet | None, survey: Survey) -> list[Finding]:
    """Say what is wrong with single columns."""
    found = _absent(survey)
    for facts in survey.columns:
        if test is not None and not facts.separates:
            found += [*_missing_on_one_side(train, test, facts), *_unseen(test, facts)]
    return found + _useless(train, test, survey)


def _absent(survey: Survey) -> list[Finding]:
    found = []
    if survey.absent:
        text = f"The test rows lack the {columns(survey.absent)}."
        advice = "Was it renamed? A model that learns from it can't score rows without it."
        found.append(Finding("absent_column", "error", text, advice, {"columns": list(survey.absent)}))
    for name, differ in survey.clashing.items():
        kinds = f"{differ.train.value} in the training rows and {differ.test.value} in the test rows"
        text = f"Column {name!r} holds {kinds}."
        advice = "Convert it to one kind. As it is, no training value equals any test value."
        values = {"column": name, "train": differ.train.value, "test": differ.test.value}
        found.append(Finding("other_kind", "error", text, advice, values))
    return found


def _missing_on_one_side(train: RowSet, test: RowSet, facts: ColumnFacts) -> list[Finding]:
    shares = facts.missing[0] / train.n, facts.missing[1] / test.n
    pooled = sum(facts.missing) / (train.n + test.n)
    error = math.sqrt(pooled * (1 - pooled) * (1 / train.n + 1 / test.n))
    gap = abs(shares[1] - shares[0])
    if gap < _MISSING_GAP or gap < _SIGMAS * error:
        return []
    severity: Severity = "warning" if gap >= _LARGE_MISSING_GAP else "note"
    of_test = f"{percent(shares[1])} of the test rows"
    text = f"Column {facts.name!r} is missing in {percent(shares[0])} of the training rows and {of_test}."
    advice = "Did a join or a source fail for one of the two?"
    values = {"column": facts.name, "train": shares[0], "test": shares[1]}
    return [Finding("missing_on_one_side", severity, text, advice, values)]


def _unseen(test: RowSet, facts: ColumnFacts) -> list[Finding]:
    unseen = facts.unseen
    if unseen is None or unseen.sigmas < _SIGMAS or unseen.excess < _UNSEEN * test.n:
        return []
    severity: Severity = "warning" if unseen.excess >= _MANY_UNSEEN * test.n else "note"
    expected = f"; chance would explain {unseen.expected:,.0f} such rows" if unseen.expected >= 0.5 else ""
    text = (
        f"Column {facts.name!r}: {unseen.rows:,} of the {test.n:,} test rows ({percent(unseen.rows / test.n)}) hold a "
        f"value that no training row has, such as {listed(facts.unseen_values, 3)}{expected}."
    )
    advice = "Are these values new, or the same written differently? Nothing can be learned about them."
    values = {"column": facts.name, "rows": unseen.rows, "expected": unseen.expected}
    return [Finding("unseen_categories", severity, text, advice, values)]


def _useless(train: RowSet, test: RowSet | None, survey: Survey) -> list[Finding]:
    """Columns that say nothing: one finding for all of the same kind."""
    n = train.n + (0 if test is None else test.n)
    ids = [facts.name for facts in survey.columns if facts.is_id and not facts.separates]
    constant = [facts.name for facts in survey.columns if facts.is_constant and not sum(facts.missing)]
    empty = [facts.name for facts in survey.columns if sum(facts.missing) == n]
    missing = [facts.name for facts in survey.columns if _MOSTLY_MISSING * n <= sum(facts.missing) < n]
    found = []
    own, most = "a different value in nearly every row", f"no value in at least {percent(_MOSTLY_MISSING)} of the rows"
    for code, names, what, advice in (
        ("id_column", ids, own, "It names rows, so nothing in it carries over to other rows. Leave it out."),
        ("constant_column", constant, "the same value in all rows", "It does no harm and no good."),
        ("empty_column", empty, "no value at all", "Was it lost on the way?"),
        ("mostly_missing", missing, most, "Will it be missing as often in production?"),
    ):
        if names:
            has = "has" if len(names) == 1 else "have"
            text = f"{columns(names)} {has} {what}."
            found.append(Finding(code, "note", text[0].upper() + text[1:], advice, {"columns": names}))
    return found


@dataclass(frozen=True, eq=False)
class _Drawn:
    """The training rows of the sample: observed and predicted, by weight."""

    positive: Floats
    negative: Floats
    predicted: Floats | None


def find_leaks(train: RowSet, survey: Survey, sample: Sample, seed: int) -> list[Finding]:
    """Say which columns know the label better than they should."""
    drawn = _drawn(train, sample)
    if drawn is None:
        return []
    found, pure = [], []
    for facts in survey.columns:
        bins = _bins(facts.sampled)
        auc = separation(rates_of_bins(bins, drawn.positive, drawn.negative, seed), drawn.negative, drawn.positive).auc
        disguise = _label_in_disguise(train, facts.name, auc)
        found += disguise
        if not disguise:
            pure += _pure_value(facts.sampled, bins, drawn)
    return [*found, *_pure_values(pure)]


def _drawn(train: RowSet, sample: Sample) -> _Drawn | None:
    if train.labels is None:
        return None
    rows, weights = sample.rows[: sample.n_train], sample.weights[: sample.n_train]
    labels = train.labels.values[rows]
    if min(labels.sum(), (1 - labels).sum()) < _FEWEST_OF_A_CLASS:
        return None
    predicted = None if train.scores is None else weights * train.scores[rows]
    return _Drawn(weights * labels, weights * (1 - labels), predicted)


def _label_in_disguise(train: RowSet, name: str, auc: float) -> list[Finding]:
    """A column that knows the label, and better than the scores do."""
    if auc < _LABEL_AUC:
        return []
    rank = ranking(train)
    of_scores = math.nan if rank is None else rank.auc
    if rank is not None and 1 - auc > (1 - of_scores) / 2:
        return []
    beside = "" if rank is None else f"; that of the scores is {of_scores:.3f}"
    text = f"Column {name!r} alone predicts the label almost perfectly (its AUC is {auc:.3f}{beside})."
    advice = (
        "Is it the label under another name, or filled in after the outcome is known? Then it won't be there when a "
        "score is needed: leave it out."
    )
    return [Finding("label_in_disguise", "error", text, advice, {"column": name, "auc": auc, "score_auc": of_scores})]


def _pure_value(sampled: JoinedColumn, bins: Bins, drawn: _Drawn) -> list[dict[str, Any]]:
    """The value with the most rows of which all are of one class, where the scores expected many of the other."""
    if drawn.predicted is None:
        return []
    of_rows = drawn.positive, drawn.negative, drawn.predicted
    positive, negative, predicted = (np.bincount(bins, of) for of in of_rows)
    total = positive + negative
    found: list[tuple[int, int, bool]] = []  # rows, place, whether all are positive
    for is_positive, of_other, expected in ((True, negative, total - predicted), (False, positive, predicted)):
        is_pure = (of_other == 0) & (expected >= _EXPECTED_ROWS) & (expected >= _EXPECTED_SHARE * total)
        found += [(int((bins == place).sum()), int(place), is_positive) for place in np.flatnonzero(is_pure)]
    if not found:
        return []
    rows, place, is_positive = max(found)
    share = float(predicted[place] / total[place])
    return [
        {
            "column": sampled.name,
            "value": _words(sampled, bins, place),
            "rows": rows,
            "positive": is_positive,
            "expected": 1 - share if is_positive else share,
        }
    ]


def _words(sampled: JoinedColumn, bins: Bins, place: int) -> str:
    if place == 0:
        return "is missing"
    inside = sampled.train[bins == place]
    low, high = (shown_value(sampled.value(float(end))) for end in (inside.min(), inside.max()))
    return f"is {low}" if low == high else f"is {low} to {high}"


def _pure_values(pure: list[dict[str, Any]]) -> list[Finding]:
    if not pure:
        return []
    pure = sorted(pure, key=lambda one: -one["rows"])
    cases = [
        f"{one['column']!r} {one['value']} ({one['rows']:,} rows, {percent(one['expected'])} "
        f"{'negative' if one['positive'] else 'positive'} expected)"
        for one in pure[:_MOST_SHOWN]
    ]
    more = f"; the same holds in {len(pure) - _MOST_SHOWN} more columns" if len(pure) > _MOST_SHOWN else ""
    text = f"All labels are of one class where {'; where '.join(cases)}{more}. The scores don't know that."
    advice = (
        "If that is how things are, calibration will learn it. If the column is filled in after the outcome is known, "
        "leave it out."
    )
    return [Finding("telling_values", "note", text, advice, {"columns": pure})]


def _bins(sampled: JoinedColumn) -> Bins:
    """The training values in bins: categories, or quantiles; missing ones have a bin of their own."""
    values = sampled.train
    missing = np.isnan(values)
    if sampled.measure is Measure.CATEGORY:
        return np.where(missing, 0, values + 1).astype(np.int64)
    present = values[~missing]
    if not len(present):
        return np.zeros(len(values), dtype=np.int64)
    edges = np.unique(np.quantile(present, np.linspace(0, 1, _MOST_BINS + 1)[1:-1]))
    return np.where(missing, 0, np.searchsorted(edges, values) + 1)
