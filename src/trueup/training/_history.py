"""What is written down of a round."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from trueup.model import RoundRecord
from trueup.training._parts import Part
from trueup.training._rescale import Rescaling

__all__ = ["first_record", "record_of_round"]

Floats = npt.NDArray[np.float64]


def first_record(parts: Sequence[Part], n_threads: int) -> RoundRecord:
    """The base scores' record."""
    return _record(0, parts, [Rescaling()], [(0.0, 0.0, 0.0)], n_threads)


def record_of_round(number: int, parts: Sequence[Part], rescalings: Sequence[Rescaling], n_threads: int) -> RoundRecord:
    """Finish a grown round in all parts, and record it; the seconds are the caller's."""
    # A part at a time, for the logits before the round are needed no longer than this.
    steps = [
        _convergence(part, part.finish(rescaling, n_threads)) for part, rescaling in zip(parts, rescalings, strict=True)
    ]
    return _record(number, parts, rescalings, steps, n_threads)


def _record(
    number: int,
    parts: Sequence[Part],
    rescalings: Sequence[Rescaling],
    steps: Sequence[tuple[float, float, float]],
    n_threads: int,
) -> RoundRecord:
    train = [part.data.mean_loss(part.logits[part.train], part.train, n_threads) for part in parts]
    valid = [
        part.data.mean_loss(part.logits[part.valid], part.valid, n_threads) if len(part.valid) else math.nan
        for part in parts
    ]
    change, phi, bound = np.mean(steps, axis=0)
    return RoundRecord(
        number=number,
        train_loss=float(np.mean(train)),
        validation_loss=float(np.mean(valid)),
        theta=float(np.mean([rescaling.theta for rescaling in rescalings])),
        logit_change=float(change),
        phi=float(phi),
        alpha_bound=float(bound),
        seconds=0.0,
    )


def _convergence(part: Part, before: Floats) -> tuple[float, float, float]:
    """E|F_t - F_(t-1)|, phi_(t-1), and the bound on alpha of f_(t-1), by the paper's convergence analysis."""
    before = before[part.train]
    change = np.abs(part.logits[part.train] - before)
    weights = part.data.weights_of(part.train)
    mean_change = float(np.average(change, weights=weights))
    phi = 2 * mean_change + float(np.average(change**2, weights=weights)) / 8
    odds = math.exp(-min(float(np.abs(before).max()), 300.0))  # of the least certain side of the most certain row
    largest_c = (1 + odds) / math.sqrt(odds)  # C² is at most 1 / min p (1 - p)
    return mean_change, phi, 2 / math.sqrt(3) * largest_c * math.sqrt(phi)
