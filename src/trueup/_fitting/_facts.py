"""What a fit must know of all rows before it can pack the first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from trueup._data import LabelClasses, check_weights_together, read_table
from trueup._features import FeatureLearner
from trueup._fitting._packed import ColumnCodes, edges_of_sample
from trueup._fitting._plan import PackingPlan
from trueup._fitting._roles import StreamRoles, batch_scores, batch_weights, naming_roles
from trueup._fitting._sample import RowSample, row_hashes
from trueup._model import FeatureSpec, ValueKind
from trueup.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["SAMPLE_ROWS", "TableFacts"]

SAMPLE_ROWS = 200_000  # LightGBM finds bins from as many
MOST_ROWS = 2**31  # LightGBM counts rows in 32 bits, those of all workers together too
_NO_ROWS = np.zeros(0)


class TableFacts:
    """Categories, classes, and a sample of the numbers, learned from batches of a table.

    What was learned of two sets of batches is merged, to the same facts in any order.
    """

    def __init__(self, roles: StreamRoles, sample_rows: int = SAMPLE_ROWS) -> None:
        self.roles = roles
        self.n_rows = 0  # those of a positive weight
        self._features = {name: FeatureLearner(name, name in roles.categorical) for name in roles.features}
        self._classes = LabelClasses()
        self._sample = RowSample(sample_rows)
        self._least_weight, self._largest_weight = np.inf, 0.0

    def add(self, batch: pa.Table, first_row: int) -> None:
        """Learn from a batch of the table, whose first row is that row of the table."""
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
        """How to pack every batch, with numbers in at most so many intervals, and which class is the positive one."""
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
            else ColumnCodes.of_numbers(edges_of_sample(sample.get(feature.name, _NO_ROWS), most_intervals))
            for feature in features
        )
        names = (*roles.features, *([] if roles.score is None else [roles.score]))
        spec = FeatureSpec(names, features, named=True, score_column=roles.score)
        return PackingPlan(roles, spec, columns, labels, self.n_rows)
