"""One column, from any library, as arrays that the rest of the package understands."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from trueup.errors import ColumnError, TableError
from trueup.model import ValueKind, plain_value

if TYPE_CHECKING:
    import narwhals.stable.v2 as nw
    import pyarrow as pa

__all__ = ["Column", "column_from_any", "column_from_numpy"]


@dataclass(frozen=True, eq=False)
class Column:
    """The values of a column.

    Attributes
    ----------
    name : str
        Its name.
    kind : ValueKind
        What the values are.
    values : array
        NUMBER: integers, or floats with NaN where missing. BOOLEAN: floats 0, 1 and NaN. DATE and DATETIME:
        ``datetime64`` days and microseconds. STRING: an Arrow array, or objects with None where missing. MIXED: objects as
        `plain_value` gives them. EMPTY: all None.
    codes : integer array or None
        If there are codes, the column is dictionary-encoded: row i holds ``values[codes[i]]``, or nothing if that is -1.
    """

    name: str
    kind: ValueKind
    values: Any
    codes: npt.NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return len(self.values if self.codes is None else self.codes)

    @property
    def has_categorical_type(self) -> bool:
        """Whether the column's type makes it categorical: strings, booleans, categoricals, enums; or nothing at all."""
        by_kind = self.kind in (ValueKind.STRING, ValueKind.BOOLEAN, ValueKind.MIXED, ValueKind.EMPTY)
        return by_kind or self.codes is not None

    def floats(self) -> npt.NDArray[np.float64]:
        """The values of a column of numbers as floats."""
        values = np.asarray(self.values, dtype=np.float64)
        if self.codes is None:
            return values
        return np.append(values, np.nan)[self.codes]  # code -1 is the NaN at the end

    def objects(self) -> npt.NDArray[np.object_]:
        """The values as Python objects, None where missing."""
        if self.kind is ValueKind.STRING and not isinstance(self.values, np.ndarray):
            values = _object_array(self.values.to_pylist())
        elif self.kind is ValueKind.MIXED or self.kind is ValueKind.STRING:
            values = self.values
        elif self.kind is ValueKind.EMPTY:
            values = np.full(len(self.values), None, dtype=object)
        else:
            plain = _object_array([plain_value(value) for value in self.values])
            is_truth = self.kind is ValueKind.BOOLEAN
            values = _object_array([None if v is None else bool(v) for v in plain]) if is_truth else plain
        return values if self.codes is None else np.append(values, None)[self.codes]


