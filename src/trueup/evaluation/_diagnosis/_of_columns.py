"""What is wrong with single columns: gone, of another kind, empty, constant, or full of new categories."""

from __future__ import annotations

import math

from trueup._data import listed
from trueup.evaluation._diagnosis._finding import Finding, Severity
from trueup.evaluation._diagnosis._sides import Side
from trueup.evaluation._diagnosis._survey import ColumnFacts, Survey
from trueup.evaluation._diagnosis._words import columns, percent

__all__ = ["find_in_columns"]

_MOSTLY_MISSING = 0.95
_MISSING_GAP, _LARGE_MISSING_GAP = 0.05, 0.1
_UNSEEN, _MANY_UNSEEN = 0.01, 0.05
_SIGMAS = 4.0


def find_in_columns(train: Side, test: Side | None, survey: Survey) -> list[Finding]:
    """Say what is wrong with single columns."""
    found = _absent(survey)
    for facts in survey.columns:
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
