"""The user's own tables: some of their rows and columns, the library they are of, and what goes back to it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import pyarrow as pa


def library_of(*values: Any) -> Any:
    """The library, as narwhals names it, of the first value that is a table or a Series of one; else Arrow."""
    import narwhals.stable.v2 as nw

    for value in values:
        known = nw.from_native(value, pass_through=True, allow_series=True)
        if isinstance(known, (nw.DataFrame, nw.Series)):
            return known.implementation
    return nw.Implementation.PYARROW


def build_table(columns: Mapping[str, Any], library: Any) -> Any:
    """A table of the library that `library_of` gives."""
    import narwhals.stable.v2 as nw

    return nw.from_dict(columns, backend=library).to_native()


def subtable(X: Any, rows: npt.NDArray[np.bool_] | None = None, columns: Sequence[str] | None = None) -> Any:
    """The same table in the same library with those rows, and those named columns, only."""
    places = None if rows is None else np.flatnonzero(rows)
    if isinstance(X, Mapping):
        chosen = {name: values for name, values in X.items() if columns is None or str(name) in columns}
        return chosen if places is None else {name: _taken(values, places) for name, values in chosen.items()}
    if isinstance(X, np.ndarray):
        if columns is not None and X.dtype.names:
            X = X[list(columns)]
        return X if places is None else X[places]
    import narwhals.stable.v2 as nw

    frame = as_frame(X)
    if not isinstance(frame, nw.DataFrame):
        return subtable(np.asarray(X), rows, columns)
    if columns is not None:
        wanted = set(columns)
        frame = frame.select([name for name in frame.columns if str(name) in wanted])
    native = frame.to_native()
    if rows is None or places is None:
        return native
    if type(native).__module__.startswith("pyarrow"):  # which may refuse to take from more than 2 GB of text
        return native.filter(rows)
    return frame[places].to_native()


def to_arrow(X: Any) -> pa.Table:
    """Any table as an Arrow table, to be written to a file; NumPy's columns are called x0, x1, ..."""
    import narwhals.stable.v2 as nw
    import pyarrow as pa

    if isinstance(X, Mapping):
        return pa.table({str(name): _arrow_array(values) for name, values in X.items()})
    if isinstance(X, np.ndarray):
        if X.dtype.names:
            return pa.table({name: _arrow_array(X[name]) for name in X.dtype.names})
        return pa.table({f"x{i}": _arrow_array(X[:, i]) for i in range(X.shape[1])})
    frame = as_frame(X)
    if not isinstance(frame, nw.DataFrame):
        return to_arrow(np.asarray(X))
    return pa.table({str(name): _arrow_array(frame.get_column(name).to_native()) for name in frame.columns})


def with_columns(X: Any, columns: Mapping[str, npt.NDArray[Any]]) -> Any:
    """The same table with more columns, in the user's own library; a dict or an array becomes an Arrow table."""
    import narwhals.stable.v2 as nw

    frame = as_frame(X)
    if isinstance(X, Mapping) or not isinstance(frame, nw.DataFrame):
        frame = nw.from_native(to_arrow(X))
    library = frame.implementation
    more = []
    for name, values in columns.items():
        try:
            series = nw.new_series(name, values.tolist(), backend=library)
        except Exception:  # each library has an error of its own for values of different types
            series = nw.new_series(name, [None if value is None else str(value) for value in values], backend=library)
        more.append(series)
    return frame.with_columns(*more).to_native()


def as_frame(X: Any) -> Any:
    """The table as narwhals knows it, or as it is."""
    import narwhals.stable.v2 as nw

    if type(X).__module__.startswith("pyarrow"):
        import pyarrow as pa

        if isinstance(X, pa.RecordBatch):  # which narwhals doesn't know
            X = pa.Table.from_batches([X])
    return nw.from_native(X, pass_through=True)


def _taken(values: Any, places: npt.NDArray[np.intp]) -> Any:
    if isinstance(values, np.ndarray):
        return values[places]
    if isinstance(values, (list, tuple)):
        return [values[place] for place in places.tolist()]
    import narwhals.stable.v2 as nw

    series = nw.from_native(values, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        return series[places].to_native()
    return values.take(places)  # an array of Arrow or of pandas


def _arrow_array(values: Any) -> Any:
    """A column as Arrow holds it; of values that it has no type for, their text."""
    import narwhals.stable.v2 as nw
    import pyarrow as pa

    series = nw.from_native(values, series_only=True, pass_through=True)
    try:
        if isinstance(series, nw.Series):
            return series.to_arrow()
        return pa.array(values, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError):
        entries = series.to_list() if isinstance(series, nw.Series) else list(values)
        return pa.array([None if entry is None else str(entry) for entry in entries], pa.string())


def json_values(value: Any) -> Any:
    """The same in types that JSON knows; what is not a finite number is None, and any other value its text."""
    if isinstance(value, Mapping):
        return {str(name): json_values(inner) for name, inner in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [json_values(inner) for inner in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, (str, bool, int, float)) or value is None else str(value)
