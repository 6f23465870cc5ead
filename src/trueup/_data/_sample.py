"""Rows of a stream that are drawn in one pass, by their numbers alone."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from trueup._data._batch import Batch
from trueup._data._types import common_schema, fitted, without_dictionaries
from trueup.errors import ParameterError, TableError

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["sample_of"]

Keys: TypeAlias = npt.NDArray[np.uint64]


def sample_of(batches: Iterable[Batch], n_rows: int, seed: int) -> pa.Table:
    """A number of rows, each with the same chance, in order.

    Every row has a key that looks random but is computed from its number, and the rows with the smallest keys are
    chosen. So the choice depends on nothing else, and what is held never exceeds twice the sample.
    """
    if n_rows < 1:
        raise ParameterError(f"A sample has at least 1 row, got {n_rows!r}.")
    chosen: list[tuple[pa.Table, Keys]] = []
    held, seen, limit = 0, 0, np.uint64(2**64 - 1)
    for batch in batches:
        keys = _keys(seen, batch.table.num_rows, seed)
        seen += batch.table.num_rows
        below = np.flatnonzero(keys <= limit)
        if not len(below):
            continue
        chosen.append((_taken(batch.table, below), keys[below]))
        held += len(below)
        if held > 2 * n_rows:
            chosen, limit = _smallest(chosen, n_rows)
            held = n_rows
    if not chosen:
        raise TableError("There are no rows to learn from: all batches are empty.")
    if held > n_rows:
        chosen, _ = _smallest(chosen, n_rows)
    return _together([table for table, _ in chosen])


def _keys(first: int, n: int, seed: int) -> Keys:
    """Numbers that look random, of rows by their numbers: the SplitMix64 generator."""
    x = np.arange(first + 1, first + n + 1, dtype=np.uint64)
    x += np.uint64((seed * 0x632BE59BD9B4E019) % 2**64)
    x *= np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        x = (x ^ (x >> np.uint64(shift))) * np.uint64(factor)
    mixed: Keys = x ^ (x >> np.uint64(31))
    return mixed


def _smallest(chosen: list[tuple[pa.Table, Keys]], n_rows: int) -> tuple[list[tuple[pa.Table, Keys]], np.uint64]:
    """Those with the smallest keys, which all differ, and the largest key among them."""
    every = np.concatenate([keys for _, keys in chosen])
    limit = np.partition(every, n_rows - 1)[n_rows - 1]
    kept = []
    for table, keys in chosen:
        below = np.flatnonzero(keys <= limit)
        if len(below):
            kept.append((_taken(table, below), keys[below]))
    return kept, limit


def _taken(table: pa.Table, rows: npt.NDArray[np.intp]) -> pa.Table:
    """Some rows, in memory of their own: a slice would hold all of the batch."""
    import pyarrow as pa

    return table.take(pa.array(rows))


def _together(tables: list[pa.Table]) -> pa.Table:
    import pyarrow as pa

    schemas = list({table.schema: None for table in tables})
    schema = common_schema(schemas, tables[0].column_names)
    if len(schemas) > 1:
        schema = without_dictionaries(schema)
    return pa.concat_tables([fitted(table, schema) for table in tables]).unify_dictionaries()
