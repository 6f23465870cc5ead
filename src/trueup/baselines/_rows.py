"""What a baseline is fitted on: checked arrays from what the user passes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import column_or_1d

from trueup._data import (
    CalibrationTable,
    Labels,
    listed,
    read_labels,
    read_mask,
    read_mask_table,
    read_scores,
    read_table,
    read_weights,
)
from trueup._model import ValueKind
from trueup.errors import ColumnError, DataError, LabelError, ParameterError, ScoreError
from trueup.segments import OneOf, Segment, segment_masks

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]
_FORMS = "the same masks as at fit: a dict of them by name, or a table of booleans"


@dataclass(frozen=True, eq=False)
class FitRows:
    """Rows with a positive weight."""

    table: CalibrationTable  # all rows, also those without weight
    kept: Mask | None  # which of them have weight; None for all
    labels: Floats  # of the rows with weight, as are scores and weights
    scores: Floats
    weights: Floats | None
    base_rate: float | None  # the score of every row, if none were given
    given: Labels  # the labels as they were read, of all rows


def read_rows(X: Any, y: Any, scores: Any, sample_weight: Any, like: FitRows | None = None) -> FitRows:
    """Check what was given to a fit, and take out the rows of weight 0; with `like`, classes and base rate are its."""
    table = read_table(X)
    if table.n_rows == 0:
        raise DataError("X has no rows: found array with 0 sample(s), and at least one is needed.")
    if not table.names:
        raise ColumnError(
            f"Found array with 0 feature(s) (shape=({table.n_rows}, 0)) while a minimum of 1 is required. "
            "Pass a table with at least one column."
        )
    if getattr(y, "ndim", 1) == 2 and not hasattr(y, "columns"):
        y = column_or_1d(y, warn=True)  # as scikit-learn's own classifiers do
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
    """The rows of an `eval_set` and their segments; errors say that they are about it."""
    if not isinstance(eval_set, tuple) or not 2 <= len(eval_set) <= 5:
        raise ParameterError(
            "eval_set must be a tuple (X, y), (X, y, scores), (X, y, scores, sample_weight) or (X, y, scores, "
            "sample_weight, segments)."
        )
    X, y, scores, sample_weight, segments = (*eval_set, None, None, None)[:5]
    try:
        return read_rows(X, y, scores, sample_weight, like), segments
    except DataError as error:
        raise type(error)(f"eval_set: {error}") from error


@dataclass(frozen=True, eq=False)
class GivenSegments:
    """Segments, and which rows with weight are in each."""

    segments: tuple[Segment, ...]  # one without conditions is a mask
    kinds: Mapping[str, ValueKind]  # of the columns that conditions are about
    masks: tuple[Mask, ...]

    @property
    def names(self) -> list[str]:
        """What the segments are called."""
        return [str(segment) for segment in self.segments]


def read_segments(segments: Any, rows: FitRows, method: str) -> GivenSegments:
    """The segments that the user gives: masks, a table of booleans, or conditions."""
    if segments is None:
        raise ParameterError(
            f"{method} needs the segments to calibrate: pass segments=, masks by name, a table of booleans, or "
            'conditions such as ["country = NO", "age < 25"]. MCGrad needs none.'
        )
    given, masks = zip(*segment_masks(segments, rows.table.n_rows, rows.table), strict=True)
    name, times = Counter(map(str, given)).most_common(1)[0]
    if times > 1:
        raise ParameterError(f"{times} segments are called {name!r}. Give each a name of its own.")
    for condition in (condition for segment in given for condition in segment.conditions):
        if isinstance(condition, OneOf) and rows.table.column(condition.column).kind is ValueKind.EMPTY:
            said = f"Column {condition.column!r} holds missing values only, so {str(condition)!r} means nothing."
            raise ColumnError(said)
    columns = dict.fromkeys(column for segment in given for column in segment.columns)
    kinds = {column: rows.table.column(column).kind for column in columns}
    return GivenSegments(given, kinds, tuple(kept_rows(masks, rows.kept)))


def segments_again(found: GivenSegments, table: CalibrationTable, segments: Any) -> list[Mask]:
    """The rows of the segments of a fit in another table; what was given as masks must be given again."""
    names = [segment.name for segment in found.segments if segment.name is not None and not segment.conditions]
    if segments is not None and not names:
        raise ParameterError("The model takes no masks: its segments are conditions on X. Leave segments out.")
    given = None if segments is None else read_mask_table(segments, _FORMS)
    absent = [name for name in names if given is None or name not in given]
    if absent:
        present = "" if given is None else f" Present: {listed(given.names, 12)}."
        raise ColumnError(
            f"{len(absent)} of {len(names)} segments are missing that were given as masks at fit: "
            f"{listed(absent)}.{present} Pass segments=, {_FORMS}."
        )
    for column, kind in found.kinds.items():
        if column in table and table.column(column).kind not in (kind, ValueKind.EMPTY):
            now = table.column(column).kind.value
            raise ColumnError(f"Column {column!r} holds {now}, but at fit it held {kind.value}. Convert it back.")
    return [
        read_mask(segment.name, given.column(segment.name), table.n_rows, rows_of="X")
        if given is not None and segment.name in names
        else segment.mask(table)
        for segment in found.segments
    ]


def kept_rows(masks: Iterable[Mask], kept: Mask | None) -> Iterator[Mask]:
    """Masks without the rows that have no weight."""
    return (mask if kept is None else mask[kept] for mask in masks)
