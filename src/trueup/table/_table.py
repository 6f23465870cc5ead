"""A table from any library, read a column at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from trueup.errors import ColumnError, TableError
from trueup.table._columns import Column, column_from_any, column_from_numpy

__all__ = ["CalibrationTable", "listed", "read_table"]

_ACCEPTED = "a pandas, polars or pyarrow table, a dict of arrays, or a two-dimensional NumPy array"


@dataclass(frozen=True, eq=False)
class CalibrationTable:
    """Columns by name, read when they are asked for.

    Attributes
    ----------
    names : tuple of str
        The names of the columns, in order.
    n_rows : int
        How many rows there are.
    named : bool
        Whether the columns have names of their own; if not, they are called x0, x1, ...
    """

    names: tuple[str, ...]
    n_rows: int
    named: bool
    _read: Callable[[int], Column]

    def column(self, name: str) -> Column:
        """The column of that name."""
        return self._read(self.names.index(name))

    def renamed(self, names: tuple[str, ...]) -> CalibrationTable:
        """The same columns under other names."""
        return CalibrationTable(names, self.n_rows, self.named, self._read)


def read_table(X: Any) -> CalibrationTable:
    """A table from anything tabular.

    Parameters
    ----------
    X : table
        A pandas, polars or pyarrow table, a dict of arrays, or a two-dimensional NumPy array.

    Returns
    -------
    CalibrationTable
        The same columns.
    """
    if isinstance(X, CalibrationTable):
        return X
    if type(X).__module__.startswith("scipy.sparse"):  # before mappings: one of them is a dict
        raise TableError("Sparse data was passed, but dense data is required. Use X.toarray(), or a DataFrame.")
    if isinstance(X, Mapping):
        return _from_mapping(X)
    if isinstance(X, np.ndarray):
        return _from_numpy(X)
    import narwhals.stable.v2 as nw

    frame = nw.from_native(X, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        raise TableError(f"X is lazy ({type(X).__name__}). Collect it first, e.g. with .collect().")
    if isinstance(frame, nw.DataFrame):
        native_names = getattr(X, "columns", frame.columns)
        names = _checked_names(native_names if _is_pandas(X) else frame.columns)
        series = list(frame.iter_columns())
        named = not _is_pandas(X) or any(isinstance(name, str) for name in native_names)
        return CalibrationTable(names, len(frame), named, lambda i: column_from_any(names[i], series[i].to_native()))
    if isinstance(X, (str, bytes)) or not (hasattr(X, "__array__") or hasattr(X, "__len__")):
        raise TableError(f"X is a {type(X).__name__}. Pass {_ACCEPTED}.")
    try:
        return _from_numpy(np.asarray(X))
    except (ValueError, TypeError) as error:
        if isinstance(error, TableError):
            raise
        raise TableError(f"X can't be read as a table ({error}). Pass {_ACCEPTED}.") from error


def listed(names: Iterable[str], at_most: int = 5) -> str:
    """Names in quotes for a message; the rest is counted."""
    names = list(names)
    shown = ", ".join(repr(name) for name in names[:at_most])
    return shown if len(names) <= at_most else f"{shown} and {len(names) - at_most} more"


def _from_mapping(X: Mapping[Any, Any]) -> CalibrationTable:
    names = _checked_names(X.keys())
    values = list(X.values())
    lengths = {}
    for name, value in zip(names, values, strict=True):
        if isinstance(value, (str, bytes)) or not hasattr(value, "__len__"):
            raise TableError(
                f"Column {name!r} is a single {type(value).__name__}. A table needs an array a column; for one row, use "
                "calibrate_one."
            )
        lengths[name] = len(value)
    if len(set(lengths.values())) > 1:
        first, other = next(iter(lengths.items())), next(item for item in lengths.items() if item[1] != lengths[names[0]])
        raise TableError(
            f"Columns differ in length: {first[0]!r} has {first[1]:,} rows, {other[0]!r} has {other[1]:,}."
        )
    n_rows = lengths[names[0]] if names else 0
    return CalibrationTable(names, n_rows, True, lambda i: column_from_any(names[i], values[i]))


def _from_numpy(X: np.ndarray[Any, Any]) -> CalibrationTable:
    if X.dtype.names:
        return _from_mapping({name: X[name] for name in X.dtype.names})
    if X.ndim != 2:
        raise TableError(
            f"Expected 2D array, got {'scalar' if X.ndim == 0 else f'{X.ndim}D'} array instead. Reshape your data: "
            "array.reshape(-1, 1) for one feature, array.reshape(1, -1) for one row."
        )
    names = tuple(f"x{i}" for i in range(X.shape[1]))
    return CalibrationTable(names, X.shape[0], False, lambda i: column_from_numpy(names[i], X[:, i]))


def _checked_names(names: Iterable[Any]) -> tuple[str, ...]:
    checked = tuple(str(name) for name in names)
    doubled = [name for name in dict.fromkeys(checked) if checked.count(name) > 1] if len(set(checked)) < len(checked) else []
    if doubled:
        raise ColumnError(f"Column names must differ, but {listed(doubled)} stands more than once. Rename or drop one.")
    return checked


def _is_pandas(X: Any) -> bool:
    return type(X).__module__.split(".")[0] in ("pandas", "modin", "cudf")
