"""Category values and class labels as JSON, so that any type comes back from a file as it went in."""

from __future__ import annotations

import base64
import datetime as dt
import decimal
import enum
import math
import numbers
import reprlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar


@dataclass(frozen=True, order=True)
class OpaqueValue:
    """A value of a type that we don't know, known by its type's name and its text.

    ``pandas.Interval``, ``uuid.UUID`` or a member of an enum: the text tells two of them apart as well as
    they do themselves, and a text can be saved.
    """

    type_name: str
    text: str


# LightGBM puts a threshold half-way between two numbers, and half-way to infinity is infinity, so a table's numbers are
# cut here. A row's needn't be: no threshold lies beyond, but for the infinite one, and a file that has one is refused.
LARGEST_NUMBER = 1e300

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
    "opaque": lambda value: OpaqueValue(exactly(str, value[0]), exactly(str, value[1])),
}


def plain_value(value: Any) -> Any:
    """One of the types that `encode_value` knows, equal to `value`; None for a missing value.

    Numbers become ints if they are whole and floats if not, as a column of ints with a gap is read as floats. A decimal
    that no float stands for stays a decimal, so that two that differ never become one.
    Times with a zone become UTC without one, times finer than a microsecond lose the rest. Members of an enum
    that are strings or ints are those.

    Raises `TypeError` on what can be neither a number nor a category, such as a list, and `OverflowError` on
    what can't be converted, such as a time in a zone where UTC is in the year 0.
    """
    kind = type(value)
    if kind is str or kind is bool or kind is int or value is None:
        return value
    if kind is not float and hasattr(value, "dtype") and hasattr(value, "item"):
        value = _from_numpy(value)
    if value is None or isinstance(value, (bool, OpaqueValue)):
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, numbers.Number):
        return _plain_number(value)
    if isinstance(value, (dt.date, dt.time, dt.timedelta)):
        return _plain_time(value)
    return bytes(value) if isinstance(value, (bytes, bytearray)) else _opaque(value)


def _from_numpy(value: Any) -> Any:
    """The Python object in a NumPy scalar."""
    if getattr(value, "ndim", 0):
        raise TypeError("it is an array")
    code = value.dtype.kind
    if code == "M" and value.dtype != "datetime64[D]":
        value = value.astype("datetime64[us]")
    elif code == "m":
        value = value.astype("timedelta64[us]")
    return float(value) if code == "f" else value.item()


def _plain_number(value: Any) -> int | float | decimal.Decimal | None:
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, decimal.Decimal):
        return _plain_decimal(value)
    if not isinstance(value, numbers.Real):
        raise TypeError("complex numbers have no order")
    number = float(value)
    if math.isnan(number):
        return None
    return int(number) if number.is_integer() else number


def _plain_decimal(value: decimal.Decimal) -> int | float | decimal.Decimal | None:
    if value.is_nan():  # a signaling NaN can't become a float
        return None
    number = float(value)
    if value.is_infinite():
        return number
    if math.isinf(number):  # 1E+400: as an integer it could take any amount of memory
        return value
    whole = int(value)
    if whole == value:
        return whole
    # 0.1 is the float that is written so, though that float is a little more than a tenth.
    is_that_float = value in (decimal.Decimal(repr(number)), decimal.Decimal(number))
    return number if is_that_float else value


def _plain_time(value: Any) -> Any:
    """The same date or time without what a subclass adds, as ``pandas.Timestamp`` does."""
    if type(value).__name__ == "NaTType":  # which says that it is a datetime
        return None
    if isinstance(value, dt.datetime):
        utc = value if value.tzinfo is None else value.astimezone(dt.timezone.utc)
        return dt.datetime(utc.year, utc.month, utc.day, utc.hour, utc.minute, utc.second, utc.microsecond)
    if isinstance(value, dt.date):
        return dt.date(value.year, value.month, value.day)
    if isinstance(value, dt.timedelta):
        return dt.timedelta(value.days, value.seconds, value.microseconds)
    return value


def _opaque(value: Any) -> OpaqueValue | None:
    kind = type(value)
    if kind.__name__ == "NAType":  # pandas.NA, which is neither equal to itself nor different
        return None
    if isinstance(value, (list, dict, set, frozenset)):  # the text of a set is another one in another process
        raise TypeError(f"a {kind.__name__} holds many values")
    if isinstance(value, enum.Enum):
        return OpaqueValue(kind.__qualname__, value.name or str(value))
    return OpaqueValue(kind.__qualname__, str(value))


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


T = TypeVar("T")


def fields_of(entry: Any, names: tuple[str, ...]) -> dict[str, Any]:
    """An object with these fields and no others: what an unknown field means, only another version knows."""
    fields = exactly(dict, entry)
    for name in names:
        if name not in fields:
            raise ValueError(f"the field {name!r} is missing")
    if len(fields) > len(names):
        unknown = next(name for name in fields if name not in names)
        raise ValueError(f"the field {reprlib.repr(unknown)} is unknown")
    return fields


def value_of(encoded: Any) -> Any:
    """The value that `encode_value` was given; a built-in error of some kind on anything that it can't have written."""
    if encoded is None or type(encoded) in (str, int, float, bool):
        return encoded
    ((tag, written),) = exactly(dict, encoded).items()
    value = _READERS[tag](written)
    if encode_value(value) != encoded:
        raise ValueError(f"{reprlib.repr(encoded)} is no value")
    return value


def exactly(kind: type[T], value: Any) -> T:
    """The value, if it is of this type and no other."""
    if type(value) is not kind:
        raise TypeError(f"expected {kind.__name__}, found {type(value).__name__}")
    return value


def counted(value: Any) -> int:
    """A whole number of at least 0."""
    if not 0 <= exactly(int, value) < 2**63:
        raise ValueError(f"{reprlib.repr(value)} is not a count")
    return int(value)


def finite(value: Any) -> float:
    """A finite number."""
    if type(value) not in (int, float) or not math.isfinite(value):
        raise ValueError(f"{reprlib.repr(value)} is not a finite number")
    return float(value)


def finite_or_nan(value: Any) -> float:
    """A finite number; NaN for None, as `none_if_nan` writes it."""
    return math.nan if value is None else finite(value)


def none_if_nan(value: float) -> float | None:
    """What JSON can hold of a number that may be NaN."""
    return None if math.isnan(value) else value
