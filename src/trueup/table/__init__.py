"""Columns and roles in, checked arrays out; all messages about bad data; the only door to narwhals."""

from trueup.table._arrow import EXACT_IN_FLOATS, arrow_to_numpy, floats_to_arrow, give_back_memory
from trueup.table._build import build_table, library_of
from trueup.table._columns import Column, kind_of, plain
from trueup.table._json import json_values
from trueup.table._keys import Hashes, hash_column, mix_hashes
from trueup.table._label_classes import LabelClasses
from trueup.table._masks import read_mask, read_mask_table
from trueup.table._part import part_of, to_arrow
from trueup.table._table import CalibrationTable, listed, read_table
from trueup.table._vectors import Labels, check_weights_together, read_clusters, read_labels, read_scores, read_weights

__all__ = [
    "EXACT_IN_FLOATS",
    "CalibrationTable",
    "Column",
    "Hashes",
    "LabelClasses",
    "Labels",
    "arrow_to_numpy",
    "build_table",
    "check_weights_together",
    "floats_to_arrow",
    "give_back_memory",
    "hash_column",
    "json_values",
    "kind_of",
    "library_of",
    "listed",
    "mix_hashes",
    "part_of",
    "plain",
    "read_clusters",
    "read_labels",
    "read_mask",
    "read_mask_table",
    "read_scores",
    "read_table",
    "read_weights",
    "to_arrow",
]
