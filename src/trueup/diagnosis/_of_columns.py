"""What is wrong with single columns: gone, of another kind, empty, constant, new categories, or the label itself."""

from __future__ import annotations

import math

import numpy as np

from trueup.diagnosis._finding import Finding, Severity
from trueup.diagnosis._joined import JoinedColumn, Measure
from trueup.diagnosis._of_scores import ranking
from trueup.diagnosis._separation import separation
from trueup.diagnosis._sides import Floats, Side
from trueup.diagnosis._survey import ColumnFacts, Sample, Survey
from trueup.diagnosis._words import columns, percent
from trueup.table import listed

__all__ = ["find_in_columns"]

_MOSTLY_MISSING = 0.95
_MISSING_GAP, _LARGE_MISSING_GAP = 0.05, 0.1
_UNSEEN, _MANY_UNSEEN = 0.01, 0.05
_SIGMAS = 4.0
_LABEL_AUC = 0.99
_MOST_BINS = 64
_SMOOTHING = 5.0
_FEWEST_OF_A_CLASS = 20


def find_in_columns(train: Side, test: Side | None, survey: Survey, sample: Sample, seed: int) -> list[Finding]:
    """Say what is wrong with single columns."""
    found = _absent(survey)
    for facts in survey.columns:
        found += _label_in_disguise(train, facts.sampled, sample, seed)
        if test is not None and not facts.separates:
            found += [*_missing_on_one_side(train, test, facts), *_unseen(test, facts)]
    return found + _useless(train, test, survey)


def _absent(survey: Survey) -> list[Finding]:
    found = []
    if survey.absent:
        text = f"test lacks the {columns(survey.absent)}."
        advice = "Was it renamed? A model that learned from it can't score rows without it."
        found.append(Finding("absent_column", "error", text, advice, {"columns": list(survey.absent)}))
    for name, differ in survey.clashing.items():
        text = f"Column {name!r} holds {differ.train.value} in train and {differ.test.value} in test."
        advice = "Convert it to one kind: no value of the one is equal to any of the other."
        values = {"column": name, "train": differ.train.value, "test": differ.test.value}
        found.append(Finding("other_kind", "error", text, advice, values))
    return found


def _missing_on_one_side(train: Side, test: Side, facts: ColumnFacts) -> list[Finding]:
    shares = facts.missing[0] / train.n, facts.missing[1] / test.n
    pooled = sum(facts.missing) / (train.n + test.n)
    error = math.sqrt(pooled * (1 - pooled) * (1 / train.n + 1 / test.n))
    gap = abs(shares[1] - shares[0])
    if gap < _MISSING_GAP or gap < _SIGMAS * error:
        return []
    severity: Severity = "warning" if gap >= _LARGE_MISSING_GAP else "note"
    text = f"Column {facts.name!r} is missing in {percent(shares[0])} of train and {percent(shares[1])} of test."
    advice = "Was a join or a source lost on one side?"
    values = {"column": facts.name, "train": shares[0], "test": shares[1]}
    return [Finding("missing_on_one_side", severity, text, advice, values)]


def _unseen(test: Side, facts: ColumnFacts) -> list[Finding]:
    unseen = facts.unseen
    if unseen is None or unseen.sigmas < _SIGMAS or unseen.excess < _UNSEEN * test.n:
        return []
    severity: Severity = "warning" if unseen.excess >= _MANY_UNSEEN * test.n else "note"
    expected = f"; {unseen.expected:,.0f} would be by chance" if unseen.expected >= 0.5 else ""
    text = (
        f"Column {facts.name!r}: {unseen.rows:,} of the {test.n:,} rows of test ({percent(unseen.rows / test.n)}) hold "
        f"a value that train lacks, such as {listed(facts.unseen_values, 3)}{expected}."
    )
    advice = "Are they written differently, or new? Nothing could be learned about them."
    values = {"column": facts.name, "rows": unseen.rows, "expected": unseen.expected}
    return [Finding("unseen_categories", severity, text, advice, values)]


