"""What an audit found, as a person asks for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trueup.auditing import AuditResult, SketchAudit

__all__ = [
    "Finding",
    "Findings",
    "detectable_in_words",
    "findings_of",
    "findings_of_sketch",
    "in_plural",
    "p_value_in_words",
    "verdict",
]


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
    ecce_sigma_high: float | None = None  # between this and the value above is the exact one, if that is not known

    @property
    def sigmas(self) -> str:
        """The ECCE in sigmas, as a range if it is one."""
        return _range(self.ecce_sigma, self.ecce_sigma if self.ecce_sigma_high is None else self.ecce_sigma_high)

    @property
    def score_is(self) -> str:
        """Which way the scores are wrong."""
        return {"over-estimates": "too high", "under-estimates": "too low"}.get(self.direction, "both")


@dataclass(frozen=True, eq=False)
class Findings:
    """An audit's result, and what to say of it.

    Attributes
    ----------
    result : AuditResult or SketchAudit
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
    n_draws : int
        How often the search was repeated to learn what noise shows; 0 if p-values were computed.
    rule : str
        By whose rule p-values that were computed are shared among segments.
    """

    result: AuditResult | SketchAudit
    n_significant: int
    n_stories: int
    n_repeating: int
    shown: tuple[Finding, ...]
    folded: bool
    n_draws: int
    rule: str = "Bonferroni"

    @property
    def ecce_sigmas(self) -> str:
        """The ECCE of all rows in sigmas, as a range if it is one."""
        return _in_range(self.result, "ecce_sigma")

    @property
    def mce_sigmas(self) -> str:
        """The MCE in sigmas, as a range if it is one."""
        return _in_range(self.result, "mce")

    @property
    def n_untold(self) -> int:
        """Significant segments that neither tell a story nor repeat one: there are more than are told."""
        return self.n_significant - self.n_stories - self.n_repeating


def findings_of(result: AuditResult, top: int, *, fold: bool = True) -> Findings:
    """What to say of an audit, with at most `top` segments; folded, those that repeat others are not among them."""
    names = [name for name in Finding.__dataclass_fields__ if name not in ("is_significant", "ecce_sigma_high")]
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
        n_draws=result.null_samples,
    )


def findings_of_sketch(result: SketchAudit, top: int) -> Findings:
    """What to say of the audit of a summary, which can't tell which segments repeat others."""
    names = [name for name in Finding.__dataclass_fields__ if name not in ("is_significant", "ecce_sigma")]
    rows = result.to_dict(top)["segments"]
    shown = [
        Finding(
            **{name: row[name] for name in names},
            ecce_sigma=row["ecce_sigma_low"],
            is_significant=row["significant"],
        )
        for row in rows
    ]
    n_significant = result.n_significant
    return Findings(result, n_significant, n_significant, 0, tuple(shown), folded=False, n_draws=0, rule="Holm")


def _in_range(result: AuditResult | SketchAudit, name: str) -> str:
    """A number, or the range that it is in, which the audit of a summary knows only."""
    value = getattr(result, name)
    return _range(getattr(result, f"{name}_low", value), getattr(result, f"{name}_high", value))


def _range(low: float, high: float) -> str:
    least, most = f"{low:,.1f}", f"{high:,.1f}"
    return least if least == most else f"{least}–{most}"


def verdict(findings: Findings) -> str:
    """The audit in a sentence or two."""
    from trueup.auditing import verdict_in_words

    return verdict_in_words(findings.result, folded=findings.folded)


def detectable_in_words(result: AuditResult | SketchAudit) -> str:
    """The smallest error that is found; empty if none would be."""
    from trueup.auditing import detectable_in_words

    return detectable_in_words(result)


def p_value_in_words(p_value: float | None, n_draws: int = 0) -> str:
    """A p-value; of the smallest that so many draws can show, that it is at most that."""
    from trueup._report import p_value_in_form

    return p_value_in_form(p_value, 1 / (n_draws + 1) if n_draws else 0.0)


def in_plural(n: int, one: str, many: str) -> str:
    """A number with its noun."""
    return f"{n:,} {one if n == 1 else many}"
