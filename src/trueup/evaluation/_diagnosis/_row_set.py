"""The training rows, and the test rows if there are any."""

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

__all__ = ["Floats", "RowSet", "Sample", "draw_sample", "parts_of_test", "read_row_set"]

Floats: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RowSet:
    """One table with what belongs to it. What can't be used is None, and a finding says why."""

    name: str  # "train" or "test"
    n: int
    table: CalibrationTable | None
    labels: Labels | None
    raw_scores: Floats | None  # what was given as scores, of any size, with NaN where missing
    weights: Floats | None
    given: Given

    @property
    def words(self) -> str:
        """What texts call it."""
        return "the training rows" if self.name == "train" else "the test rows"

    @cached_property
    def scores(self) -> Floats | None:
        """The scores, if they are probabilities in all rows."""
        raw = self.raw_scores
        return raw if raw is not None and bool(((raw >= 0) & (raw <= 1)).all()) else None

    @property
    def row_weights(self) -> Floats:
        """One weight per row; 1 where none were given."""
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


def read_row_set(
    name: str,
    X: Any,
    y: Any,
    scores: Any,
    sample_weight: Any,
    *,
    like: Labels | None = None,
    pos_label: Any = None,
) -> tuple[RowSet, list[Finding]]:
    """Read one table and what belongs to it; what is wrong with the values is a finding, not an error."""
    findings: list[Finding] = []
    words = "training rows" if name == "train" else "test rows"
    try:
        given = given_rows(X, y, {"scores": scores}, sample_weight=sample_weight)
    except (DataError, ParameterError) as error:
        raise type(error)(f"The {words}: {error}") from error

    def unusable(what: str, error: Exception) -> None:
        """Note that something can't be read, and go on without it."""
        text = f"The {what} of the {words} can't be used: {error}"
        advice = "Nothing that needs them was checked. Repair them and diagnose again."
        findings.append(Finding(f"unusable_{what}", "error", text, advice, {"rows_of": name}))

    labels = weights = raw = None
    try:
        labels = given.labels(like=like, pos_label=pos_label)
    except LabelError as error:
        unusable("labels", error)
    try:
        weights = given.weights()
    except WeightError as error:
        unusable("weights", error)
    if scores is not None:
        try:
            positive = 1 if labels is None else labels.positive_column
            raw = given.scores(missing_allowed=True, outside_allowed=True, positive=positive)
        except ScoreError as error:
            unusable("scores", error)
    return RowSet(name, given.n, given.table, labels, raw, weights, given), findings


def parts_of_test(test: Any) -> Sequence[Any]:
    """The four parts of ``test=``: features, labels, scores and weights."""
    if not isinstance(test, (tuple, list)) or len(test) not in (2, 3, 4):
        given = f"{len(test)} values" if isinstance(test, (tuple, list)) else f"a {type(test).__name__}"
        raise ParameterError(f"test must be (X, y, scores) or (X, y, scores, sample_weight), got {given}.")
    return [*test, *[None] * (4 - len(test))]


@dataclass(frozen=True, eq=False)
class Sample:
    """Training and test rows drawn at random, none twice, of a weight above 0."""

    rows: npt.NDArray[np.int64]  # their places: the training rows, then the test rows counted on from the last of those
    n_train: int
    weights: Floats  # with a mean of 1 among the training rows and among the test rows

    @property
    def of_train(self) -> Floats:
        """The weights of the training rows, and 0 for the test rows."""
        return np.where(np.arange(len(self.rows)) < self.n_train, self.weights, 0.0)

    @property
    def of_test(self) -> Floats:
        """The weights of the test rows, and 0 for the training rows."""
        return self.weights - self.of_train

    @property
    def n_test(self) -> int:
        """How many of them are test rows."""
        return len(self.rows) - self.n_train


def draw_sample(sets: Sequence[RowSet], most: int, seed: int) -> Sample:
    """Draw the same number of rows of each set, at most `most` in all."""
    rng = np.random.default_rng(seed)
    places, weights, start = [], [], 0
    for rows in sets:
        usable = np.flatnonzero(rows.row_weights > 0)
        drawn = np.sort(rng.choice(usable, min(len(usable), most // len(sets)), replace=False))
        places.append(drawn + start)
        weights.append(rows.row_weights[drawn] / rows.row_weights[drawn].mean())
        start += rows.n
    return Sample(np.concatenate(places), len(places[0]), np.concatenate(weights))
