"""Any table or stream in, checked arrays out; the only door to narwhals."""

from trueup._data._arrow import (
    EXACT_IN_FLOATS,
    arrow_to_numpy,
    field_at,
    floats_to_arrow,
    follow,
    scalar_of,
    unpack_at,
)
from trueup._data._columns import Column, kind_in_words, kind_of, plain
from trueup._data._csv import csv_schema, read_csv, with_category_text, with_faithful_text, write_csv
from trueup._data._frames import build_table, json_values, library_of, subtable, to_arrow, with_columns
from trueup._data._groups import Hashes, hash_column, mix_hashes
from trueup._data._labels import LabelClasses, Labels, read_labels
from trueup._data._open import open_stream
from trueup._data._paths import find_files, is_pattern, would_read
from trueup._data._rows import Given, Rows, given_rows, read_rows
from trueup._data._schemas import fitted, without_dictionaries
from trueup._data._sniff import (
    COMPRESSIONS,
    CSV,
    Dialect,
    Format,
    Written,
    delimiter_named,
    delimiter_of_ending,
    format_of_ending,
    known_ending,
    sniff,
)
from trueup._data._sources import Batch, naming
from trueup._data._stream import BATCH_ROWS, Stream, sample_of
from trueup._data._suspects import FEWEST_FOR_AN_ID, ID_NAME, SHARE_OF_AN_ID, rates_of_bins, warn_of_suspects
from trueup._data._table import CalibrationTable, listed, names_from, read_table, told_absent
from trueup._data._vectors import (
    check_weights_together,
    look_of_scores,
    read_mask,
    read_mask_table,
    read_scores,
    read_weights,
)
from trueup._runtime import pin_to

__all__ = [
    "BATCH_ROWS",
    "COMPRESSIONS",
    "CSV",
    "EXACT_IN_FLOATS",
    "FEWEST_FOR_AN_ID",
    "ID_NAME",
    "SHARE_OF_AN_ID",
    "Batch",
    "CalibrationTable",
    "Column",
    "Dialect",
    "Format",
    "Given",
    "Hashes",
    "LabelClasses",
    "Labels",
    "Rows",
    "Stream",
    "Written",
    "arrow_to_numpy",
    "build_table",
    "check_weights_together",
    "csv_schema",
    "delimiter_named",
    "delimiter_of_ending",
    "field_at",
    "find_files",
    "fitted",
    "floats_to_arrow",
    "follow",
    "format_of_ending",
    "given_rows",
    "hash_column",
    "is_pattern",
    "json_values",
    "kind_in_words",
    "kind_of",
    "known_ending",
    "library_of",
    "listed",
    "look_of_scores",
    "mix_hashes",
    "names_from",
    "naming",
    "open_stream",
    "plain",
    "rates_of_bins",
    "read_csv",
    "read_labels",
    "read_mask",
    "read_mask_table",
    "read_rows",
    "read_scores",
    "read_table",
    "read_weights",
    "sample_of",
    "scalar_of",
    "sniff",
    "subtable",
    "to_arrow",
    "told_absent",
    "unpack_at",
    "warn_of_suspects",
    "with_category_text",
    "with_columns",
    "with_faithful_text",
    "without_dictionaries",
    "would_read",
    "write_csv",
]

pin_to("trueup", ["Stream", "open_stream"], globals())
