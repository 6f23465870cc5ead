"""Finding the columns that options name."""

from __future__ import annotations

import contextlib
import difflib
import json
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from trueup.errors import ColumnError, DataWarning, ParameterError

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Roles", "assign_roles", "check_column", "named_columns", "positive_label"]

_SHOWN_COLUMNS = 30


@dataclass(frozen=True)
class Roles:
    """Which column is what."""

    label: str
    score: str | None
    weight: str | None
    features: tuple[str, ...]
    categorical: tuple[str, ...]


def check_column(name: str, columns: Sequence[str], option: str, where: str) -> None:
    """Refuse a name that is not there; say which are, and which one may have been meant."""
    if name in columns:
        return
    lowered = {column.lower(): column for column in columns}
    close = difflib.get_close_matches(name.lower(), list(lowered), n=1)
    meant = f" Did you mean {lowered[close[0]]!r}?" if close else ""
    shown = ", ".join(repr(column) for column in columns[:_SHOWN_COLUMNS])
    more = f" and {len(columns) - _SHOWN_COLUMNS} more" if len(columns) > _SHOWN_COLUMNS else ""
    raise ColumnError(f"{option}: {where} has no column {name!r}.{meant} Its columns are {shown}{more}.")


def named_columns(values: Iterable[str], columns: Sequence[str], option: str, where: str) -> tuple[str, ...]:
    """The columns in a list such as ``a,b``; a name that has a comma in it is found as well."""
    names: dict[str, None] = {}
    for value in values:
        parts = [value] if value in columns else [part.strip() for part in value.split(",") if part.strip()]
        for name in parts:
            check_column(name, columns, option, where)
            names[name] = None
    return tuple(names)


def assign_roles(
    table: Any,
    where: str,
    *,
    label: str,
    score: str | None,
    weight: str | None,
    features: Sequence[str],
    categorical: Sequence[str],
    drop: Sequence[str],
    features_option: str = "--features",
    others: Mapping[str, str | None] | None = None,
) -> Roles:
    """Which column of a table is what; all that have no other role are features, unless some are named.

    `others` are more options that name a column, by their own names.
    """
    columns: list[str] = table.column_names
    taken: dict[str, str] = {}
    for option, name in {"--label": label, "--score": score, "--weight": weight, **(others or {})}.items():
        if name is None:
            continue
        check_column(name, columns, option, where)
        if name in taken:
            raise ParameterError(f"{taken[name]} and {option} both name the column {name!r}. They must differ.")
        taken[name] = option
    if features:
        chosen = named_columns(features, columns, features_option, where)
        for name in chosen:
            if name in taken:
                raise ParameterError(
                    f"{features_option} names {name!r}, which is the column of {taken[name]}. Leave it out."
                )
    else:
        left_out = {*taken, *named_columns(drop, columns, "--drop", where), *_pandas_index(table)}
        chosen = tuple(name for name in columns if name not in left_out)
    if not chosen and score is None and not others:
        raise ParameterError(
            f"{where} has no columns left to be features, and there is no --score: nothing to learn from."
        )
    of_categories = named_columns(categorical, columns, "--categorical", where)
    for name in of_categories:
        if name not in chosen:
            raise ParameterError(f"--categorical names {name!r}, which is not one of the features.")
    return Roles(label, score, weight, chosen, of_categories)


def positive_label(text: str | None, labels: pa.DataType) -> Any:
    """The label that --positive names, as a value of the column of labels; None for none."""
    import pyarrow as pa

    if text is None:
        return None
    if pa.types.is_dictionary(labels):
        labels = labels.value_type
    if pa.types.is_boolean(labels):
        return {"true": True, "1": True, "false": False, "0": False}.get(text.lower(), text)
    for is_of, read in ((pa.types.is_integer, int), (pa.types.is_floating, float)):
        if is_of(labels):
            with contextlib.suppress(ValueError):  # a label that is not there is told of by whoever reads them all
                return read(text)
    return text


def _pandas_index(table: Any) -> list[str]:
    """Columns that are the index of a pandas DataFrame: row numbers, which say nothing about other rows."""
    stored: Mapping[bytes, bytes] = table.schema.metadata or {}
    try:
        index = json.loads(stored[b"pandas"])["index_columns"]
    except (KeyError, ValueError, TypeError):
        return []
    names = [name for name in index if isinstance(name, str) and name in table.column_names]
    for name in names:
        warnings.warn(
            f"Column {name!r} is the index of a pandas DataFrame and is left out. To use it, name it in --features.",
            DataWarning,
            stacklevel=3,
        )
    return names
