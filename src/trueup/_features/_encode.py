"""Applying what was learned: tables to matrices, rows to lists of numbers."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from trueup._data import CalibrationTable, told_absent
from trueup._features._codes import FeatureCodes, holds_missing
from trueup._model import FeatureSpec
from trueup.errors import ColumnError, DataWarning, TableError, callers_level


@dataclass(frozen=True, eq=False)
class CountedMatrix:
    """The matrix of a table, a column per feature, and how many values of a feature are NaN in it, and why."""

    matrix: npt.NDArray[np.float64]
    missing: Mapping[str, int]  # by feature; those with none are left out
    unseen: Mapping[str, int]  # categories that were not there at fit


class FeatureEncoder:
    """Turns tables and rows into numbers: values, codes of categories, NaN for what is missing or unseen."""

    def __init__(self, spec: FeatureSpec) -> None:
        self.spec = spec
        self._features = [FeatureCodes(feature) for feature in spec.features]
        self._row_plan = [
            (codes.feature.name, codes.plain_type, codes.code_of, codes.encode_one) for codes in self._features
        ]

    def encode(self, table: CalibrationTable, rows: npt.NDArray[np.bool_] | None = None) -> npt.NDArray[np.float64]:
        """The matrix of a table, or of those rows of it: one column per feature, in Fortran order."""
        return self._filled(self._with_known_names(table), rows)

    def encode_counted(self, table: CalibrationTable) -> CountedMatrix:
        """The matrix of a table, and how many of its values were missing or unseen."""
        table = self._with_known_names(table)
        matrix = self._filled(table)
        missing: dict[str, int] = {}
        unseen: dict[str, int] = {}
        for i, codes in enumerate(self._features):
            name, without_number = codes.feature.name, int(np.count_nonzero(np.isnan(matrix[:, i])))
            if not without_number:
                continue
            lacking = without_number
            if codes.feature.is_categorical:  # only here may NaN mean two things
                lacking = int(np.count_nonzero(holds_missing(table.column(name))))
            if lacking:
                missing[name] = lacking
            if without_number > lacking:
                unseen[name] = without_number - lacking
        return CountedMatrix(matrix, missing, unseen)

    def _filled(self, table: CalibrationTable, rows: npt.NDArray[np.bool_] | None = None) -> npt.NDArray[np.float64]:
        n_rows = table.n_rows if rows is None else int(rows.sum())
        matrix = np.empty((n_rows, len(self._features)), dtype=np.float64, order="F")
        for i, codes in enumerate(self._features):
            column = table.column(codes.feature.name)
            matrix[:, i] = codes.encode(column if rows is None else column.of_rows(rows))
        return matrix

    def encode_row(self, row: Mapping[str, Any]) -> list[float]:
        """The numbers of one row, given by name."""
        numbers: list[Any] = []
        append = numbers.append
        for name, plain_type, code_of, encode_one in self._row_plan:
            try:
                value = row[name]
            except (KeyError, TypeError, IndexError):
                return self.encode_row(self._with_text_names(row))
            if type(value) is not plain_type:
                append(encode_one(value))
            elif code_of is None:
                append(value)
            else:
                append(code_of[value])
        return numbers

    def _with_text_names(self, row: Any) -> dict[str, Any]:
        """The row with its names as texts, as a table's are; an error if it lacks a feature."""
        if not hasattr(row, "keys"):
            raise TableError(f"A row must be a dict of values by column name, got {type(row).__name__}.")
        named = {str(name): row[name] for name in row.keys()}  # noqa: SIM118 - a pandas Series iterates over its values
        absent = [name for name in self.spec.names if name not in named]
        if absent:
            self._refuse_missing(absent, named)
        return named

    def _with_known_names(self, table: CalibrationTable) -> CalibrationTable:
        """The table under the names of fit; columns go by position only where fit or table has no names."""
        spec = self.spec
        if table.named and spec.named:
            absent = [name for name in spec.names if name not in table]
            if absent:
                self._refuse_missing(absent, table.names)
            return table
        if len(table.names) != len(spec.columns):
            raise ColumnError(
                f"X has {len(table.names)} features, but MCGrad is expecting {len(spec.columns)} features as "
                "input. Columns without names are found by position, so all columns of fit must be there."
            )
        if table.named != spec.named:
            with_names, without = ("at fit", "now") if spec.named else ("now", "at fit")
            warnings.warn(
                f"X has column names {with_names} and none {without}: matching columns by position.",
                DataWarning,
                stacklevel=callers_level(),
            )
        return table.renamed(spec.columns)

    def _refuse_missing(self, absent: list[str], present: Any) -> NoReturn:
        what = told_absent("the model was fitted on", absent, present)
        raise ColumnError(f"{what} Add what is missing; unknown values may be None.")
