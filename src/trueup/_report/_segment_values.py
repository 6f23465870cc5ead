"""What a page says of segments: numbers in columns, words, and curves."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from trueup.errors import ParameterError

if TYPE_CHECKING:
    from trueup.metrics import CumulativeCurve, ReliabilityCurve

__all__ = ["Choice", "Form", "Option", "PageColumn", "Pattern", "Segments", "Series"]

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
    """What one set of scores looks like on some rows."""

    name: str  # whose scores they are, such as "before"
    reliability: ReliabilityCurve  # observed rates along the scores
    cumulative: CumulativeCurve  # the running sum of errors that the ECCE is read off


@dataclass(frozen=True, eq=False)
class PageColumn:
    """A number for each segment."""

    title: str  # the heading
    values: NumberArray  # a value a segment; NaN where there is none
    form: Form = Form.DECIMAL  # how they are written
    low: NumberArray | None = None  # their intervals
    high: NumberArray | None = None
    reads: str = ""  # one line on how to read it
    is_extra: bool = False  # whether it may be left out where room is short
    digits: int = 1  # of percentages, how many digits after the point
    least: float = 0.0  # of p-values, the smallest that could have come out: it is written as "at most" that


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
    text: str  # what to say of it, after its name


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
    patterns: tuple[Pattern, ...] = ()  # those that are told in words above the table
    # Curves of those that are worth a click, by place.
    curves: Mapping[int, tuple[Series, ...]] = field(default_factory=dict)
    n_all: int | None = None  # how many there are, if more than are listed

    def __post_init__(self) -> None:
        n = len(self.words)
        lengths = {column.title: len(column.values) for column in self.columns}
        lengths |= {self.choice.title: len(self.choice.codes), "significant": len(self.significant)}
        wrong = {title: length for title, length in lengths.items() if length != n}
        if wrong:
            raise ParameterError(f"There are {n:,} segments, and these columns are not as long: {wrong}.")
