"""Groups that the user gives: masks, a table of booleans, or conditions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from trueup._data import CalibrationTable, read_mask, read_mask_table
from trueup.errors import ParameterError
from trueup.segments._conditions import Segment
from trueup.segments._parse import parse_segment
from trueup.segments._partitions import Partition

__all__ = ["group_masks", "group_partitions"]

BoolArray: TypeAlias = npt.NDArray[np.bool_]

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
        boolean = read_mask_table(groups, _FORMS)
        named = [(name, boolean.column(name)) for name in boolean.names]
    if not named:
        raise ParameterError(f"groups is empty. Pass {_FORMS}, or None to search all segments of X.")
    for name, group in named:
        if isinstance(group, (str, Segment)):
            yield _from_conditions(name, group, n_rows, table)
        else:
            yield Segment(name=name), read_mask(str(name), group, n_rows)


def _from_conditions(
    name: str | None, group: str | Segment, n_rows: int, table: CalibrationTable | None
) -> tuple[Segment, BoolArray]:
    segment = parse_segment(group) if isinstance(group, str) else group
    if name is not None:
        segment = Segment(segment.conditions, name)
    if table is None:
        raise ParameterError(f"The group {str(segment)!r} is a condition on columns, so X must be passed too.")
    return segment, segment.mask(table)
