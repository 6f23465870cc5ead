"""A table from any library, read a column at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from trueup._data._columns import Column
from trueup._data._frames import as_frame
from trueup._data._readers import column_from_any, column_from_numpy, column_from_series
from trueup.errors import ColumnError, ParameterError, TableError

_ACCEPTED = "a pandas, polars or pyarrow table, a dict of arrays, or a two-dimensional NumPy array"


@dataclass(frozen=True, eq=False)
class CalibrationTable:
    """Columns by name, read when they are asked for."""

    names: tuple[str, ...]
    n_rows: int
    named: bool  # if not, they are called x0, x1, ...
    _read: Callable[[int], Column]

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.names)}

    def __contains__(self, name: str) -> bool:
        return name in self._places

    def column(self, name: str) -> Column:
        """The column of that name."""
        return self._read(self._places[name])

    def renamed(self, names: tuple[str, ...]) -> CalibrationTable:
        """The same columns under other names."""
        return CalibrationTable(names, self.n_rows, self.named, self._read)


def read_table(X: Any) -> CalibrationTable:
    """A table from a pandas, polars or pyarrow table, a dict of arrays, or a two-dimensional NumPy array."""
    if isinstance(X, CalibrationTable):
        return X
    if type(X).__module__.startswith("scipy.sparse"):  # before mappings: one of them is a dict
        raise TableError("Sparse data was passed, but dense data is required. Use X.toarray(), or a DataFrame.")
    if isinstance(X, Mapping):
        return _from_mapping(X)
    if isinstance(X, np.ndarray):
        return _from_numpy(X)
    table = _from_frame(X)
    if table is not None:
        return table
    if isinstance(X, (str, bytes)) or not (hasattr(X, "__array__") or hasattr(X, "__len__")):
        raise TableError(f"X is a {type(X).__name__}. Pass {_ACCEPTED}.")
    try:
        array = np.asarray(X)
        if array.dtype.kind in "US":  # NumPy makes strings of all that stand beside strings
            array = np.asarray(X, dtype=object)
    except (ValueError, TypeError) as error:
        raise TableError(f"X can't be read as a table ({error}). Pass {_ACCEPTED}.") from error
    return _from_numpy(array)


def listed(names: Iterable[Any], at_most: int = 5) -> str:
    """Names in quotes for a message; the rest is counted."""
    names = list(names)
    shown = ", ".join(repr(name) for name in names[:at_most])
    return shown if len(names) <= at_most else f"{shown} and {len(names) - at_most} more"


def told_absent(needed: str, absent: Sequence[str], present: Iterable[Any]) -> str:
    """That a table lacks columns, and which it has; `needed` tells what the columns are, as in "the model reads"."""
    noun, verb = ("column", "is") if len(absent) == 1 else ("columns", "are")
    there = listed(present, 12) or "none"
    return f"{len(absent)} {noun} that {needed} {verb} missing: {listed(absent)}. Present: {there}."


def names_from(parameter: str, wanted: Iterable[str | int], names: Sequence[str], *, where: str = "X") -> list[str]:
    """The names of columns that a parameter gives by name or by place; an error says which one may have been meant."""
    if isinstance(wanted, str):
        raise ParameterError(f"{parameter} must be a list of names, got the string {wanted!r}. Use [{wanted!r}].")
    found = []
    for one in wanted:
        is_place = isinstance(one, (int, np.integer)) and not isinstance(one, bool)
        if is_place and not -len(names) <= int(one) < len(names):
            raise ParameterError(f"{parameter} names column {one}, but X has {len(names)} columns.")
        found.append(names[int(one)] if is_place else str(one))
    there = set(names)
    absent = [name for name in found if name not in there]
    if absent:
        lowered = {name.lower(): name for name in names}
        close = get_close_matches(absent[0].lower(), lowered, n=1)
        meant = f"Did you mean {lowered[close[0]]!r}? " if close else ""
        raise ColumnError(
            f"{parameter}: {where} has no column {listed(absent)}. {meant}Its columns are {listed(names, 12)}."
        )
    return found


def _from_frame(X: Any) -> CalibrationTable | None:
    """From a table of any library that narwhals knows; None if it is something else."""
    import narwhals.stable.v2 as nw

    try:
        frame = as_frame(X)
    except nw.exceptions.DuplicateError:
        _checked_names(X.columns if hasattr(X, "iloc") else X.column_names)
        raise
    if isinstance(frame, nw.LazyFrame):
        raise TableError(f"X is lazy ({type(X).__name__}). Collect it first, e.g. with .collect().")
    if not isinstance(frame, nw.DataFrame):
        return None
    native_names: list[Any] = frame.columns
    names = _checked_names(native_names)
    named = native_names != list(range(len(names)))  # pandas numbers the columns that nobody named

    def read(place: int) -> Column:
        """The column at a place, read when it is asked for."""
        return column_from_series(names[place], frame.get_column(native_names[place]))

    return CalibrationTable(names, len(frame), named, read)


def _from_mapping(X: Mapping[Any, Any]) -> CalibrationTable:
    names = _checked_names(X.keys())
    values = list(X.values())
    lengths = [_length(name, value) for name, value in zip(names, values, strict=True)]
    for name, length in zip(names, lengths, strict=True):
        if length != lengths[0]:
            raise TableError(
                f"Columns differ in length: {names[0]!r} has {lengths[0]:,} rows, {name!r} has {length:,}. "
                "All columns need the same number."
            )
    n_rows = lengths[0] if lengths else 0
    return CalibrationTable(names, n_rows, True, lambda i: column_from_any(names[i], values[i]))


def _length(name: str, values: Any) -> int:
    try:
        if not isinstance(values, (str, bytes)):
            return len(values)
    except TypeError:
        pass
    raise TableError(
        f"Column {name!r} is a single {type(values).__name__}. A table needs one array per column; for one "
        "row, use calibrate_one."
    )


def _from_numpy(X: npt.NDArray[Any]) -> CalibrationTable:
    if X.dtype.names and X.ndim == 1:
        return _from_mapping({name: X[name] for name in X.dtype.names})
    if X.ndim != 2:
        raise TableError(
            f"Expected 2D array, got {'scalar' if X.ndim == 0 else f'{X.ndim}D'} array instead. Reshape your "
            "data: array.reshape(-1, 1) for one feature, array.reshape(1, -1) for one row."
        )
    names = tuple(f"x{i}" for i in range(X.shape[1]))
    return CalibrationTable(names, X.shape[0], False, lambda i: column_from_numpy(names[i], X[:, i]))


def _checked_names(names: Iterable[Any]) -> tuple[str, ...]:
    checked = tuple(str(name) for name in names)
    if len(set(checked)) < len(checked):
        doubled = [name for name, count in Counter(checked).items() if count > 1]
        raise ColumnError(
            f"Column names must be unique, but {listed(doubled)} appears more than once. Rename or drop one."
        )
    return checked
