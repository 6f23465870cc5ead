"""What a diagnosis finds because of how rows were split, and not because anything is wrong with them."""

from __future__ import annotations

from dataclasses import replace

from trueup.evaluation._diagnosis._finding import Diagnosis, Finding
from trueup.evaluation._split import SplitKind

__all__ = ["read_by_split"]

_DRIFT = ("different_populations", "separating_column", "split_key", "label_shift")
_RANKS = ("error", "warning", "note")


def read_by_split(diagnosis: Diagnosis, kind: SplitKind) -> Diagnosis:
    """The same diagnosis, read with the knowledge of how rows were split.

    In time, rows may drift. That is worth a warning, and no error: a calibration that helps later rows all the same
    has passed the harder test. Groups are dealt to the two sides at random, so the sides can't be of different
    populations. But rows of one group are alike, and a classifier that looks at rows recognises the groups of each
    side: a note.
    """
    if kind == "random":
        return diagnosis
    read = _in_time if kind == "time" else _by_group
    findings = [read(finding) if finding.code in _DRIFT else finding for finding in diagnosis.findings]
    return replace(diagnosis, findings=tuple(sorted(findings, key=lambda finding: _RANKS.index(finding.severity))))


def _in_time(finding: Finding) -> Finding:
    if finding.severity == "note":
        return finding
    advice = "Rows change with time: expect that of rows to come as well, and fit again as they do."
    return replace(finding, severity="warning", advice=advice)


def _by_group(finding: Finding) -> Finding:
    advice = "Groups were dealt out at random: this is single groups being recognised, and needs nothing done."
    return replace(finding, severity="note", advice=advice)
