"""What an audit found: the result, and the segments to show of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trueup.auditing import AuditResult, SketchAudit

__all__ = ["Findings", "findings_of", "findings_of_sketch", "sigmas"]


@dataclass(frozen=True, eq=False)
class Findings:
    """An audit's result, and the segments to show: entries of its `to_dict`."""

    result: AuditResult | SketchAudit
    shown: tuple[Mapping[str, Any], ...]
    folded: bool  # segments that repeat others are not among them

    @property
    def segments(self) -> Any:
        """The table of all segments."""
        return self.result.segments

    @property
    def n_draws(self) -> int:
        """How often the search was repeated to learn what noise shows; 0 if p-values were computed."""
        return int(getattr(self.result, "null_samples", 0))

    @property
    def n_stories(self) -> int:
        """Significant segments that don't repeat another. A sketch can't tell, so there it is all of them."""
        return int(getattr(self.result, "n_stories", self.result.n_significant))

    @property
    def n_repeating(self) -> int:
        """Significant segments that repeat another."""
        return int(getattr(self.result, "n_repeating", 0))

    @property
    def verdict(self) -> str:
        """The audit in a sentence or two."""
        from trueup.auditing import verdict_in_words

        return verdict_in_words(self.result, folded=self.folded)


def findings_of(result: AuditResult, top: int, *, fold: bool = True) -> Findings:
    """What to say of an audit, with at most `top` segments; folded, those that repeat others are not among them."""
    if fold:
        rows = [
            row
            for row in result.to_dict(top)["segments"]
            if row["explained_by"] is None and (row["is_story"] or not row["significant"])
        ]
    else:
        rows = sorted(result.to_dict(None)["segments"], key=lambda row: -row["evidence"])
    return Findings(result, tuple(rows[:top]), folded=fold)


def findings_of_sketch(result: SketchAudit, top: int) -> Findings:
    """What to say of the audit of a sketch, which can't tell which segments repeat others."""
    return Findings(result, tuple(result.to_dict(top)["segments"]), folded=False)


def sigmas(values: Mapping[str, Any], name: str = "ecce_sigma") -> str:
    """A number of sigmas, or the range that it is in, which is all that a sketch knows."""
    low, high = (values.get(f"{name}{end}", values.get(name)) for end in ("_low", "_high"))
    least, most = f"{low:,.1f}", f"{high:,.1f}"
    return least if least == most else f"{least}–{most}"
