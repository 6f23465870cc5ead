"""From batches of a table to packed rows: learn from all batches first, then pack each of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from trueup._data import (
    Hashes,
    LabelClasses,
    Labels,
    check_weights_together,
    hash_column,
    mix_hashes,
    read_labels,
    read_table,
)
from trueup._features import FeatureEncoder, FeatureLearner
from trueup._fitting._data import TrainingData
from trueup._fitting._packed import SAMPLE_ROWS, ColumnCodes, PackedMatrix, edges_of_sample
from trueup._fitting._roles import StreamRoles, batch_scores, batch_weights, naming_roles
from trueup._model import FeatureSpec, ValueKind
from trueup._scoring import score_logits
from trueup.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa

Array: TypeAlias = npt.NDArray[Any]
Floats: TypeAlias = npt.NDArray[np.float64]
MOST_ROWS = 2**31  # LightGBM counts rows in 32 bits, and those of all workers together too
_SEED = 0x5A3B1E


def row_hashes(first_row: int, n_rows: int) -> Hashes:
    """A hash of each row's place in the table."""
    return mix_hashes(np.arange(first_row, first_row + n_rows, dtype=np.uint64), _SEED)


class RowSample:
    """The rows with the least hashes. Every row is equally likely to be among them, in whatever batch it comes."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._hashes: Hashes = np.empty(0, np.uint64)
        self._columns: dict[str, Array] = {}
        self._cut = np.uint64(np.iinfo(np.uint64).max)

    def __len__(self) -> int:
        return len(self._hashes)

    def candidates(self, hashes: Hashes) -> npt.NDArray[np.intp]:
        """The rows that are worth adding."""
        return np.flatnonzero(hashes <= self._cut)

    def add(self, hashes: Hashes, columns: Mapping[str, Array]) -> None:
        """Add rows. A column that some rows don't have is NaN in those."""
        n_before, n_more = len(self._hashes), len(hashes)
        names = dict.fromkeys([*self._columns, *columns])
        joined = {
            name: np.concatenate([_or_nan(self._columns, name, n_before), _or_nan(columns, name, n_more)])
            for name in names
        }
        self._hashes, self._columns = np.concatenate([self._hashes, hashes]), joined
        if len(self._hashes) > 2 * self._most:
            self._prune()

    def merge(self, other: RowSample) -> None:
        """Add the sample of other batches."""
        self.add(other._hashes, other._columns)

    def columns(self) -> dict[str, Array]:
        """The sample, in an order that doesn't depend on the order of the batches."""
        self._prune()
        return self._columns

    def _prune(self) -> None:
        order = np.argsort(self._hashes, kind="stable")[: self._most]
        self._hashes = self._hashes[order]
        self._columns = {name: values[order] for name, values in self._columns.items()}
        if len(self._hashes) == self._most:
            self._cut = self._hashes[-1]


def _or_nan(columns: Mapping[str, Array], name: str, n: int) -> Array:
    return columns[name] if name in columns else np.full(n, np.nan)


@dataclass(frozen=True, eq=False)
class PackedRows:
    """Rows in as little memory as a fit can work with."""

    matrix: PackedMatrix
    labels: Floats
    base_logits: Floats | None  # None if there is no base model
    weights: Floats | None
    groups: Hashes | None  # a hash of the group of each row

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return len(self.labels)

    def logits_from(self, base_rate: float | None) -> Floats:
        """The logits that rounds start from: those of the scores, or of the base rate if there is no base model."""
        if self.base_logits is not None:
            return self.base_logits
        assert base_rate is not None
        return np.full(self.n_rows, score_logits(np.array([base_rate]))[0])

    def training_data(self, soft: bool, base_rate: float | None = 0.5) -> TrainingData:
        """The rows as a fit takes them; `base_rate` is the score of every row if there is no base model."""
        logits = self.logits_from(base_rate)
        categorical = np.array([column.categorical for column in self.matrix.columns], dtype=np.uint8)
        return TrainingData(self.matrix, categorical, self.labels, logits, self.weights, soft)


@dataclass(frozen=True, eq=False)
class PackingPlan:
    """How to pack each batch, learned from all of them."""

    roles: StreamRoles
    spec: FeatureSpec
    columns: tuple[ColumnCodes, ...]  # how each feature is packed
    labels: Labels  # the classes, without values
    n_rows: int  # with a positive weight

    @cached_property
    def _encoder(self) -> FeatureEncoder:
        return FeatureEncoder(self.spec)

    def pack(self, batch: pa.Table) -> PackedRows:
        """Pack a batch, leaving out rows of weight 0."""
        roles = self.roles
        weights = batch_weights(batch, roles)
        groups = None
        if roles.group is not None:
            groups = hash_column(batch.column(roles.group), name=f"Column {roles.group!r}")
        if weights is not None and not weights.all():
            counts = weights > 0
            batch, weights = batch.filter(counts), weights[counts]
            groups = None if groups is None else groups[counts]
        with naming_roles(roles):
            labels = read_labels(batch.column(roles.label), batch.num_rows, like=self.labels).values
        scores = batch_scores(batch, roles)
        return PackedRows(
            PackedMatrix.encode(self.columns, self._encoder.encode(read_table(batch))),
            labels,
            None if scores is None else score_logits(scores),
            weights,
            groups,
        )


