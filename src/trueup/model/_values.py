"""Category values and class labels as JSON, so that any type comes back from a file as it went in."""

from __future__ import annotations

import base64
import datetime as dt
import decimal
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = ["OpaqueValue", "decode_value", "encode_value", "plain_value"]


@dataclass(frozen=True, order=True)
class OpaqueValue:
    """A value of a type that we don't know, known by its type's name and its text.

    ``pandas.Interval``, ``uuid.UUID`` or a member of an enum: the text tells two of them apart as well as they do
    themselves, and a text can be saved.
    """

    type_name: str
    text: str


_MICROSECOND = dt.timedelta(microseconds=1)

_WRITERS: dict[type, tuple[str, Callable[[Any], Any]]] = {
    dt.datetime: ("datetime", dt.datetime.isoformat),
    dt.date: ("date", dt.date.isoformat),
    dt.time: ("time", dt.time.isoformat),
    dt.timedelta: ("timedelta", lambda value: value // _MICROSECOND),
    decimal.Decimal: ("decimal", str),
    bytes: ("bytes", lambda value: base64.b64encode(value).decode("ascii")),
    OpaqueValue: ("opaque", lambda value: [value.type_name, value.text]),
}

_READERS: dict[str, Callable[[Any], Any]] = {
    "datetime": dt.datetime.fromisoformat,
    "date": dt.date.fromisoformat,
    "time": dt.time.fromisoformat,
    "timedelta": lambda value: value * _MICROSECOND,
    "decimal": decimal.Decimal,
    "bytes": lambda value: base64.b64decode(value, validate=True),
    "float": float,
    "opaque": lambda value: OpaqueValue(_text(value[0]), _text(value[1])),
}


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("not a text")
    return value


def plain_value(value: Any) -> Any:
    """One of the types that `encode_value` knows, equal to `value`; None for a missing value.

    Whole floats become ints, as a column of ints with a gap is read as floats. Times with a zone become UTC, times finer
    than a microsecond lose the rest.
    """
    kind = type(value)
    if kind is str or kind is bool or kind is int:
        return value
    if hasattr(value, "dtype") and hasattr(value, "item"):  # a NumPy scalar
        value = value.astype("datetime64[us]").item() if value.dtype.kind == "M" else value.item()
    if value is None or value != value:  # NaN and NaT are not equal to themselves
        return None
    if isinstance(value, float):
        return int(value) if value.is_integer() else float(value)
    if isinstance(value, dt.datetime):
        value = value.astimezone(dt.timezone.utc) if value.tzinfo is not None else value
        return dt.datetime(*value.timetuple()[:6], value.microsecond)
    for known in (bool, str, int, dt.date, dt.time, dt.timedelta, decimal.Decimal, bytes, OpaqueValue):
        if type(value) is known:
            return value
    if isinstance(value, str):
        return str.__str__(value)
    if repr(value) == "<NA>":
        return None
    return OpaqueValue(type(value).__qualname__, str(value))


def encode_value(value: Any) -> Any:
    """Something that JSON can hold, from a plain value."""
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": repr(value)}
    for known, (tag, write) in _WRITERS.items():  # datetime stands before date, its base
        if isinstance(value, known):
            return {tag: write(value)}
    raise TypeError(f"a value of type {type(value).__name__} can't be written")


def decode_value(encoded: Any) -> Any:
    """The value that `encode_value` was given.

    Raises `ValueError`, `TypeError`, `KeyError`, `ArithmeticError` or `IndexError` on anything that it can't have
    written.
    """
    if encoded is None or isinstance(encoded, (str, bool, int)):
        return encoded
    if isinstance(encoded, float):
        return encoded
    ((tag, value),) = encoded.items()
    return _READERS[tag](value)
