"""The segments that a user gives to a baseline, at fit and after."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from trueup._data import CalibrationTable, listed, read_mask, read_mask_table
from trueup._fitting import FitRows
from trueup._model import ValueKind
from trueup.errors import ColumnError, ParameterError
from trueup.segments import OneOf, Segment, segment_masks

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
_FORMS = "the same masks as at fit: a dict of them by name, or a table of booleans"


@dataclass(frozen=True, eq=False)
class GivenSegments:
    """Segments, and which of the rows with a positive weight are in each."""

    segments: tuple[Segment, ...]  # one without conditions is a mask
    kinds: Mapping[str, ValueKind]  # of the columns that conditions are about
    masks: tuple[Mask, ...]

    @property
    def names(self) -> list[str]:
        """What the segments are called."""
        return [str(segment) for segment in self.segments]


def read_segments(segments: Any, rows: FitRows, method: str) -> GivenSegments:
    """The segments that the user gives: masks, a table of booleans, or conditions."""
    if segments is None:
        raise ParameterError(
            f"{method} needs the segments to calibrate: pass segments=, masks by name, a table of booleans, or "
            'conditions such as ["country = NO", "age < 25"]. MCGrad needs none.'
        )
    given, masks = zip(*segment_masks(segments, rows.table.n_rows, rows.table), strict=True)
    name, times = Counter(map(str, given)).most_common(1)[0]
    if times > 1:
        raise ParameterError(f"{times} segments are called {name!r}. Give each a name of its own.")
    for condition in (condition for segment in given for condition in segment.conditions):
        if isinstance(condition, OneOf) and rows.table.column(condition.column).kind is ValueKind.EMPTY:
            said = f"Column {condition.column!r} holds missing values only, so {str(condition)!r} means nothing."
            raise ColumnError(said)
    columns = dict.fromkeys(column for segment in given for column in segment.columns)
    kinds = {column: rows.table.column(column).kind for column in columns}
    return GivenSegments(given, kinds, tuple(kept_rows(masks, rows.kept)))


def segments_again(found: GivenSegments, table: CalibrationTable, segments: Any) -> list[Mask]:
    """The rows of the segments of a fit in another table; what was given as masks must be given again."""
    names = [segment.name for segment in found.segments if segment.name is not None and not segment.conditions]
    if segments is not None and not names:
        raise ParameterError("The model takes no masks: its segments are conditions on X. Leave segments out.")
    given = None if segments is None else read_mask_table(segments, _FORMS)
    absent = [name for name in names if given is None or name not in given]
    if absent:
        present = "" if given is None else f" Present: {listed(given.names, 12)}."
        raise ColumnError(
            f"{len(absent)} of {len(names)} segments are missing that were given as masks at fit: "
            f"{listed(absent)}.{present} Pass segments=, {_FORMS}."
        )
    for column, kind in found.kinds.items():
        if column in table and table.column(column).kind not in (kind, ValueKind.EMPTY):
            now = table.column(column).kind.value
            raise ColumnError(f"Column {column!r} holds {now}, but at fit it held {kind.value}. Convert it back.")
    return [
        read_mask(segment.name, given.column(segment.name), table.n_rows, rows_of="X")
        if given is not None and segment.name in names
        else segment.mask(table)
        for segment in found.segments
    ]


def kept_rows(masks: Iterable[Mask], kept: Mask | None) -> Iterator[Mask]:
    """Masks without the rows of weight 0."""
    return (mask if kept is None else mask[kept] for mask in masks)
