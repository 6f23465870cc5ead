"""What an audit found, in words."""

from __future__ import annotations

import math

from trueup.auditing._result import AuditResult

__all__ = ["detectable_in_words", "in_plural", "patterns_in_words", "verdict_in_words"]

_POINTS = (10, 20, 50, 100)


def verdict_in_words(result: AuditResult, *, folded: bool = True) -> str:
    """The audit in a sentence or two; folded, it says how many patterns the segments tell."""
    if result.n_segments == 0:
        return "No segment could be tested."
    if not result.significant:
        found = detectable_in_words(result)
        would = f" {found[0].upper()}{found[1:]} would most likely have been found." if found else ""
        return f"No segment is wrong by more than noise explains.{would}"
    at, n_significant = f"({100 * result.significance:g} % significance)", result.n_significant
    if n_significant == 1:
        return f"1 segment is significantly wrong {at}."
    patterns = f", in {patterns_in_words(result)}" if folded and not result.from_sketch else ""
    return f"{n_significant:,} segments are significantly wrong {at}{patterns}."


def patterns_in_words(result: AuditResult) -> str:
    """How many different patterns there are; "at least", if there are more than are looked for."""
    least = "at least " if result.n_significant > result.n_patterns + result.n_repeating else ""
    return f"{least}{in_plural(result.n_patterns, 'pattern', 'different patterns')}"


def detectable_in_words(result: AuditResult) -> str:
    """The smallest error that is found; empty if none would be."""
    share = result.minimum_detectable
    for points in _POINTS:
        if share <= points / 100:
            return f"an error of {points} points in {_two_digits(100 * share / points)} of the rows"
    return ""


def in_plural(n: int, one: str, many: str) -> str:
    """A number with its noun."""
    return f"{n:,} {one if n == 1 else many}"


def _two_digits(share: float) -> str:
    """A share as a percentage of two digits that mean something."""
    digits = 1 if share <= 0 else max(0, 1 - math.floor(math.log10(100 * share)))
    return f"{100 * share:.{digits}f} %"
