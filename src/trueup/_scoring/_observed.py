"""Scoring that also tells how many values were missing and how many categories unseen, a feature.

What watches live traffic needs both: a rise of either is the first sign that the rows are no longer those of fit.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from trueup._scoring._apply import map_scores
from trueup.errors import UnseenCategoryWarning, callers_level

if TYPE_CHECKING:
    from trueup._data import CalibrationTable
    from trueup._scoring._calibrator import Calibrator

Floats = npt.NDArray[np.float64]
_SHOWN = 5  # columns of a warning


@dataclass(frozen=True, eq=False)
class Observed:
    """Probabilities, and how many values of each feature were missing or unseen."""

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
    if not calibrator.model.features.named:
        table = replace(table, named=False)
    return calibrator._of_table(table, scores)


def warn_of_unseen(n_rows: int, missing: Mapping[str, int], unseen: Mapping[str, int], least: int = 1) -> None:
    """Say of which features at least half of the values, and at least so many, were not there at fit.

    Some new categories are ordinary. If most are new, something else is wrong: they are spelled otherwise than at fit,
    or the rows are of other traffic.
    """
    found = {
        name: f"{count:,} of {n_rows - missing.get(name, 0):,} values"
        for name, count in unseen.items()
        if count >= least and 2 * count >= n_rows - missing.get(name, 0)
    }
    if not found:
        return
    (first, counts), *others = found.items()
    text = f"Column {first!r}: {counts} were not seen at fit and count as missing."
    text += "".join(f" Column {name!r}: {counts}." for name, counts in others[: _SHOWN - 1])
    if len(found) > _SHOWN:
        text += f" More such columns: {len(found) - _SHOWN:,}."
    warnings.warn(
        f"{text} Check that they are written as at fit; if they are new, fit again on rows that have them.",
        UnseenCategoryWarning,
        stacklevel=callers_level(),
    )
