"""Applying a map of the score: to arrays, and to one score in microseconds."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from trueup._model import KnotMap, LogitMap, ScoreMap
from trueup._scoring._apply import probabilities, score_logits

__all__ = ["map_score", "map_scores", "mapped_logits"]

Floats = npt.NDArray[np.float64]


def map_scores(score_map: ScoreMap | None, scores: Floats, n_threads: int = 1) -> Floats:
    """The mapped scores, NaN where they are missing; without a map, the scores themselves."""
    if score_map is None:
        return scores
    if isinstance(score_map, KnotMap):
        return np.interp(scores, score_map.scores, score_map.values)
    return probabilities(mapped_logits(score_map, score_logits(scores, n_threads)), n_threads)


def mapped_logits(score_map: LogitMap, logits: Floats) -> Floats:
    """The closed form; terms that a map does not have are left out, so that they can't round anything."""
    mapped = score_map.slope * logits
    if score_map.bend:
        mapped += score_map.bend * logits**2
    if score_map.tilt:
        mapped -= score_map.tilt * np.logaddexp(0.0, -logits)
    mapped += score_map.shift
    return mapped


def map_score(score_map: ScoreMap | None, score: float) -> float:
    """The mapped score of one row, the same as in a table."""
    if score_map is None or math.isnan(score):
        return score
    return float(map_scores(score_map, np.array([score]))[0])
