"""Labels, scores and weights in; three checked float64 arrays out."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueup.errors import DataError, LabelError, ScoreError, TableError, WeightError

FloatArray: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Observations:
    """What a metric is computed from: checked arrays of one length, at least one row.

    Weights are scaled by a power of two, so that the largest lies in [0.5, 1): that is exact, no metric depends on
    their scale, and their sums and squares can't overflow.
    """

    labels: FloatArray
    scores: FloatArray
    weights: FloatArray


class _Argument(NamedTuple):
    """How messages speak of an argument."""

    name: str
    noun: str
    error: type[DataError]
    advice: str


_LABELS = _Argument("y_true", "labels", LabelError, "Pass 0 and 1, or probabilities in [0, 1] as soft labels.")
_SCORES = _Argument("y_prob", "scores", ScoreError, "Pass probabilities of the positive class.")
_OUTCOMES = _Argument("y_true", "outcomes", LabelError, "Pass finite numbers.")
_PREDICTIONS = _Argument("y_pred", "predictions", ScoreError, "Pass finite numbers, in the unit of the outcomes.")
_WEIGHTS = _Argument("sample_weight", "weights", WeightError, "Pass finite weights of at least 0; 0 leaves a row out.")


def check_observations(y_true: ArrayLike, y_prob: ArrayLike, sample_weight: ArrayLike | None) -> Observations:
    """Check labels and probabilities, and give them back as float64 arrays."""
    return _checked((y_true, y_prob), (_LABELS, _SCORES), sample_weight, _check_unit_interval)


def check_outcomes(y_true: ArrayLike, y_pred: ArrayLike, sample_weight: ArrayLike | None) -> Observations:
    """Check outcomes and predictions of any finite size, and give them back as float64 arrays."""
    return _checked((y_true, y_pred), (_OUTCOMES, _PREDICTIONS), sample_weight, _check_finite)


def check_any_numbers(y_true: ArrayLike, y_prob: ArrayLike, sample_weight: ArrayLike | None) -> Observations:
    """Check what holds for labels and probabilities as well as for outcomes and predictions."""
    return _checked((y_true, y_prob), (_LABELS, _SCORES), sample_weight, _check_finite)


def _checked(
    values: tuple[ArrayLike, ArrayLike],
    arguments: tuple[_Argument, _Argument],
    sample_weight: ArrayLike | None,
    check_values: Callable[[FloatArray, _Argument], None],
) -> Observations:
    true_argument, predicted_argument = arguments
    labels, scores = _floats(values[0], true_argument), _floats(values[1], predicted_argument)
    _check_lengths(labels, true_argument, scores, predicted_argument)
    if len(labels) == 0:
        raise TableError(f"{true_argument.name} and {predicted_argument.name} have no rows. Pass at least one row.")
    for values_, argument in ((labels, true_argument), (scores, predicted_argument)):
        fill = argument._replace(advice="Drop these rows or fill them.")
        _raise_if_any(np.isnan(values_), "missing", values_, fill)
        check_values(values_, argument)
    if sample_weight is None:
        return Observations(labels, scores, np.ones(len(labels)))
    weights = _floats(sample_weight, _WEIGHTS)
    _check_lengths(labels, true_argument, weights, _WEIGHTS)
    return Observations(labels, scores, _scaled_weights(weights))


def _floats(values: ArrayLike, argument: _Argument) -> FloatArray:
    """One value per row as float64, NaN if it is missing."""
    # A masked value is a missing value; np.asarray would bring back whatever lies under the mask.
    if isinstance(values, np.ma.MaskedArray):
        values = np.ma.filled(values.astype(np.float64), np.nan)
    array = np.asarray(values)
    if array.ndim != 1:
        _raise_not_one_dimensional(array.shape, argument)
    # NumPy would parse strings of digits and drop imaginary parts: both would be guesses.
    if array.dtype.kind == "O":
        return _objects_as_floats(array, argument)
    if array.dtype.kind not in "biuf":
        raise argument.error(f"{argument.name} must hold numbers, got {array.dtype}. {argument.advice}")
    return array.astype(np.float64, copy=False)


def _objects_as_floats(objects: NDArray[Any], argument: _Argument) -> FloatArray:
    for row, value in enumerate(objects):
        if isinstance(value, str | bytes):
            raise argument.error(f"{argument.name} must hold numbers, got {value!r} at row {row:,}. {argument.advice}")
    try:
        return objects.astype(np.float64)
    except (TypeError, ValueError) as reason:
        raise argument.error(f"{argument.name} must hold numbers: {reason}. {argument.advice}") from reason


def _raise_not_one_dimensional(shape: tuple[int, ...], argument: _Argument) -> None:
    advice = "Pass one value per row."
    if argument is _SCORES and shape[1:] == (2,):
        advice = "Of predict_proba, pass the column of the positive class: proba[:, 1]."
    raise TableError(f"{argument.name} must be 1-D, got shape {shape}. {advice}")


def _check_lengths(
    first: FloatArray, first_argument: _Argument, second: FloatArray, second_argument: _Argument
) -> None:
    if len(first) != len(second):
        raise TableError(
            f"{first_argument.name} has {len(first):,} rows and {second_argument.name} has {len(second):,}. "
            "Pass one value per row in both."
        )


def _check_finite(values: FloatArray, argument: _Argument) -> None:
    _raise_if_any(np.isinf(values), "infinite", values, argument)


def _check_unit_interval(values: FloatArray, argument: _Argument) -> None:
    _raise_if_any((values < 0) | (values > 1), "outside [0, 1]", values, argument)


def _scaled_weights(weights: FloatArray) -> FloatArray:
    _raise_if_any(~np.isfinite(weights), "not finite", weights, _WEIGHTS)
    _raise_if_any(weights < 0, "negative", weights, _WEIGHTS)
    largest = weights.max()
    if largest == 0:
        raise WeightError(f"sample_weight: all {len(weights):,} weights are 0. Pass at least one above 0, or None.")
    _, exponent = np.frexp(largest)
    scaled: FloatArray = np.ldexp(weights, -exponent)
    return scaled


def _raise_if_any(bad: NDArray[np.bool_], fault: str, values: FloatArray, argument: _Argument) -> None:
    if bad.any():
        first = int(bad.argmax())
        raise argument.error(
            f"{argument.name}: {np.count_nonzero(bad):,} of {len(bad):,} {argument.noun} are {fault} "
            f"(first at row {first:,}: {values[first]:.6g}). {argument.advice}"
        )
