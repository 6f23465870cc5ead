"""Scores, labels and weights: checked arrays out, or an error that says what, where and how many."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from trueup._data._columns import Column
from trueup._data._readers import column_from_any
from trueup._model import OpaqueValue, ValueKind
from trueup.errors import DataError, LabelError, ScoreError, WeightError

__all__ = ["Labels", "check_weights_together", "read_clusters", "read_labels", "read_scores", "read_weights"]

# LightGBM keeps weights and gains, which grow with the square of a sum of weights, as 32-bit floats.
MAX_WEIGHT = 1e15
MIN_LARGEST_WEIGHT = 1e-15
MIN_SHARE_OF_LARGEST = 1e-20


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
    scores: Any,
    n_rows: int,
    *,
    name: str = "scores",
    missing_allowed: bool = False,
    outside_allowed: bool = False,
) -> npt.NDArray[np.float64]:
    """The base model's probabilities of the positive class.

    Parameters
    ----------
    scores : array-like or Column
        One a row, or the two columns of ``predict_proba``.
    n_rows : int
        How many there must be.
    name : str
        What the messages call them.
    missing_allowed : bool
        Whether a missing score is NaN or an error.
    outside_allowed : bool
        Whether a score outside [0, 1] is given back as it is or an error.

    Returns
    -------
    float64 array
        The scores, contiguous.
    """
    column = _column(_positive_class(scores, name), name, ScoreError)
    if column.kind not in (ValueKind.NUMBER, ValueKind.EMPTY):
        raise ScoreError(f"{name} holds {column.kind.value}; pass probabilities of the positive class.")
    values = np.ascontiguousarray(column.floats())
    _check_length(len(values), n_rows, name, ScoreError)
    missing = np.isnan(values)
    if missing.any() and not missing_allowed:
        what = f"{_count(missing)} scores are missing ({_first(missing, values)})"
        raise ScoreError(f"{name}: {what}. Drop those rows or fill them.")
    outside = (values < 0) | (values > 1)
    if outside.any() and not outside_allowed:
        raise ScoreError(
            f"{name}: {_count(outside)} scores are outside [0, 1] ({_first(outside, values)}). Pass "
            "probabilities; logits become probabilities by 1 / (1 + exp(-logit))."
        )
    return values


def read_weights(weights: Any, n_rows: int, *, zeros_allowed: bool = False) -> npt.NDArray[np.float64] | None:
    """Sample weights, none of them negative, and of a size that sums can hold; None for none.

    All of them may be zero only where that is allowed.
    """
    if weights is None:
        return None
    name = "sample_weight"
    column = _column(weights, name, WeightError)
    if column.kind not in (ValueKind.NUMBER, ValueKind.BOOLEAN, ValueKind.EMPTY):
        raise WeightError(f"{name} holds {column.kind.value}; pass numbers.")
    values = np.ascontiguousarray(column.floats())
    _check_length(len(values), n_rows, name, WeightError)
    for bad, what, advice in (
        (~np.isfinite(values), "are missing or not finite", "Drop those rows or fill the weights."),
        (values < 0, "are negative", "Weights must be 0 or more."),
        (values > MAX_WEIGHT, f"are above {MAX_WEIGHT:g}", "Divide all weights by their mean."),
        (_negligible(values), f"are less than {MIN_SHARE_OF_LARGEST:g} of the largest", "Set them to 0."),
    ):
        if bad.any():
            raise WeightError(f"{name}: {_count(bad)} weights {what} ({_first(bad, values)}). {advice}")
    if n_rows and not values.any():
        if zeros_allowed:
            return values
        raise WeightError(f"{name}: all {n_rows:,} weights are zero. At least one row must count.")
    if n_rows and values.max() < MIN_LARGEST_WEIGHT:
        what = f"all {n_rows:,} weights are below {MIN_LARGEST_WEIGHT:g}"
        raise WeightError(f"{name}: {what}. Divide all weights by their mean.")
    return values


def check_weights_together(least: float, largest: float) -> None:
    """Refuse weights that came in pieces and don't fit each other: the least above 0, and the largest of all."""
    if least < MIN_SHARE_OF_LARGEST * largest:
        raise WeightError(
            f"sample_weight: some weights are less than {MIN_SHARE_OF_LARGEST:g} of the largest ({least:g} and "
            f"{largest:g}). Set them to 0."
        )