def _useless(train: Side, test: Side | None, survey: Survey) -> list[Finding]:
    """Columns that say nothing: one finding for all that are of a kind."""
    n = train.n + (0 if test is None else test.n)
    ids = [facts.name for facts in survey.columns if facts.is_id and not facts.separates]
    constant = [facts.name for facts in survey.columns if facts.is_constant and not sum(facts.missing)]
    empty = [facts.name for facts in survey.columns if sum(facts.missing) == n]
    missing = [facts.name for facts in survey.columns if _MOSTLY_MISSING * n <= sum(facts.missing) < n]
    found = []
    for code, names, what, advice in (
        (
            "id_column",
            ids,
            "a value of its own in all but every row",
            "It names rows and says nothing about others: leave it out.",
        ),
        ("constant_column", constant, "the same value in all rows", "It does no harm, and no good."),
        ("empty_column", empty, "no value at all", "Was it lost on the way?"),
        (
            "mostly_missing",
            missing,
            f"no value in {percent(_MOSTLY_MISSING)} of the rows or more",
            "Is that so in use too?",
        ),
    ):
        if names:
            has = "has" if len(names) == 1 else "have"
            text = f"{columns(names)} {has} {what}."
            found.append(Finding(code, "note", text[0].upper() + text[1:], advice, {"columns": names}))
    return found


def _label_in_disguise(train: Side, sampled: JoinedColumn, sample: Sample, seed: int) -> list[Finding]:
    """A column that knows the label, and better than the scores do."""
    if train.labels is None:
        return []
    rows = sample.rows[: sample.n_train]
    labels, weights = train.labels.values[rows], sample.weights[: sample.n_train]
    positive, negative = weights * labels, weights * (1 - labels)
    if min(labels.sum(), (1 - labels).sum()) < _FEWEST_OF_A_CLASS:
        return []
    rates = _rates_of_bins(_bins(sampled), positive, negative, seed)
    auc = separation(rates, negative, positive).auc
    of_scores = ranking(train)
    if auc < _LABEL_AUC or (not math.isnan(of_scores) and 1 - auc > (1 - of_scores) / 2):
        return []
    beside = "" if math.isnan(of_scores) else f"; the scores have {of_scores:.3f}"
    text = f"Column {sampled.name!r} alone tells the label (AUC {auc:.3f}{beside})."
    advice = "Is it the label under another name, or filled in afterwards? It won't be there when a score is needed."
    values = {"column": sampled.name, "auc": auc, "score_auc": of_scores}
    return [Finding("label_in_disguise", "error", text, advice, values)]


def _bins(sampled: JoinedColumn) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    """The values of train in bins: categories, or quantiles; what is missing has one of its own."""
    values = sampled.train
    missing = np.isnan(values)
    if sampled.measure is Measure.CATEGORY:
        return np.where(missing, 0, values + 1).astype(np.int64)
    present = values[~missing]
    if not len(present):
        return np.zeros(len(values), dtype=np.int64)
    edges = np.unique(np.quantile(present, np.linspace(0, 1, _MOST_BINS + 1)[1:-1]))
    return np.where(missing, 0, np.searchsorted(edges, values) + 1)


def _rates_of_bins(
    bins: np.ndarray[tuple[int, ...], np.dtype[np.int64]], positive: Floats, negative: Floats, seed: int
) -> Floats:
    """The rate of the positive class in each row's bin, among the rows of the other half."""
    half = np.random.default_rng(seed).permutation(np.arange(len(bins)) % 2)
    rates, n_bins = np.empty(len(bins)), int(bins.max()) + 1
    prior = float(positive.sum() / (positive.sum() + negative.sum()))
    for held in (0, 1):
        others, inside = half != held, half == held
        of_positive = np.bincount(bins[others], positive[others], n_bins)
        of_all = of_positive + np.bincount(bins[others], negative[others], n_bins)
        rates[inside] = ((of_positive + _SMOOTHING * prior) / (of_all + _SMOOTHING))[bins[inside]]
    return rates
