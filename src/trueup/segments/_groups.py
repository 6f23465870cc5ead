"""Groups that the user gives: masks, a table of booleans, or conditions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from trueup.errors import ColumnError, DataError, ParameterError, TableError
from trueup.model import ValueKind
from trueup.segments._conditions import Segment
from trueup.segments._parse import parse_segment
from trueup.segments._partitions import Partition
from trueup.table import CalibrationTable, Column, read_table

__all__ = ["group_masks", "group_partitions"]

BoolArray: TypeAlias = npt.NDArray[np.bool_]

_ADVICE = "Pass true for the rows inside and false for the others."
_FORMS = 'a dict of masks, a table of booleans, or conditions such as ["country = NO", "age < 25"]'


def group_partitions(
    groups: Any, n_rows: int, table: CalibrationTable | None, rows: BoolArray | None = None
) -> list[Partition]:
    """Each group as a partition of its own, without the rows that don't count."""
    partitions = []
    for segment, mask in group_masks(groups, n_rows, table):
        codes = (mask if rows is None else mask[rows]).astype(np.uint8)
        partitions.append(Partition(codes, (Segment(name="none"), segment), skips_zero=True))
    return partitions


def group_masks(groups: Any, n_rows: int, table: CalibrationTable | None) -> Iterator[tuple[Segment, BoolArray]]:
    """Each group and its rows.

    Parameters
    ----------
    groups : mapping, sequence or table
        Masks or conditions by name, conditions, or a table of boolean columns.
    n_rows : int
        How many rows a mask must have.
    table : CalibrationTable or None
        What conditions are about.

    Yields
    ------
    tuple of Segment and array of bool
        The group and which rows are in it.
    """
    if isinstance(groups, (str, Segment)):
        groups = [groups]
    named: list[tuple[str | None, Any]]
    if isinstance(groups, Mapping):
        named = [(str(name), group) for name, group in groups.items()]
    elif isinstance(groups, Sequence) and all(isinstance(group, (str, Segment)) for group in groups):
        named = [(None, group) for group in groups]
    else:
        boolean = _as_table(groups)
        named = [(name, boolean.column(name)) for name in boolean.names]
    if not named:
        raise ParameterError(f"groups is empty. Pass {_FORMS}, or None to search all segments of X.")
    for name, group in named:
        if isinstance(group, (str, Segment)):
            yield _from_conditions(name, group, n_rows, table)
        else:
            yield Segment(name=name), _from_mask(str(name), group, n_rows)


def _from_conditions(
    name: str | None, group: str | Segment, n_rows: int, table: CalibrationTable | None
) -> tuple[Segment, BoolArray]:
    segment = parse_segment(group) if isinstance(group, str) else group
    if name is not None:
        segment = Segment(segment.conditions, name)
    if table is None:
        raise ParameterError(f"The group {str(segment)!r} is a condition on columns, so X must be passed too.")
    return segment, segment.mask(table)


def _as_table(groups: Any) -> CalibrationTable:
    if len(getattr(groups, "shape", (0, 0))) == 1:
        raise TableError('groups is one mask; give it a name: {"name": mask}.')
    try:
        table = read_table(groups)
    except TableError as error:
        raise TableError(f"groups can't be read ({error}). Pass {_FORMS}.") from error
    if table.named:
        return table
    return table.renamed(tuple(f"group {place}" for place in range(len(table.names))))


def _from_mask(name: str, mask: Any, n_rows: int) -> BoolArray:
    try:
        column = mask if isinstance(mask, Column) else read_table({name: mask}).column(name)
    except DataError as error:
        raise TableError(f"Group {name!r} is neither a mask nor a condition ({error}) {_ADVICE}") from error
    if len(column) != n_rows:
        raise TableError(f"Group {name!r} has {len(column):,} rows, but y has {n_rows:,}. They must be the same rows.")
    if column.kind not in (ValueKind.BOOLEAN, ValueKind.NUMBER):
        raise ColumnError(f"Group {name!r} holds {column.kind.value}. {_ADVICE}")
    values = column.floats()
    strange = ~((values == 0) | (values == 1))
    if strange.any():
        first = int(np.argmax(strange))
        what = "missing" if np.isnan(values[first]) else f"{values[first]:g}"
        raise ColumnError(
            f"Group {name!r}: {int(strange.sum()):,} of {n_rows:,} rows are neither true nor false (first at row "
            f"{first:,}: {what}). {_ADVICE}"
        )
    inside: BoolArray = values == 1
    return inside
