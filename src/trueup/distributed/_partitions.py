"""What workers do with a partition, in pure functions: Dask makes a lost partition again from the same tasks."""

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
    row_hashes,
)
from trueup._model import Trees
from trueup._scoring import apply_round
from trueup.errors import ColumnError, DataError

if TYPE_CHECKING:
    import pyarrow as pa

Floats: TypeAlias = npt.NDArray[np.float64]
ROWS_A_PARTITION = 2**40  # row r of partition k is row k · 2⁴⁰ + r of the table


@dataclass(frozen=True, eq=False)
class PackedPartition:
    """A partition as codes, where a worker holds it."""

    rows: PackedRows
    folds: npt.NDArray[np.int8]  # in which fold a row validates
    sampled: npt.NDArray[np.int32]  # the rows of a sample of the whole table, from which bins are made

    def data(self, soft: bool = False) -> TrainingData:
        """The rows as a fit takes them; their logits are kept elsewhere."""
        return self.rows.training_data(soft)

    def trains(self, fold: int | None) -> npt.NDArray[np.int32]:
        """The training rows if this fold validates; with None, all rows."""
        if fold is None:
            return np.arange(self.rows.n_rows, dtype=np.int32)
        return np.flatnonzero(self.folds != fold).astype(np.int32)

    def validates(self, fold: int | None) -> npt.NDArray[np.int32]:
        """The rows of the fold that validates; with None, no rows."""
        return np.flatnonzero([] if fold is None else self.folds == fold).astype(np.int32)


@dataclass(frozen=True, eq=False)
class PartitionFacts:
    """What was learned of partitions that follow each other."""

    facts: TableFacts
    first: int  # the number of the first partition
    last: int


def facts_of(partition: Any, roles: StreamRoles, number: int) -> PartitionFacts:
    """Learn what a partition holds."""
    facts = TableFacts(roles)
    with naming_partition(number):
        facts.add(as_arrow(partition, roles.columns), number * ROWS_A_PARTITION)
    return PartitionFacts(facts, number, number)


def merged_facts(facts: Sequence[PartitionFacts]) -> PartitionFacts:
    """Put together what was learned of several partitions."""
    merged = TableFacts(facts[0].facts.roles)
    for some in facts:
        with naming_partition(some.first, some.last):
            merged.merge(some.facts)
    return PartitionFacts(merged, facts[0].first, facts[-1].last)


def pack_partition(partition: Any, plan: PackingPlan, cut: int, number: int) -> PackedPartition:
    """Pack a partition. Its rows are in no fold yet; those whose hashes are at most `cut` are the sample."""
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
    """Deal rows to folds: to those given, or by their groups, or by their places in the table."""
    rows = partition.rows
    if folds is None:
        groups = rows.groups
        folds = dealing.by_place(first_row, rows.n_rows) if groups is None else dealing.by_group(groups, few)
    return replace(partition, rows=replace(rows, groups=None), folds=folds)


def as_arrow(partition: Any, columns: Sequence[str]) -> pa.Table:
    """The named columns of a partition."""
    partition = with_names(partition)
    present = [str(name) for name in getattr(partition, "column_names", getattr(partition, "columns", ()))]
    absent = [name for name in columns if name not in present]
    if absent:
        raise ColumnError(f"There is no column {listed(absent)}. The columns are {listed(present, 12)}.")
    return to_arrow(subtable(partition, columns=columns)).select(list(columns))


def with_names(partition: Any) -> Any:
    """A partition whose column names are strings; pandas may number columns instead."""
    if hasattr(partition, "column_names") or all(isinstance(name, str) for name in getattr(partition, "columns", ())):
        return partition
    return partition.rename(columns=str)


@contextlib.contextmanager
def naming_partition(number: int, last: int | None = None) -> Iterator[None]:
    """Say in errors about the data which partition, or which range of partitions, they come from."""
    try:
        yield
    except DataError as error:
        where = f"Partition {number:,}" if last in (None, number) else f"Partitions {number:,} to {last:,}"
        raise type(error)(f"{where}: {error}") from error


@dataclass(frozen=True)
class PartitionSizes:
    """What must be known of a partition before a fit."""

    n_rows: int
    largest_weight: float  # 1 without weights
    train: tuple[tuple[int, float, float], ...]  # per split: training rows, sum of their labels, sum of w p (1 - p)
    n_validation: tuple[int, ...]  # per split


