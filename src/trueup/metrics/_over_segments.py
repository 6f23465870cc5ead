"""The worst segment: the largest value of a metric over segments of rows that overlap or not."""

import math
from collections.abc import Callable
from typing import Any

from numpy.typing import ArrayLike

from trueup._data import read_table
from trueup.errors import DataError, TableError
from trueup.metrics._checks import check_any_numbers, check_positive_integer
from trueup.segments import segment_masks


def maximum_over_segments(
    metric: Callable[..., float],
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    segments: Any,
    sample_weight: ArrayLike | None = None,
    min_rows: int = 10,
    X: Any = None,
) -> float:
    """Largest value that a metric takes on any of several segments of rows.

    Parameters
    ----------
    metric : callable
        Any metric of this module, or another ``f(y_true, y_prob, *, sample_weight) -> float``. For a metric
        with options, pass a ``functools.partial``.
    y_true : array-like of shape (n,)
        Labels or outcomes, as the metric takes them.
    y_prob : array-like of shape (n,)
        Probabilities or predictions, as the metric takes them.
    segments : mapping, sequence or table
        The segments: masks by name, a boolean array of shape (n, segments), a table of any library with a boolean
        column for each segment, or conditions on `X` such as ``["country = NO", "age < 25"]``.
    sample_weight : array-like of shape (n,), optional
        Weights of at least 0. None weighs every row the same.
    min_rows : int
        Segments with fewer rows of weight above 0 are left out.
    X : table, optional
        What conditions are about.

    Returns
    -------
    float
        The largest value.

    Notes
    -----
    ``max_g metric(rows of g)``: the multi-segment error of the literature on multicalibration, for instance the
    largest smECE. For a metric of which more is better the largest value is not the worst one. The largest of
    many noisy values is large by chance; a metric in sigmas, such as `ecce_sigma`, at least makes small and
    large segments comparable.

    Examples
    --------
    Right on all rows together, wrong by 0.5 in each half:

    >>> from trueup.metrics import ecce, maximum_over_segments
    >>> labels, scores = [1, 1, 0, 0], [0.5, 0.5, 0.5, 0.5]
    >>> ecce(labels, scores)
    0.0
    >>> halves = {"old": [True, True, False, False], "new": [False, False, True, True]}
    >>> maximum_over_segments(ecce, labels, scores, segments=halves, min_rows=2)
    0.5
    """
    check_positive_integer("min_rows", min_rows)
    rows = check_any_numbers(y_true, y_prob, sample_weight)
    sizes: dict[str, int] = {}
    values = []
    for segment, members in segment_masks(segments, len(rows.labels), None if X is None else read_table(X)):
        name = str(segment)
        counted = members & (rows.weights > 0)
        sizes[name] = int(counted.sum())
        if sizes[name] >= min_rows:
            arrays = rows.labels[counted], rows.scores[counted], rows.weights[counted]
            values.append(_value_of_segment(metric, name, *arrays))
    if not values:
        _raise_none_left(sizes, min_rows)
    return max(values)


def _value_of_segment(metric: Callable[..., float], name: str, labels: Any, scores: Any, weights: Any) -> float:
    try:
        value = float(metric(labels, scores, sample_weight=weights))
    except DataError as reason:
        raise type(reason)(f"Segment {name!r}, its {len(labels):,} rows counted from 0: {reason}") from reason
    if math.isnan(value):
        raise DataError(f"Segment {name!r}: the metric of its {len(labels):,} rows is NaN. Leave the segment out.")
    return value


def _raise_none_left(sizes: dict[str, int], min_rows: int) -> None:
    largest = max(sizes, key=lambda name: sizes[name])
    raise TableError(
        f"None of the {len(sizes):,} segments has {min_rows:,} rows of weight above 0; the largest, {largest!r}, has "
        f"{sizes[largest]:,}. Pass larger segments, or a smaller min_rows."
    )
