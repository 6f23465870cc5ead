"""Learning what the columns of a table hold."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from trueup.errors import ColumnError, ParameterError, TableError
from trueup.model import Feature, FeatureSpec, ValueKind
from trueup.table import CalibrationTable, Column, listed

__all__ = ["learn_features"]


def learn_features(
    table: CalibrationTable,
    *,
    features: Sequence[str] | None = None,
    categorical_features: str | Iterable[str | int] = "from_dtype",
    score_column: str | None = None,
) -> FeatureSpec:
    """What the columns of a table hold, and the categories of those that are categorical.

    Parameters
    ----------
    table : CalibrationTable
        The table at fit.
    features : sequence of str, optional
        The columns that segments are made of; all by default.
    categorical_features : "from_dtype", or names or positions of columns
        Columns that are categorical besides those whose type makes them so.
    score_column : str, optional
        The column that holds the base scores; never a feature.

    Returns
    -------
    FeatureSpec
        All that is needed to read another table of this kind.
    """
    if not table.names:
        raise TableError(
            f"Found array with 0 feature(s) (shape=({table.n_rows}, 0)) while a minimum of 1 is required. Pass a table with "
            "at least one column."
        )
    if score_column is not None:
        _check_there([score_column], table, "score_column")
    chosen = [name for name in table.names if name != score_column] if features is None else _chosen(features, table)
    if score_column in chosen:
        raise ParameterError(f"score_column {score_column!r} can't be one of the features too. Take it out of features=.")
    named = _named_categorical(categorical_features, table)
    learned = tuple(_learn_feature(table.column(name), name in named) for name in chosen)
    return FeatureSpec(table.names, learned, table.named, score_column)


def _chosen(features: Sequence[str], table: CalibrationTable) -> list[str]:
    if isinstance(features, str):
        raise ParameterError(f"features must be a list of names, got the string {features!r}. Use [{features!r}].")
    names = _names_from(features, table, "features")
    if len(set(names)) < len(names):
        raise ParameterError("features names a column twice.")
    return names


def _named_categorical(categorical: str | Iterable[str | int], table: CalibrationTable) -> set[str]:
    if isinstance(categorical, str):
        if categorical != "from_dtype":
            raise ParameterError(
                f'categorical_features must be "from_dtype" or a list of names, got {categorical!r}. Use [{categorical!r}] '
                "to name one column."
            )
        return set()
    return set(_names_from(categorical, table, "categorical_features"))


def _names_from(wanted: Iterable[str | int], table: CalibrationTable, parameter: str) -> list[str]:
    """Names from names or positions."""
    names = []
    for entry in wanted:
        if isinstance(entry, (int, np.integer)) and not isinstance(entry, bool):
            if not -len(table.names) <= entry < len(table.names):
                raise ParameterError(f"{parameter} names column {entry}, but X has {len(table.names)} columns.")
            names.append(table.names[entry])
        else:
            names.append(str(entry))
    _check_there(names, table, parameter)
    return names


def _check_there(names: Iterable[str], table: CalibrationTable, parameter: str) -> None:
    absent = [name for name in names if name not in table.names]
    if absent:
        raise ColumnError(f"{parameter}: X has no column {listed(absent)}. Its columns are {listed(table.names, 12)}.")


def _learn_feature(column: Column, named_categorical: bool) -> Feature:
    if named_categorical or column.has_categorical_type:
        return Feature(column.name, column.kind, _categories(column))
    if column.kind in (ValueKind.DATE, ValueKind.DATETIME):
        raise ColumnError(
            f"Column {column.name!r} holds {column.kind.value}. Name it in categorical_features= if each is a category, turn it "
            "into a number (an hour, an age), or leave it out with features=."
        )
    return Feature(column.name, ValueKind.NUMBER)


def _categories(column: Column) -> tuple[Any, ...]:
    """The distinct values of a column that are not missing, sorted."""
    if column.codes is not None:
        used = np.unique(column.codes[column.codes >= 0])
        plain = Column(column.name, column.kind, column.values).objects()
        distinct = {plain[code] for code in used}
    elif column.kind is ValueKind.STRING and not isinstance(column.values, np.ndarray):
        import pyarrow.compute as pc

        distinct = set(pc.unique(column.values).to_pylist())
    elif column.kind in (ValueKind.STRING, ValueKind.MIXED, ValueKind.EMPTY):
        distinct = set(column.values)
    else:
        distinct = set(Column(column.name, column.kind, np.unique(column.values)).objects())
    distinct.discard(None)
    _refuse_unstable(distinct, column.name)
    try:
        return tuple(sorted(distinct))
    except TypeError:  # of several types: numbers can't be sorted among strings
        return tuple(sorted(distinct, key=lambda value: (type(value).__name__, str(value))))


def _refuse_unstable(values: Iterable[Any], name: str) -> None:
    for value in values:
        text = getattr(value, "text", "")
        if " object at 0x" in text:
            raise ColumnError(
                f"Column {name!r} holds objects of type {value.type_name} whose text is an address in memory. Turn them into "
                "strings or numbers."
            )


