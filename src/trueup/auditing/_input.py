"""Labels, scores, weights and a table, checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from trueup._data import CalibrationTable, Labels, read_labels, read_scores, read_table, read_weights
from trueup.errors import LabelError, TableError

__all__ = ["AuditInput", "number_of_labels", "read_input"]

BoolArray: TypeAlias = npt.NDArray[np.bool_]
FloatArray: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class AuditInput:
    """What is audited.

    Attributes
    ----------
    labels : Labels
        What happened, of the rows that count.
    scores : array of float64
        What was promised, of the same rows.
    weights : array of float64 or None
        What they count, all above 0.
    table : CalibrationTable or None
        The features of all rows.
    rows : array of bool or None
        Which rows count; None for all.
    n_given : int
        How many rows were given.
    """

    labels: Labels
    scores: FloatArray
    weights: FloatArray | None
    table: CalibrationTable | None
    rows: BoolArray | None
    n_given: int


def read_input(y: Any, p: Any, X: Any, sample_weight: Any, pos_label: Any = None) -> AuditInput:
    """Check what was given, and take out the rows of weight 0."""
    if y is None:
        raise LabelError("y is None. Pass what happened: a label a row.")
    table = None if X is None else read_table(X)
    n = number_of_labels(y) if table is None else table.n_rows
    if n == 0:
        raise TableError("There are no rows to audit. Pass at least one.")
    labels = read_labels(y, n, pos_label=pos_label)
    scores = read_scores(p, n, name="p", positive=labels.positive_column)
    weights = read_weights(sample_weight, n)
    if weights is None or weights.all():
        return AuditInput(labels, scores, weights, table, None, n)
    rows = weights > 0
    kept = Labels(labels.values[rows], labels.classes, labels.soft)
    return AuditInput(kept, scores[rows], weights[rows], table, rows, n)


def number_of_labels(y: Any) -> int:
    """How many labels there are."""
    try:
        return len(y)
    except TypeError:
        raise LabelError(f"y is a {type(y).__name__}; pass a one-dimensional array.") from None
