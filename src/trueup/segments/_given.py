"""Segments that the user gives: masks, a table of booleans, or conditions."""

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

__all__ = ["segment_masks", "segment_partitions"]

BoolArray: TypeAlias = npt.NDArray[np.bool_]

_FORMS = 'a dict of masks, a table of booleans, or conditions such as ["country = NO", "age < 25"]'


def segment_partitions(
    given: Any, n_rows: int, table: CalibrationTable | None, rows: BoolArray | None = None
) -> list[Partition]:
    """Each segment as a partition of its own, without the rows that don't count."""
    partitions = []
    for segment, mask in segment_masks(given, n_rows, table):
        codes = (mask if rows is None else mask[rows]).astype(np.uint8)
        partitions.append(Partition(codes, (Segment(name="none"), segment), skips_zero=True))
    return partitions


def segment_masks(given: Any, n_rows: int, table: CalibrationTable | None) -> Iterator[tuple[Segment, BoolArray]]:
    """Each segment and its rows."""
    if isinstance(given, (str, Segment)):
        given = [given]
    named: list[tuple[str | None, Any]]
    if isinstance(given, Mapping):
        named = [(str(name), one) for name, one in given.items()]
    elif isinstance(given, Sequence) and all(isinstance(one, (str, Segment)) for one in given):
        named = [(None, one) for one in given]
    else:
        boolean = read_mask_table(given, _FORMS)
        named = [(name, boolean.column(name)) for name in boolean.names]
    if not named:
        raise ParameterError(f"There are no segments. Pass {_FORMS}, or None to search all segments of X.")
    for name, one in named:
        if isinstance(one, (str, Segment)):
            yield _from_conditions(name, one, n_rows, table)
        else:
            yield Segment(name=name), read_mask(str(name), one, n_rows)


def _from_conditions(
    name: str | None, one: str | Segment, n_rows: int, table: CalibrationTable | None
) -> tuple[Segment, BoolArray]:
    segment = parse_segment(one) if isinstance(one, str) else one
    if name is not None:
        segment = Segment(segment.conditions, name)
    if table is None:
        raise ParameterError(f"The segment {str(segment)!r} is a condition on columns, so X must be passed too.")
    return segment, segment.mask(table)
