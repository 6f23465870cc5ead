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
    from trueup.metrics import CumulativeCurve, ReliabilityCurve

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


@dataclass(frozen=True, eq=False)
class Series:
    """The curves of one set of scores on some rows."""

    name: str  # whose scores they are, such as "before"
    reliability: ReliabilityCurve  # observed rates along the scores
    cumulative: CumulativeCurve  # the running sum of errors that the ECCE is read off


@dataclass(frozen=True, eq=False)
class PageColumn:
    """A number for each segment."""

    title: str  # the heading
    values: NumberArray  # one per segment; NaN where there is none
    form: Form = Form.DECIMAL  # how they are written
    low: NumberArray | None = None  # their intervals
    high: NumberArray | None = None
    reads: str = ""  # one line on how to read it
    is_extra: bool = False  # whether it may be left out where room is short
    digits: int = 1  # of percentages, how many digits after the point
    least: float = 0.0  # the smallest possible p-value, shown as "at most" that


def common_columns(columns: Mapping[str, Any], null_samples: int) -> tuple[PageColumn, PageColumn, PageColumn]:
    """The number of rows, their share and the p-value of each segment."""
    least, chance = (
        1 / (null_samples + 1) if null_samples else 0.0,
        "the chance of as much by noise, in the whole search",
    )
    return (
        PageColumn("Rows", columns["rows"], Form.COUNT),
        PageColumn("Share", columns["share"], Form.PERCENT, is_extra=True, reads="of all rows, by weight"),
        PageColumn("p", columns["adjusted_p_value"], Form.P_VALUE, reads=chance, least=least),
    )


@dataclass(frozen=True)
class Option:
    """One of the few things that can be said of a segment, such as "too high"."""

    text: str  # what is said
    mark: Literal["up", "down", "both", "good", "bad", "none"] = "none"  # the sign beside it


@dataclass(frozen=True, eq=False)
class Choice:
    """Which of a few things is said of each segment; readers can filter by it."""

    title: str  # the heading
    options: tuple[Option, ...]  # what can be said
    codes: NumberArray  # the option of each segment
    reads: str = ""  # one line on how to read it


@dataclass(frozen=True)
class Pattern:
    """A segment that is worth a sentence of its own."""

    place: int  # which one of the segments
    text: str  # follows its name


@dataclass(frozen=True, eq=False)
class Segments:
    """Segments, in the order in which they are first shown."""

    title: str  # the heading
    reads: str  # one line on how to read the table
    words: tuple[str, ...]  # the segments in words
    columns: tuple[PageColumn, ...]  # numbers of each
    choice: Choice  # what is said of each
    significant: BoolArray  # which of them are more than noise
    repeats: NumberArray | None = None  # the place of the segment that each one repeats; -1 if none
    patterns: tuple[Pattern, ...] = ()  # those described in words above the table
    # The curves of some, by place.
    curves: Mapping[int, tuple[Series, ...]] = field(default_factory=dict)
    n_all: int | None = None  # how many there are, if more than are listed

    def __post_init__(self) -> None:
        n = len(self.words)
        lengths = {column.title: len(column.values) for column in self.columns}
        lengths |= {self.choice.title: len(self.choice.codes), "significant": len(self.significant)}
        wrong = {title: length for title, length in lengths.items() if length != n}
        if wrong:
            raise ParameterError(f"There are {n:,} segments, and these columns are not as long: {wrong}.")


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
    """A fact about the data, such as how many rows there are."""

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
    p_value: float = math.nan  # the chance of as much by noise alone; NaN if unknown
    outcome: Outcome | None = None  # what the change means; None where there is none
    role: str = ""  # its part in the verdict, in a few words
    least: float = 0.0  # the smallest possible p-value, shown as "at most" that


@dataclass(frozen=True)
class PageNumbers:
    """The metrics, and the confidence of their intervals."""

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
    # Log losses after it, on training rows and on validation rows; NaN where there are none.
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
    # Columns by their share of the gain, the largest first.
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
    # What the diagnosis found; None if there was no diagnosis.
    findings: tuple[PageFinding, ...] | None = None
    made: str = ""  # the last line: how the page was made


_THIN = "\u202f"  # a narrow space that doesn't break
_MINUS = "\u2212"
_SMALLEST_P = 1e-4


def in_form(value: float, form: Form, *, signed: bool = False, digits: int | None = None) -> str:
    """A number as a person reads it; a dash if there is none."""
    if not math.isfinite(value):
        return "–"
    if form is Form.P_VALUE:
        return p_value_in_form(value)
    text = _unsigned(abs(value), form, digits)
    is_zero = not any(digit in text for digit in "123456789")
    if value < 0 and not is_zero:
        return _MINUS + text
    return f"+{text}" if (signed or form is Form.CHANGE) and not is_zero else text


def interval_in_form(estimate: Estimate, form: Form, *, signed: bool = False, digits: int | None = None) -> str:
    """An interval as a person reads it; empty if there is none."""
    if not (math.isfinite(estimate.low) and math.isfinite(estimate.high)):
        return ""
    low, high = (in_form(end, form, signed=signed, digits=digits) for end in (estimate.low, estimate.high))
    return f"{low} to {high}"


def digits_of(number: Number) -> int | None:
    """Digits that tell apart the ends of a number's interval, for the whole line of it; None for the usual ones."""
    least, most = {Form.DECIMAL: (4, 7), Form.PERCENT: (2, 4)}.get(number.form, (0, 0))
    change = number.change
    if not most or change is None or not 0 < change.high - change.low < math.inf:
        return None
    width = (change.high - change.low) * (100 if number.form is Form.PERCENT else 1)
    return min(max(least, 1 - math.floor(math.log10(width))), most)


def p_value_in_form(p_value: float | None, least: float = 0.0) -> str:
    """A p-value; of the smallest that could have come out, that it is at most that."""
    if p_value is None or not math.isfinite(p_value):
        return "–"
    if least and p_value <= least * 1.000001:
        scale = 10.0 ** (1 - math.floor(math.log10(least)))
        return f"≤ {math.ceil(least * scale - 1e-9) / scale:g}"
    if p_value < _SMALLEST_P:
        return "< 0.0001"
    return f"{p_value:.2g}" if p_value < 0.995 else "1"


def percent_digits(prevalence: float) -> int:
    """Digits of a percentage that show differences between segments of this rate."""
    return 1 if prevalence >= 0.01 else 2 if prevalence >= 0.001 else 3


def _unsigned(value: float, form: Form, digits: int | None) -> str:
    if form is Form.COUNT:
        return f"{value:,.0f}"
    if form is Form.SIGMAS:
        return f"{value:.1f}{_THIN}σ"
    if form is Form.PERCENT:
        usual = 2 if 0 < value < 0.00995 else 1
        return f"{100 * value:.{usual if digits is None else digits}f}{_THIN}%"
    return f"{value:.{4 if digits is None else digits}f}"
