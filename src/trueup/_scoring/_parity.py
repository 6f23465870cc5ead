"""Made-up rows that a model file carries, so that a reader can check its own arithmetic.

The values come from the model's thresholds and categories, never from the data: a model file tells nothing of
a single user beyond what its trees do.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from trueup._model import CalibrationModel, ParityRows
from trueup.errors import ModelFileError

N_ROWS = 8
TOLERANCE = 1e-9

ScoreOne = Callable[[Mapping[Any, Any], float], float]


def make_parity_rows(model: CalibrationModel, score_one: ScoreOne) -> ParityRows:
    """Rows that lie on and beside the thresholds of the model, each feature missing in one of them."""
    names = model.features.names
    choices = [_choices(model, i) for i in range(len(names))]
    rows = tuple(
        tuple(
            None if not values or (r + i) % N_ROWS == 0 else values[(r * 7919 + i * 104729) % len(values)]
            for i, values in enumerate(choices)
        )
        for r in range(N_ROWS)
    )
    scores = tuple((r + 0.5) / N_ROWS for r in range(N_ROWS))
    expected = tuple(
        score_one(dict(zip(names, row, strict=True)), score) for row, score in zip(rows, scores, strict=True)
    )
    return ParityRows(rows, scores, expected)


def check_parity(names: Sequence[Any], parity: ParityRows, score_one: ScoreOne, path: str) -> None:
    """Raise `ModelFileError` unless this machine gives the parity rows what the one that wrote them gave."""
    unusable = f"{path!r} can't be used as a trueup model"
    for row, score, expected in zip(parity.rows, parity.scores, parity.expected, strict=True):
        try:
            found = score_one(dict(zip(names, row, strict=True)), score)
        except (ValueError, TypeError, ArithmeticError) as error:
            raise ModelFileError(f"{unusable}: its parity rows can't be read.") from error
        if not math.isclose(found, expected, rel_tol=TOLERANCE, abs_tol=TOLERANCE):
            raise ModelFileError(
                f"{unusable}: a row that must get {expected!r} gets {found!r} here. The file is damaged, or "
                "was written by something else than trueup."
            )


def _choices(model: CalibrationModel, feature: int) -> list[Any]:
    categories = model.features.features[feature].categories
    if categories is not None:
        return list(categories)
    thresholds = [fitted.trees.threshold[fitted.trees.split_feature == feature] for fitted in model.rounds]
    distinct = np.unique(np.concatenate([np.empty(0), *thresholds]))
    distinct = distinct[np.abs(distinct) < np.finfo(np.float64).max]  # there is a number above each of them
    return [float(value) for value in np.concatenate([distinct, np.nextafter(distinct, np.inf)])]
