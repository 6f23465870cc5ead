"""Between which rates the true one lies."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np

from trueup.metrics._checks import FloatArray

__all__ = ["wilson_interval"]


def wilson_interval(rate: FloatArray, n: FloatArray, confidence: float = 0.95) -> tuple[FloatArray, FloatArray]:
    """Wilson's interval for a rate among n rows; unlike the normal one it is right near 0 and 1 too."""
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    centre = (rate + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * np.sqrt(rate * (1 - rate) / n + z**2 / (4 * n**2))
    return np.clip(centre - half, 0, 1), np.clip(centre + half, 0, 1)
