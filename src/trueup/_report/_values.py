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
    "Headline",
    "Number",
    "Outcome",
    "Page",
    "PageFinding",
    "PageNumbers",
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
    """The verdict."""

    verdict: str  # in a word or a few, such as "Ship"
    tone: Tone  # what kind of news that is
    sentence: str  # the whole in a sentence or two
    checks: tuple[Check, ...] = ()  # the rules that led there


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
    """A metric: one line of the table of numbers."""

    name: str  # such as "Log loss"
    reads: str  # one line on how to read it
    values: tuple[Estimate, ...]  # one for each of the page's series
    form: Form = Form.DECIMAL  # how the values are written
    change: Estimate | None = None  # the last value minus the first
    p_value: float = math.nan  # the chance of as much by noise alone; NaN if that is not known
    outcome: Outcome | None = None  # what the change means; None where there is none
    role: str = ""  # what part it has in the verdict, in a few words
    least: float = 0.0  # the smallest p-value that could have come out: it is written as "at most" that


@dataclass(frozen=True)
class PageNumbers:
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
    """What a round of the fit did; round 0 is the base model."""

    number: int  # the round
    # Log losses after it, on rows that grew its trees and on rows that did not; NaN where there are none.
    train_loss: float
    validation_loss: float
    scale: float = 1.0  # by which factor logits were rescaled
    change: float = 0.0  # by how much it moved logits, on average
    told: str = ""  # what it learned, in words, if that is known


@dataclass(frozen=True)
class Rounds:
    """What the model learned."""

    rounds: tuple[Round, ...]  # round 0 and all that were tried
    kept: int  # the last round that the model keeps
    # Columns by how much of the gain came of them, as shares, the largest first.
    gains: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class PageFinding:
    """Something that the diagnosis of the data found."""

    severity: Severity
    text: str
    advice: str = ""


@dataclass(frozen=True, eq=False)
class Page:
    """All that one page says; what is None or empty is left out."""

    title: str  # what the page is about, such as "Audit of visits.parquet"
    headline: Headline  # the verdict
    facts: tuple[Fact, ...] = ()  # what was looked at
    numbers: PageNumbers | None = None  # the metrics
    overall: tuple[Series, ...] = ()  # curves of all rows together
    segments: tuple[Segments, ...] = ()  # tables of segments
    rounds: Rounds | None = None  # what the model learned
    # What the diagnosis found; None if there was none, and empty if it found nothing.
    findings: tuple[PageFinding, ...] | None = None
    made: str = ""  # how the page came about, for its last line
