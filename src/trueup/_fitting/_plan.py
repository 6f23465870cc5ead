"""Packing batches of a table."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from trueup._data import Hashes, Labels, hash_column, read_labels, read_table
from trueup._features import FeatureEncoder
from trueup._fitting._data import TrainingData
from trueup._fitting._packed import ColumnCodes, PackedMatrix
from trueup._fitting._roles import StreamRoles, batch_scores, batch_weights, naming_roles
from trueup._model import FeatureSpec
from trueup._scoring import score_logits
from trueup.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["PackedRows", "PackedStore", "PackingPlan"]

Floats: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PackedRows:
    """Rows in as little memory as a fit can do with."""

    matrix: PackedMatrix
    labels: Floats
    base_logits: Floats | None  # None if there is no base model
    weights: Floats | None
    groups: Hashes | None  # a hash of the group of each row

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return len(self.labels)

    def training_data(self, soft: bool, base_logit: float | None = None) -> TrainingData:
        """The rows as a fit takes them; `base_logit` stands for all where there is no base model."""
        logits = self.base_logits
        if logits is None:
            assert base_logit is not None
            logits = np.full(self.n_rows, base_logit)
        categorical = np.array([column.categorical for column in self.matrix.columns], dtype=np.uint8)
        return TrainingData(self.matrix, categorical, self.labels, logits, self.weights, soft)


@dataclass(frozen=True, eq=False)
class PackingPlan:
    """What was learned of all batches: how each is packed."""

    roles: StreamRoles
    spec: FeatureSpec
    columns: tuple[ColumnCodes, ...]  # how each feature is packed
    labels: Labels  # the classes, without values
    n_rows: int  # those of a positive weight

    @cached_property
    def _encoder(self) -> FeatureEncoder:
        return FeatureEncoder(self.spec)

    def pack(self, batch: pa.Table) -> PackedRows:
        """Pack a batch; rows without weight are left out."""
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
    """Room for all rows of a plan, filled batch by batch, so that none is held twice."""

    def __init__(self, plan: PackingPlan) -> None:
        n, roles = plan.n_rows, plan.roles
        matrix = PackedMatrix(plan.columns, tuple(np.empty(n, column.dtype) for column in plan.columns), n)
        base_logits, weights = (None if name is None else np.empty(n) for name in (roles.score, roles.weight))
        groups = None if roles.group is None else np.empty(n, np.uint64)
        self._rows = PackedRows(matrix, np.empty(n), base_logits, weights, groups)
        self._filled = 0

    def add(self, batch: PackedRows) -> None:
        """Put the next rows in their place."""
        rows, place = self._rows, slice(self._filled, self._filled + batch.n_rows)
        if place.stop > rows.n_rows:
            raise _changed()
        for ours, theirs in zip(_arrays(rows), _arrays(batch), strict=True):
            ours[place] = theirs
        self._filled = place.stop

    def rows(self) -> PackedRows:
        """All rows, when the last has come."""
        if self._filled < self._rows.n_rows:
            raise _changed()
        return self._rows


def _arrays(rows: PackedRows) -> list[npt.NDArray[Any]]:
    others = [rows.labels, rows.base_logits, rows.weights, rows.groups]
    return [*rows.matrix.codes, *(array for array in others if array is not None)]


def _changed() -> DataError:
    return DataError("The table had another number of rows when it was read again. It must not change during a fit.")
