"""The rows to look at: those to fit on, and those to test on if there are any."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from trueup._data import CalibrationTable, Given, Labels, given_rows
from trueup.errors import DataError, LabelError, ParameterError, ScoreError, WeightError
from trueup.evaluation._diagnosis._finding import Finding

__all__ = ["Floats", "Side", "parts_of_test", "read_side"]

Floats: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Side:
    """One table with what belongs to it. What can't be used is None, and a finding tells why.

    Attributes
    ----------
    name : str
        ``train`` or ``test``.
    n : int
        How many rows it has.
    table : CalibrationTable or None
        Its features.
    labels : Labels or None
        The labels.
    raw_scores : array of float64 or None
        What was given as scores, of any size, with NaN where missing.
    weights : array of float64 or None
        Sample weights; None for none.
    given : Given
        The rows as they were given.
    """

    name: str
    n: int
    table: CalibrationTable | None
    labels: Labels | None
    raw_scores: Floats | None
    weights: Floats | None
    given: Given

    @cached_property
    def scores(self) -> Floats | None:
        """The scores, if they are probabilities in all rows."""
        raw = self.raw_scores
        return raw if raw is not None and bool(((raw >= 0) & (raw <= 1)).all()) else None

    @property
    def row_weights(self) -> Floats:
        """A weight a row; 1 where none were given."""
        return np.ones(self.n) if self.weights is None else self.weights

    @cached_property
    def effective_rows(self) -> float:
        """As many rows of one weight say as much as these of different weights: ``(Σ w)² / Σ w²``."""
        return float(self.n) if self.weights is None else float(self.weights.sum() ** 2 / (self.weights**2).sum())

    @cached_property
    def rate(self) -> float:
        """The weighted rate of the positive class; NaN without labels."""
        return float("nan") if self.labels is None else float(np.average(self.labels.values, weights=self.weights))

    @cached_property
    def mean_score(self) -> float:
        """The weighted mean of the scores; NaN if they are no probabilities."""
        scores = self.scores
        return float("nan") if scores is None else float(np.average(scores, weights=self.weights))


def read_side(
    name: str,
    X: Any,
    y: Any,
    scores: Any,
    sample_weight: Any,
    *,
    like: Labels | None = None,
    pos_label: Any = None,
) -> tuple[Side, list[Finding]]:
    """Read one table and what belongs to it; what is wrong with the values is a finding, not an error."""
    findings: list[Finding] = []
    try:
        given = given_rows(X, y, {"scores": scores}, sample_weight=sample_weight)
    except (DataError, ParameterError) as error:
        raise type(error)(f"The {'training' if name == 'train' else name} rows: {error}") from error
    labels = weights = raw = None
    try:
        labels = given.labels(like=like, pos_label=pos_label)
    except LabelError as error:
        findings.append(_unusable("labels", name, error))
    try:
        weights = given.weights()
    except WeightError as error:
        findings.append(_unusable("weights", name, error))
    if scores is not None:
        try:
            positive = 1 if labels is None else labels.positive_column
            raw = given.scores(missing_allowed=True, outside_allowed=True, positive=positive)
        except ScoreError as error:
            findings.append(_unusable("scores", name, error))
    return Side(name, given.n, given.table, labels, raw, weights, given), findings


def parts_of_test(test: Any) -> Sequence[Any]:
    """The four parts of ``test=``: features, labels, scores and weights."""
    if not isinstance(test, (tuple, list)) or len(test) not in (2, 3, 4):
        given = f"{len(test)} values" if isinstance(test, (tuple, list)) else f"a {type(test).__name__}"
        raise ParameterError(f"test must be (X, y, scores) or (X, y, scores, sample_weight), got {given}.")
    return [*test, *[None] * (4 - len(test))]


def _unusable(what: str, side: str, error: Exception) -> Finding:
    return Finding(
        f"unusable_{what}",
        "error",
        f"The {what} of {side} can't be used: {error}",
        "Nothing that needs them was looked at; repair them, and diagnose again.",
        {"side": side},
    )
