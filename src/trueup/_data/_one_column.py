"""One value per row, from whatever holds them; and the words for the rows where something is wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from trueup._data._columns import Column
from trueup._data._readers import column_from_any
from trueup.errors import DataError

__all__ = ["check_length", "count_of", "first_of", "one_column"]


def one_column(values: Any, name: str, error: type[DataError]) -> Column:
    """The values as a column, or that they are not one value per row."""
    if isinstance(values, Column):
        return values
    is_sequence = hasattr(values, "__len__") or hasattr(values, "__array__")
    if hasattr(values, "columns") or isinstance(values, (str, bytes, dict)) or not is_sequence:
        raise error(f"{name} is a {type(values).__name__}; pass a one-dimensional array.")
    if len(getattr(values, "shape", (1,))) != 1:
        raise error(f"{name} has shape {values.shape}; pass a one-dimensional array.")
    try:
        return column_from_any(name, values)
    except DataError as reason:
        raise error(f"{name} can't be read: {reason}") from reason


def check_length(found: int, expected: int, name: str, error: type[DataError]) -> None:
    """Refuse values of other rows than the table's."""
    if found != expected:
        raise error(f"{name} has {found:,} rows, but X has {expected:,}. They must be the same rows.")


def count_of(bad: npt.NDArray[np.bool_]) -> str:
    """How many rows are bad, in words."""
    return f"{int(bad.sum()):,} of {len(bad):,}"


def first_of(bad: npt.NDArray[np.bool_], values: npt.NDArray[Any]) -> str:
    """Which bad row is the first, and what it holds."""
    row = int(np.argmax(bad))
    return f"first at row {row:,}: {values[row]!s}"
