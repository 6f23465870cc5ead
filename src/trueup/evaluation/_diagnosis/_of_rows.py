"""Rows that are there more than once: within train or test, or in both."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueup.evaluation._diagnosis._finding import Finding, Severity
from trueup.evaluation._diagnosis._prints import Prints, coincidence, mixed
from trueup.evaluation._diagnosis._row_set import RowSet
from trueup.evaluation._diagnosis._words import percent

__all__ = ["find_in_rows"]

_SIGMAS = 4.0
_FEWEST = 10
_HARDLY_ANY, _NOTABLE, _GRAVE = 0.001, 0.01, 0.1  # of the rows
_SURE = 1e-4
_ENOUGH_TO_BE_EVEN = 20


def find_in_rows(train: RowSet, test: RowSet | None, prints: Prints | None, *, specific: bool) -> list[Finding]:
    """Say which rows are copies: more of them than tables of these columns have by chance."""
    if prints is None:
        return []
    whole = _with_outcome(prints, train, test)
    sets = [(train, whole[: train.n])] + ([] if test is None else [(test, whole[train.n :])])
    copies = [finding for rows, of_rows in sets for finding in _copies(rows, of_rows, specific)]
    if test is None:
        return copies
    shared = _shared(train, test, whole, "shared_rows", bool(copies))
    return [*copies, *(shared or _shared(train, test, prints, "shared_features", False))]


def _with_outcome(prints: Prints, train: RowSet, test: RowSet | None) -> Prints:
    """The prints of rows with their labels and scores, which count only if both train and test have them."""
    sets = [train] if test is None else [train, test]
    labels = [rows.labels.values for rows in sets if rows.labels is not None]
    scores = [rows.raw_scores for rows in sets if rows.raw_scores is not None]
    for values in (labels, scores):
        if len(values) == len(sets):
            prints = mixed(prints, np.concatenate(values))
    return prints


def _copies(rows: RowSet, prints: Prints, specific: bool) -> list[Finding]:
    """Rows that are there twice, where a column is too specific for that, or where none is there three times."""
    counts = _counts(prints)[0]
    repeated = int(counts.sum() - len(counts))
    if repeated < _NOTABLE * rows.n or not (specific or _is_copied(counts)):
        return []
    most = int(counts.max())
    text = (
        f"{repeated:,} of {_rows_of(rows)} ({percent(repeated / rows.n)}) repeat another row in every column, up to "
        f"{most:,} times: more than coincidence explains."
    )
    advice = "Was a table joined or appended twice, or is each view of a user a row? Drop the copies, or split by user."
    return [Finding("duplicated_rows", "warning", text, advice, {"rows_of": rows.name, "rows": repeated, "most": most})]


def _rows_of(rows: RowSet) -> str:
    return f"the {rows.n:,} {rows.words.removeprefix('the ')}"


def _is_copied(counts: NDArray[np.int64]) -> bool:
    """Whether no population gives these multiplicities.

    In a sample from any population at all, the number of values seen k times is ``f_k = Σ exp(-λ) λ^k / k!`` on
    average, a sum over all values. By the inequality of Cauchy and Schwarz, ``k! f_k`` is log-convex in k:
    where many values are seen twice, some are seen three times, ``f_3 ≥ (2/3) f_2² / f_1`` (and where many are
    seen k times, likewise more often). Rows that were copied break this, however coarse the columns are.
    """
    from scipy.stats import poisson

    seen = np.bincount(np.minimum(counts, 8), minlength=9).astype(np.float64)
    once, twice, thrice = seen[1:4]
    least = (2 / 3) * twice * max(twice - 1, 0) / (once + 1 + 3 * np.sqrt(once))
    if poisson.cdf(thrice, least) < _SURE:
        return True
    # A file appended to itself: every row is there an even number of times, or a multiple of three. By chance so many
    # different rows all are once in a million times.
    return bool(len(counts) >= _ENOUGH_TO_BE_EVEN and np.gcd.reduce(counts) > 1)


def _shared(train: RowSet, test: RowSet, prints: Prints, code: str, copied: bool) -> list[Finding]:
    """Test rows that are also in train, if they are more than chance explains, or known to be copies."""
    _, of_train, of_test = _counts(prints, train.n)
    found = coincidence(of_train, of_test, shared=True)
    twins = float(of_train[of_train > 1].sum() / train.n)  # a row of test should find a twin in train as often
    excess = found.rows - (0 if copied else twins * test.n)
    if (found.sigmas < _SIGMAS and not copied) or excess < max(_FEWEST, _HARDLY_ANY * test.n):
        return []
    share = excess / test.n
    severity: Severity = "error" if share >= _GRAVE else "warning" if share >= _NOTABLE else "note"
    what = "in every column" if code == "shared_rows" else "in all features, but with another label or score"
    text = (
        f"{found.rows:,} of {_rows_of(test)} ({percent(found.rows / test.n)}) also appear in the training rows, "
        f"identical {what}"
    )
    text += f"; {percent(twins)} of the training rows have a twin there." if twins and not copied else "."
    advice = (
        "A test on rows that were fitted on flatters the model. Drop them from train or test; if rows repeat, split by "
        "user or item."
    )
    values: dict[str, Any] = {"rows": found.rows, "excess": excess, "twins_in_train": twins, "sigmas": found.sigmas}
    return [Finding(code, severity, text, advice, values)]


def _counts(prints: Prints, n_train: int | None = None) -> tuple[NDArray[np.int64], ...]:
    """How often each distinct row is there: in all, and if `n_train` is given in train and in test."""
    order = np.argsort(prints, kind="stable")
    ordered = prints[order]
    starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    together = np.diff(starts, append=len(ordered))
    if n_train is None:
        return (together,)
    of_train = np.add.reduceat((order < n_train).astype(np.int64), starts)
    return together, of_train, together - of_train
