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

__all__ = ["Choice", "Column", "Form", "Option", "Pattern", "Segments", "Series"]

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
class Pattern:
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
    patterns : tuple of Pattern
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
    patterns: tuple[Pattern, ...] = ()
    curves: Mapping[int, tuple[Series, ...]] = field(default_factory=dict)
    n_all: int | None = None

    def __post_init__(self) -> None:
        n = len(self.words)
        lengths = {column.title: len(column.values) for column in self.columns}
        lengths |= {self.choice.title: len(self.choice.codes), "significant": len(self.significant)}
        wrong = {title: length for title, length in lengths.items() if length != n}
        if wrong:
            raise ParameterError(f"There are {n:,} segments, and these columns are not as long: {wrong}.")
