"""The running logits of the rows of one split: all that a round needs of the rounds before it."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from trueup.inference import apply_round, correction
from trueup.model import Trees
from trueup.training._data import Rows, TrainingData, take_rows
from trueup.training._lightgbm import GrownRound, PreparedRows, RoundGrower
from trueup.training._rescale import Rescaling, fit_rescaling, fit_theta

__all__ = ["Part", "Rescale", "shared_rescaling"]

Floats = npt.NDArray[np.float64]
Rescale = Literal["honest", "train"] | None
_CHUNK = 16_384  # rows, which are copied together before trees walk them


class Part:
    """Rows that grow trees and rows that watch, with the logits of all.

    Parameters
    ----------
    data : TrainingData
        All rows.
    grower : RoundGrower
        Who grows the trees.
    train, valid : index arrays
        The rows that grow trees, and those that watch.
    cancel : threading.Event
        When it is set, growing stops after the current tree.
    """

    def __init__(
        self, data: TrainingData, grower: RoundGrower, train: Rows, valid: Rows, cancel: threading.Event
    ) -> None:
        self.data, self.train, self.valid = data, train, valid
        all_rows = np.array_equal(train, np.arange(data.n_rows))  # a splitter may also draw as many with repetition
        self._prepared: PreparedRows = grower.prepare(None if all_rows else train, cancel)
        self.logits = data.base_logits
        self._trees = Trees.constant(0.0)
        self._correction: Floats | None = None

    def grow(self, n_threads: int) -> GrownRound:
        """Grow the trees of a round."""
        grown = self._prepared.grow(self.logits[self.train], n_threads)
        self._trees = grown.trees
        return grown

    def finish(self, rescaling: Rescaling, n_threads: int) -> Floats:
        """Move the logits by the grown round, and give back those before it."""
        moved = self._correction_of_all(n_threads) if self._correction is None else self._correction
        if rescaling.shift != 0.0:
            moved += rescaling.shift
        before, self.logits = self.logits, apply_round(self.logits, moved, rescaling.theta, out=moved)
        self._correction = None
        return before

    def held_out(self, n_threads: int) -> Floats:
        """The logits of the rows that watch, after the trees and before the rescaling.

        Only theirs: what the trees say of all rows is a column of numbers a part, and is not needed before the parts
        have agreed on a rescaling.
        """
        data, logits = self.data, self.logits[self.valid]
        for first in range(0, len(logits), _CHUNK):
            chunk = slice(first, first + _CHUNK)
            matrix = take_rows(data.matrix, self.valid[chunk])
            moved = correction(self._trees, data.categorical, matrix, logits[chunk], n_threads)
            apply_round(logits[chunk], moved, 1.0, out=logits[chunk])
        return logits

    def own_rescaling(self, rescale: Rescale, n_threads: int) -> Rescaling:
        """Theta from the rows that grew the trees; nothing if nothing is rescaled."""
        if rescale is None:
            return Rescaling()
        self._correction, rows = self._correction_of_all(n_threads), self.train
        unscaled = apply_round(self.logits[rows], self._correction[rows], 1.0)
        return Rescaling(fit_theta(unscaled, self.data.labels[rows], self.data.weights_of(rows), n_threads))

    def _correction_of_all(self, n_threads: int) -> Floats:
        return correction(self._trees, self.data.categorical, self.data.matrix, self.logits, n_threads)


def shared_rescaling(parts: Sequence[Part], held_out: Sequence[Floats], n_threads: int) -> Rescaling:
    """One rescaling for all parts, from the logits of the rows that did not grow their trees."""
    data, rows = parts[0].data, np.concatenate([part.valid for part in parts])
    return fit_rescaling(np.concatenate(held_out), data.labels[rows], data.weights_of(rows), n_threads)
