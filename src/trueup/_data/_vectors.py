"""Scores, weights and masks: checked arrays with a value per row, or an error that says what, where and how many."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from trueup._data._columns import Column
from trueup._data._readers import column_from_any
from trueup._data._table import CalibrationTable, read_table
from trueup._model import ValueKind
from trueup.errors import ColumnError, DataError, ScoreError, TableError, WeightError


def one_column(values: Any, name: str, error: type[DataError]) -> Column:
    """The values as a column, or that they are not one value per row."""
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


def check_length(found: int, expected: int, name: str, error: type[DataError]) -> None:
    """Refuse values of other rows than the table's."""
    if found != expected:
        raise error(f"{name} has {found:,} rows, but X has {expected:,}. Pass one value per row.")


def count_of(bad: npt.NDArray[np.bool_]) -> str:
    """How many rows are bad, in words."""
    return f"{int(bad.sum()):,} of {len(bad):,}"


def first_of(bad: npt.NDArray[np.bool_], values: npt.NDArray[Any]) -> str:
    """Which bad row is the first, and what it holds."""
    row = int(np.argmax(bad))
    return f"first at row {row:,}: {values[row]!s}"


# LightGBM keeps weights and gains, which grow with the square of a sum of weights, as 32-bit floats.
MAX_WEIGHT = 1e15
MIN_LARGEST_WEIGHT = 1e-15
MIN_SHARE_OF_LARGEST = 1e-20
_MOST_OFF_1 = 1e-3  # that two probabilities may sum to: half-precision floats and three decimals are as far off


def read_scores(
    scores: Any,
    n_rows: int,
    *,
    name: str = "scores",
    missing_allowed: bool = False,
    outside_allowed: bool = False,
    positive: int = 1,
) -> npt.NDArray[np.float64]:
    """The base model's probabilities of the positive class: one per row, or the two columns of ``predict_proba``.

    A missing score is NaN if that is allowed, and one outside [0, 1] given back as it is; else they are errors, which
    call the scores `name`. Of two columns, `positive` is the positive class's.
    """
    column = one_column(_positive_class(scores, name, positive), name, ScoreError)
    if column.kind not in (ValueKind.NUMBER, ValueKind.EMPTY):
        raise ScoreError(f"{name} holds {column.kind.value}; pass probabilities of the positive class.")
    values = np.ascontiguousarray(column.floats())
    check_length(len(values), n_rows, name, ScoreError)
    missing = np.isnan(values)
    if missing.any() and not missing_allowed:
        what = f"{count_of(missing)} scores are missing ({first_of(missing, values)})"
        raise ScoreError(f"{name}: {what}. Drop those rows or fill them.")
    outside = (values < 0) | (values > 1)
    if outside.any() and not outside_allowed:
        raise ScoreError(
            f"{name}: {count_of(outside)} scores are outside [0, 1] ({first_of(outside, values)}). "
            f"{look_of_scores(values)[1]}"
        )
    return values


def look_of_scores(values: npt.NDArray[np.float64]) -> tuple[str, str]:
    """What scores of which some are outside [0, 1] seem to be, and what to do about it."""
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    if low >= 0 and 2 < high <= 100:  # a little above 1, probabilities were computed badly
        return "percentages", "They look like percentages: divide them by 100."
    if low < 0 < high and math.isfinite(low) and math.isfinite(high):
        return "logits", "They look like logits: 1 / (1 + exp(-score)) makes them probabilities."
    if high <= 0:
        return "log_probabilities", "They look like logarithms of probabilities: pass exp(score)."
    return "unknown", "Pass probabilities of the positive class."


def read_weights(weights: Any, n_rows: int, *, zeros_allowed: bool = False) -> npt.NDArray[np.float64] | None:
    """Sample weights, none of them negative, and of a size that sums can hold; None for none.

    All of them may be zero only where that is allowed.
    """
    if weights is None:
        return None
    name = "sample_weight"
    column = one_column(weights, name, WeightError)
    if column.kind not in (ValueKind.NUMBER, ValueKind.BOOLEAN, ValueKind.EMPTY):
        raise WeightError(f"{name} holds {column.kind.value}; pass numbers.")
    values = np.ascontiguousarray(column.floats())
    check_length(len(values), n_rows, name, WeightError)
    least = MIN_SHARE_OF_LARGEST * values.max(initial=0.0)  # below, a weight changes no sum
    for bad, what, advice in (
        (~np.isfinite(values), "are missing or not finite", "Drop those rows or fill the weights."),
        (values < 0, "are negative", "Weights must be 0 or more."),
        (values > MAX_WEIGHT, f"are above {MAX_WEIGHT:g}", "Divide all weights by their mean."),
        ((values > 0) & (values < least), f"are less than {MIN_SHARE_OF_LARGEST:g} of the largest", "Set them to 0."),
    ):
        if bad.any():
            raise WeightError(f"{name}: {count_of(bad)} weights {what} ({first_of(bad, values)}). {advice}")
    if n_rows and not values.any():
        if zeros_allowed:
            return values
        raise WeightError(f"{name}: all {n_rows:,} weights are zero. At least one row must count.")
    if n_rows and values.max() < MIN_LARGEST_WEIGHT:
        what = f"all {n_rows:,} weights are below {MIN_LARGEST_WEIGHT:g}"
        raise WeightError(f"{name}: {what}. Divide all weights by their mean.")
    return values