def column_from_any(name: str, values: Any) -> Column:
    """A column from a list, a NumPy or Arrow array, or a Series of any library that narwhals knows."""
    if isinstance(values, np.ndarray):
        return column_from_numpy(name, values)
    if isinstance(values, (list, tuple, range)):
        return _from_objects(name, _object_array(values))
    module = type(values).__module__
    if module.startswith("pyarrow"):
        return _from_arrow(name, values)
    import narwhals.stable.v2 as nw

    series = nw.from_native(values, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        return _from_series(name, series)
    if hasattr(values, "__array__"):
        return column_from_numpy(name, np.asarray(values))
    raise TableError(f"Column {name!r} is a {type(values).__name__}; pass an array, a list or a Series.")


def column_from_numpy(name: str, values: npt.NDArray[Any]) -> Column:
    """A column from a one-dimensional NumPy array."""
    if values.ndim != 1:
        raise TableError(f"Column {name!r} has {values.ndim} dimensions; a column has one.")
    code = values.dtype.kind
    if code in "iu":
        return Column(name, ValueKind.NUMBER, values)
    if code == "f":
        return Column(name, ValueKind.NUMBER, values.astype(np.float64, copy=False))
    if code == "b":
        return Column(name, ValueKind.BOOLEAN, values.astype(np.float64))
    if code == "M":
        by_day = values.dtype == np.dtype("datetime64[D]")
        kind = ValueKind.DATE if by_day else ValueKind.DATETIME
        return Column(name, kind, values if by_day else values.astype("datetime64[us]"))
    if code == "U":
        return Column(name, ValueKind.STRING, values.astype(object))
    if code == "c":
        raise ColumnError(f"Complex data not supported: column {name!r} holds complex numbers. Pass real ones.")
    if code in "Om" or code == "S" or code == "T":
        return _from_objects(name, values.astype(object))
    raise ColumnError(f"Column {name!r} has the type {values.dtype}, which can't be used. Convert or drop it.")


def _from_series(name: str, series: nw.Series[Any]) -> Column:
    import narwhals.stable.v2 as nw

    native = series.to_native()
    if isinstance(series.dtype, (nw.Categorical, nw.Enum)) and hasattr(native, "cat") and hasattr(native.cat, "codes"):
        categories = column_from_any(name, native.cat.categories.to_numpy())
        return Column(name, categories.kind, categories.values, native.cat.codes.to_numpy().astype(np.int64))
    if isinstance(getattr(native, "dtype", None), np.dtype):  # pandas on NumPy
        return column_from_numpy(name, native.to_numpy())
    if series.dtype.is_float():
        return Column(name, ValueKind.NUMBER, series.to_numpy().astype(np.float64, copy=False))
    if isinstance(series.dtype, nw.Object):
        return _from_objects(name, series.to_numpy())
    try:
        return _from_arrow(name, series.to_arrow())
    except (NotImplementedError, TypeError) as error:
        raise _unusable(name, str(series.dtype)) from error


def _from_arrow(name: str, array: pa.Array | pa.ChunkedArray) -> Column:
    import pyarrow as pa
    import pyarrow.types as at

    kind = array.type
    if at.is_dictionary(kind):
        if isinstance(array, pa.ChunkedArray):
            array = array.unify_dictionaries().combine_chunks()
            if isinstance(array, pa.ChunkedArray):  # older Arrow keeps one chunk
                array = array.chunk(0) if array.num_chunks else pa.DictionaryArray.from_arrays(
                    pa.nulls(0, kind.index_type), pa.nulls(0, kind.value_type))  # fmt: skip
        categories = _from_arrow(name, array.dictionary)
        codes = array.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
        return Column(name, categories.kind, categories.values, codes)
    if at.is_string(kind) or at.is_large_string(kind) or kind == getattr(pa, "string_view", pa.string)():
        return Column(name, ValueKind.STRING, array)
    if at.is_null(kind):
        return Column(name, ValueKind.EMPTY, np.full(len(array), None, dtype=object))
    if at.is_boolean(kind):
        values = _to_numpy(array.cast(pa.uint8())).astype(np.float64)
        return Column(name, ValueKind.BOOLEAN, values)
    if at.is_decimal(kind) or kind == pa.float16():
        return Column(name, ValueKind.NUMBER, _to_numpy(array.cast(pa.float64())))
    if at.is_integer(kind):
        return Column(name, ValueKind.NUMBER, _to_numpy(array))  # floats with NaN if any is missing
    if at.is_floating(kind):
        return Column(name, ValueKind.NUMBER, _to_numpy(array).astype(np.float64, copy=False))
    if at.is_date(kind):
        return Column(name, ValueKind.DATE, _to_numpy(array.cast(pa.date32())).astype("datetime64[D]"))
    if at.is_timestamp(kind):
        in_utc = array.cast(pa.timestamp("us", kind.tz), safe=False)
        return Column(name, ValueKind.DATETIME, _to_numpy(in_utc).astype("datetime64[us]"))
    if at.is_time(kind) or at.is_duration(kind) or at.is_binary(kind) or at.is_large_binary(kind):
        return _from_objects(name, _object_array(array.to_pylist()))
    raise _unusable(name, str(kind))


def _to_numpy(array: pa.Array | pa.ChunkedArray) -> npt.NDArray[Any]:
    import pyarrow as pa

    result = array.to_numpy() if isinstance(array, pa.ChunkedArray) else array.to_numpy(zero_copy_only=False)
    return np.asarray(result)


def _from_objects(name: str, values: npt.NDArray[np.object_]) -> Column:
    """A column from Python objects, of the one kind that they all are, or MIXED."""
    if "pandas" in sys.modules and len(values) > 1000:
        # Only then: pyarrow's conversion of Python objects imports pandas where it is installed.
        import pyarrow as pa

        try:
            converted = pa.Array.from_pandas(values)
            if not pa.types.is_nested(converted.type):
                return _from_arrow(name, converted)
        except (pa.ArrowException, ValueError, TypeError, OverflowError):
            pass  # of mixed kinds, or text that is not Unicode
    plain = _object_array([plain_value(value) for value in values])
    types = {type(value) for value in plain} - {type(None)}
    if any(issubclass(t, complex) for t in types):
        raise ColumnError(f"Complex data not supported: column {name!r} holds complex numbers. Pass real ones.")
    if not types:
        is_float = any(isinstance(value, float) for value in values)  # NaN is a number that is missing
        if is_float:
            return Column(name, ValueKind.NUMBER, np.full(len(values), np.nan))
        return Column(name, ValueKind.EMPTY, plain)
    for value in values:
        if isinstance(value, (list, dict, set, np.ndarray)):
            raise _unusable(name, type(value).__name__)
    if types == {str}:
        return Column(name, ValueKind.STRING, plain)
    if types == {bool}:
        return Column(name, ValueKind.BOOLEAN, plain.astype(np.float64))
    names = {t.__name__ for t in types}
    if names <= {"int", "float", "Decimal"}:
        return Column(name, ValueKind.NUMBER, _numbers_from_objects(name, plain, types))
    if names == {"date"}:
        return Column(name, ValueKind.DATE, plain.astype("datetime64[D]"))
    if names == {"datetime"}:
        return Column(name, ValueKind.DATETIME, plain.astype("datetime64[us]"))
    return Column(name, ValueKind.MIXED, plain)


def _numbers_from_objects(name: str, plain: npt.NDArray[np.object_], types: set[type]) -> npt.NDArray[Any]:
    try:
        if types == {int} and not any(value is None for value in plain):
            return plain.astype(np.int64)
    except OverflowError:
        pass  # too large for an integer; a float says about how large
    try:
        return plain.astype(np.float64)
    except OverflowError as error:
        raise ColumnError(f"Column {name!r} holds integers that are too large even for floats.") from error


def _object_array(values: Any) -> npt.NDArray[np.object_]:
    array = np.empty(len(values), dtype=object)
    for i, value in enumerate(values):  # one by one: NumPy would unpack a sequence among them
        array[i] = value
    return array


def _unusable(name: str, what: str) -> ColumnError:
    return ColumnError(
        f"Column {name!r} holds values of type {what}, which can be neither numbers nor categories. Drop the column, leave "
        "it out with features=, or turn it into numbers or strings."
    )
