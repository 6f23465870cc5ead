"""What a page says: plain numbers and texts, put together by whoever has found something."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

from trueup._report._segment_values import Form, Segments, Series
from trueup.errors import ParameterError

__all__ = [
    "Check",
    "Estimate",
    "Fact",
    "Finding",
    "Headline",
    "Number",
    "Numbers",
    "Outcome",
    "Page",
    "Round",
    "Rounds",
    "Severity",
    "Tone",
]

Tone: TypeAlias = Literal["good", "bad", "unsure", "plain"]
Outcome: TypeAlias = Literal["better", "worse", "unclear", "same"]
Severity: TypeAlias = Literal["note", "warning", "error"]


@dataclass(frozen=True)
class Check:
    """A rule behind a verdict, and whether it holds."""

    holds: bool
    text: str


@dataclass(frozen=True)
class Headline:
    """The verdict.

    Attributes
    ----------
    verdict : str
        In a word or a few, such as "Ship".
    tone : "good", "bad", "unsure" or "plain"
        What kind of news that is.
    sentence : str
        The whole in a sentence or two.
    checks : tuple of Check
        The rules that led there.
    """

    verdict: str
    tone: Tone
    sentence: str
    checks: tuple[Check, ...] = ()


@dataclass(frozen=True)
class Fact:
    """Something to know about what was looked at, such as how many rows there are."""

    name: str
    value: str
    note: str = ""


@dataclass(frozen=True)
class Estimate:
    """A number, and its interval if it has one."""

    value: float
    low: float = math.nan
    high: float = math.nan


@dataclass(frozen=True)
class Number:
    """A metric: one line of the table of numbers.

    Attributes
    ----------
    name : str
        Such as "Log loss".
    reads : str
        One line on how to read it.
    values : tuple of Estimate
        One for each of the page's series.
    form : Form
        How the values are written.
    change : Estimate or None
        The last value minus the first.
    p_value : float
        The chance of as much by noise alone; NaN if that is not known.
    outcome : "better", "worse", "unclear", "same" or None
        What the change means; None where there is none.
    role : str
        What part it has in the verdict, in a few words.
    least : float
        The smallest p-value that could have come out: it is written as "at most" that.
    """

    name: str
    reads: str
    values: tuple[Estimate, ...]
    form: Form = Form.DECIMAL
    change: Estimate | None = None
    p_value: float = math.nan
    outcome: Outcome | None = None
    role: str = ""
    least: float = 0.0


@dataclass(frozen=True)
class Numbers:
    """The metrics, and what the intervals hold with which chance."""

    series: tuple[str, ...]
    rows: tuple[Number, ...]
    confidence: float = 0.95

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row.values) != len(self.series):
                raise ParameterError(f"{row.name!r} has {len(row.values)} values for {len(self.series)} series.")


@dataclass(frozen=True)
class Round:
    """What a round of the fit did; round 0 is the base model.

    Attributes
    ----------
    number : int
        The round.
    train_loss, validation_loss : float
        Log losses after it, on rows that grew its trees and on rows that did not; NaN where there are none.
    scale : float
        By which factor logits were rescaled.
    change : float
        By how much it moved logits, on average.
    told : str
        What it learned, in words, if that is known.
    """

    number: int
    train_loss: float
    validation_loss: float
    scale: float = 1.0
    change: float = 0.0
    told: str = ""


@dataclass(frozen=True)
class Rounds:
    """What the model learned.

    Attributes
    ----------
    rounds : tuple of Round
        Round 0 and all that were tried.
    kept : int
        The last round that the model keeps.
    gains : tuple of (str, float)
        Columns by how much of the gain came of them, as shares, the largest first.
    """

    rounds: tuple[Round, ...]
    kept: int
    gains: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class Finding:
    """Something that the diagnosis of the data found."""

    severity: Severity
    text: str
    advice: str = ""


@dataclass(frozen=True, eq=False)
class Page:
    """All that one page says; what is None or empty is left out.

    Attributes
    ----------
    title : str
        What the page is about, such as "Audit of visits.parquet".
    headline : Headline
        The verdict.
    facts : tuple of Fact
        What was looked at.
    numbers : Numbers or None
        The metrics.
    overall : tuple of Series
        Curves of all rows together.
    segments : tuple of Segments
        Tables of segments.
    rounds : Rounds or None
        What the model learned.
    findings : tuple of Finding or None
        What the diagnosis found; None if there was none, and empty if it found nothing.
    made : str
        How the page came about, for its last line.
    """

    title: str
    headline: Headline
    facts: tuple[Fact, ...] = ()
    numbers: Numbers | None = None
    overall: tuple[Series, ...] = ()
    segments: tuple[Segments, ...] = ()
    rounds: Rounds | None = None
    findings: tuple[Finding, ...] | None = None
    made: str = ""
