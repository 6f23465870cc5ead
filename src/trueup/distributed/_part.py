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
from trueup.distributed._cluster import Pieces, reduced, sent
from trueup.distributed._growing import RoundStart, grow_together
from trueup.distributed._pieces import (
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

__all__ = ["DaskPart", "DaskRows", "agreed_rescaling"]


@dataclass(frozen=True, eq=False)
class DaskRows:
    """Pieces on a cluster, with what all splits of them share."""

    pieces: Pieces
    n_features: int
    base_logits: Sequence[Any]
    reference: Any


class DaskPart:
    """Rows of a cluster that grow trees and that watch; their logits stay where they are."""

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
        pieces, part = self._rows.pieces, self._growth.part
        sample = reduced(pieces.client, concatenated, pieces.map(sampled_logits, self._logits, part=part))
        edges = pieces.client.submit(edges_of_logits, sample, pure=False)
        start = RoundStart(pieces, self._logits, self._n_train, self._rows.reference, edges)
        grown = grow_together(start, self._growth)
        trees = sent(pieces.client, grown.trees)
        self._corrections = pieces.map(corrections, self._logits, trees=trees)
        return grown

    def held_out(self, n_threads: int) -> DaskPart:
        """What an honest rescaling needs of the rows that watch, after the trees: the part itself can sum it."""
        return self

    def affine_sums(self, theta: float, intercept: float) -> tuple[float, ...]:
        """The loss of the rows that watch and its derivatives."""
        found: tuple[float, ...] = self._rows.pieces.total(
            affine_sums, self._logits, self._corrections, part=self._growth.part, theta=theta, intercept=intercept
        )
        return found

    def own_rescaling(self, rescale: Rescale, n_threads: int) -> Rescaling:
        """Theta from the rows that grew the trees; nothing if nothing is rescaled."""
        if rescale is None:
            return Rescaling()
        pieces, part = self._rows.pieces, self._growth.part

        def sums(theta: float) -> tuple[float, float]:
            """The derivatives by theta, of all pieces."""
            first, second = pieces.total(scale_sums, self._logits, self._corrections, part=part, theta=theta)
            return first, second

        return Rescaling(theta_from_sums(sums))

    def finish(self, rescaling: Rescaling, n_threads: int) -> Step:
        """Move the logits by the grown round."""
        pieces, before = self._rows.pieces, self._logits
        self._logits = pieces.client.map(moved_logits, before, self._corrections, rescaling=rescaling, pure=False)
        self._corrections = []
        steps = pieces.each(step_sums, before, self._logits, part=self._growth.part)
        weight, change, square = summed([sums for *sums, _ in steps])
        mean_change = change / weight
        phi = 2 * mean_change + square / weight / 8
        return Step(mean_change, phi, convergence_bound(phi, max(largest for *_, largest in steps)))

    def losses(self, n_threads: int) -> LossSums:
        """The log loss of the rows that grow trees, and of those that watch."""
        growth = self._growth
        return LossSums(*self._rows.pieces.total(losses_of, self._logits, part=growth.part, soft=growth.soft))


def agreed_rescaling(parts: Sequence[DaskPart], n_threads: int) -> Rescaling:
    """One rescaling for all parts, from the rows that did not grow their trees."""

    def sums(theta: float, intercept: float) -> list[float]:
        """The loss and its derivatives, of all parts."""
        return [sum(values) for values in zip(*(part.affine_sums(theta, intercept) for part in parts), strict=True)]

    return rescaling_from_sums(sums)
