"""What a page says: plain numbers and texts, put together by whoever has found something."""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from trueup.errors import ParameterError

if TYPE_CHECKING:
    from trueup.curves import CumulativeCurve, ReliabilityCurve

__all__ = [
    "Check",
    "Choice",
    "Column",
    "Estimate",
    "Fact",
    "Finding",
    "Form",
    "Headline",
    "Number",
    "Numbers",
    "Option",
    "Outcome",
    "Page",
    "Round",
    "Rounds",
    "Segments",
    "Series",
    "Severity",
    "Story",
    "Tone",
]

Tone: TypeAlias = Literal["good", "bad", "unsure", "plain"]
Outcome: TypeAlias = Literal["better", "worse", "unclear", "same"]
Severity: TypeAlias = Literal["note", "warning", "error"]

BoolArray: TypeAlias = npt.NDArray[np.bool_]
NumberArray: TypeAlias = npt.NDArray[Any]


class Form(enum.Enum):
    """How a number is written."""

    COUNT = "count"  # 12,345
    PERCENT = "percent"  # 12.3 %, from 0.123
    SIGMAS = "sigmas"  # 9.4 σ
    DECIMAL = "decimal"  # 0.1234
    CHANGE = "change"  # +0.1234
    P_VALUE = "p_value"  # 0.031, < 0.0001


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


@dataclass(frozen=True, eq=False)
class Series:
    """What one set of scores looks like on some rows.

    Attributes
    ----------
    name : str
        Whose scores they are, such as "before".
    reliability : ReliabilityCurve
        Observed rates along the scores.
    cumulative : CumulativeCurve
        The running sum of errors that the ECCE is read off.
    """

    name: str
    reliability: ReliabilityCurve
    cumulative: CumulativeCurve


@dataclass(frozen=True, eq=False)
class Column:
    """A number for each segment.

    Attributes
    ----------
    title : str
        The heading.
    values : array
        A value a segment; NaN where there is none.
    form : Form
        How they are written.
    low, high : array or None
        Their intervals.
    reads : str
        One line on how to read it.
    is_extra : bool
        Whether it may be left out where room is short.
    digits : int
        Of percentages, how many digits after the point.
    least : float
        Of p-values, the smallest that could have come out: it is written as "at most" that.
    """

    title: str
    values: NumberArray
    form: Form = Form.DECIMAL
    low: NumberArray | None = None
    high: NumberArray | None = None
    reads: str = ""
    is_extra: bool = False
    digits: int = 1
    least: float = 0.0


@dataclass(frozen=True)
class Option:
    """One of the few things that can be said of a segment, such as "too high".

    Attributes
    ----------
    text : str
        What is said.
    mark : "up", "down", "both", "good", "bad" or "none"
        The sign beside it.
    """

    text: str
    mark: Literal["up", "down", "both", "good", "bad", "none"] = "none"


@dataclass(frozen=True, eq=False)
class Choice:
    """Which of a few things is said of each segment; readers can filter by it.

    Attributes
    ----------
    title : str
        The heading.
    options : tuple of Option
        What can be said.
    codes : array of int
        The option of each segment.
    reads : str
        One line on how to read it.
    """

    title: str
    options: tuple[Option, ...]
    codes: NumberArray
    reads: str = ""


@dataclass(frozen=True)
class Story:
    """A segment that is worth a sentence of its own.

    Attributes
    ----------
    place : int
        Which one of the segments.
    text : str
        What to say of it, after its name.
    """

    place: int
    text: str


@dataclass(frozen=True, eq=False)
class Segments:
    """Segments, in the order in which they are first shown.

    Attributes
    ----------
    title : str
        The heading.
    reads : str
        One line on how to read the table.
    words : tuple of str
        The segments in words.
    columns : tuple of Column
        Numbers of each.
    choice : Choice
        What is said of each.
    significant : array of bool
        Which of them are more than noise.
    repeats : array of int or None
        The place of the segment that each one repeats; -1 if none.
    stories : tuple of Story
        Those that are told in words above the table.
    curves : mapping of int to tuple of Series
        Curves of those that are worth a click, by place.
    n_all : int or None
        How many there are, if more than are listed.
    """

    title: str
    reads: str
    words: tuple[str, ...]
    columns: tuple[Column, ...]
    choice: Choice
    significant: BoolArray
    repeats: NumberArray | None = None
    stories: tuple[Story, ...] = ()
    curves: Mapping[int, tuple[Series, ...]] = field(default_factory=dict)
    n_all: int | None = None

    def __post_init__(self) -> None:
        n = len(self.words)
        lengths = {column.title: len(column.values) for column in self.columns}
        lengths |= {self.choice.title: len(self.choice.codes), "significant": len(self.significant)}
        wrong = {title: length for title, length in lengths.items() if length != n}
        if wrong:
            raise ParameterError(f"There are {n:,} segments, and these columns are not as long: {wrong}.")


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
