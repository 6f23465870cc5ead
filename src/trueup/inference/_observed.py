"""Scoring that also tells how many values were missing and how many categories unseen, a feature.

What watches live traffic needs both: a rise of either is the first sign that the rows are no longer those of fit.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from trueup.features import holds_missing
from trueup.inference._calibrator import Calibrator
from trueup.inference._score_map import map_scores

if TYPE_CHECKING:
    from trueup.table import CalibrationTable

__all__ = ["Observed", "observe_rows", "observe_table"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Observed:
    """Calibrated probabilities, and what the rows lacked.

    Attributes
    ----------
    probabilities : float64 array
        One a row; NaN where the score is missing.
    missing, unseen : mapping of str to int
        How many values of a feature were missing, and how many were categories that were not there at fit;
        features with none are left out.
    """

    probabilities: Floats
    missing: Mapping[str, int]
    unseen: Mapping[str, int]


def observe_rows(calibrator: Calibrator, rows: Sequence[Mapping[str, Any]], scores: Floats) -> Observed:
    """Score rows given as mappings, quickest for a few; the scores are probabilities, or NaN where missing."""
    spec, encode_row = calibrator.model.features, calibrator._encoder.encode_row
    probability = calibrator._forest.probability_of_one
    probabilities = map_scores(calibrator.model.score_map, scores).copy()
    missing: dict[str, int] = {}
    unseen: dict[str, int] = {}
    for place, score in enumerate(probabilities.tolist()):
        row = rows[place]
        numbers = encode_row(row)
        if calibrator.model.rounds:
            probabilities[place] = probability(numbers, score)
        for feature, number in enumerate(numbers):
            if number != number:  # noqa: PLR0124 - NaN, without a call
                name = spec.features[feature].name
                value = row[name]
                lacks = value is None or (isinstance(value, float) and math.isnan(value))
                counts = missing if lacks else unseen
                counts[name] = counts.get(name, 0) + 1
    return Observed(probabilities, missing, unseen)


def observe_table(calibrator: Calibrator, table: CalibrationTable, scores: Floats) -> Observed:
    """Score a table; the scores are probabilities, or NaN where missing."""
    model = calibrator.model
    if not model.features.named:
        table = replace(table, named=False)
    matrix = calibrator._encoder.encode(table)
    return Observed(calibrator._of_matrix(matrix, scores), *_lacking(matrix, calibrator, table))


def _lacking(matrix: Floats, calibrator: Calibrator, table: CalibrationTable) -> tuple[dict[str, int], dict[str, int]]:
    """How many values of each feature are missing and how many unseen: both are NaN in the matrix."""
    missing: dict[str, int] = {}
    unseen: dict[str, int] = {}
    without_number = np.isnan(matrix).sum(axis=0).tolist()
    for feature, count in zip(calibrator.model.features.features, without_number, strict=True):
        if count:
            lacking = int(holds_missing(table.column(feature.name)).sum()) if feature.is_categorical else count
            missing[feature.name] = lacking
            unseen[feature.name] = count - lacking
    return _positive(missing), _positive(unseen)


def _positive(counts: dict[str, int]) -> dict[str, int]:
    return {name: count for name, count in counts.items() if count}
