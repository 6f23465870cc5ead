"""What an audit found: the result, and the segments to show of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trueup.auditing import AuditResult

__all__ = ["Findings", "findings_of", "sigmas"]


@dataclass(frozen=True, eq=False)
class Findings:
    """An audit's result, and the segments to show: entries of its `to_dict`."""

    result: AuditResult
    shown: tuple[Mapping[str, Any], ...]
    folded: bool  # segments that repeat others are not among them

    @property
    def segments(self) -> Any:
        """The table of all segments."""
        return self.result.segments

    @property
    def verdict(self) -> str:
        """The audit in a sentence or two."""
        from trueup.auditing import verdict_in_words

        return verdict_in_words(self.result, folded=self.folded)


def findings_of(result: AuditResult, top: int, *, fold: bool = True) -> Findings:
    """What to say of an audit, with at most `top` segments; folded, those that repeat others are not among them."""
    if result.from_sketch:  # which can't tell which segments repeat others
        return Findings(result, tuple(result.to_dict(top)["segments"]), folded=False)
    if fold:
        rows = [
            row
            for row in result.to_dict(top)["segments"]
            if row["explained_by"] is None and (row["is_pattern"] or not row["significant"])
        ]
    else:
        rows = sorted(result.to_dict(None)["segments"], key=lambda row: -row["evidence"])
    return Findings(result, tuple(rows[:top]), folded=fold)


def sigmas(values: Mapping[str, Any], name: str = "ecce_sigma") -> str:
    """A number of sigmas, or the range that it is in, which is all that a sketch knows."""
    low, high = (values.get(f"{name}{end}", values.get(name)) for end in ("_low", "_high"))
    least, most = f"{low:,.1f}", f"{high:,.1f}"
    return least if least == most else f"{least}–{most}"
