"""Fields of a manifest, each of exactly the type that a writer gives it; a built-in error if it is not."""

from __future__ import annotations

import math
import reprlib
from typing import Any, TypeVar

from trueup._model._values import decode_value, encode_value

__all__ = ["counted", "exactly", "fields_of", "finite", "finite_or_nan", "none_if_nan", "value_of"]

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
    """A value, if this is exactly what `encode_value` makes of it."""
    if encoded is None or type(encoded) in (str, int, float, bool):
        return encoded
    value = decode_value(exactly(dict, encoded))
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
