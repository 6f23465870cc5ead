"""Scores, labels and weights: checked arrays out, or an error that says what, where and how many."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from trueup.errors import LabelError, ScoreError, WeightError
from trueup.model import ValueKind
from trueup.table._columns import Column, column_from_any

__all__ = ["Labels", "read_labels", "read_scores", "read_weights"]

MAX_WEIGHT = 1e30  # LightGBM sums weights as 32-bit floats


@dataclass(frozen=True, eq=False)
class Labels:
    """What happened, as numbers.

    Attributes
    ----------
    values : float64 array
        1 for the positive class and 0 for the other; or probabilities, if the labels are soft.
    classes : tuple
        The two labels as the user gave them, negative first.
    soft : bool
        Whether the labels are probabilities.
    """

    values: npt.NDArray[np.float64]
    classes: tuple[Any, ...]
    soft: bool


def read_scores(
    scores: Any, n_rows: int, *, name: str = "scores", missing_allowed: bool = False
) -> npt.NDArray[np.float64]:
    """The base model's probabilities of the positive class.

    Parameters
    ----------
    scores : array-like
        One a row, or the two columns of ``predict_proba``.
    n_rows : int
        How many there must be.
    name : str
        What the messages call them.
    missing_allowed : bool
        Whether a missing score is NaN or an error.

    Returns
    -------
    float64 array
        The scores, between 0 and 1, contiguous.
    """
    shape = getattr(scores, "shape", ())
    if len(shape) == 2 and not hasattr(scores, "columns"):
        if shape[1] not in (1, 2):
            raise ScoreError(
                f"{name} has {shape[1]} columns; pass one score a row, or the two columns of predict_proba."
            )
        scores = np.asarray(scores)[:, -1]
    column = _column(scores, name, ScoreError)
    if column.kind is ValueKind.EMPTY and missing_allowed:
        values = np.full(len(column), np.nan)
    elif column.kind is not ValueKind.NUMBER:
        raise ScoreError(f"{name} holds {column.kind.value}; pass probabilities of the positive class.")
    else:
        values = np.ascontiguousarray(column.floats())
    _check_length(len(values), n_rows, name, ScoreError)
    if not missing_allowed:
        _refuse(np.isnan(values), values, f"{name}: {{}} scores are missing", "Drop those rows or fill them.", ScoreError)
    outside = (values < 0) | (values > 1)
    advice = "Pass probabilities; logits become probabilities by 1 / (1 + exp(-logit))."
    _refuse(outside, values, f"{name}: {{}} scores are outside [0, 1]", advice, ScoreError)
    return values


def read_weights(weights: Any, n_rows: int) -> npt.NDArray[np.float64] | None:
    """Sample weights, none of them negative and not all of them zero; None for none."""
    if weights is None:
        return None
    if isinstance(weights, (int, float)):
        raise WeightError("sample_weight is a single value; pass one weight a row.")
    column = _column(weights, "sample_weight", WeightError)
    if column.kind not in (ValueKind.NUMBER, ValueKind.BOOLEAN):
        raise WeightError(f"sample_weight holds {column.kind.value}; pass numbers.")
    values = np.ascontiguousarray(column.floats())
    _check_length(len(values), n_rows, "sample_weight", WeightError)
    _refuse(~np.isfinite(values), values, "sample_weight: {} weights are missing or not finite", "Drop those rows or "
            "fill the weights.", WeightError)  # fmt: skip
    _refuse(values < 0, values, "sample_weight: {} weights are negative", "Weights must be 0 or more.", WeightError)
    _refuse(values > MAX_WEIGHT, values, f"sample_weight: {{}} weights are above {MAX_WEIGHT:g}",
            "Divide all weights by their mean.", WeightError)  # fmt: skip
    if n_rows and not values.any():
        raise WeightError(f"sample_weight: all {n_rows:,} weights are zero. At least one row must count.")
    return values


def read_labels(y: Any, n_rows: int, *, like: Labels | None = None) -> Labels:
    """Labels of two classes, or probabilities.

    Floats between 0 and 1 of which some are neither are soft labels; all else is classes, and there must be two. With
    `like`, the classes are those, and one of them may be absent.
    """
    if y is None:
        raise LabelError("MCGrad requires y to be passed, but the target y is None.")
    column = _column(y, "y", LabelError)
    _check_length(len(column), n_rows, "y", LabelError)
    if column.kind is ValueKind.NUMBER and column.codes is None:
        return _labels_from_numbers(np.asarray(column.values), like)
    values = column.objects()
    missing = np.fromiter((value is None for value in values), bool, len(values))
    _refuse(missing, values, "y: {} labels are missing", "Drop those rows.", LabelError)
    try:
        found = sorted(set(values))
    except TypeError as error:
        raise LabelError("y mixes labels of different types, such as numbers and strings. Use one type.") from error
    classes = _classes(found, like)
    positive = np.fromiter((value == classes[1] for value in values), np.float64, len(values))
    return Labels(positive, classes, soft=False)


def _labels_from_numbers(values: npt.NDArray[Any], like: Labels | None) -> Labels:
    if values.dtype.kind == "f":
        _refuse(np.isnan(values), values, "Input y contains NaN: {} labels are missing", "Drop those rows.", LabelError)
        _refuse(np.isinf(values), values, "Input y contains infinity: {} labels are infinite", "Drop those rows.",
                LabelError)  # fmt: skip
        inside = (values >= 0) & (values <= 1)
        fractional = inside & (values > 0) & (values < 1)
        if fractional.any() or (like is not None and like.soft):
            advice = "Labels are two classes, or probabilities in [0, 1]."
            what = "Unknown label type: y holds fractions, and {} labels are outside [0, 1]"
            _refuse(~inside, values, what, advice, LabelError)
            return Labels(np.ascontiguousarray(values, np.float64), (0, 1), soft=True)
        if (values != np.floor(values)).any():
            raise LabelError(
                "Unknown label type: continuous. y holds fractions outside [0, 1]; labels are two classes, or "
                "probabilities in [0, 1]."
            )
    classes = _classes(np.unique(values).tolist(), like)
    return Labels((values == classes[1]).astype(np.float64), classes, soft=False)


def _classes(classes: list[Any], like: Labels | None) -> tuple[Any, ...]:
    """The two classes, negative first."""
    if like is not None:
        strange = [label for label in classes if label not in like.classes]
        if strange:
            raise LabelError(f"y has the label {strange[0]!r}, but the classes are {like.classes[0]!r} and {like.classes[1]!r}.")
        return like.classes
    if not classes:
        raise LabelError("y is empty. There is nothing to fit on.")
    if len(classes) == 1:
        raise LabelError(f"y holds one class only, {classes[0]!r}. A model of one class can't be calibrated.")
    if len(classes) > 2:
        raise LabelError(
            f"Only binary classification is supported. The type of the target is multiclass: y has {len(classes):,} "
            f"classes ({', '.join(map(repr, classes[:4]))}, ...). Calibrate one class against the others."
        )
    return tuple(classes)


def _column(values: Any, name: str, error: type[ValueError]) -> Column:
    is_sequence = hasattr(values, "__len__") or hasattr(values, "__array__")
    if hasattr(values, "columns") or isinstance(values, (str, bytes, dict)) or not is_sequence:
        raise error(f"{name} is a {type(values).__name__}; pass a one-dimensional array.")
    if len(getattr(values, "shape", (1,))) != 1:
        raise error(f"{name} has shape {values.shape}; pass a one-dimensional array.")
    return column_from_any(name, values)


def _check_length(found: int, expected: int, name: str, error: type[ValueError]) -> None:
    if found != expected:
        raise error(f"{name} has {found:,} rows, but X has {expected:,}. They must be the same rows.")


def _refuse(
    bad: npt.NDArray[np.bool_], values: npt.NDArray[Any], what: str, advice: str, error: type[ValueError]
) -> None:
    """Raise if any row is bad; ``{}`` in `what` becomes how many, and the first of them is shown."""
    if bad.any():
        first = int(np.argmax(bad))
        count = f"{int(bad.sum()):,} of {len(bad):,}"
        raise error(f"{what.format(count)} (first at row {first:,}: {values[first]!s}). {advice}")