def read_clusters(clusters: Any, n_rows: int) -> npt.NDArray[np.int64] | None:
    """Which cluster each row is in, as numbers in the order of the clusters' own values; None for none."""
    if clusters is None:
        return None
    name = "cluster"
    column = _column(clusters, name, DataError)
    _check_length(len(column), n_rows, name, DataError)
    if column.codes is None and isinstance(column.values, np.ndarray) and column.values.dtype.kind in "iufM":
        values = column.values
        missing = np.isnat(values) if values.dtype.kind == "M" else np.isnan(values)
    else:
        objects = column.objects()
        missing = np.fromiter((value is None for value in objects), bool, len(objects))
        # By their words: values of several types have no order of their own.
        values = np.array([f"{type(value).__name__} {value}" for value in objects], dtype=object)
    if missing.any():
        raise DataError(
            f"{name}: {_count(missing)} rows have no cluster ({_first(missing, values)}). Give each of them one of "
            "its own, or drop them."
        )
    return np.unique(values, return_inverse=True)[1].reshape(-1).astype(np.int64)


def read_labels(y: Any, n_rows: int, *, like: Labels | None = None) -> Labels:
    """Labels of two classes, or probabilities.

    Floats between 0 and 1 of which some are neither are soft labels; all else is classes, and there must be
    two. With `like`, the classes are those, and one of them may be absent.
    """
    if y is None:
        raise LabelError("MCGrad requires y to be passed, but the target y is None.")
    column = _column(y, "y", LabelError)
    _check_length(len(column), n_rows, "y", LabelError)
    if column.kind is ValueKind.NUMBER and column.codes is None and column.values.dtype != object:
        return _labels_from_numbers(column.values, like)
    if column.kind is ValueKind.BOOLEAN and column.codes is None and not np.isnan(column.values).any():
        classes = _classes([bool(value) for value in np.unique(column.values)], column.values, like)
        return Labels((column.values == classes[1]).astype(np.float64), classes, soft=False)
    values = column.objects()
    missing = np.fromiter((value is None for value in values), bool, len(values))
    if missing.any():
        raise LabelError(f"y: {_count(missing)} labels are missing ({_first(missing, values)}). Drop those rows.")
    strange = np.fromiter((isinstance(value, OpaqueValue) for value in values), bool, len(values))
    if strange.any():
        first = values[int(np.argmax(strange))].type_name
        raise LabelError(
            f"y: {_count(strange)} labels are of type {first}, which can't be saved with a model. Use strings or "
            "numbers."
        )
    try:
        found = sorted(set(values))
    except TypeError as error:
        raise LabelError("y mixes labels of different types, such as numbers and strings. Use one type.") from error
    classes = _classes(found, values, like)
    positive = np.fromiter((value == classes[1] for value in values), np.float64, len(values))
    return Labels(positive, classes, soft=False)


def _labels_from_numbers(values: npt.NDArray[Any], like: Labels | None) -> Labels:
    if values.dtype.kind == "f":
        for bad, what in ((np.isnan(values), "NaN"), (np.isinf(values), "infinity")):
            if bad.any():
                raise LabelError(
                    f"Input y contains {what}: {_count(bad)} labels are missing or infinite "
                    f"({_first(bad, values)}). Drop those rows."
                )
        outside = (values < 0) | (values > 1)
        fractional = values != np.floor(values)
        soft = (fractional & ~outside).any() or (like is not None and like.soft)
        if outside.any() if soft else fractional.any():
            raise LabelError(
                f"Unknown label type: continuous. y holds fractions, and {_count(outside)} labels are "
                f"outside [0, 1] ({_first(outside, values)}). Labels are two classes, or probabilities in "
                "[0, 1]."
            )
        if soft:
            return Labels(np.ascontiguousarray(values, np.float64), (0, 1), soft=True)
    classes = _classes(np.unique(values).tolist(), values, like)
    return Labels((values == classes[1]).astype(np.float64), classes, soft=False)


