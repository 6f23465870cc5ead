"""What a diagnosis says."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, TypeAlias

from trueup._data import json_values
from trueup._report import Headline, Page, PageFinding, Result, Tone, made_with

__all__ = ["Diagnosis", "Finding", "Severity", "findings_on_page", "in_order"]

Severity: TypeAlias = Literal["note", "warning", "error"]

_RANKS: dict[str, int] = {"error": 0, "warning": 1, "note": 2}


@dataclass(frozen=True)
class Finding:
    """One thing that deserves a look.

    Attributes
    ----------
    code : str
        What it is, for programs: ``"shared_rows"``, ``"constant_scores"``, ...
    severity : {"note", "warning", "error"}
        A note is good to know, a warning may make results wrong, and with an error they are wrong.
    text : str
        What was found, in words, with counts.
    advice : str
        What to do about it.
    values : dict
        The numbers in the text, and more.

    Examples
    --------
    >>> import trueup
    >>> diagnosis = trueup.diagnose({"hour": [8, 8, 9, 9] * 100}, [0, 1] * 200, [0.5] * 400)
    >>> finding = diagnosis.findings[0]
    >>> finding.code, finding.severity
    ('constant_scores', 'warning')
    >>> print(finding.text)
    All 400 scores of the training rows are 0.5.
    """

    code: str
    severity: Severity
    text: str
    advice: str
    values: dict[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as plain values that JSON can hold.

        Returns
        -------
        dict
            The attributes by name. What is not a finite number is None.
        """
        values: dict[str, Any] = json_values(vars(self))
        return values

    def __str__(self) -> str:
        return f"{self.severity}: {self.text} {self.advice}"


@dataclass(frozen=True, eq=False, repr=False)
class Diagnosis(Result):
    """What `trueup.diagnose` found.

    Attributes
    ----------
    findings : tuple of Finding
        Errors first, then warnings, then notes.
    n_train, n_test : int
        How many training rows and test rows were looked at.
    facts : dict
        What was measured, even if it is not worth a finding: ``population_auc`` with ``population_low``,
        ``population_high`` and ``population_p_value``, which say how well a classifier tells the training rows from
        the test rows; and ``train_rate``, ``test_rate``, ``train_mean_score`` and ``test_mean_score``.

    Examples
    --------
    >>> import trueup
    >>> from trueup.datasets import make_traffic
    >>> train, test = make_traffic(20_000, random_state=0), make_traffic(10_000, random_state=1)
    >>> diagnosis = trueup.diagnose(train.X, train.y, train.scores, test=(test.X, test.y, test.scores))
    >>> diagnosis
    Diagnosis(20,000 training rows and 10,000 test rows: nothing found)
    >>> diagnosis.ok
    True
    """

    _title: ClassVar[str] = "Diagnosis"

    findings: tuple[Finding, ...]
    n_train: int
    n_test: int
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Whether there is neither a warning nor an error."""
        return not self.warnings

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """The findings that are not just notes."""
        return tuple(finding for finding in self.findings if finding.severity != "note")

    def _facts(self) -> dict[str, Any]:
        return {"ok": self.ok, **super()._facts()}

    def _page(self, title: str, *, in_full: bool) -> Page:
        tone: Tone = "good" if self.ok else "bad" if self.findings[0].severity == "error" else "unsure"
        words = f"{self._counts_in_words().capitalize()} in {self._rows_in_words()}."
        headline = Headline("Nothing looks wrong" if self.ok else "The data look wrong", tone, words)
        return Page(title, headline, findings=findings_on_page(self), made=made_with())

    def __str__(self) -> str:
        return "\n".join([f"{self._rows_in_words()}: {self._counts_in_words()}", *map(str, self.findings)])

    def __repr__(self) -> str:
        return f"Diagnosis({self._rows_in_words()}: {self._counts_in_words()})"

    def _rows_in_words(self) -> str:
        return f"{self.n_train:,} training rows" + (f" and {self.n_test:,} test rows" if self.n_test else "")

    def _counts_in_words(self) -> str:
        counts = dict.fromkeys(_RANKS, 0)
        for finding in self.findings:
            counts[finding.severity] += 1
        found = [f"{n} {severity}{'s' if n > 1 else ''}" for severity, n in counts.items() if n]
        return ", ".join(found) or "nothing found"


def in_order(findings: list[Finding]) -> tuple[Finding, ...]:
    """The findings, errors first; those of one severity stay in the order in which they were found."""
    return tuple(sorted(findings, key=lambda finding: _RANKS[finding.severity]))


def findings_on_page(diagnosis: Diagnosis) -> tuple[PageFinding, ...]:
    """The findings as a page has them."""
    return tuple(PageFinding(one.severity, one.text, one.advice) for one in diagnosis.findings)