def describe_partition(
    partition: PackedPartition, logits: Floats, folds: Sequence[int | None], soft: bool
) -> PartitionSizes:
    """Count the training and validation rows of each split."""
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
    weighted = labels if weights is None else weights * labels
    return partition.data().total_weight(slice(None)), float(weighted.sum())


def base_logits(partition: PackedPartition, base_rate: float | None) -> Floats:
    """The logits that rounds start from."""
    return partition.rows.logits_from(base_rate)


def sampled_codes(partition: PackedPartition) -> Floats:
    """The codes of the sampled rows, and one more row that is missing whatever is missing anywhere in the partition."""
    matrix = partition.rows.matrix
    sampled = matrix.codes_of(partition.sampled)
    last = matrix.codes_of(slice(0, 1))
    for place, (column, codes) in enumerate(zip(matrix.columns, matrix.codes, strict=True)):
        if (codes == len(column.upper)).any():
            last[:, place] = np.nan
    return np.concatenate([sampled, last])


def sampled_logits(partition: PackedPartition, logits: Floats, fold: int | None) -> Floats:
    """The logits of the sampled training rows."""
    sampled = partition.sampled
    return logits[sampled if fold is None else sampled[partition.folds[sampled] != fold]]


def corrections(partition: PackedPartition, logits: Floats, trees: Trees) -> Floats:
    """What trees add to the logits."""
    return partition.data().corrections(trees, logits, None, n_threads=1)


def affine_sums(
    partition: PackedPartition, logits: Floats, correction: Floats, *, fold: int, theta: float, intercept: float
) -> tuple[float, ...]:
    """The loss of the validation rows and its derivatives, which an honest rescaling needs."""
    rows = partition.validates(fold)
    return _native.affine_sums(*_unscaled(partition, logits, correction, rows), theta, intercept, LOGIT_LIMIT, 1)


def scale_sums(
    partition: PackedPartition, logits: Floats, correction: Floats, fold: int | None, theta: float
) -> tuple[float, float]:
    """The derivatives by theta of the loss of the training rows."""
    rows = partition.trains(fold)
    return _native.logistic_sums(*_unscaled(partition, logits, correction, rows), theta, LOGIT_LIMIT, 1)


def _unscaled(
    partition: PackedPartition, logits: Floats, correction: Floats, rows: npt.NDArray[np.int32]
) -> tuple[Floats, Floats, Floats | None]:
    """Some rows' logits after the trees and before the rescaling, with labels and weights."""
    data = partition.data()
    return apply_round(logits[rows], correction[rows], 1.0), data.labels[rows], data.weights_of(rows)


def moved_logits(logits: Floats, correction: Floats, rescaling: Rescaling) -> Floats:
    """The logits after a round."""
    shifted = correction + rescaling.shift if rescaling.shift != 0.0 else correction
    return apply_round(logits, shifted, rescaling.theta)


def step_sums(partition: PackedPartition, before: Floats, after: Floats, fold: int | None) -> tuple[float, ...]:
    """Sums over training rows of weights, of weighted changes of logits and of their squares; and the largest logit."""
    rows = partition.trains(fold)
    change = np.abs(after[rows] - before[rows])
    weights = np.ones(len(rows)) if partition.rows.weights is None else partition.rows.weights[rows]
    largest = float(np.abs(before[rows]).max(initial=0.0))
    return float(weights.sum()), float((weights * change).sum()), float((weights * change**2).sum()), largest


def losses_of(partition: PackedPartition, logits: Floats, fold: int | None, soft: bool) -> tuple[float, ...]:
    """The sums of losses and of weights: of the training rows, then of the validation rows."""
    data, rows_of = partition.data(soft), (partition.trains(fold), partition.validates(fold))
    return tuple(value for rows in rows_of for value in data.loss_sums(logits[rows], rows, 1))


def of_each(function: Callable[..., Any], *columns: Sequence[Any], options: dict[str, Any]) -> list[Any]:
    """Call a function with one entry of each column at a time; the partitions are the first column."""
    return [function(*entries, **options) for entries in zip(*columns, strict=True)]


def summed(sums: Sequence[Sequence[float]]) -> tuple[float, ...]:
    """Add up sums over partitions. `fsum` rounds correctly, so the order of the partitions makes no difference."""
    return tuple(math.fsum(values) for values in zip(*sums, strict=True))
