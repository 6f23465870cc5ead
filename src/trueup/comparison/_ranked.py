"""A model's ranking and calibration, on all rows, on rows drawn again, and on halves of the rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from trueup import _native
from trueup.comparison._rows import PairedRows

__all__ = ["HALVED", "RESAMPLED", "RankedModel", "halve", "rank_rows", "resample"]

# What is measured on rows drawn again, and what on halves of the rows.
RESAMPLED = ("auroc", "prauc")
HALVED = ("ecce", "ece")
_BINS = 10  # of the ECE, as `trueup.metrics.expected_calibration_error` has by default
_VISITS_A_BATCH = 50_000_000  # a fraction of a second, after which Ctrl-C is heard

ByteArray: TypeAlias = npt.NDArray[np.uint8]
FloatArray: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RankedModel:
    """Rows in order of one model's scores, the highest first."""

    group: npt.NDArray[np.int32]
    weight: FloatArray
    positive: FloatArray  # weight times label
    residual: FloatArray  # weight times (label minus score)
    ends: ByteArray  # whether the next row has another score
    bin: ByteArray  # of the score
    group_weight: FloatArray  # of each group

    def measured(self) -> dict[str, float]:
        """AUROC, average precision, ECCE and ECE; rows of one score count at once."""
        ends, total = self.ends.astype(bool), float(self.weight.sum())
        positive, rows = np.cumsum(self.positive)[ends], np.cumsum(self.weight)[ends]
        of_score = np.diff(positive, prepend=0.0)
        pairs = np.sum((np.diff(rows, prepend=0.0) - of_score) * (positive - of_score / 2))
        path = self._path()
        return {
            "auroc": float(pairs / (positive[-1] * (rows[-1] - positive[-1]))),
            "prauc": float(np.sum(of_score * positive / rows) / positive[-1]),
            "ecce": float(path.max() - path.min()) / total,
            "ece": float(np.abs(np.bincount(self.bin, self.residual)).sum()) / total,
        }

    def ecce_in_sigmas(self) -> float:
        """The ECCE, as a multiple of the standard deviation that noise gives to the mean error; 0 without errors."""
        sigma = float(np.linalg.norm(np.bincount(self.group, self.residual)))  # groups are independent
        path = self._path()
        return float(path.max() - path.min()) / sigma if sigma > 0 else 0.0

    def _path(self) -> FloatArray:
        """The sum of residuals down to each score."""
        return np.append(0.0, np.cumsum(self.residual)[self.ends.astype(bool)])


def rank_rows(rows: PairedRows, scores: FloatArray) -> RankedModel:
    """Sort rows by score."""
    order = np.argsort(-scores, kind="stable")
    in_order, labels, weight = scores[order], rows.labels[order], rows.weights[order]
    return RankedModel(
        group=rows.group[order],
        weight=weight,
        positive=weight * labels,
        residual=weight * (labels - in_order),
        ends=np.append(in_order[1:] != in_order[:-1], True).astype(np.uint8),
        bin=np.searchsorted(np.arange(1, _BINS) / _BINS, in_order, side="left").astype(np.uint8),
        group_weight=np.bincount(rows.group, rows.weights).astype(np.float64),
    )


def resample(
    model: RankedModel,
    *,
    n_replicates: int,
    seed: int,
    n_threads: int,
    advance: Callable[[int], None] = lambda replicates: None,
) -> dict[str, FloatArray]:
    """AUROC and average precision on groups drawn with replacement, a value a replicate; NaN without a class.

    The draws depend on the seed alone, so that another model of the same rows sees the same ones.
    """
    parts = [np.zeros((0, len(RESAMPLED)))]
    for first, last in _batches(model, n_replicates, n_threads):
        parts.append(_native.resample(**vars(model), seed=seed, first=first, last=last, n_threads=n_threads))
        advance(last - first)
    return dict(zip(RESAMPLED, np.concatenate(parts).T, strict=True))


def halve(
    model: RankedModel,
    *,
    n_splits: int,
    seed: int,
    n_threads: int,
    advance: Callable[[int], None] = lambda splits: None,
) -> dict[str, FloatArray]:
    """ECCE and ECE on either half of the groups, split at random, two values a split.

    The splits depend on the seed alone, so that another model of the same rows sees the same ones.
    """
    parts = [np.zeros((0, 2 * len(HALVED)))]
    for first, last in _batches(model, n_splits, n_threads):
        parts.append(_native.halve(**vars(model), seed=seed, first=first, last=last, n_threads=n_threads))
        advance(last - first)
    found = np.concatenate(parts)
    return {name: found[:, place :: len(HALVED)] for place, name in enumerate(HALVED)}


def _batches(model: RankedModel, n_draws: int, n_threads: int) -> Iterator[tuple[int, int]]:
    size = max(n_threads, _VISITS_A_BATCH // len(model.group))
    return ((first, min(n_draws, first + size)) for first in range(0, n_draws, size))
