"""Applying what was learned: tables to matrices, rows to lists of numbers."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import numpy.typing as npt

from trueup.errors import ColumnError, DataWarning
from trueup.model import Feature, FeatureSpec, ValueKind, plain_value

if TYPE_CHECKING:
    import pyarrow as pa

    from trueup.table import CalibrationTable, Column

__all__ = ["FeatureEncoder"]

_NAN = math.nan


class FeatureEncoder:
    """Turns tables and rows into numbers: values as they are, categories as codes, NaN for what is missing or unseen.

    Parameters
    ----------
    spec : FeatureSpec
        What was learned at fit.
    """

    def __init__(self, spec: FeatureSpec) -> None:
        self.spec = spec
        self._features = [_FeatureCodes(feature) for feature in spec.features]
        self._row_plan = [(codes.feature.name, codes.code_of, codes) for codes in self._features]

    def encode(self, table: CalibrationTable) -> npt.NDArray[np.float64]:
        """The matrix of a table: a column a feature, in Fortran order."""
        table = self._with_known_names(table)
        matrix = np.empty((table.n_rows, len(self._features)), dtype=np.float64, order="F")
        for i, codes in enumerate(self._features):
            matrix[:, i] = codes.encode(table.column(codes.feature.name))
        return matrix

    def encode_row(self, row: Mapping[str, Any]) -> list[float]:
        """The numbers of one row, given by name."""
        numbers: list[float] = []
        append = numbers.append
        for name, code_of, codes in self._row_plan:
            try:
                value = row[name]
            except KeyError:
                self._refuse_missing([name], row.keys())
            if code_of is None:
                append(value if type(value) is float else codes.number(value))
                continue
            try:
                append(code_of[value])
            except (KeyError, TypeError):
                append(codes.code(value))
        return numbers

    def _with_known_names(self, table: CalibrationTable) -> CalibrationTable:
        """The table under the names of fit; columns are found by position only where one side has no names."""
        spec = self.spec
        if table.named and spec.named:
            known = set(table.names)
            absent = [feature.name for feature in spec.features if feature.name not in known]
            if absent:
                self._refuse_missing(absent, table.names)
            return table
        if len(table.names) != len(spec.columns):
            raise ColumnError(
                f"X has {len(table.names)} features, but MCGrad is expecting {len(spec.columns)} features as input. Columns "
                "without names are found by position, so all columns of fit must be there."
            )
        if table.named != spec.named:
            with_names, without = ("at fit", "now") if spec.named else ("now", "at fit")
            warnings.warn(
                f"X has column names {with_names} and none {without}: columns are taken by their position.",
                DataWarning,
                stacklevel=4,
            )
        return table.renamed(spec.columns)

    def _refuse_missing(self, absent: list[str], present: Any) -> NoReturn:
        from trueup.table import listed

        noun = "column is" if len(absent) == 1 else "columns are"
        raise ColumnError(
            f"{len(absent)} {noun} missing that the model was fitted on: {listed(absent)}. Present: {listed(present, 12)}."
        )


class _FeatureCodes:
    """One feature's way from values to numbers."""

    def __init__(self, feature: Feature) -> None:
        self.feature = feature
        self.code_of: dict[Any, float] | None = None
        if feature.categories is not None:
            self.code_of = {value: float(code) for code, value in enumerate(feature.categories)}
            self.code_of[None] = _NAN

    def encode(self, column: Column) -> npt.NDArray[np.float64]:
        self._check_kind(column.kind)
        if column.kind is ValueKind.EMPTY:
            return np.full(len(column), np.nan)
        if self.code_of is None:
            return column.floats()
        if self.feature.kind is ValueKind.EMPTY:
            return np.full(len(column), np.nan)  # no category was seen at fit
        codes = self._codes_of(column)
        return codes if column.codes is None else np.append(codes, np.nan)[column.codes]

    def _codes_of(self, column: Column) -> npt.NDArray[np.float64]:
        """The codes of a column's values, or of its dictionary."""
        values, kind = column.values, column.kind
        if self.feature.kind is not kind or kind is ValueKind.MIXED or len(values) == 0:
            return self._by_lookup(column)
        if kind is ValueKind.STRING:
            if isinstance(values, np.ndarray):
                return self._by_lookup(column)
            return self._by_arrow(values)
        if kind in (ValueKind.DATE, ValueKind.DATETIME):
            missing = np.isnat(values)
            return np.where(missing, np.nan, self._by_bisection(values.astype(np.int64)))
        return self._by_bisection(values)

    def _by_lookup(self, column: Column) -> npt.NDArray[np.float64]:
        assert self.code_of is not None
        code_of = self.code_of
        values = column.values
        if not (isinstance(values, np.ndarray) and values.dtype == object):
            values = type(column)(column.name, column.kind, values).objects()
        return np.fromiter((code_of.get(value, _NAN) for value in values), np.float64, len(values))

    def _by_arrow(self, values: pa.Array | pa.ChunkedArray) -> npt.NDArray[np.float64]:
        import pyarrow as pa
        import pyarrow.compute as pc

        if values.type not in (pa.string(), pa.large_string()):
            values = values.cast(pa.large_string())
        codes = pc.index_in(values, value_set=self._arrow_categories.cast(values.type))
        numbers = codes.to_numpy() if isinstance(codes, pa.ChunkedArray) else codes.to_numpy(zero_copy_only=False)
        return np.asarray(numbers, dtype=np.float64)

    def _by_bisection(self, values: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        known = self._sorted_categories
        if known.dtype.kind != values.dtype.kind:
            known, values = known.astype(np.float64), values.astype(np.float64)
        if len(known) == 0:
            return np.full(len(values), np.nan)
        place = np.minimum(np.searchsorted(known, values), len(known) - 1)
        return np.where(known[place] == values, place, np.nan)

    @cached_property
    def _sorted_categories(self) -> npt.NDArray[Any]:
        values = list(self.feature.categories or ())
        if self.feature.kind is ValueKind.DATE:
            return np.array(values, dtype="datetime64[D]").astype(np.int64)
        if self.feature.kind is ValueKind.DATETIME:
            return np.array(values, dtype="datetime64[us]").astype(np.int64)
        if all(type(value) in (int, bool) for value in values):
            try:
                return np.array(values, dtype=np.int64)
            except OverflowError:
                pass
        return np.array(values, dtype=np.float64)

    @cached_property
    def _arrow_categories(self) -> pa.Array:
        """The categories as an Arrow array, made from bytes: pyarrow's own conversion would import pandas."""
        import pyarrow as pa

        encoded = [value.encode("utf-8", "replace") for value in self.feature.categories or ()]
        offsets = np.concatenate([[0], np.cumsum([len(value) for value in encoded])]).astype(np.int64)
        buffers = [None, pa.py_buffer(offsets), pa.py_buffer(b"".join(encoded))]
        return pa.Array.from_buffers(pa.large_string(), len(encoded), buffers)

    def number(self, value: Any) -> float:
        """A numerical value of one row."""
        plain = plain_value(value)
        if plain is None:
            return _NAN
        self._check_kind(_kind_of(plain))
        return float(plain)

    def code(self, value: Any) -> float:
        """The code of a categorical value of one row that is not among the categories as it stands."""
        plain = plain_value(value)
        if plain is None:
            return _NAN
        assert self.code_of is not None
        self._check_kind(_kind_of(plain))
        return self.code_of.get(plain, _NAN)

    def _check_kind(self, found: ValueKind) -> None:
        """Refuse a column of another kind than at fit: all its categories would be unseen, in silence."""
        feature = self.feature
        if found is feature.kind or found is ValueKind.EMPTY:
            return
        if feature.is_categorical and ValueKind.MIXED in (found, feature.kind):
            return
        if feature.kind is ValueKind.EMPTY:
            return
        role = "categorical, of " if feature.is_categorical else "numerical, of "
        raise ColumnError(
            f"Column {feature.name!r} holds {found.value}, but at fit it was {role}{feature.kind.value}. Convert it to what it "
            "was at fit, or fit again."
        )


_KINDS: dict[str, ValueKind] = {
    "str": ValueKind.STRING,
    "bool": ValueKind.BOOLEAN,
    "int": ValueKind.NUMBER,
    "float": ValueKind.NUMBER,
    "Decimal": ValueKind.NUMBER,
    "date": ValueKind.DATE,
    "datetime": ValueKind.DATETIME,
}


def _kind_of(plain: Any) -> ValueKind:
    return _KINDS.get(type(plain).__name__, ValueKind.MIXED)
