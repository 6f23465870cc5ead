"""The benchmark's figures of merit, measured on test rows."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from trueup.metrics import (
    average_precision,
    ecce,
    ecce_sigma,
    expected_calibration_error,
    log_loss,
    maximum_over_segments,
    multicalibration_error,
    smooth_calibration_error,
)

__all__ = ["METRICS", "Metric", "measure"]

PAPER_SEGMENTS = 1000


@dataclass(frozen=True)
class Metric:
    """A figure of merit, and how it is shown."""

    name: str
    label: str
    digits: int
    higher_is_better: bool = False

    def better(self, one: float, other: float) -> bool:
        """Whether one value is strictly better than another."""
        return one > other if self.higher_is_better else one < other

    def shown(self, value: float | None) -> str:
        """A value as the page prints it."""
        return "–" if value is None or math.isnan(value) else f"{value:.{self.digits}f}"


# Names are those of the paper's table of results, where it has the metric.
METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric("mce_unspecified", "MCE σ, unspecified", 2),
        Metric("mce_all", "MCE σ, all segments", 2),
        Metric("mce_prespecified", "MCE σ, prespecified", 2),
        Metric("max_smece_prespecified", "max smECE", 4),
        Metric("log_loss", "log loss", 4),
        Metric("prauc", "PRAUC", 4, higher_is_better=True),
        Metric("ecce_sigma", "ECCE σ", 2),
        Metric("ecce", "ECCE", 4),
        Metric("ece", "ECE", 4),
        Metric("mce_abs_unspecified", "MCE absolute, unspecified", 4),
        Metric("mce_abs_prespecified", "max ECCE, prespecified", 4),
    )
}


def measure(
    X: Any,
    y: npt.NDArray[np.int64],
    p: npt.NDArray[np.float64],
    groups: Mapping[str, npt.NDArray[np.bool_]],
    *,
    n_jobs: int | None = None,
) -> dict[str, float]:
    """All figures of merit of probabilities on some rows.

    Notes
    -----
    The unspecified MCE is over the first 1,000 segments, as in the paper; `mce_all` is over all of them. Rows of
    one score are never parted, so no figure depends on the order of rows; the paper's do where scores are tied.
    """
    largest: dict[str, Any] = {"segments": dict(groups), "min_rows": 1}
    segments: dict[str, Any] = {"X": X, "min_variance": 0.0, "splits_lumps": False, "n_jobs": n_jobs}
    mce = multicalibration_error(y, p, max_segments=PAPER_SEGMENTS, **segments)
    total, sigmas = ecce(y, p), ecce_sigma(y, p)
    return {
        "mce_unspecified": mce,
        "mce_all": multicalibration_error(y, p, **segments),
        "mce_prespecified": maximum_over_segments(ecce_sigma, y, p, **largest),
        "max_smece_prespecified": maximum_over_segments(smooth_calibration_error, y, p, **largest),
        "log_loss": log_loss(y, p),
        "prauc": average_precision(y, p),
        "ecce_sigma": sigmas,
        "ecce": total,
        "ece": expected_calibration_error(y, p),
        "mce_abs_unspecified": mce * total / sigmas if sigmas else 0.0,
        "mce_abs_prespecified": maximum_over_segments(ecce, y, p, **largest),
    }
