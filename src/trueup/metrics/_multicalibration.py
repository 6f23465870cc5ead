"""The worst of many segments: by their ECCE, or by any metric."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from trueup._data import read_table
from trueup._runtime import check_number, check_whole, thread_count
from trueup.errors import DataError, ParameterError, TableError
from trueup.metrics._checks import check_any_numbers, check_observations
from trueup.segments import (
    MIN_VARIANCE,
    Partition,
    ScoredRows,
    cross_columns,
    grid_of,
    measure_segments,
    segment_masks,
    segment_partitions,
    sort_rows,
)

_UNITS = ("sigma", "absolute", "alpha")


def multicalibration_error(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    X: Any = None,
    segments: Any = None,
    unit: Literal["sigma", "absolute", "alpha"] = "sigma",
    features: Sequence[str] | None = None,
    categorical_features: str | Iterable[str | int] = "from_dtype",
    max_depth: int = 3,
    max_values: int | Mapping[str, int] = 3,
    min_rows: int = 10,
    min_variance: float = MIN_VARIANCE,
    max_segments: int | None = None,
    splits_lumps: bool = True,
    n_jobs: int | None = None,
) -> float:
    """Largest ECCE of any segment, in units of the segment's own standard error.

    Parameters
    ----------
    y_true, y_prob, sample_weight : array-like of shape (n,)
        Labels, 0 and 1 or soft ones between; probabilities of the positive class; and weights of at least 0, if any.
    X : table, optional
        Features that segments are made of: a pandas, polars or pyarrow table, a dict of arrays, or a 2-D NumPy
        array. Without it, and without segments, all rows are the only segment.
    segments : mapping, sequence or table, optional
        Your own segments instead: masks by name, a table of booleans, or conditions on `X`.
    unit : {"sigma", "absolute", "alpha"}, default="sigma"
        The MCE itself; times the standard error of all rows; or over the square root of the number of rows.
    features : sequence of str, optional
        The columns of `X` that segments are made of; all by default.
    categorical_features : "from_dtype", or names or positions of columns, default="from_dtype"
        Columns that are categorical besides those of strings, categoricals and booleans.
    max_depth : int, default=3
        The most features that a segment combines.
    max_values : int or dict of str to int, default=3
        Into how many values a feature is cut, or each of some, missing not counted.
    min_rows : int, default=10
        The fewest rows of a segment.
    min_variance : float, default=1.0
        The least variance of a segment's sum of errors, in squared rows, that sigmas are computed with; 0 gives the
        paper's sigmas.
    max_segments : int, optional
        Only measure this many segments, the first in order of depth and of the columns.
    splits_lumps : bool, default=True
        Whether a column of numbers most of which are equal is cut around that value; False leaves it whole, as the
        paper does.
    n_jobs : int, optional
        Threads; None is all cores. The result doesn't depend on it.

    Returns
    -------
    float
        The MCE; NaN if no segment is large enough. Noise alone makes it grow with the number of segments: judge it
        with `trueup.audit`, which knows what true scores would show.

    Notes
    -----
    The maximum of ``ecce_sigma`` over all conjunctions of at most `max_depth` features, including all rows. A
    categorical feature keeps its most frequent values and pools the others, a numerical one is cut at quantiles, and
    missing is a value of its own. This is the definition of the MCGrad paper with three changes: no segment is left
    out because it comes late; a sigma is at least that of `min_variance`, because where hardly any noise is expected,
    a single row would be many sigmas; and `splits_lumps`.

    Examples
    --------
    Right overall, and four sigmas off in each half:

    >>> from trueup.metrics import multicalibration_error
    >>> labels, scores = [1] * 16 + [0] * 16, [0.5] * 32
    >>> X = {"half": ["upper"] * 16 + ["lower"] * 16}
    >>> multicalibration_error(labels, scores), multicalibration_error(labels, scores, X=X)
    (0.0, 4.0)
    """
    if unit not in _UNITS:
        raise ParameterError(f"unit must be one of {', '.join(map(repr, _UNITS))}, got {unit!r}.")
    check_whole("min_rows", min_rows, 1)
    check_number("min_variance", min_variance)
    if max_segments is not None:
        check_whole("max_segments", max_segments, 1)
    observed = check_observations(y_true, y_prob, sample_weight)
    n = len(observed.labels)
    table = None if X is None else read_table(X)
    if table is not None and table.n_rows != n:
        raise TableError(f"X has {table.n_rows:,} rows and y_true has {n:,}. They must be the same rows.")
    kept = observed.weights > 0
    counted = None if kept.all() else kept
    crossed: list[Partition] = []
    alone: list[Partition] = []
    if segments is not None:
        alone = segment_partitions(segments, n, table, counted)
    elif table is not None:
        crossed = cross_columns(
            table,
            features=features,
            categorical_features=categorical_features,
            max_values=max_values,
            max_depth=max_depth,
            splits_lumps=bool(splits_lumps),
            rows=counted,
            n_threads=thread_count(n_jobs),
        )
    weights = None if sample_weight is None else observed.weights[kept]
    rows = sort_rows(observed.labels[kept], observed.scores[kept], weights)
    grid = grid_of(crossed, alone, max_depth=max_depth)
    sums = measure_segments(
        rows,
        grid,
        grid.cells(rows, grid.codes_in_order(rows)),
        min_rows=min_rows,
        min_variance=min_variance,
        max_segments=max_segments,
        n_threads=thread_count(n_jobs),
    )
    if not len(sums):
        return math.nan
    return float(sums.sigmas.max()) * _factor(rows, unit, float(min_variance))


def multicalibration_scorer(**options: Any) -> Callable[..., float]:
    """Return a scikit-learn scorer: minus the multicalibration error over the segments of its table.

    Parameters
    ----------
    **options : object
        Options of `multicalibration_error`; `X` is by default the table that the estimator predicts on.

    Returns
    -------
    callable
        ``scorer(estimator, X, y, sample_weight=None)``, for ``cross_validate`` and ``GridSearchCV``; higher is
        better.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.dummy import DummyClassifier
    >>> from trueup.metrics import multicalibration_scorer
    >>> X, y = np.repeat([[0], [1]], 16, axis=0), np.repeat([0, 1], 16)
    >>> multicalibration_scorer(max_depth=1)(DummyClassifier().fit(X, y), X, y)
    -4.0
    """

    def score(estimator: Any, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Minus the multicalibration error of an estimator's probabilities."""
        if len(estimator.classes_) != 2:
            raise ParameterError(
                f"The multicalibration error needs two classes, and {type(estimator).__name__} has "
                f"{len(estimator.classes_)}. Score one class against the others."
            )
        labels = np.asarray(y) == estimator.classes_[1]
        probabilities = estimator.predict_proba(X)[:, 1]
        return -multicalibration_error(labels, probabilities, X=X, sample_weight=sample_weight, **options)

    return score


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
    y_true, y_prob : array-like of shape (n,)
        Labels or outcomes, and probabilities or predictions, as the metric takes them.
    segments : mapping, sequence or table
        The segments: masks by name, a boolean array of shape (n, segments), a table of any library with a boolean
        column for each segment, or conditions on `X` such as ``["country = NO", "age < 25"]``.
    sample_weight : array-like of shape (n,), optional
        Weights of at least 0, if any.
    min_rows : int
        Segments with fewer rows of weight above 0 are left out.
    X : table, optional
        The columns that conditions are about.

    Returns
    -------
    float
        The largest value.

    Notes
    -----
    For instance the largest smECE, as in the literature on multicalibration. If higher is better, the largest value
    is not the worst. The largest of many noisy values is large by chance; a metric in sigmas, such as `ecce_sigma`,
    at least makes small and large segments comparable.

    Examples
    --------
    Right on all rows together, and wrong by 0.5 in each half:

    >>> from trueup.metrics import ecce, maximum_over_segments
    >>> labels, scores = [1, 1, 0, 0], [0.5, 0.5, 0.5, 0.5]
    >>> ecce(labels, scores)
    0.0
    >>> halves = {"old": [True, True, False, False], "new": [False, False, True, True]}
    >>> maximum_over_segments(ecce, labels, scores, segments=halves, min_rows=2)
    0.5
    """
    check_whole("min_rows", min_rows, 1)
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


def _factor(rows: ScoredRows, unit: str, min_variance: float) -> float:
    """What turns sigmas into the unit."""
    total = rows.total_weight
    squares = rows.n if rows.weights is None else float(rows.weights @ rows.weights)
    if unit == "absolute":
        return math.sqrt(max(float(rows.variances().sum()), min_variance * (squares / total) ** 2)) / total
    if unit == "alpha":
        return math.sqrt(squares) / total  # one over the square root of the rows that count as much
    return 1.0


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
