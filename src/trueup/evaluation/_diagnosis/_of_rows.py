"""Rows that are there more than once, on one side or on both."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from trueup.evaluation._diagnosis._finding import Finding, Severity
from trueup.evaluation._diagnosis._fingerprints import Prints, coincidence, mixed
from trueup.evaluation._diagnosis._sides import Side
from trueup.evaluation._diagnosis._words import percent

__all__ = ["find_in_rows"]

_SIGMAS = 4.0
_FEWEST = 10
_HARDLY_ANY, _NOTABLE, _GRAVE = 0.001, 0.01, 0.1  # of the rows
_SURE = 1e-4
_ENOUGH_TO_BE_EVEN = 20


def find_in_rows(train: Side, test: Side | None, prints: Prints | None, *, specific: bool) -> list[Finding]:
    """Say which rows are copies: more of them than tables of these columns have by chance."""
    if prints is None:
        return []
    whole = _with_outcome(prints, train, test)
    sides = [(train, whole[: train.n])] + ([] if test is None else [(test, whole[train.n :])])
    copies = [finding for side, of_side in sides for finding in _copies(side, of_side, specific)]
    if test is None:
        return copies
    shared = _shared(train, test, whole, "shared_rows", bool(copies))
    return [*copies, *(shared or _shared(train, test, prints, "shared_features", False))]


def _with_outcome(prints: Prints, train: Side, test: Side | None) -> Prints:
    """The prints of rows with their labels and scores, of which both sides must have them to count."""
    sides = [train] if test is None else [train, test]
    if all(side.labels is not None for side in sides):
        prints = mixed(prints, np.concatenate([side.labels.values for side in sides if side.labels is not None]))
    if all(side.raw_scores is not None for side in sides):
        prints = mixed(prints, np.concatenate([side.raw_scores for side in sides if side.raw_scores is not None]))
    return prints


def _copies(side: Side, prints: Prints, specific: bool) -> list[Finding]:
    """Rows of one side that are there twice, where a column is too specific or none is there three times."""
    counts = _counts(prints)[0]
    repeated = int(counts.sum() - len(counts))
    if repeated < _NOTABLE * side.n or not (specific or _is_copied(counts)):
        return []
    most = int(counts.max())
    text = (
        f"{repeated:,} of the {side.n:,} rows of {side.name} ({percent(repeated / side.n)}) repeat another row in "
        f"everything, up to {most:,} times: more than coincidence explains."
    )
    advice = (
        "Was a table joined or appended twice, or is a user there as often as seen? Drop the copies, or split by user."
    )
    return [Finding("duplicated_rows", "warning", text, advice, {"side": side.name, "rows": repeated, "most": most})]


def _is_copied(counts: NDArray[np.int64]) -> bool:
    """Whether no population gives these multiplicities.

    Notes
    -----
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


def _shared(train: Side, test: Side, prints: Prints, code: str, copied: bool) -> list[Finding]:
    """Rows of test that are in train too, if they are more than chance explains, or known to be copies."""
    _, of_train, of_test = _counts(prints, train.n)
    found = coincidence(of_train, of_test, shared=True)
    twins = float(of_train[of_train > 1].sum() / train.n)  # a row of test should find a twin in train as often
    excess = found.rows - (0 if copied else twins * test.n)
    if (found.sigmas < _SIGMAS and not copied) or excess < max(_FEWEST, _HARDLY_ANY * test.n):
        return []
    share = excess / test.n
    severity: Severity = "error" if share >= _GRAVE else "warning" if share >= _NOTABLE else "note"
    what = "in everything" if code == "shared_rows" else "in all features, with another label or score"
    text = f"{found.rows:,} of the {test.n:,} rows of test ({percent(found.rows / test.n)}) are in train too, {what}"
    text += f"; within train {percent(twins)} have a twin." if twins and not copied else "."
    advice = (
        "A test on rows that were fitted on flatters. Drop them from one side; split by user or item if rows repeat."
    )
    values: dict[str, Any] = {"rows": found.rows, "excess": excess, "twins_in_train": twins, "sigmas": found.sigmas}
    return [Finding(code, severity, text, advice, values)]


def _counts(prints: Prints, n_train: int | None = None) -> tuple[NDArray[np.int64], ...]:
    """How often each different row is there: in all, and if asked in train and in test."""
    order = np.argsort(prints, kind="stable")
    ordered = prints[order]
    starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    together = np.diff(starts, append=len(ordered))
    if n_train is None:
        return (together,)
    of_train = np.add.reduceat((order < n_train).astype(np.int64), starts)
    return together, of_train, together - of_train
