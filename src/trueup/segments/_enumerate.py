"""All segments of a table, as a list that a person can read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from trueup._data import read_table
from trueup._runtime import thread_count
from trueup.errors import ParameterError
from trueup.segments._conditions import Segment
from trueup.segments._grid import cross_columns, grid_of
from trueup.segments._measure import batches
from trueup.segments._rows import sort_rows

__all__ = ["enumerate_segments"]


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
        Into how many values a feature is cut, or each of some, missing not counted: the most frequent
        categories and the rest of them, or quantiles. A column with one value only is left out.
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
    if not isinstance(min_rows, (int, np.integer)) or isinstance(min_rows, bool) or min_rows < 1:
        raise ParameterError(f"min_rows must be a whole number of at least 1, got {min_rows!r}.")
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
