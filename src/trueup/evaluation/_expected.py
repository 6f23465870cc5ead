"""What a diagnosis finds because of how rows were split, and not because anything is wrong with them."""

from __future__ import annotations

from dataclasses import replace

from trueup.diagnosis import Diagnosis, Finding
from trueup.evaluation._split import SplitKind

__all__ = ["DRIFT", "read_by_split"]

DRIFT = ("different_populations", "separating_column", "split_key", "label_shift")


def read_by_split(diagnosis: Diagnosis, kind: SplitKind) -> Diagnosis:
    """The same diagnosis, with what the split explains as notes.

    Groups are dealt to the two sides at random, so the sides can't be of different populations. But rows of one group
    are alike, and a classifier that looks at rows recognises the groups of each side. In time, a difference is real:
    it stays what it is.
    """
    if kind != "group":
        return diagnosis
    findings = [_as_note(finding) if finding.code in DRIFT else finding for finding in diagnosis.findings]
    ranks = ("error", "warning", "note")
    return replace(diagnosis, findings=tuple(sorted(findings, key=lambda finding: ranks.index(finding.severity))))


def _as_note(finding: Finding) -> Finding:
    advice = "Groups were dealt out at random: this is single groups being recognised, and needs nothing done."
    return replace(finding, severity="note", advice=advice)
