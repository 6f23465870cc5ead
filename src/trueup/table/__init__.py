"""Columns and roles in, checked arrays out; all messages about bad data; the only door to narwhals."""

from trueup.table._columns import Column
from trueup.table._table import CalibrationTable, listed, read_table
from trueup.table._vectors import Labels, read_labels, read_scores, read_weights

__all__ = [
    "CalibrationTable",
    "Column",
    "Labels",
    "listed",
    "read_labels",
    "read_scores",
    "read_table",
    "read_weights",
]
