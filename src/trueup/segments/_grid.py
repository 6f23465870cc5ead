"""All segments to a depth: every combination of a few partitions, and every cell of each."""

from __future__ import annotations

import itertools
import math
import warnings
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from trueup import _native
from trueup._data import CalibrationTable, Column, listed
from trueup._features import chosen_columns, learn_column
from trueup._runtime import check_whole
from trueup.errors import ColumnError, CostWarning, ParameterError, callers_level
from trueup.segments._conditions import Segment
from trueup.segments._partitions import MAX_PARTS, Partition, cut_column

if TYPE_CHECKING:
    from trueup.segments._measure import ScoredRows

MAX_COMBINATIONS = 20_000_000
MAX_CELLS = 2**24  # of one combination
DEFAULT_VALUES = 3
_MAX_DEPTH = 16

IntArray: TypeAlias = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class SegmentGrid:
    """Partitions and the combinations of them whose cells are segments."""

    partitions: tuple[Partition, ...]  # the partitions; their rows are in the order of the table
    offsets: IntArray  # combination c is made of members[offsets[c]:offsets[c + 1]]
    members: IntArray  # places of partitions
    n_crossed: int  # how many partitions, the first ones, are combined with each other; the rest stand alone

    @property
    def n_combinations(self) -> int:
        """How many combinations there are."""
        return len(self.offsets) - 1

    def most_segments(self, n_rows: int, min_rows: int) -> int:
        """An upper bound on the number of segments."""
        sizes = np.array([len(partition.parts) for partition in self.partitions] or [1], dtype=np.float64)
        per_member = np.log(sizes)[self.members] if len(self.members) else np.zeros(0)
        running = np.concatenate([[0.0], np.cumsum(per_member)])
        cells = np.exp(running[self.offsets[1:]] - running[self.offsets[:-1]])
        return int(np.minimum(np.round(cells), n_rows // max(1, min_rows)).sum())

    def members_of(self, combination: int) -> IntArray:
        """The partitions of a combination."""
        return self.members[self.offsets[combination] : self.offsets[combination + 1]]

    def parts_of(self, combination: int, cell: int) -> list[tuple[int, int]]:
        """The partitions of a cell, each with its code."""
        pairs: list[tuple[int, int]] = []
        for member in self.members_of(combination)[::-1].tolist():
            cell, code = divmod(cell, len(self.partitions[member].parts))
            pairs.append((member, code))
        return pairs[::-1]

    def place_of(self, parts: Sequence[tuple[int, int]]) -> tuple[int, int]:
        """The combination and the cell of some crossed partitions, in order, with a code each."""
        depth, crossed = len(parts), self.n_crossed
        before = sum(math.comb(crossed, k) for k in range(depth))
        after = sum(math.comb(crossed - 1 - member, depth - i) for i, (member, _) in enumerate(parts))
        cell = 0
        for member, code in parts:
            cell = cell * len(self.partitions[member].parts) + code
        return before + math.comb(crossed, depth) - 1 - after, cell

    def segment(self, combination: int, cell: int) -> Segment:
        """The segment that a cell stands for."""
        parts = [self.partitions[member].parts[code] for member, code in self.parts_of(combination, cell)]
        if len(parts) == 1:
            return parts[0]
        return Segment(tuple(condition for part in parts for condition in part.conditions))

    def codes_in_order(self, rows: ScoredRows) -> npt.NDArray[np.uint8]:
        """The codes of all partitions, one line each, with rows in order of score."""
        codes = np.empty((len(self.partitions), rows.n), dtype=np.uint8)
        for place, partition in enumerate(self.partitions):
            np.take(partition.codes, rows.order, out=codes[place])
        return codes

    def cells(self, rows: ScoredRows, codes: npt.NDArray[np.uint8]) -> _native.Cells:
        """The cells, for the kernel, whose running sums count at the end of each distinct score only."""
        return self.cells_of(codes, rows.score_ids)

    def cells_of(self, codes: npt.NDArray[np.uint8], ids: npt.NDArray[np.uint32]) -> _native.Cells:
        """The cells of rows in order of some ids, at the end of which running sums count."""
        sizes = np.array([len(partition.parts) for partition in self.partitions], dtype=np.uint32)
        skips = np.array([partition.skips_zero for partition in self.partitions], dtype=np.uint8)
        return _native.Cells(codes, sizes, skips, ids)

    def combinations_of(self, first: int, last: int) -> tuple[IntArray, IntArray]:
        """Offsets and members of some combinations, for the kernel."""
        begin, end = int(self.offsets[first]), int(self.offsets[last])
        return self.offsets[first : last + 1] - np.int32(begin), self.members[begin:end]

    def some_combinations(self, chosen: IntArray) -> tuple[IntArray, IntArray]:
        """Offsets and members of these combinations only, for the kernel."""
        members = [self.members_of(combination) for combination in chosen.tolist()]
        offsets = np.concatenate([[0], np.cumsum([len(some) for some in members])]).astype(np.int32)
        return offsets, np.concatenate([np.zeros(0, dtype=np.int32), *members])


def grid_of(crossed: Sequence[Partition], alone: Sequence[Partition] = (), *, max_depth: int = 3) -> SegmentGrid:
    """All rows, then combinations of at most `max_depth` of the crossed partitions, then the others one by one."""
    check_whole("max_depth", max_depth, 0, _MAX_DEPTH)
    depth = min(max_depth, len(crossed))
    n = 1 + sum(math.comb(len(crossed), k) for k in range(1, depth + 1))
    if n > MAX_COMBINATIONS:
        raise ParameterError(
            f"{len(crossed):,} features have {n:,} combinations of at most {max_depth}; the limit is "
            f"{MAX_COMBINATIONS:,}. Lower max_depth, or name fewer features."
        )
    members, lengths = [np.zeros(0, dtype=np.int32)], [np.zeros(1, dtype=np.int32)]
    for k in range(1, depth + 1):
        flat = itertools.chain.from_iterable(itertools.combinations(range(len(crossed)), k))
        members.append(np.fromiter(flat, dtype=np.int32))
        lengths.append(np.full(math.comb(len(crossed), k), k, dtype=np.int32))
    members.append(np.arange(len(crossed), len(crossed) + len(alone), dtype=np.int32))
    lengths.append(np.ones(len(alone), dtype=np.int32))
    offsets = np.concatenate([[0], np.cumsum(np.concatenate(lengths))]).astype(np.int32)
    return SegmentGrid((*crossed, *alone), offsets, np.concatenate(members), len(crossed))


def cross_columns(
    table: CalibrationTable,
    *,
    features: Sequence[str] | None = None,
    categorical_features: str | Iterable[str | int] = "from_dtype",
    max_values: int | Mapping[str, int] = DEFAULT_VALUES,
    max_depth: int = 3,
    rows: npt.NDArray[np.bool_] | None = None,
    splits_lumps: bool = True,
    n_threads: int = 1,
) -> list[Partition]:
    """The partitions of a table's features, without those that have one part only; `rows` are those that count."""
    check_whole("max_depth", max_depth, 0, _MAX_DEPTH)

    def cut(column: Column, named: bool) -> Partition | None:
        """Split one column. Most of that happens outside of Python, so that threads help."""
        feature = learn_column(column, named)
        values = values_of(feature.name, max_values, table)
        return cut_column(column, feature, values, splits_lumps=splits_lumps)

    chosen = chosen_columns(table, features, categorical_features)
    waiting: deque[Future[Partition | None]] = deque()
    found: list[Partition | None] = []
    with ThreadPoolExecutor(n_threads, thread_name_prefix="trueup") as pool:
        for name, named in chosen:
            column = table.column(name)  # by one thread: not every library lets two read at once
            waiting.append(pool.submit(cut, column if rows is None else column.of_rows(rows), named))
            if len(waiting) > n_threads:  # no more columns in memory than are being cut
                found.append(waiting.popleft().result())
        found += [future.result() for future in waiting]
    partitions = [partition for partition in found if partition is not None]
    largest = sorted((len(partition.parts) for partition in partitions), reverse=True)[:max_depth]
    if math.prod(largest) > MAX_CELLS:
        raise ParameterError(
            f"max_values={max_values} and max_depth={max_depth} make {math.prod(largest):,} cells of one "
            f"combination; the limit is {MAX_CELLS:,}. Lower one of them."
        )
    return partitions


def values_of(
    name: str, max_values: int | Mapping[str, int], table: CalibrationTable, most: int = MAX_PARTS - 1
) -> int:
    """How many values a column is split into."""
    if not isinstance(max_values, Mapping):
        check_whole("max_values", max_values, 2, most)
        return max_values
    absent = [column for column in max_values if column not in table]
    if absent:
        raise ColumnError(f"max_values: X has no column {listed(absent)}. Its columns are {listed(table.names, 12)}.")
    value = max_values.get(name, DEFAULT_VALUES)
    check_whole(f"max_values of {name!r}", value, 2, most)
    return value


# Measured: visiting a row in a combination, for the labels or for a block of draws, takes about this long.
_SECONDS_PER_VISIT = 4e-9
_SECONDS_BEFORE_WARNING = 60.0
_MOST_SEGMENTS = 50_000_000
_ADVICE = "To make it cheaper, name fewer features, or lower max_depth or null_samples."


def n_passes(null_samples: int) -> int:
    """How often all combinations are searched: once for the labels, and once per block of draws."""
    return 1 + math.ceil(null_samples / _native.DRAW_LANES)


def tell_cost(what: str, n_rows: int, grid: SegmentGrid, *, passes: int, min_rows: int, n_threads: int) -> None:
    """Refuse more segments than fit into memory, and warn if the search takes more than a minute."""
    most = grid.most_segments(n_rows, min_rows)
    if most > _MOST_SEGMENTS:
        raise ParameterError(f"There are up to {most:,} segments, more than the {_MOST_SEGMENTS:,} that fit. {_ADVICE}")
    seconds = n_rows * grid.n_combinations * passes * _SECONDS_PER_VISIT / n_threads
    if seconds > _SECONDS_BEFORE_WARNING:
        warnings.warn(
            f"This {what} takes about {seconds:,.0f} s on {n_threads} threads, for {grid.n_combinations:,} "
            f"combinations of features on {n_rows:,} rows. It leaves nothing out. {_ADVICE}",
            CostWarning,
            stacklevel=callers_level(),
        )
