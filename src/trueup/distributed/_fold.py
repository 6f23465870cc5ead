"""The rows of a split on a cluster, as the loop of rounds sees them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from trueup._fitting import (
    GrownRound,
    LossSums,
    Rescale,
    Rescaling,
    Step,
    convergence_bound,
    rescaling_from_sums,
    theta_from_sums,
)
from trueup.distributed._cluster import Partitions, reduced, sent
from trueup.distributed._growing import RoundStart, grow_together
from trueup.distributed._partitions import (
    affine_sums,
    concatenated,
    corrections,
    edges_of_logits,
    losses_of,
    moved_logits,
    sampled_logits,
    scale_sums,
    step_sums,
    summed,
)
from trueup.distributed._shard import Growth


@dataclass(frozen=True, eq=False)
class DaskRows:
    """Partitions on a cluster, with what all splits of them share."""

    partitions: Partitions
    n_features: int
    base_logits: Sequence[Any]
    reference: Any


class DaskFold:
    """Training and validation rows of a cluster; their logits stay where they are."""

    def __init__(self, rows: DaskRows, growth: Growth, n_train: Sequence[int]) -> None:
        self._rows, self._growth, self._n_train = rows, growth, n_train
        self._logits = list(rows.base_logits)
        self._corrections: list[Any] = []

    @property
    def n_columns(self) -> int:
        """How many columns trees may split on, the logit among them."""
        return self._rows.n_features + 1

    def grow(self, n_threads: int) -> GrownRound:
        """Grow the trees of a round."""
        partitions, fold = self._rows.partitions, self._growth.fold
        sample = reduced(partitions.client, concatenated, partitions.map(sampled_logits, self._logits, fold=fold))
        edges = partitions.client.submit(edges_of_logits, sample, pure=False)
        start = RoundStart(partitions, self._logits, self._n_train, self._rows.reference, edges)
        grown = grow_together(start, self._growth)
        trees = sent(partitions.client, grown.trees)
        self._corrections = partitions.map(corrections, self._logits, trees=trees)
        return grown

    def held_out(self, n_threads: int) -> DaskFold:
        """What an honest rescaling needs of the validation rows, after the trees: the fold itself can sum it."""
        return self

    def affine_sums(self, theta: float, intercept: float) -> tuple[float, ...]:
        """The loss of the validation rows and its derivatives."""
        found: tuple[float, ...] = self._rows.partitions.total(
            affine_sums, self._logits, self._corrections, fold=self._growth.fold, theta=theta, intercept=intercept
        )
        return found

    def own_rescaling(self, rescale: Rescale, n_threads: int) -> Rescaling:
        """Theta from the rows that grew the trees; nothing if nothing is rescaled."""
        if rescale is None:
            return Rescaling()
        partitions, fold = self._rows.partitions, self._growth.fold

        def sums(theta: float) -> tuple[float, float]:
            """The derivatives by theta, of all partitions."""
            first, second = partitions.total(scale_sums, self._logits, self._corrections, fold=fold, theta=theta)
            return first, second

        return Rescaling(theta_from_sums(sums))

    def finish(self, rescaling: Rescaling, n_threads: int) -> Step:
        """Move the logits by the grown round."""
        partitions, before = self._rows.partitions, self._logits
        self._logits = partitions.client.map(moved_logits, before, self._corrections, rescaling=rescaling, pure=False)
        self._corrections = []
        steps = partitions.each(step_sums, before, self._logits, fold=self._growth.fold)
        weight, change, square = summed([sums for *sums, _ in steps])
        mean_change = change / weight
        phi = 2 * mean_change + square / weight / 8
        return Step(mean_change, phi, convergence_bound(phi, max(largest for *_, largest in steps)))

    def losses(self, n_threads: int) -> LossSums:
        """The log loss of the rows that grow trees, and of those that validate."""
        growth = self._growth
        return LossSums(*self._rows.partitions.total(losses_of, self._logits, fold=growth.fold, soft=growth.soft))


def agreed_rescaling(folds: Sequence[DaskFold], n_threads: int) -> Rescaling:
    """One rescaling for all folds, from the rows that did not grow their trees."""

    def sums(theta: float, intercept: float) -> list[float]:
        """The loss and its derivatives, of all folds."""
        return [sum(values) for values in zip(*(fold.affine_sums(theta, intercept) for fold in folds), strict=True)]

    return rescaling_from_sums(sums)
