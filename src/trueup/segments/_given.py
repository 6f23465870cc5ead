"""Segments that users name: masks, conditions, or the values of some columns; and the list of all segments."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from trueup._data import CalibrationTable, Column, read_mask, read_mask_table, read_table
from trueup._features import chosen_columns
from trueup._model import ValueKind
from trueup._runtime import check_whole, thread_count
from trueup.errors import DataWarning, ParameterError, callers_level
from trueup.segments._conditions import Segment
from trueup.segments._grid import DEFAULT_VALUES, cross_columns, grid_of
from trueup.segments._measure import batches, sort_rows
from trueup.segments._parse import parse_segment
from trueup.segments._partitions import Partition

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


MOST_VALUES = 100  # of one column
MOST_NUMBERS = 20  # a column with more different numbers than this is split into ranges
_RANGES = 5


def chosen_cuts(
    table: CalibrationTable,
    *,
    by: Sequence[str] | None,
    features: Sequence[str] | None,
    categorical_features: str | Iterable[str | int],
    max_values: int | Mapping[str, int] | None,
) -> dict[str, Any]:
    """Which columns segments are made of, which of them are categorical, and how many values of each count."""
    if by is None:
        values = DEFAULT_VALUES if max_values is None else max_values
        return {"features": features, "categorical_features": categorical_features, "max_values": values}
    if features is not None:
        raise ParameterError("by and features both name the columns that segments are made of: pass one of them.")
    if isinstance(by, str):
        raise ParameterError(f"by must be a list of names, got the string {by!r}. Use [{by!r}].")
    if not by:
        raise ParameterError("by is empty. Name at least one column.")
    chosen = chosen_columns(table, by, categorical_features)
    columns = {name: table.column(name) for name, _ in chosen}
    # Each day is a value of its own: whoever asks for segments by a date wants that.
    categorical = [
        name for name, named in chosen if named or columns[name].kind in (ValueKind.DATE, ValueKind.DATETIME)
    ]
    values = _numbers_of_values(columns.values(), categorical) if max_values is None else max_values
    return {"features": by, "categorical_features": categorical or "from_dtype", "max_values": values}


def _numbers_of_values(columns: Iterable[Column], categorical: Collection[str]) -> dict[str, int]:
    """How many values of each column get a segment: all, up to a limit, or a few ranges if it has many numbers."""
    found = {}
    for column in columns:
        n = _n_distinct(column)
        is_number = column.kind is ValueKind.NUMBER and not column.has_categorical_type
        if is_number and column.name not in categorical and n > MOST_NUMBERS:
            found[column.name] = _RANGES
            continue
        found[column.name] = min(max(n, 2), MOST_VALUES)
        if n > MOST_VALUES:
            warnings.warn(
                f"by: column {column.name!r} has {n:,} values. The {MOST_VALUES - 1} most frequent get a segment "
                "each, the others share one.",
                DataWarning,
                stacklevel=callers_level(),
            )
    return found


def _n_distinct(column: Column) -> int:
    """How many different values there are, not counting missing ones."""
    if column.codes is None and column.kind is ValueKind.NUMBER and column.values.dtype != object:
        numbers = column.floats()
        return len(np.unique(numbers[~np.isnan(numbers)]))
    return len(column.distinct())


def enumerate_segments(
    X: Any,
    *,
    features: Sequence[str] | None = None,
    categorical_features: str | Iterable[str | int] = "from_dtype",
    max_depth: int = 3,
    max_values: int | Mapping[str, int] = 3,
    min_rows: int = 10,
) -> Iterator[Segment]:
    """Yield the segments of a table that an audit searches: all rows, then one feature, then two, and so on.

    Parameters
    ----------
    X : table
        A pandas, polars or pyarrow table, a dict of arrays, or a two-dimensional NumPy array.
    features : sequence of str, optional
        The columns that segments are made of; all by default.
    categorical_features : "from_dtype", or names or positions of columns, default="from_dtype"
        Columns that are categorical besides those of strings, categoricals and booleans.
    max_depth : int, default=3
        The most features that a segment combines.
    max_values : int or dict of str to int, default=3
        How many values each feature is split into, not counting missing ones: the most frequent categories and the
        rest, or quantiles. A dict sets it per column. A column with only one value is left out.
    min_rows : int, default=10
        The fewest rows of a segment.

    Yields
    ------
    Segment
        A segment of at least `min_rows` rows.

    Examples
    --------
    >>> from trueup.segments import enumerate_segments
    >>> for segment in enumerate_segments({"country": ["NO"] * 10 + ["SE"] * 10, "age": range(20)}, max_depth=1):
    ...     print(segment)
    all rows
    country = NO
    country = SE
    """
    check_whole("min_rows", min_rows, 1)
    table = read_table(X)
    crossed = cross_columns(
        table,
        features=features,
        categorical_features=categorical_features,
        max_values=max_values,
        max_depth=max_depth,
    )
    grid = grid_of(crossed, max_depth=max_depth)
    nothing = np.zeros(table.n_rows)
    rows = sort_rows(nothing, np.arange(table.n_rows, dtype=np.float64))
    cells, lanes = grid.cells(rows, grid.codes_in_order(rows)), rows.lanes()
    for first, last in batches(rows.n, grid.n_combinations):
        offsets, members = grid.combinations_of(first, last)
        combinations, places, *_ = cells.sums(offsets, members, lanes, min_rows, thread_count(None))
        for combination, cell in zip(combinations.tolist(), places.tolist(), strict=True):
            yield grid.segment(first + combination, cell)
