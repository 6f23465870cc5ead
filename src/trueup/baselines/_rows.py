"""What a baseline is fitted on: checked arrays from what the user passes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from trueup.calibrator import json_parameters, package_versions
from trueup.errors import DataError, LabelError, ParameterError, ScoreError
from trueup.model import Group, TrainingSummary
from trueup.segments import frozen_group, group_masks
from trueup.table import CalibrationTable, Labels, read_labels, read_scores, read_table, read_weights

__all__ = ["FitRows", "GroupsOfRows", "read_eval_rows", "read_groups", "read_rows", "summary_of"]

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class FitRows:
    """Rows with a positive weight.

    Attributes
    ----------
    table : CalibrationTable
        All rows, also those without weight.
    kept : array of bool or None
        Which of them have weight; None for all.
    labels, scores : float64 arrays
        What happened, and what the base model said, of the rows with weight.
    weights : float64 array or None
        Their weights.
    base_rate : float or None
        The score of every row, if none were given.
    given : Labels
        The labels as they were read, of all rows.
    """

    table: CalibrationTable
    kept: Mask | None
    labels: Floats
    scores: Floats
    weights: Floats | None
    base_rate: float | None
    given: Labels

    @property
    def n_rows(self) -> int:
        """How many rows have weight."""
        return len(self.labels)

    @property
    def weights_or_ones(self) -> Floats:
        """The weights, which are all 1 if none were given."""
        return np.ones(self.n_rows) if self.weights is None else self.weights


def read_rows(X: Any, y: Any, scores: Any, sample_weight: Any, like: FitRows | None = None) -> FitRows:
    """Check what was given to a fit, and take out the rows of weight 0; with `like`, classes and base rate are its."""
    table = read_table(X)
    if table.n_rows == 0:
        raise DataError("X has no rows: found array with 0 sample(s), and at least one is needed.")
    weights = read_weights(sample_weight, table.n_rows)
    labels = read_labels(y, table.n_rows, like=None if like is None else like.given)
    base_rate = None
    if scores is not None:
        base = read_scores(scores, table.n_rows)
    elif like is not None and like.base_rate is None:
        raise ScoreError("scores are missing. The fit has scores, so they are needed here too.")
    else:
        base_rate = float(np.average(labels.values, weights=weights)) if like is None else like.base_rate
        base = np.full(table.n_rows, base_rate)
    kept = None if weights is None or weights.all() else weights > 0
    if kept is None:
        return FitRows(table, None, labels.values, base, weights, base_rate, labels)
    own = labels.values[kept]
    if like is None and not labels.soft and own.min() == own.max():
        raise LabelError("y holds one class only among the rows with a positive weight. There is nothing to calibrate.")
    return FitRows(table, kept, own, base[kept], None if weights is None else weights[kept], base_rate, labels)


def read_eval_rows(eval_set: Any, like: FitRows) -> tuple[FitRows, Any]:
    """The rows of an `eval_set` and their groups; errors say that they are about it."""
    if not isinstance(eval_set, tuple) or not 2 <= len(eval_set) <= 5:
        raise ParameterError(
            "eval_set must be a tuple (X, y), (X, y, scores), (X, y, scores, sample_weight) or (X, y, scores, "
            "sample_weight, groups)."
        )
    X, y, scores, sample_weight, groups = (*eval_set, None, None, None)[:5]
    try:
        return read_rows(X, y, scores, sample_weight, like), groups
    except DataError as error:
        raise type(error)(f"eval_set: {error}") from error


@dataclass(frozen=True, eq=False)
class GroupsOfRows:
    """Groups, and which rows with weight are in each."""

    groups: tuple[Group, ...]
    masks: tuple[Mask, ...]

    @property
    def names(self) -> list[str]:
        """What the groups are called."""
        return [group.name for group in self.groups]


def read_groups(groups: Any, rows: FitRows, method: str) -> GroupsOfRows:
    """The groups that the user gives: masks, a table of booleans, or conditions."""
    if groups is None:
        raise ParameterError(
            f"{method} needs the groups that it shall calibrate: pass groups=, masks by name, a table of booleans, or "
            'conditions such as ["country = NO", "age < 25"]. MCGrad needs none.'
        )
    found = list(_groups_and_masks(groups, rows))
    names = [group.name for group, _ in found]
    twice = next((name for name in names if names.count(name) > 1), None) if len(set(names)) < len(names) else None
    if twice is not None:
        raise ParameterError(f"Two groups are called {twice!r}. Give each a name of its own.")
    return GroupsOfRows(tuple(group for group, _ in found), tuple(mask for _, mask in found))


def _groups_and_masks(groups: Any, rows: FitRows) -> Iterator[tuple[Group, Mask]]:
    for segment, mask in group_masks(groups, rows.table.n_rows, rows.table):
        yield frozen_group(segment, rows.table), mask if rows.kept is None else mask[rows.kept]


def kept_rows(masks: Iterable[Mask], kept: Mask | None) -> Iterator[Mask]:
    """Masks without the rows that have no weight."""
    return (mask if kept is None else mask[kept] for mask in masks)


def summary_of(rows: FitRows, method: str, parameters: dict[str, Any]) -> TrainingSummary:
    """How a model came about."""
    return TrainingSummary(
        n_rows=rows.n_rows,
        positive_rate=float(np.average(rows.labels, weights=rows.weights)),
        parameters={"method": method, **json_parameters(parameters)},
        versions=package_versions(),
    )
