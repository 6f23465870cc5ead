"""The verdict: what the comparison says, unless the data can't be trusted."""

from __future__ import annotations

from dataclasses import replace

from trueup.comparison import Comparison, Reason
from trueup.evaluation._diagnosis._finding import Diagnosis, Finding, in_order
from trueup.evaluation._split import SplitKind

__all__ = ["judge", "read_by_split"]

# What a diagnosis may find because of how rows were split, and not because anything is wrong with them.
_DRIFT = ("different_populations", "separating_column", "split_key", "label_shift")


def judge(comparison: Comparison, diagnosis: Diagnosis, n_rounds: int) -> tuple[str, tuple[Reason, ...]]:
    """The verdict, and its reasons: first those of the comparison, then those of the model and the data.

    If the diagnosis found an error, the test can't be trusted: "ship" becomes "inconclusive". A model of no rounds
    gives the scores back unchanged: there is nothing to ship, so they are kept.
    """
    reasons = [*comparison.reasons]
    errors = [finding for finding in diagnosis.findings if finding.severity == "error"]
    verdict: str = comparison.verdict
    if n_rounds == 0:
        verdict = "keep"
        text = "No round of the calibration helped, so it returns the scores unchanged."
        reasons.append(Reason("no_rounds", "data", False, text, {"n_rounds": 0}))
    if errors:
        verdict = "inconclusive" if verdict == "ship" else verdict
        more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
        text = f"The data are not fit for a decision{more}: {errors[0].text}"
    else:
        n = len(diagnosis.warnings)
        found = "nothing to worry about" if not n else f"{n} {'warning' if n == 1 else 'warnings'} but no error"
        text = f"The diagnosis of the data found {found}."
    reasons.append(Reason("diagnosis", "data", not errors, text, {"errors": [finding.code for finding in errors]}))
    return verdict, tuple(reasons)


def read_by_split(diagnosis: Diagnosis, kind: SplitKind) -> Diagnosis:
    """The same diagnosis, read with the knowledge of how rows were split.

    In time, rows may drift. That is worth a warning but no error: a calibration that still helps later rows has passed
    the harder test. Groups are dealt out at random, so training rows and test rows can't be of different populations.
    But rows of one group are alike, and a classifier recognises the groups of either: a note.
    """
    if kind == "random":
        return diagnosis
    read = _in_time if kind == "time" else _by_group
    findings = [read(finding) if finding.code in _DRIFT else finding for finding in diagnosis.findings]
    return replace(diagnosis, findings=in_order(findings))


def _in_time(finding: Finding) -> Finding:
    if finding.severity == "note":
        return finding
    advice = "Rows change with time, and will go on changing: fit again from time to time."
    return replace(finding, severity="warning", advice=advice)


def _by_group(finding: Finding) -> Finding:
    advice = "Groups were dealt out at random, so the classifier just recognises single groups. There is nothing to do."
    return replace(finding, severity="note", advice=advice)
