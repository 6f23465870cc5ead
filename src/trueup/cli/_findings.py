"""What an audit found, as a person asks for it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from trueup.cli._printing import percent

if TYPE_CHECKING:
    from trueup.auditing import AuditResult

__all__ = ["Finding", "Findings", "detectable_in_words", "findings_of", "in_plural", "p_value_in_words", "verdict"]

_POINTS = (10, 20, 50, 100)


@dataclass(frozen=True)
class Finding:
    """A segment to show."""

    segment: str
    rows: int
    share: float
    mean_score: float
    observed_rate: float
    observed_low: float
    observed_high: float
    direction: str
    ecce_sigma: float
    evidence: float
    adjusted_p_value: float | None
    is_significant: bool

    @property
    def score_is(self) -> str:
        """Which way the scores are wrong."""
        return {"over-estimates": "too high", "under-estimates": "too low"}.get(self.direction, "both")


@dataclass(frozen=True, eq=False)
class Findings:
    """An audit's result, and what to say of it.

    Attributes
    ----------
    result : AuditResult
        All of it.
    n_significant : int
        Segments that are significantly wrong.
    n_stories : int
        Those of them that tell a story of their own.
    n_repeating : int
        Those of them that repeat a story.
    shown : tuple of Finding
        The first segments.
    folded : bool
        Whether those that repeat another are left out of them.
    """

    result: AuditResult
    n_significant: int
    n_stories: int
    n_repeating: int
    shown: tuple[Finding, ...]
    folded: bool

    @property
    def n_untold(self) -> int:
        """Significant segments that neither tell a story nor repeat one: there are more than are told."""
        return self.n_significant - self.n_stories - self.n_repeating


def findings_of(result: AuditResult, top: int, *, fold: bool = True) -> Findings:
    """What to say of an audit, with at most `top` segments; folded, those that repeat others are not among them."""
    names = [name for name in Finding.__dataclass_fields__ if name != "is_significant"]
    rows = result.to_dict(None)["segments"] if not fold else result.to_dict(top)["segments"]
    shown = []
    for row in rows:
        is_new = row["explained_by"] is None and (row["is_story"] or not row["significant"])
        if not fold or is_new:
            shown.append(Finding(**{name: row[name] for name in names}, is_significant=row["significant"]))
    if not fold:
        shown.sort(key=lambda finding: -finding.evidence)
    return Findings(
        result=result,
        n_significant=result.n_significant,
        n_stories=result.n_stories,
        n_repeating=result.n_repeating,
        shown=tuple(shown[:top]),
        folded=fold,
    )


def verdict(findings: Findings) -> str:
    """The audit in a sentence or two."""
    result = findings.result
    if result.n_segments == 0:
        return "No segment could be tested."
    if not findings.n_significant:
        found = detectable_in_words(result)
        would = f" {found[0].upper()}{found[1:]} would most likely have been found." if found else ""
        return f"No segment is wrong by more than noise explains.{would}"
    level = f"{100 * result.level:g} %"
    if findings.n_significant == 1:
        return f"1 segment is significantly wrong at level {level}."
    least = "at least " if findings.n_untold else ""
    stories = f", in {least}{in_plural(findings.n_stories, 'story', 'different stories')}" if findings.folded else ""
    return f"{findings.n_significant:,} segments are significantly wrong at level {level}{stories}."


def detectable_in_words(result: AuditResult) -> str:
    """The smallest error that is found; empty if none would be."""
    share = result.minimum_detectable
    for points in _POINTS:
        if share <= points / 100:
            return f"an error of {points} points in {_two_digits(100 * share / points)} of the rows"
    return ""


def p_value_in_words(p_value: float | None, n_draws: int = 0) -> str:
    """A p-value; of the smallest that so many draws can show, that it is at most that."""
    if p_value is None or math.isnan(p_value):
        return "–"
    if n_draws and p_value <= 1.000001 / (n_draws + 1):
        return f"≤ {_rounded_up(p_value):g}"
    if p_value < 0.0001:
        return "< 0.0001"
    return f"{p_value:.2g}" if p_value < 0.995 else "1"


def in_plural(n: int, one: str, many: str) -> str:
    """A number with its noun."""
    return f"{n:,} {one if n == 1 else many}"


def _two_digits(share: float) -> str:
    """A share as a percentage of two digits that mean something."""
    digits = 1 if share <= 0 else max(0, 1 - math.floor(math.log10(100 * share)))
    return percent(share, digits)


def _rounded_up(p_value: float) -> float:
    scale = 10.0 ** (1 - math.floor(math.log10(p_value)))
    return math.ceil(p_value * scale - 1e-9) / scale
