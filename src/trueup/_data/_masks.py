"""Groups of rows as masks: true for the rows inside."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from trueup._data._columns import Column
from trueup._data._table import CalibrationTable, read_table
from trueup._model import ValueKind
from trueup.errors import ColumnError, DataError, TableError

_ADVICE = "Pass true for the rows inside and false for the others."


def read_mask_table(groups: Any, forms: str) -> CalibrationTable:
    """A table whose columns are masks, not yet checked; those without names are called segment 0, segment 1, ...

    `forms` is what a message says could be passed instead.
    """
    if len(getattr(groups, "shape", (0, 0))) == 1:
        raise TableError('A mask needs a name: {"name": mask}.')
    try:
        table = read_table(groups)
    except TableError as error:
        raise TableError(f"The segments can't be read ({error}). Pass {forms}.") from error
    if table.named:
        return table
    return table.renamed(tuple(f"segment {place}" for place in range(len(table.names))))


def read_mask(name: str, mask: Any, n_rows: int, *, rows_of: str = "y") -> npt.NDArray[np.bool_]:
    """The rows of a group from booleans, or zeros and ones; messages call it `name`, and say that `rows_of` has the
    number of rows that it must have."""
    try:
        column = mask if isinstance(mask, Column) else read_table({name: mask}).column(name)
    except DataError as error:
        raise TableError(f"Segment {name!r} is neither a mask nor a condition ({error}) {_ADVICE}") from error
    if len(column) != n_rows:
        raise TableError(
            f"Segment {name!r} has {len(column):,} rows, but {rows_of} has {n_rows:,}. They must be the same rows."
        )
    if column.kind not in (ValueKind.BOOLEAN, ValueKind.NUMBER):
        raise ColumnError(f"Segment {name!r} holds {column.kind.value}. {_ADVICE}")
    values = column.floats()
    strange = ~((values == 0) | (values == 1))
    if strange.any():
        first = int(np.argmax(strange))
        what = "missing" if np.isnan(values[first]) else f"{values[first]:g}"
        raise ColumnError(
            f"Segment {name!r}: {int(strange.sum()):,} of {n_rows:,} rows are neither true nor false (first at row "
            f"{first:,}: {what}). {_ADVICE}"
        )
    inside: npt.NDArray[np.bool_] = values == 1
    return inside
