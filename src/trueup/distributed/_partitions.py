"""What happens to a partition on the worker that holds it. All are functions of their arguments alone, so that a
partition that is lost with its worker is made again by the scheduler, from the same tasks."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from trueup import _native
from trueup._data import listed, subtable, to_arrow
from trueup._fitting import (
    LOGIT_LIMIT,
    Dealing,
    PackedRows,
    PackingPlan,
    Rescaling,
    StreamRoles,
    TableFacts,
    TrainingData,
    edges_of_sample,
    row_hashes,
)
from trueup._model import Trees
from trueup._scoring import apply_round
from trueup.errors import ColumnError, DataError

if TYPE_CHECKING:
    import pyarrow as pa

Floats: TypeAlias = npt.NDArray[np.float64]
ROWS_A_PARTITION = 2**40  # row r of partition k is row k · 2⁴⁰ + r of the table
_EDGES_OF_LOGITS = 253


@dataclass(frozen=True, eq=False)
class PackedPartition:
    """A packed partition."""

    rows: PackedRows
    folds: npt.NDArray[np.int8]  # in which fold a row validates
    sampled: npt.NDArray[np.int32]  # the rows of a sample of the whole table, from which bins are made

    def data(self, soft: bool) -> TrainingData:
        """The rows as a fit takes them, without logits of their own."""
        return self.rows.training_data(soft)

    def trains(self, fold: int | None) -> npt.NDArray[np.int32]:
        """The training rows when a fold is held out; None holds nothing out."""
        if fold is None:
            return np.arange(self.rows.n_rows, dtype=np.int32)
        return np.flatnonzero(self.folds != fold).astype(np.int32)

    def validates(self, fold: int | None) -> npt.NDArray[np.int32]:
        """The rows that are held out."""
        if fold is None:
            return np.empty(0, dtype=np.int32)
        return np.flatnonzero(self.folds == fold).astype(np.int32)


@dataclass(frozen=True, eq=False)
class PartitionFacts:
    """What some partitions hold, from the first to the last of them."""

    facts: TableFacts
    first: int
    last: int


def facts_of(partition: Any, roles: StreamRoles, number: int) -> PartitionFacts:
    """What a partition holds."""
    facts = TableFacts(roles)
    with naming_partition(number):
        facts.add(as_arrow(partition, roles.columns), number * ROWS_A_PARTITION)
    return PartitionFacts(facts, number, number)


def merged_facts(facts: Sequence[PartitionFacts]) -> PartitionFacts:
    """What several partitions hold."""
    merged = TableFacts(facts[0].facts.roles)
    for some in facts:
        with naming_partition(some.first, some.last):
            merged.merge(some.facts)
    return PartitionFacts(merged, facts[0].first, facts[-1].last)


def pack_partition(partition: Any, plan: PackingPlan, cut: int, number: int) -> PackedPartition:
    """Pack a partition, whose rows are in no fold yet; rows whose hashes are at most the cut are the sample."""
    with naming_partition(number):
        rows = plan.pack(as_arrow(partition, plan.roles.columns))
    sampled = np.flatnonzero(row_hashes(number * ROWS_A_PARTITION, rows.n_rows) <= np.uint64(cut)).astype(np.int32)
    return PackedPartition(rows, np.empty(0, np.int8), sampled)


def dealt(
    partition: PackedPartition,
    first_row: int,
    folds: npt.NDArray[np.int8] | None,
    dealing: Dealing,
    few: npt.NDArray[np.uint64] | None = None,
) -> PackedPartition:
    """The rows in their folds: those that are given, or by their groups, or by their places in the table."""
    rows = partition.rows
    if folds is None:
        groups = rows.groups
        folds = dealing.by_place(first_row, rows.n_rows) if groups is None else dealing.by_group(groups, few)
    return replace(partition, rows=replace(rows, groups=None), folds=folds)


def as_arrow(partition: Any, columns: Sequence[str]) -> pa.Table:
    """The columns of a partition that are needed."""
    partition = with_names(partition)
    present = [str(name) for name in getattr(partition, "column_names", getattr(partition, "columns", ()))]
    absent = [name for name in columns if name not in present]
    if absent:
        raise ColumnError(f"There is no column {listed(absent)}. The columns are {listed(present, 12)}.")
    return to_arrow(subtable(partition, columns=columns)).select(list(columns))


def with_names(partition: Any) -> Any:
    """A partition whose columns have names, also those that pandas calls 0, 1 and so on."""
    if hasattr(partition, "column_names") or all(isinstance(name, str) for name in getattr(partition, "columns", ())):
        return partition
    return partition.rename(columns=str)


@contextlib.contextmanager
def naming_partition(number: int, last: int | None = None) -> Iterator[None]:
    """Say in errors about the data which partition they are in, or which they are among."""
    try:
        yield
    except DataError as error:
        where = f"Partition {number:,}" if last in (None, number) else f"Partitions {number:,} to {last:,}"
        raise type(error)(f"{where}: {error}") from error


@dataclass(frozen=True)
class PartitionSizes:
    """How many rows of a partition grow trees, how many of them are positive, and what they weigh, for each split."""

    n_rows: int
    largest_weight: float  # 1 without weights
    train: tuple[tuple[int, float, float], ...]  # per split: training rows, their labels' sum, their sum of w p (1 - p)
    n_validation: tuple[int, ...]  # for each split: the rows that are held out


def describe_partition(
    partition: PackedPartition, logits: Floats, folds: Sequence[int | None], soft: bool
) -> PartitionSizes:
    """How many rows of a partition are in which fold."""
    data, weights = replace(partition.data(soft), base_logits=logits), partition.rows.weights
    trains = [partition.trains(fold) for fold in folds]
    return PartitionSizes(
        partition.rows.n_rows,
        1.0 if weights is None else float(weights.max(initial=0.0)),
        tuple((len(rows), float(data.labels[rows].sum()), data.hessian(rows)) for rows in trains),
        tuple(len(partition.validates(fold)) for fold in folds),
    )


def label_sums(partition: PackedPartition) -> tuple[float, float]:
    """The sum of weights, and of weights times labels."""
    labels, weights = partition.rows.labels, partition.rows.weights
    if weights is None:
        return float(len(labels)), float(labels.sum())
    return float(weights.sum()), float((weights * labels).sum())


def base_logits(partition: PackedPartition, base_rate: float | None) -> Floats:
    """Where the rounds start from."""
    return partition.rows.logits_from(base_rate)


def sampled_codes(partition: PackedPartition) -> Floats:
    """The codes of the sampled rows, and a row with whatever is missing anywhere in the partition."""
    matrix = partition.rows.matrix
    sampled = matrix.codes_of(partition.sampled)
    last = matrix.codes_of(slice(0, 1))
    for place, (column, codes) in enumerate(zip(matrix.columns, matrix.codes, strict=True)):
        if (codes == len(column.upper)).any():
            last[:, place] = np.nan
    return np.concatenate([sampled, last])


def concatenated(columns: Sequence[Floats]) -> Floats:
    """The rows of several partitions."""
    return np.concatenate(list(columns))


def sampled_logits(partition: PackedPartition, logits: Floats, fold: int | None) -> Floats:
    """The logits of the sampled training rows."""
    sampled = partition.sampled
    return logits[sampled if fold is None else sampled[partition.folds[sampled] != fold]]


def edges_of_logits(sample: Floats) -> Floats:
    """Where to cut logits into intervals."""
    return edges_of_sample(sample, _EDGES_OF_LOGITS)


def corrections(partition: PackedPartition, logits: Floats, trees: Trees) -> Floats:
    """What trees add to the logits."""
    return partition.data(soft=False).corrections(trees, logits, None, n_threads=1)


def affine_sums(
    partition: PackedPartition, logits: Floats, correction: Floats, *, fold: int, theta: float, intercept: float
) -> tuple[float, ...]:
    """The loss of the rows that are held out and its derivatives, as an honest rescaling needs them."""
    rows = partition.validates(fold)
    moved = apply_round(logits[rows], correction[rows], 1.0)
    weights = None if partition.rows.weights is None else partition.rows.weights[rows]
    return _native.affine_sums(moved, partition.rows.labels[rows], weights, theta, intercept, LOGIT_LIMIT, 1)


def scale_sums(
    partition: PackedPartition, logits: Floats, correction: Floats, fold: int | None, theta: float
) -> tuple[float, float]:
    """The derivatives of the loss of the training rows, by theta."""
    rows = partition.trains(fold)
    moved = apply_round(logits[rows], correction[rows], 1.0)
    weights = None if partition.rows.weights is None else partition.rows.weights[rows]
    return _native.logistic_sums(moved, partition.rows.labels[rows], weights, theta, LOGIT_LIMIT, 1)


def moved_logits(logits: Floats, correction: Floats, rescaling: Rescaling) -> Floats:
    """The logits after a round."""
    shifted = correction + rescaling.shift if rescaling.shift != 0.0 else correction
    return apply_round(logits, shifted, rescaling.theta)


def step_sums(partition: PackedPartition, before: Floats, after: Floats, fold: int | None) -> tuple[float, ...]:
    """Weights, weighted changes of logits and their squares of the training rows; and their largest logit."""
    rows = partition.trains(fold)
    change = np.abs(after[rows] - before[rows])
    weights = np.ones(len(rows)) if partition.rows.weights is None else partition.rows.weights[rows]
    largest = float(np.abs(before[rows]).max(initial=0.0))
    return float(weights.sum()), float((weights * change).sum()), float((weights * change**2).sum()), largest


def losses_of(partition: PackedPartition, logits: Floats, fold: int | None, soft: bool) -> tuple[float, ...]:
    """The sums of losses and weights of the training rows, and of those that are held out."""
    data, rows_of = partition.data(soft), (partition.trains(fold), partition.validates(fold))
    return tuple(value for rows in rows_of for value in data.loss_sums(logits[rows], rows, 1))


def of_each(function: Callable[..., Any], *columns: Sequence[Any], options: dict[str, Any]) -> list[Any]:
    """What a function gives of each partition, and of one entry of each other column."""
    return [function(*entries, **options) for entries in zip(*columns, strict=True)]


def summed(sums: Sequence[Sequence[float]]) -> tuple[float, ...]:
    """Sums of several partitions, correctly rounded: their order makes no difference."""
    return tuple(math.fsum(values) for values in zip(*sums, strict=True))
