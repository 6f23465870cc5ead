"""One model's rows in order of its scores, and its ranking and calibration on all of them and on rows drawn again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from trueup import _native
from trueup.comparison._input import PairedRows

__all__ = ["N_BINS", "RankedModel", "Replicates", "rank_rows", "resample"]

N_BINS = 10  # of the ECE, as `trueup.metrics.expected_calibration_error` has by default
# Two running sums within this many standard errors may well be equal: the extreme may as well lie at the other.
NEAR_SIGMAS = 2.0
_VISITS_A_BATCH = 50_000_000  # a fraction of a second, after which Ctrl-C is heard

ByteArray: TypeAlias = npt.NDArray[np.uint8]
FloatArray: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RankedModel:
    """Rows in order of one model's scores, the highest first.

    Attributes
    ----------
    cluster : array of int32
        Which cluster each row is in.
    weight, positive, residual : arrays of float64
        Of each row its weight, weight times label, and weight times (label minus score).
    path : array of float64
        The running sum of the residuals, as a share of the weight of all rows.
    flags, bin : arrays of uint8
        What ends at the row, and the bin of its score.
    start_flags : int
        The flags of the running sum before the first row.
    auroc, prauc, ecce : float
        The model's ranking and calibration.
    bins : array of float64
        The sum of residuals of each bin of scores, as a share of the weight.
    bin_errors : array of float64
        The standard errors of these.
    """

    cluster: npt.NDArray[np.int32]
    weight: FloatArray
    positive: FloatArray
    residual: FloatArray
    path: FloatArray
    flags: ByteArray
    bin: ByteArray
    start_flags: int
    auroc: float
    prauc: float
    ecce: float
    bins: FloatArray
    bin_errors: FloatArray

    @property
    def ece(self) -> float:
        """The expected calibration error."""
        return float(np.abs(self.bins).sum())


@dataclass(frozen=True, eq=False)
class Replicates:
    """A model on rows drawn again, an entry a replicate.

    Attributes
    ----------
    auroc, prauc : arrays of float64
        The ranking; NaN where a class was not drawn.
    ecce_moves : array of float64
        By how much the highest running sums moved away from the lowest ones.
    bin_moves : array of float64, a replicate and a bin
        By how much the bins' residuals moved.
    """

    auroc: FloatArray
    prauc: FloatArray
    ecce_moves: FloatArray
    bin_moves: FloatArray


def rank_rows(rows: PairedRows, scores: FloatArray) -> RankedModel:
    """Sort rows by score, and measure the model on all of them."""
    order = np.argsort(-scores, kind="stable")
    in_order, labels, weight = scores[order], rows.labels[order], rows.weights[order]
    cluster = np.ascontiguousarray(rows.cluster[order])
    residual = weight * (labels - in_order)
    ends = np.append(in_order[1:] != in_order[:-1], True)
    path = np.cumsum(residual) / rows.total_weight
    at_ends = np.append(0.0, path[ends])
    bins = np.searchsorted(np.arange(1, N_BINS) / N_BINS, in_order, side="left")
    near = NEAR_SIGMAS * np.sqrt(_sum_of_squares(residual, cluster, rows)) / rows.total_weight
    is_high, is_low = at_ends >= at_ends.max() - near, at_ends <= at_ends.min() + near
    flags = ends * np.uint8(_native.ENDS_SCORE)
    flags[ends] |= is_high[1:] * np.uint8(_native.NEAR_HIGH) | is_low[1:] * np.uint8(_native.NEAR_LOW)
    auroc, prauc = _ranking(weight * labels, weight, ends)
    in_bins = [np.where(bins == place, residual, 0.0) for place in range(N_BINS)]
    return RankedModel(
        cluster=cluster,
        weight=weight,
        positive=weight * labels,
        residual=residual,
        path=path,
        flags=flags,
        bin=bins.astype(np.uint8),
        start_flags=int(is_high[0]) * _native.NEAR_HIGH | int(is_low[0]) * _native.NEAR_LOW,
        auroc=auroc,
        prauc=prauc,
        ecce=float(at_ends.max() - at_ends.min()),
        bins=np.bincount(bins, residual, minlength=N_BINS) / rows.total_weight,
        bin_errors=np.sqrt([_sum_of_squares(some, cluster, rows) for some in in_bins]) / rows.total_weight,
    )


def resample(
    model: RankedModel,
    rows: PairedRows,
    *,
    n_replicates: int,
    seed: int,
    n_threads: int,
    advance: Callable[[int], None] = lambda replicates: None,
) -> Replicates:
    """The model on rows drawn again; another model of the same rows sees the same draws."""
    cluster_weight: FloatArray = np.bincount(rows.cluster, rows.weights, minlength=rows.n_clusters).astype(np.float64)
    size = max(n_threads, _VISITS_A_BATCH // rows.n)
    parts = [np.zeros((0, 3 + N_BINS))]
    for first in range(0, n_replicates, size):
        last = min(n_replicates, first + size)
        parts.append(
            _native.resample(
                cluster=model.cluster,
                weight=model.weight,
                positive=model.positive,
                residual=model.residual,
                path=model.path,
                flags=model.flags,
                bin=model.bin,
                cluster_weight=cluster_weight,
                n_bins=N_BINS,
                start_flags=model.start_flags,
                seed=seed,
                first=first,
                last=last,
                n_threads=n_threads,
            )
        )
        advance(last - first)
    found = np.concatenate(parts)
    return Replicates(found[:, 0], found[:, 1], found[:, 2], found[:, 3:] - model.bins)


def _ranking(positive: FloatArray, weight: FloatArray, ends: npt.NDArray[np.bool_]) -> tuple[float, float]:
    """AUROC and average precision of rows in order, the highest score first; rows of one score count at once."""
    all_positive, all_rows = np.cumsum(positive)[ends], np.cumsum(weight)[ends]
    of_score = np.diff(all_positive, prepend=0.0)
    negative_of_score = np.diff(all_rows, prepend=0.0) - of_score
    pairs = np.sum(negative_of_score * (all_positive - of_score / 2))
    negatives = all_rows[-1] - all_positive[-1]
    auroc = float(pairs / (all_positive[-1] * negatives))
    return auroc, float(np.sum(of_score * all_positive / all_rows) / all_positive[-1])


def _sum_of_squares(residual: FloatArray, cluster: npt.NDArray[np.int32], rows: PairedRows) -> float:
    """The variance of a sum of residuals, clusters being independent."""
    of_clusters = np.bincount(cluster, residual) if rows.is_clustered else residual
    return float(of_clusters @ of_clusters)
