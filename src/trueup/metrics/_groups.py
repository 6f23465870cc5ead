"""The worst group: the largest value of a metric over groups of rows that overlap or not."""

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from trueup.errors import ColumnError, DataError, TableError
from trueup.metrics._checks import check_any_numbers, check_positive_integer


def maximum_over_groups(
    metric: Callable[..., float],
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    groups: Any,
    sample_weight: ArrayLike | None = None,
    min_rows: int = 10,
) -> float:
    """Largest value that a metric takes on any of several groups of rows.

    Parameters
    ----------
    metric : callable
        Any metric of this module, or another ``f(y_true, y_prob, *, sample_weight) -> float``. For a metric
        with options, pass a ``functools.partial``.
    y_true : array-like of shape (n,)
        Labels or outcomes, as the metric takes them.
    y_prob : array-like of shape (n,)
        Probabilities or predictions, as the metric takes them.
    groups : table of booleans
        Which rows belong to each group: a mapping from names to masks, a boolean array of shape (n, groups),
        or a table of any library with a boolean column for each group.
    sample_weight : array-like of shape (n,), optional
        Weights of at least 0. None weighs every row the same.
    min_rows : int
        Groups with fewer rows of weight above 0 are left out.

    Returns
    -------
    float
        The largest value.

    Notes
    -----
    ``max_g metric(rows of g)``: the multi-group error of the literature on multicalibration, for instance the
    largest smECE. For a metric of which more is better the largest value is not the worst one. The largest of
    many noisy values is large by chance; a metric in sigmas, such as `ecce_sigma`, at least makes small and
    large groups comparable.

    Examples
    --------
    Right on all rows together, wrong by 0.5 in each half:

    >>> from trueup.metrics import ecce, maximum_over_groups
    >>> labels, scores = [1, 1, 0, 0], [0.5, 0.5, 0.5, 0.5]
    >>> ecce(labels, scores)
    0.0
    >>> halves = {"old": [True, True, False, False], "new": [False, False, True, True]}
    >>> maximum_over_groups(ecce, labels, scores, groups=halves, min_rows=2)
    0.5
    """
    check_positive_integer("min_rows", min_rows)
    rows = check_any_numbers(y_true, y_prob, sample_weight)
    sizes: dict[str, int] = {}
    values = []
    for name, members in _masks(groups, len(rows.labels)):
        counted = members & (rows.weights > 0)
        sizes[name] = int(counted.sum())
        if sizes[name] >= min_rows:
            arrays = rows.labels[counted], rows.scores[counted], rows.weights[counted]
            values.append(_value_of_group(metric, name, *arrays))
    if not values:
        _raise_none_left(sizes, min_rows)
    return max(values)


def _masks(groups: Any, n_rows: int) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    """The name and the rows of each group."""
    from trueup.table import read_table

    if len(getattr(groups, "shape", (0, 0))) != 2:
        raise TableError(
            f"groups has shape {groups.shape}. Pass a column for each group, or a mapping from names to masks."
        )
    table = read_table(groups)
    if not table.names:
        raise TableError("groups holds no group. Pass at least one.")
    if table.n_rows != n_rows:
        raise TableError(f"groups has {table.n_rows:,} rows and y_true has {n_rows:,}. They must be the same rows.")
    if not table.named:
        table = table.renamed(tuple(str(place) for place in range(len(table.names))))
    for name in table.names:
        yield name, _mask(name, table.column(name))


def _mask(name: str, column: Any) -> NDArray[np.bool_]:
    from trueup.model import ValueKind

    if column.kind not in (ValueKind.BOOLEAN, ValueKind.EMPTY):
        raise ColumnError(f"Group {name!r} holds {column.kind.value}. Pass True for its rows and False for the others.")
    members = column.floats()
    missing = np.isnan(members)
    if missing.any():
        raise ColumnError(
            f"Group {name!r}: {np.count_nonzero(missing):,} of {len(missing):,} values are missing (first at row "
            f"{int(missing.argmax()):,}). Pass True or False for every row."
        )
    mask: NDArray[np.bool_] = members == 1
    return mask


def _value_of_group(metric: Callable[..., float], name: str, labels: Any, scores: Any, weights: Any) -> float:
    try:
        value = float(metric(labels, scores, sample_weight=weights))
    except DataError as reason:
        raise type(reason)(f"Group {name!r}, its {len(labels):,} rows counted from 0: {reason}") from reason
    if math.isnan(value):
        raise DataError(f"Group {name!r}: the metric of its {len(labels):,} rows is NaN. Leave the group out.")
    return value


def _raise_none_left(sizes: dict[str, int], min_rows: int) -> None:
    largest = max(sizes, key=lambda name: sizes[name])
    raise TableError(
        f"None of the {len(sizes):,} groups has {min_rows:,} rows of weight above 0; the largest, {largest!r}, has "
        f"{sizes[largest]:,}. Pass larger groups, or a smaller min_rows."
    )