class PackedStore:
    """Room for all rows, filled batch by batch so that no row is held twice."""

    def __init__(self, plan: PackingPlan) -> None:
        n, roles = plan.n_rows, plan.roles
        matrix = PackedMatrix(plan.columns, tuple(np.empty(n, column.dtype) for column in plan.columns), n)
        base_logits, weights = (None if name is None else np.empty(n) for name in (roles.score, roles.weight))
        groups = None if roles.group is None else np.empty(n, np.uint64)
        self._rows = PackedRows(matrix, np.empty(n), base_logits, weights, groups)
        self._filled = 0

    def add(self, batch: PackedRows) -> None:
        """Add the next rows."""
        rows, place = self._rows, slice(self._filled, self._filled + batch.n_rows)
        if place.stop > rows.n_rows:
            raise _changed()
        for ours, theirs in zip(_arrays(rows), _arrays(batch), strict=True):
            ours[place] = theirs
        self._filled = place.stop

    def rows(self) -> PackedRows:
        """All rows, once the last has come."""
        if self._filled < self._rows.n_rows:
            raise _changed()
        return self._rows


def _arrays(rows: PackedRows) -> list[npt.NDArray[Any]]:
    others = [rows.labels, rows.base_logits, rows.weights, rows.groups]
    return [*rows.matrix.codes, *(array for array in others if array is not None)]


def _changed() -> DataError:
    return DataError("The table had another number of rows when it was read again. It must not change during a fit.")


class TableFacts:
    """Categories, classes, and a sample of the numbers, learned from batches of a table.

    Facts about different batches can be merged, in any order, to the same result.
    """

    def __init__(self, roles: StreamRoles, sample_rows: int = SAMPLE_ROWS) -> None:
        self.roles = roles
        self.n_rows = 0  # with a positive weight
        self._features = {name: FeatureLearner(name, name in roles.categorical) for name in roles.features}
        self._classes = LabelClasses()
        self._sample = RowSample(sample_rows)
        self._least_weight, self._largest_weight = np.inf, 0.0

    def add(self, batch: pa.Table, first_row: int) -> None:
        """Learn from a batch; `first_row` is the place of its first row in the table."""
        roles, table = self.roles, read_table(batch)
        weights = batch_weights(batch, roles)
        counts = None if weights is None or weights.all() else weights > 0
        labels = table.column(roles.label)
        with naming_roles(roles):
            self._classes.add(labels if counts is None else labels.of_rows(counts))
        batch_scores(batch, roles)
        hashes = row_hashes(first_row, table.n_rows)
        if counts is not None:
            hashes = hashes[counts]
        if weights is not None and len(hashes):
            self._least_weight = min(self._least_weight, float(weights[weights > 0].min()))
            self._largest_weight = max(self._largest_weight, float(weights.max()))
        self.n_rows += len(hashes)
        chosen = self._sample.candidates(hashes)
        numbers: dict[str, npt.NDArray[np.float64]] = {}
        for name, learner in self._features.items():
            column = table.column(name)
            if counts is not None:
                column = column.of_rows(counts)
            learner.add(column)
            if learner.may_hold_numbers and column.kind is ValueKind.NUMBER:
                numbers[name] = column.floats()[chosen]
        self._sample.add(hashes[chosen], numbers)

    def merge(self, other: TableFacts) -> None:
        """Add what was learned of other batches."""
        self.n_rows += other.n_rows
        self._classes.merge(other._classes)
        for name, learner in self._features.items():
            learner.merge(other._features[name])
        self._sample.merge(other._sample)
        self._least_weight = min(self._least_weight, other._least_weight)
        self._largest_weight = max(self._largest_weight, other._largest_weight)

    def plan(self, most_intervals: int, pos_label: Any = None) -> PackingPlan:
        """Decide how to pack each batch, with numbers cut into at most `most_intervals`."""
        roles = self.roles
        if self.n_rows == 0:
            raise DataError("There are no rows, or none of a positive weight. At least one is needed.")
        if self.n_rows >= MOST_ROWS:
            raise DataError(
                f"There are {self.n_rows:,} rows, and LightGBM counts up to {MOST_ROWS - 1:,}. Fit on a part of them, "
                "chosen by a hash of their groups, say; audits and scores have no such limit."
            )
        with naming_roles(roles):
            if roles.weight is not None:
                check_weights_together(self._least_weight, self._largest_weight)
            labels = self._classes.labels(pos_label)
        features = tuple(learner.feature() for learner in self._features.values())
        sample = self._sample.columns()
        columns = tuple(
            ColumnCodes.of_categories(len(feature.categories))
            if feature.categories is not None
            else ColumnCodes.of_numbers(edges_of_sample(sample.get(feature.name, np.empty(0)), most_intervals))
            for feature in features
        )
        names = (*roles.features, *([] if roles.score is None else [roles.score]))
        spec = FeatureSpec(names, features, named=True, score_column=roles.score)
        return PackingPlan(roles, spec, columns, labels, self.n_rows)
