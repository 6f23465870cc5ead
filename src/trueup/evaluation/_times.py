"""When rows are from, as values that can be put in order."""

from __future__ import annotations

import datetime as dt
import re
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from trueup._data import Column
from trueup._model import ValueKind
from trueup.errors import ColumnError

__all__ = ["Times", "read_times", "time_in_words"]

Times: TypeAlias = npt.NDArray[Any]

_MONTH = re.compile(r"\d{4}-\d{2}")


def read_times(column: Column, what: str) -> Times:
    """When each row is from: numbers such as years, dates, or dates and times.

    Text is read only where every value is a date in ISO 8601, or a month such as 2024-03: of any other text the
    order is anybody's guess. There is one time per row, and none is missing; `what` is what messages call them.
    """
    times = _ordered(column, what)
    missing = np.isnat(times) if times.dtype.kind == "M" else np.isnan(times.astype(np.float64))
    if missing.any():
        first = int(np.argmax(missing))
        raise ColumnError(
            f"{what}: {int(missing.sum()):,} of {len(times):,} times are missing (first at row {first:,}), so those "
            "rows are neither earlier nor later. Drop them, or fill the times."
        )
    return times


def _ordered(column: Column, what: str) -> Times:
    if column.kind is ValueKind.EMPTY:
        raise ColumnError(f"{what}: all {len(column):,} times are missing. Name another column.")
    if column.kind is ValueKind.NUMBER:
        if column.codes is None and column.values.dtype.kind in "iu":
            return np.asarray(column.values)
        return column.floats()
    if column.kind in (ValueKind.DATE, ValueKind.DATETIME):
        return np.asarray(column.by_code(column.values, np.datetime64("NaT")))
    if column.kind is ValueKind.STRING:
        return _from_text(column, what)
    raise ColumnError(
        f"{what} holds {column.kind.value}, which has no order in time. Name a column of numbers such as years, or "
        "of dates."
    )


def _from_text(column: Column, what: str) -> Times:
    values = column.objects()
    known: dict[Any, np.datetime64] = {None: np.datetime64("NaT", "us")}
    for text in dict.fromkeys(values.tolist()):
        if text is not None:
            known[text] = _parsed(text, what)
    return np.array([known[text] for text in values.tolist()], dtype="datetime64[us]")


def _parsed(text: str, what: str) -> np.datetime64:
    try:
        if _MONTH.fullmatch(text):
            return np.datetime64(text, "us")
        # Python before 3.11 does not know the Z.
        moment = dt.datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        raise ColumnError(
            f"{what} holds text such as {text!r}, whose order in time is unknown. Turn it into dates, into text such "
            "as 2024-03-31, or into numbers such as years."
        ) from None
    if moment.tzinfo is not None:
        moment = moment.astimezone(dt.timezone.utc).replace(tzinfo=None)
    return np.datetime64(moment, "us")


def time_in_words(value: Any) -> str:
    """A time as a person writes it: a year as it is, a moment at midnight as a date."""
    if isinstance(value, np.datetime64):
        text = str(value.astype("datetime64[s]")).replace("T", " ")
        return text.removesuffix(" 00:00:00")
    number = value.item() if isinstance(value, np.generic) else value
    return f"{number:g}" if isinstance(number, float) and number != int(number) else str(int(number))
