"""Columns of any library, read into `Column`."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from trueup._data._arrow import EXACT_IN_FLOATS, arrow_to_numpy
from trueup._data._columns import Column, kind_of, object_array, plain
from trueup._model import ValueKind
from trueup.errors import ColumnError, TableError

if TYPE_CHECKING:
    import narwhals.stable.v2 as nw
    import pyarrow as pa

_ARRAY_TYPES = {
    ValueKind.BOOLEAN: "float64",
    ValueKind.DATE: "datetime64[D]",
    ValueKind.DATETIME: "datetime64[us]",
}
_ROWS_FOR_ARROW = 200  # with fewer, a loop is done before Arrow begins
_DIGITS_OF_FLOATS = 15  # decimals of so many digits are all different floats
_PLAIN = {str, bool, int, type(None)}
_PLAIN_NUMBERS = {int, float, type(None)}


def column_from_any(name: str, values: Any) -> Column:
    """A column from a list, a NumPy or Arrow array, or a Series of any library that narwhals knows."""
    if isinstance(values, np.ndarray):
        return column_from_numpy(name, values)
    if isinstance(values, Sequence) and not isinstance(values, (str, bytes)):
        return _from_objects(name, object_array(values))
    if type(values).__module__.startswith("pyarrow") and hasattr(values, "null_count"):
        return _from_any_arrow(name, values)
    import narwhals.stable.v2 as nw

    series = nw.from_native(values, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        return column_from_series(name, series)
    if hasattr(values, "categories") and hasattr(values, "codes"):
        return _from_categorical(name, values)
    if hasattr(values, "__array__"):
        return column_from_numpy(name, np.asarray(values))
    raise TableError(f"Column {name!r} is a {type(values).__name__}; pass an array, a list or a Series.")


def _from_any_arrow(name: str, array: pa.Array | pa.ChunkedArray) -> Column:
    """A column from an Arrow array, or a `ColumnError` with what Arrow says of it."""
    import pyarrow as pa

    try:
        return _from_arrow(name, array)
    except pa.ArrowException as error:  # such as decimals that no float can hold, or a zone that there is not
        reason = str(error).partition("\n")[0][:200]
        raise ColumnError(f"Column {name!r} of Arrow type {array.type} can't be read: {reason}.") from error


def column_from_numpy(name: str, values: npt.NDArray[Any]) -> Column:
    """A column from a one-dimensional NumPy array."""
    if values.ndim != 1:
        raise TableError(f"Column {name!r} has {values.ndim} dimensions; a column has one.")
    code = values.dtype.kind
    if isinstance(values, np.ma.MaskedArray):
        unmasked = column_from_numpy(name, values.data).objects()
        unmasked[np.ma.getmaskarray(values)] = None
        return _from_objects(name, unmasked)
    if code == "m":
        values = values.astype("timedelta64[us]")
    if code in "mOUST":
        return _from_objects(name, values.astype(object, copy=False))
    kind = ValueKind.NUMBER
    if code == "f":
        values = values.astype(np.float64, copy=False)
    elif code == "b":
        kind, values = ValueKind.BOOLEAN, values.astype(np.float64)
    elif values.dtype == np.dtype("datetime64[D]"):
        kind = ValueKind.DATE
    elif code == "M":
        kind, values = ValueKind.DATETIME, values.astype("datetime64[us]")
    elif code == "c":
        raise ColumnError(f"Complex data not supported: column {name!r} holds complex numbers. Pass real ones.")
    elif code not in "iu":
        raise _unusable(name, str(values.dtype))
    return Column(name, kind, values)


def column_from_series(name: str, series: nw.Series[Any]) -> Column:
    """A column from a Series of narwhals."""
    import narwhals.stable.v2 as nw

    native = series.to_native()
    if isinstance(getattr(native, "dtype", None), np.dtype):  # pandas on NumPy
        return column_from_numpy(name, native.to_numpy())
    kind, library = series.dtype, series.implementation
    if isinstance(kind, (nw.Categorical, nw.Enum)) and hasattr(getattr(native, "cat", None), "codes"):
        return _from_categorical(name, native.cat)  # of pandas
    if isinstance(kind, nw.Object) or (isinstance(kind, nw.Unknown) and library.is_pandas_like()):
        return column_from_numpy(name, np.asarray(native))
    if kind.is_float() and not library.is_pyarrow():
        return column_from_numpy(name, series.to_numpy())
    try:
        return _from_arrow(name, native if library.is_pyarrow() else series.to_arrow())
    except (ValueError, TypeError, NotImplementedError) as error:
        if isinstance(error, ColumnError):
            raise
        return _from_objects(name, object_array(series.to_list()))  # such as integers of 128 bits


def _from_categorical(name: str, values: Any) -> Column:
    """From what has the codes and categories of a ``pandas.Categorical``."""
    categories = column_from_numpy(name, np.asarray(values.categories))
    if len(categories) == 0:  # the type of no categories says nothing
        return Column(name, ValueKind.EMPTY, np.full(len(values.codes), None, dtype=object))
    return Column(name, categories.kind, categories.values, np.asarray(values.codes, dtype=np.int64))


def _from_arrow(name: str, array: pa.Array | pa.ChunkedArray) -> Column:
    import pyarrow as pa
    import pyarrow.types as at

    arrow_type = array.type
    if at.is_dictionary(arrow_type):
        return _from_dictionary(name, array)
    if at.is_nested(arrow_type):
        raise _unusable(name, str(arrow_type))
    if at.is_floating(arrow_type) or at.is_timestamp(arrow_type) or at.is_duration(arrow_type):
        return column_from_numpy(name, arrow_to_numpy(array))  # times with a zone come as UTC
    kind, values = ValueKind.STRING, array
    if str(arrow_type) == "string_view":  # few kernels know it, and older versions of Arrow don't at all
        values = array.cast(pa.large_string())
    elif at.is_integer(arrow_type):
        kind, values = ValueKind.NUMBER, arrow_to_numpy(array)
    elif at.is_decimal(arrow_type):
        kind, values = ValueKind.NUMBER, _decimals(name, array)
    elif at.is_boolean(arrow_type):
        kind, values = ValueKind.BOOLEAN, arrow_to_numpy(array.cast(pa.uint8())).astype(np.float64)
    elif at.is_date(arrow_type):
        kind, values = ValueKind.DATE, arrow_to_numpy(array.cast(pa.date64())).astype("datetime64[D]")
    elif at.is_null(arrow_type):
        kind, values = ValueKind.EMPTY, np.full(len(array), None, dtype=object)
    elif not at.is_string(arrow_type) and not at.is_large_string(arrow_type):
        return _from_objects(name, object_array(array.to_pylist()))
    return Column(name, kind, values)


def _decimals(name: str, array: pa.Array | pa.ChunkedArray) -> npt.NDArray[Any]:
    """Decimals as integers or floats; as objects where those are not the same numbers."""
    import pyarrow as pa

    if array.type.scale == 0:
        with contextlib.suppress(pa.ArrowInvalid):  # beyond 64 bits
            return arrow_to_numpy(array.cast(pa.int64()))
    # By way of the text: the direct cast doesn't give the nearest float.
    floats = arrow_to_numpy(array.cast(pa.string()).cast(pa.float64()))
    # The few that may have more digits than a float tells apart are looked at one by one.
    long = np.flatnonzero(np.abs(floats) >= 10.0 ** (_DIGITS_OF_FLOATS - array.type.scale))
    exact = [plain(name, value) for value in array.take(pa.array(long)).to_pylist()]
    if all(not isinstance(value, Decimal) and abs(value) <= EXACT_IN_FLOATS for value in exact):
        return floats
    objects = object_array([plain(name, value) for value in floats.tolist()])
    objects[long] = object_array(exact)
    return objects


def _from_dictionary(name: str, array: pa.Array | pa.ChunkedArray) -> Column:
    import pyarrow as pa

    if isinstance(array, pa.ChunkedArray):
        if array.num_chunks == 0:
            return _from_arrow(name, pa.chunked_array([], array.type.value_type))
        try:
            whole = array.unify_dictionaries().combine_chunks()
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):  # a dictionary that holds a null, or nothing else
            return _from_dictionaries(name, array.chunks)
        array = whole.chunk(0) if isinstance(whole, pa.ChunkedArray) else whole  # older versions of Arrow
    return _from_dictionaries(name, [array])


def _from_dictionaries(name: str, chunks: list[pa.DictionaryArray]) -> Column:
    """From chunks, each with its dictionary, which are set one after the other: a value may stand there twice."""
    import pyarrow as pa

    categories = _from_arrow(name, pa.concat_arrays([chunk.dictionary for chunk in chunks]))
    codes, n_before = [], 0
    for chunk in chunks:
        own = arrow_to_numpy(chunk.indices)
        if chunk.indices.null_count:
            own = np.where(np.isnan(own), -1 - n_before, own)
        codes.append(own.astype(np.int64) + n_before)
        n_before += len(chunk.dictionary)
    return Column(name, categories.kind, categories.values, np.concatenate(codes))


def _from_objects(name: str, values: npt.NDArray[np.object_]) -> Column:
    """A column from Python objects, of the one kind that they all are, or MIXED."""
    strings = _arrow_strings(values)
    if strings is not None:
        return Column(name, ValueKind.STRING, strings)
    given = set(map(type, values))
    if not given <= _PLAIN and not given <= _PLAIN_NUMBERS:
        values = object_array([plain(name, value) for value in values])
    kinds = {kind_of(plain_type) for plain_type in set(map(type, values))} - {ValueKind.EMPTY}
    if not kinds and any(issubclass(given_type, (float, np.floating)) for given_type in given):
        return Column(name, ValueKind.NUMBER, np.full(len(values), np.nan))  # NaN is a number that is missing
    kind = ValueKind.EMPTY if not kinds else kinds.pop() if len(kinds) == 1 else ValueKind.MIXED
    if kind is ValueKind.NUMBER:
        return Column(name, kind, _numbers(name, values))
    return Column(name, kind, values.astype(_ARRAY_TYPES.get(kind, "object"), copy=False))


def _arrow_strings(values: npt.NDArray[np.object_]) -> pa.Array | pa.ChunkedArray | None:
    """The values as Arrow strings, if they are many, all strings or missing, and pandas is there.

    Arrow is faster than a loop. But its conversion of Python objects imports pandas wherever it is installed,
    and scoring must not.
    """
    if len(values) < _ROWS_FOR_ARROW or "pandas" not in sys.modules:
        return None
    if not any(isinstance(value, str) for value in values[:_ROWS_FOR_ARROW]):
        return None
    import pyarrow as pa

    try:
        converted = pa.Array.from_pandas(values)
    except (pa.ArrowException, ValueError, TypeError, ArithmeticError):
        return None  # of several kinds, or text that is not Unicode
    return converted if converted.type in (pa.string(), pa.large_string()) else None


def _numbers(name: str, values: npt.NDArray[np.object_]) -> npt.NDArray[Any]:
    """Numbers from ints, floats, decimals and None."""
    types = set(map(type, values))
    try:
        if types == {int}:
            return values.astype(np.int64)
    except OverflowError:
        pass
    try:
        floats = values.astype(np.float64)
    except OverflowError as error:
        raise ColumnError(
            f"Column {name!r} holds integers that are too large even for floats. Leave it out with "
            "features=, or turn it into strings."
        ) from error
    if Decimal in types or (int in types and (np.abs(floats) >= EXACT_IN_FLOATS).any()):
        return object_array([plain(name, value) for value in values])
    return floats


def _unusable(name: str, what: str) -> ColumnError:
    return ColumnError(
        f"Column {name!r} holds values of type {what}, which can be neither numbers nor categories. Drop the "
        "column, leave it out with features=, or turn it into numbers or strings."
    )
