"""The verdict: what the comparison says, unless the data forbid to believe it."""

from __future__ import annotations

from trueup.comparison import Comparison, Reason
from trueup.evaluation._diagnosis._finding import Diagnosis

__all__ = ["judge"]


def judge(comparison: Comparison, diagnosis: Diagnosis, n_rounds: int) -> tuple[str, tuple[Reason, ...]]:
    """The verdict, and the reasons of the comparison with those of the data and the model after them.

    With an error in the diagnosis, the figures of the test are not to be trusted: "ship" becomes "inconclusive". A
    model of no rounds gives the scores back as they are: there is nothing to ship, and what is there is kept.
    """
    reasons = [*comparison.reasons]
    errors = [finding for finding in diagnosis.findings if finding.severity == "error"]
    verdict: str = comparison.verdict
    if n_rounds == 0:
        verdict = "keep"
        text = "No round of the calibration helped, so it gives the scores back as they are."
        reasons.append(Reason("no_rounds", "data", False, text, {"n_rounds": 0}))
    if errors:
        verdict = "inconclusive" if verdict == "ship" else verdict
        more = f" And {len(errors) - 1} more." if len(errors) > 1 else ""
        text = f"The data can't be trusted with a decision: {errors[0].text}{more}"
    else:
        n = len(diagnosis.warnings)
        found = "nothing to worry about" if not n else f"{n} {'warning' if n == 1 else 'warnings'}, and no error"
        text = f"The diagnosis of the data found {found}."
    reasons.append(Reason("diagnosis", "data", not errors, text, {"errors": [finding.code for finding in errors]}))
    return verdict, tuple(reasons)
