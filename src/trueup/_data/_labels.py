"""Labels: checked arrays out, or an error that says what, where and how many."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from trueup._data._columns import Column
from trueup._data._readers import column_from_any
from trueup._data._vectors import check_length, count_of, first_of, one_column
from trueup._model import OpaqueValue, ValueKind, plain_value, positive_column
from trueup.errors import LabelError, is_in_shell


@dataclass(frozen=True, eq=False)
class Labels:
    """Labels as numbers."""

    values: npt.NDArray[np.float64]  # 1 for the positive class and 0 for the other; or probabilities
    classes: tuple[Any, ...]  # the two labels as the user gave them, negative first
    soft: bool  # whether they are probabilities

    @property
    def positive_column(self) -> int:
        """Which column of ``predict_proba`` is the positive class's."""
        return positive_column(self.classes)


def read_labels(y: Any, n_rows: int, *, like: Labels | None = None, pos_label: Any = None) -> Labels:
    """Labels of two classes, or probabilities.

    Floats between 0 and 1 of which some are neither are soft labels; all else is classes, and there must be
    two. With `like`, the classes are those, and one of them may be absent. Otherwise `pos_label` is the positive
    class, by default the greater one.
    """
    if y is None:
        raise LabelError("MCGrad requires y to be passed, but the target y is None.")
    column = one_column(y, "y", LabelError)
    check_length(len(column), n_rows, "y", LabelError)
    if column.kind is ValueKind.NUMBER and column.codes is None and column.values.dtype != object:
        return _labels_from_numbers(column.values, like, pos_label)
    if column.kind is ValueKind.BOOLEAN and column.codes is None and not np.isnan(column.values).any():
        classes = _classes([bool(value) for value in np.unique(column.values)], column.values, like, pos_label)
        return Labels((column.values == classes[1]).astype(np.float64), classes, soft=False)
    values = column.objects()
    missing = np.fromiter((value is None for value in values), bool, len(values))
    if missing.any():
        raise LabelError(f"y: {count_of(missing)} labels are missing ({first_of(missing, values)}). Drop those rows.")
    strange = np.fromiter((isinstance(value, OpaqueValue) for value in values), bool, len(values))
    if strange.any():
        first = values[int(np.argmax(strange))].type_name
        raise LabelError(
            f"y: {count_of(strange)} labels are of type {first}, which can't be saved with a model. Use strings or "
            "numbers."
        )
    infinite = np.fromiter((isinstance(value, float) and math.isinf(value) for value in values), bool, len(values))
    _refuse_bad_numbers(infinite, "infinity", values)
    try:
        found = sorted(set(values))
    except TypeError as error:
        raise LabelError("y mixes labels of different types, such as numbers and strings. Use one type.") from error
    classes = _classes(found, values, like, pos_label)
    positive = np.fromiter((value == classes[1] for value in values), np.float64, len(values))
    return Labels(positive, classes, soft=False)


def _negative_first(classes: Sequence[Any], pos_label: Any) -> tuple[Any, ...]:
    """The two classes, sorted so far, with the positive one last."""
    if pos_label is None:
        return tuple(classes)
    positive = plain_value(pos_label)
    if positive not in classes:
        option = "--positive" if is_in_shell() else "pos_label"
        shown = " and ".join(map(repr, classes))
        raise LabelError(f"{option} is {positive!r}, but the labels are {shown}. Name one of them.")
    return tuple(sorted(classes, key=lambda label: bool(label == positive)))


def check_soft(pos_label: Any) -> None:
    """Refuse to name a positive class for labels that are its probabilities."""
    if pos_label is not None and pos_label != 1:
        option = "--positive" if is_in_shell() else "pos_label"
        raise LabelError(
            f"{option} is {pos_label!r}, but the labels are fractions: probabilities of the positive class. Leave it "
            "out, or pass 1 - y as labels."
        )


def _refuse_bad_numbers(bad: npt.NDArray[np.bool_], what: str, values: npt.NDArray[Any]) -> None:
    if bad.any():
        raise LabelError(
            f"Input y contains {what}: {count_of(bad)} labels are missing or infinite ({first_of(bad, values)}). Drop "
            "those rows."
        )


def _labels_from_numbers(values: npt.NDArray[Any], like: Labels | None, pos_label: Any) -> Labels:
    if values.dtype.kind == "f":
        _refuse_bad_numbers(np.isnan(values), "NaN", values)
        _refuse_bad_numbers(np.isinf(values), "infinity", values)
        outside = (values < 0) | (values > 1)
        fractional = values != np.floor(values)
        soft = (fractional & ~outside).any() or (like is not None and like.soft)
        if outside.any() if soft else fractional.any():
            raise LabelError(
                f"Unknown label type: continuous. y holds fractions, and {count_of(outside)} labels are "
                f"outside [0, 1] ({first_of(outside, values)}). Labels are two classes, or probabilities in "
                "[0, 1]."
            )
        if soft:
            check_soft(pos_label)
            return Labels(np.ascontiguousarray(values, np.float64), (0, 1), soft=True)
    classes = _classes(np.unique(values).tolist(), values, like, pos_label)
    return Labels((values == classes[1]).astype(np.float64), classes, soft=False)


def _classes(found: list[Any], values: npt.NDArray[Any], like: Labels | None, pos_label: Any) -> tuple[Any, ...]:
    """The two classes, negative first."""
    if like is not None:
        strange = [label for label in found if label not in like.classes]
        if strange:
            bad = np.fromiter((value in strange for value in values), bool, len(values))
            raise LabelError(
                f"y: {count_of(bad)} labels are neither {like.classes[0]!r} nor {like.classes[1]!r} "
                f"({first_of(bad, values)}). Drop those rows."
            )
        return like.classes
    if not found:
        raise LabelError("y is empty. There is nothing to fit on.")
    if len(found) == 1:
        raise _one_class(len(values), found[0])
    if len(found) > 2:
        shown = ", ".join(map(repr, found[:4])) + (", ..." if len(found) > 4 else "")
        raise LabelError(
            "Only binary classification is supported. The type of the target is multiclass: y has "
            f"{len(found):,} classes ({shown}). Calibrate one class against the others."
        )
    return _negative_first(found, pos_label)


def _one_class(n_rows: int, label: Any) -> LabelError:
    return LabelError(
        f"y holds one class only: all {n_rows:,} labels are {label!r}. A model of one class can't be calibrated; add "
        "rows of the other class."
    )


_MOST = 1_000  # classes that are kept; a table with more than two is refused at the end


class LabelClasses:
    """The labels that came so far, a batch at a time; a batch may hold one class only."""

    def __init__(self) -> None:
        self._found: set[Any] = set()
        self._n_rows = 0
        self._floats_only = True  # so far; whole numbers among floats are told as integers
        self._fraction: float | None = None  # one of the labels that are neither 0 nor 1, if they are probabilities

    def add(self, y: Any) -> None:
        """Look at the labels of a batch; any that is missing is an error."""
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
        """Add what other batches held."""
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
            raise _one_class(self._n_rows, *self._found)
        ordered = np.empty(len(self._found), dtype=object)
        ordered[:] = list(self._found)
        classes = read_labels(ordered, len(ordered), pos_label=pos_label).classes
        return Labels(np.empty(0), tuple(map(float, classes)) if self._floats_only else classes, soft=False)

    def _join(self, found: set[Any]) -> None:
        self._found |= found if len(self._found) <= _MOST else set()
