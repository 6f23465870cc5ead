"""What a diagnosis says."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from trueup._data import json_values

__all__ = ["SCHEMA_VERSION", "Diagnosis", "Finding", "Severity"]

SCHEMA_VERSION = 1

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
    All 400 scores of train are 0.5.
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
        return {
            "code": self.code,
            "severity": self.severity,
            "text": self.text,
            "advice": self.advice,
            "values": json_values(self.values),
        }

    def __str__(self) -> str:
        return f"{self.severity}: {self.text} {self.advice}"


@dataclass(frozen=True, repr=False)
class Diagnosis:
    """What `trueup.diagnose` found.

    Attributes
    ----------
    findings : tuple of Finding
        Errors first, then warnings, then notes.
    n_train, n_test : int
        How many rows were looked at; no rows to test on are 0.
    facts : dict
        What was measured, whether or not it is worth a finding: ``population_auc`` with ``population_low``,
        ``population_high`` and ``population_p_value``, the separation of train and test by a classifier, and
        ``train_rate``, ``test_rate``, ``train_mean_score`` and ``test_mean_score``.

    Examples
    --------
    >>> import trueup
    >>> from trueup.datasets import make_traffic
    >>> train, test = make_traffic(20_000, random_state=0), make_traffic(10_000, random_state=1)
    >>> diagnosis = trueup.diagnose(train.X, train.y, train.scores, test=(test.X, test.y, test.scores))
    >>> diagnosis
    Diagnosis(20,000 train and 10,000 test rows: nothing found)
    >>> diagnosis.ok
    True
    """

    findings: tuple[Finding, ...]
    n_train: int
    n_test: int
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Whether there is neither a warning nor an error."""
        return all(finding.severity == "note" for finding in self.findings)

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """The findings that are not just notes."""
        return tuple(finding for finding in self.findings if finding.severity != "note")

    def to_dict(self) -> dict[str, Any]:
        """Return the diagnosis as plain values that JSON can hold.

        Returns
        -------
        dict
            ``schema_version``, ``ok``, ``n_train``, ``n_test``, ``facts`` and ``findings``, a dict each. What is
            not a finite number is None.

        Examples
        --------
        >>> import trueup
        >>> diagnosis = trueup.diagnose({"hour": [8, 8, 9, 9] * 100}, [0, 1] * 200, [0.5] * 400)
        >>> diagnosis.to_dict()["ok"], diagnosis.to_dict()["findings"][0]["code"]
        (False, 'constant_scores')
        """
        return {
            "schema_version": SCHEMA_VERSION,
            "ok": self.ok,
            "n_train": self.n_train,
            "n_test": self.n_test,
            "facts": json_values(self.facts),
            "findings": [finding.to_dict() for finding in self.findings],
        }

    def __str__(self) -> str:
        return "\n".join([f"{self._rows_in_words()}: {self._counts_in_words()}", *map(str, self.findings)])

    def __repr__(self) -> str:
        return f"Diagnosis({self._rows_in_words()}: {self._counts_in_words()})"

    def _rows_in_words(self) -> str:
        return f"{self.n_train:,} train" + (f" and {self.n_test:,} test rows" if self.n_test else " rows")

    def _counts_in_words(self) -> str:
        counts = dict.fromkeys(_RANKS, 0)
        for finding in self.findings:
            counts[finding.severity] += 1
        told = [f"{n} {severity}{'s' if n > 1 else ''}" for severity, n in counts.items() if n]
        return ", ".join(told) or "nothing found"


def in_order(findings: list[Finding]) -> tuple[Finding, ...]:
    """The findings, errors first; those of one severity stay in the order in which they were found."""
    return tuple(sorted(findings, key=lambda finding: _RANKS[finding.severity]))
