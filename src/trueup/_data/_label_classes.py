"""Which two classes the labels of a table are, learned from a piece of it at a time."""

from __future__ import annotations

from typing import Any

import numpy as np

from trueup._data._columns import Column
from trueup._data._labels import Labels, check_soft, read_labels
from trueup._data._readers import column_from_any
from trueup._model import ValueKind
from trueup.errors import LabelError

__all__ = ["LabelClasses"]

_MOST = 1_000  # classes that are kept; a table with more than two is refused at the end


class LabelClasses:
    """The labels that came so far, a batch at a time; a batch may hold one class only."""

    def __init__(self) -> None:
        self._found: set[Any] = set()
        self._n_rows = 0
        self._floats_only = True  # so far; whole numbers among floats are told as integers
        self._fraction: float | None = None  # one of the labels that are neither 0 nor 1, if they are probabilities

    def add(self, y: Any) -> None:
        """Look at the labels of a piece; any that is missing is an error."""
        column = y if isinstance(y, Column) else column_from_any("y", y)
        if not len(column):
            return
        self._n_rows += len(column)
        values = column.values
        floats = column.kind is ValueKind.NUMBER and column.codes is None and values.dtype.kind == "f"
        self._floats_only &= floats
        if floats:
            fractions = values[(values != np.floor(values)) & np.isfinite(values)]
            if len(fractions):
                self._fraction = float(fractions[0])
                read_labels(column, len(column), like=Labels(np.empty(0), (0, 1), soft=True))
                return
        found = column.distinct()
        # Whoever reads the labels tells which are missing or strange; that one class is absent is no matter here.
        read_labels(column, len(column), like=Labels(np.empty(0), tuple(found) * 2, soft=False))
        self._join(found)

    def merge(self, other: LabelClasses) -> None:
        """Add what other pieces hold."""
        self._n_rows += other._n_rows
        self._floats_only &= other._floats_only
        self._fraction = other._fraction if self._fraction is None else self._fraction
        self._join(other._found)

    def labels(self, pos_label: Any = None) -> Labels:
        """The two classes, or that labels are probabilities; without values."""
        if self._fraction is not None:
            outside = [value for value in self._found if not (isinstance(value, (int, float)) and 0 <= value <= 1)]
            if outside:
                raise LabelError(
                    f"Some labels are fractions such as {self._fraction:g}, and others are {outside[0]!r}. Labels are "
                    "two classes, or probabilities in [0, 1]."
                )
            check_soft(pos_label)
            return Labels(np.empty(0), (0, 1), soft=True)
        if len(self._found) == 1:
            raise LabelError(
                f"y holds one class only: all {self._n_rows:,} labels are {next(iter(self._found))!r}. A model of one "
                "class can't be calibrated; add rows of the other."
            )
        ordered = np.empty(len(self._found), dtype=object)
        ordered[:] = list(self._found)
        classes = read_labels(ordered, len(ordered), pos_label=pos_label).classes
        return Labels(np.empty(0), tuple(map(float, classes)) if self._floats_only else classes, soft=False)

    def _join(self, found: set[Any]) -> None:
        self._found |= found if len(self._found) <= _MOST else set()
