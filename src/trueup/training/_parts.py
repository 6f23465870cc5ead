"""The running logits of the rows of one split: all that a round needs of the rounds before it."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from trueup.inference import apply_round, correction
from trueup.training._data import Rows, TrainingData
from trueup.training._lightgbm import GrownRound, PreparedRows, RoundGrower
from trueup.training._rescale import Rescaling, fit_rescaling, fit_theta

__all__ = ["Part", "Rescale", "shared_rescaling"]

Floats = npt.NDArray[np.float64]
Rescale = Literal["honest", "train"] | None


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
        self._correction = np.zeros(0)

    def grow(self, n_threads: int) -> GrownRound:
        """Grow the trees of a round, and see what they say of all rows."""
        grown = self._prepared.grow(self.logits[self.train], n_threads)
        data = self.data
        self._correction = correction(grown.trees, data.categorical, data.matrix, self.logits, n_threads)
        return grown

    def finish(self, rescaling: Rescaling) -> Floats:
        """Move the logits by the grown round, and give back those before it."""
        if rescaling.shift != 0.0:
            self._correction += rescaling.shift
        before, self.logits = self.logits, apply_round(self.logits, self._correction, rescaling.theta)
        self._correction = np.zeros(0)  # a part has two columns of numbers only while it grows
        return before

    def unscaled(self, rows: Rows) -> Floats:
        """The logits of some rows after the trees and before the rescaling."""
        return apply_round(self.logits[rows], self._correction[rows], 1.0)

    def own_rescaling(self, rescale: Rescale, n_threads: int) -> Rescaling:
        """Theta from the rows that grew the trees; nothing if nothing is rescaled."""
        if rescale is None:
            return Rescaling()
        rows = self.train
        return Rescaling(fit_theta(self.unscaled(rows), self.data.labels[rows], self.data.weights_of(rows), n_threads))


def shared_rescaling(parts: Sequence[Part], n_threads: int) -> Rescaling:
    """One rescaling for all parts, from the rows that did not grow their trees."""
    data = parts[0].data
    held_out = np.concatenate([part.valid for part in parts])
    logits = np.concatenate([part.unscaled(part.valid) for part in parts])
    return fit_rescaling(logits, data.labels[held_out], data.weights_of(held_out), n_threads)