def check_weights_together(least: float, largest: float) -> None:
    """Refuse weights that came in batches and don't go together: the least above 0, and the largest of all."""
    if least < MIN_SHARE_OF_LARGEST * largest:
        raise WeightError(
            f"sample_weight: some weights are less than {MIN_SHARE_OF_LARGEST:g} of the largest ({least:g} and "
            f"{largest:g}). Set them to 0."
        )


def _positive_class(scores: Any, name: str, positive: int) -> Any:
    """The positive class's column of scores that have two, as ``predict_proba`` gives them."""
    if isinstance(scores, (list, tuple)) and scores and isinstance(scores[0], (list, tuple)):
        try:
            scores = np.array(scores, dtype=np.float64)
        except (ValueError, TypeError) as error:
            raise ScoreError(
                f"{name} is a list of lists that are not all pairs of numbers; pass one score per row."
            ) from error
    shape: tuple[int, ...] = getattr(scores, "shape", ())
    if len(shape) != 2 or hasattr(scores, "columns"):
        return scores
    if shape[1] not in (1, 2):
        raise ScoreError(f"{name} has {shape[1]} columns; pass one score per row, or the two columns of predict_proba.")
    if shape[1] == 1:
        return np.asarray(scores)[:, 0]
    pairs = np.asarray(scores)
    _check_pairs(pairs, name)
    return pairs[:, positive]


def _check_pairs(pairs: npt.NDArray[Any], name: str) -> None:
    """Refuse two columns that are not the two probabilities of one model."""
    if pairs.dtype.kind not in "biuf":
        return  # whoever reads the column says what it holds
    sums = pairs.astype(np.float64).sum(axis=1)
    wrong = np.abs(sums - 1) > _MOST_OFF_1  # and not where a score is missing, which is told elsewhere
    if wrong.any():
        row = int(np.argmax(wrong))
        first = " + ".join(f"{value:g}" for value in pairs[row].tolist())
        raise ScoreError(
            f"{name}: {count_of(wrong)} rows of the two columns don't sum to 1 (first at row {row:,}: {first} = "
            f"{sums[row]:g}). Pass both columns of predict_proba, or one score per row."
        )


_MASK_ADVICE = "Pass true for the rows inside and false for the others."


def read_mask_table(groups: Any, forms: str) -> CalibrationTable:
    """A table whose columns are masks, not yet checked; those without names are called segment 0, segment 1, ...

    `forms` is what a message says could be passed instead.
    """
    if len(getattr(groups, "shape", (0, 0))) == 1:
        raise TableError('A mask needs a name: {"name": mask}.')
    try:
        table = read_table(groups)
    except TableError as error:
        raise TableError(f"The segments can't be read ({error}). Pass {forms}.") from error
    if table.named:
        return table
    return table.renamed(tuple(f"segment {place}" for place in range(len(table.names))))


def read_mask(name: str, mask: Any, n_rows: int, *, rows_of: str = "y") -> npt.NDArray[np.bool_]:
    """The rows of a group from booleans, or zeros and ones; messages call it `name`, and say that `rows_of` has the
    number of rows that it must have."""
    try:
        column = mask if isinstance(mask, Column) else read_table({name: mask}).column(name)
    except DataError as error:
        raise TableError(f"Segment {name!r} is neither a mask nor a condition ({error}) {_MASK_ADVICE}") from error
    if len(column) != n_rows:
        raise TableError(
            f"Segment {name!r} has {len(column):,} rows, but {rows_of} has {n_rows:,}. They must be the same rows."
        )
    if column.kind not in (ValueKind.BOOLEAN, ValueKind.NUMBER):
        raise ColumnError(f"Segment {name!r} holds {column.kind.value}. {_MASK_ADVICE}")
    values = column.floats()
    strange = ~((values == 0) | (values == 1))
    if strange.any():
        first = int(np.argmax(strange))
        what = "missing" if np.isnan(values[first]) else f"{values[first]:g}"
        raise ColumnError(
            f"Segment {name!r}: {int(strange.sum()):,} of {n_rows:,} rows are neither true nor false (first at row "
            f"{first:,}: {what}). {_MASK_ADVICE}"
        )
    inside: npt.NDArray[np.bool_] = values == 1
    return inside
