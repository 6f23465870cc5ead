"""What is written down of a round."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from trueup._fitting._folds import Fold, Step
from trueup._fitting._rescale import Rescaling
from trueup._model import RoundRecord

__all__ = ["first_record", "record_of_round"]


def first_record(folds: Sequence[Fold[Any]], n_threads: int) -> RoundRecord:
    """The base scores' record."""
    return _record(0, folds, [Rescaling()], [Step(0.0, 0.0, 0.0)], n_threads)


def record_of_round(
    number: int, folds: Sequence[Fold[Any]], rescalings: Sequence[Rescaling], n_threads: int
) -> RoundRecord:
    """Finish a grown round in all folds, and record it; the seconds are the caller's."""
    steps = [fold.finish(rescaling, n_threads) for fold, rescaling in zip(folds, rescalings, strict=True)]
    return _record(number, folds, rescalings, steps, n_threads)


def _record(
    number: int,
    folds: Sequence[Fold[Any]],
    rescalings: Sequence[Rescaling],
    steps: Sequence[Step],
    n_threads: int,
) -> RoundRecord:
    # Of all rows together, and not the mean of the folds' means: folds differ in size, and the loss before the first
    # round must be the log loss of the base scores.
    train, train_weight, valid, valid_weight = np.sum([fold.losses(n_threads) for fold in folds], axis=0)
    return RoundRecord(
        number=number,
        train_loss=float(train / train_weight),
        validation_loss=float(valid / valid_weight) if valid_weight else math.nan,
        theta=float(np.mean([rescaling.theta for rescaling in rescalings])),
        logit_change=float(np.mean([step.logit_change for step in steps])),
        phi=float(np.mean([step.phi for step in steps])),
        alpha_bound=float(np.mean([step.alpha_bound for step in steps])),
        seconds=0.0,
    )