def _classes(found: list[Any], values: npt.NDArray[Any], like: Labels | None) -> tuple[Any, ...]:
    """The two classes, negative first."""
    if like is not None:
        strange = [label for label in found if label not in like.classes]
        if strange:
            bad = np.fromiter((value in strange for value in values), bool, len(values))
            raise LabelError(
                f"y: {_count(bad)} labels are neither {like.classes[0]!r} nor {like.classes[1]!r} "
                f"({_first(bad, values)}). Drop those rows."
            )
        return like.classes
    if not found:
        raise LabelError("y is empty. There is nothing to fit on.")
    if len(found) == 1:
        raise LabelError(
            f"y holds one class only: all {len(values):,} labels are {found[0]!r}. A model of one class "
            "can't be calibrated; add rows of the other."
        )
    if len(found) > 2:
        shown = ", ".join(map(repr, found[:4])) + (", ..." if len(found) > 4 else "")
        raise LabelError(
            "Only binary classification is supported. The type of the target is multiclass: y has "
            f"{len(found):,} classes ({shown}). Calibrate one class against the others."
        )
    return tuple(found)


def _positive_class(scores: Any, name: str) -> Any:
    """The last column of scores that have two, as ``predict_proba`` gives them."""
    if isinstance(scores, (list, tuple)) and scores and isinstance(scores[0], (list, tuple)):
        try:
            scores = np.array(scores, dtype=np.float64)
        except (ValueError, TypeError) as error:
            raise ScoreError(
                f"{name} is a list of lists that are not all pairs of numbers; pass one score a row."
            ) from error
    shape: tuple[int, ...] = getattr(scores, "shape", ())
    if len(shape) != 2 or hasattr(scores, "columns"):
        return scores
    if shape[1] not in (1, 2):
        raise ScoreError(f"{name} has {shape[1]} columns; pass one score a row, or the two columns of predict_proba.")
    return np.asarray(scores)[:, -1]


def _column(values: Any, name: str, error: type[DataError]) -> Column:
    if isinstance(values, Column):
        return values
    is_sequence = hasattr(values, "__len__") or hasattr(values, "__array__")
    if hasattr(values, "columns") or isinstance(values, (str, bytes, dict)) or not is_sequence:
        raise error(f"{name} is a {type(values).__name__}; pass a one-dimensional array.")
    if len(getattr(values, "shape", (1,))) != 1:
        raise error(f"{name} has shape {values.shape}; pass a one-dimensional array.")
    try:
        return column_from_any(name, values)
    except DataError as reason:
        raise error(f"{name} can't be read: {reason}") from reason


def _check_length(found: int, expected: int, name: str, error: type[DataError]) -> None:
    if found != expected:
        raise error(f"{name} has {found:,} rows, but X has {expected:,}. They must be the same rows.")


def _negligible(weights: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    """Which weights are not zero, but too small beside the largest to change a sum."""
    least: float = MIN_SHARE_OF_LARGEST * weights.max(initial=0.0)
    return np.logical_and(weights > 0, weights < least)


def _count(bad: npt.NDArray[np.bool_]) -> str:
    return f"{int(bad.sum()):,} of {len(bad):,}"


def _first(bad: npt.NDArray[np.bool_], values: npt.NDArray[Any]) -> str:
    row = int(np.argmax(bad))
    return f"first at row {row:,}: {values[row]!s}"
