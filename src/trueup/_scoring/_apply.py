"""The one formula: a round adds its trees to the logit and rescales the sum. A map of the score may stand before.

Training, validation, scoring and export all come through here.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from trueup import _native
from trueup._model import FeatureSpec, FittedRound, KnotMap, LogitMap, ScoreMap, Trees

Floats = npt.NDArray[np.float64]


def compile_rounds(features: FeatureSpec, rounds: Sequence[FittedRound]) -> _native.Forest:
    """The trees of all rounds, ready to score; `ValueError` if they are not trees over these features."""
    categorical = np.array([feature.is_categorical for feature in features.features], dtype=np.uint8)
    return _compile(categorical, [fitted.trees for fitted in rounds], [fitted.theta for fitted in rounds])


def correction(
    trees: Trees, categorical: npt.NDArray[np.uint8], matrix: Floats, logits: Floats, n_threads: int = 1
) -> Floats:
    """The sum of a round's trees for each row: h_t."""
    return _compile(categorical, [trees], [1.0]).corrections(matrix, logits, 0, n_threads)


def apply_round(logits: Floats, correction: Floats, theta: float, out: Floats | None = None) -> Floats:
    """The logits after a round: ``theta * (logits + correction)``, as the kernel has it too.

    They are written to `out` if there is one, which may be one of the other two.
    """
    moved = np.add(logits, correction, out=out)
    moved *= theta
    return moved


def score_logits(scores: Floats, n_threads: int = 1) -> Floats:
    """The logits of base scores; 0 and 1, which have none, take those of the numbers next to them. NaN stays NaN."""
    return _native.logit(scores, n_threads)


def probabilities(logits: Floats, n_threads: int = 1) -> Floats:
    """The probabilities of logits."""
    return _native.sigmoid(logits, n_threads)


def _compile(categorical: npt.NDArray[np.uint8], parts: Sequence[Trees], thetas: Sequence[float]) -> _native.Forest:
    trees = Trees.concatenate(parts)
    round_offsets = np.concatenate([[0], np.cumsum([part.n_trees for part in parts])]).astype(np.int32)
    return _native.Forest(
        categorical=categorical,
        round_offsets=round_offsets,
        thetas=np.array(thetas, dtype=np.float64),
        **trees.arrays(),
    )


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
