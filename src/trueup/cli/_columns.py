"""Finding the columns that options name."""

from __future__ import annotations

import contextlib
import json
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from trueup._data import names_from
from trueup.cli._files import Reading, TableSource
from trueup.errors import ColumnError, DataWarning, LabelError, ParameterError, WeightError

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Columns", "Roles", "TableRows", "check_column", "naming_columns", "positive_label", "read_rows"]


@dataclass(frozen=True)
class Roles:
    """Which column of a table is what."""

    label: str
    score: str | None
    weight: str | None
    features: tuple[str, ...]
    categorical: tuple[str, ...]


@dataclass(frozen=True)
class Columns:
    """The columns that options name, one by one or in lists such as ``a,b``."""

    label: str = ""
    score: str | None = None
    weight: str | None = None
    features: Sequence[str] | None = None
    drop: Sequence[str] | None = None
    categorical: Sequence[str] | None = None
    by: Sequence[str] | None = None
    others: Mapping[str, str | None] = field(default_factory=dict)  # by option; none of them is a feature
    # A date as a number never repeats: "refuse" such features, "ignore" them with a warning, or "keep" them.
    dates: Literal["refuse", "ignore", "keep"] = "refuse"

    def find(self, table: Any, where: str) -> Roles:
        """Find the columns in a table; all that have no other role are features, unless some are named."""
        columns: list[str] = table.column_names
        taken = self._taken(columns, where)
        named, option = (self.by, "--by") if self.by else (self.features, "--features")
        if named:
            chosen = _listed(named, columns, option, where)
            for name in set(chosen) & set(taken):
                raise ParameterError(f"{option} names {name!r}, which is the column of {taken[name]}. Leave it out.")
        else:
            left_out = {*taken, *_listed(self.drop or (), columns, "--drop", where), *_no_features(table, taken)}
            chosen = tuple(name for name in columns if name not in left_out)
        if not chosen and self.score is None and "--base" not in taken.values():
            raise ParameterError(f"{where} has no features left and no --score: there is nothing to learn from.")
        categorical = _listed(self.categorical or (), columns, "--categorical", where)
        for name in categorical:
            if name not in chosen:
                raise ParameterError(f"--categorical names {name!r}, which is not one of the features.")
        if not self.by:  # each day is a value of its own, as whoever names a date wants
            chosen = self._without_dates(table, chosen, categorical)
        return Roles(self.label, self.score, self.weight, chosen, categorical)

    def _taken(self, columns: Sequence[str], where: str) -> dict[str, str]:
        """The columns that can't be features, and the options that name them."""
        taken: dict[str, str] = {}
        options = {"--label": self.label, "--score": self.score, "--weight": self.weight, **self.others}
        for option, name in options.items():
            if name is None:
                continue
            check_column(name, columns, option, where)
            other = taken.setdefault(name, option)
            if other != option and {other, option} != {"--time", "--group"}:  # days may be both
                raise ParameterError(f"{other} and {option} both name the column {name!r}. They must differ.")
        return taken

    def _without_dates(self, table: Any, features: tuple[str, ...], categorical: Sequence[str]) -> tuple[str, ...]:
        """Refuse or leave out features that are dates, times or durations, all at once."""
        kinds = {name: _kind_of_time(table.schema.field(name).type) for name in features if name not in categorical}
        found = {name: kind for name, kind in kinds.items() if kind is not None}
        if self.dates == "keep" or not found:
            return features
        listed, them = ",".join(found), "them" if len(found) > 1 else "it"
        described = ", ".join(f"{name!r} ({kind})" for name, kind in found.items())
        columns = f"{'columns' if len(found) > 1 else 'column'} {described}"
        if self.dates == "ignore" and not self.features:
            warnings.warn(
                f'Ignoring the {columns}: not numbers. Say --categorical "{listed}" if each value is a category, or '
                f'--drop "{listed}" to hide this warning.',
                DataWarning,
                stacklevel=2,
            )
            return tuple(name for name in features if name not in found)
        leave_out = f"Take {them} out of --features" if self.features else f'Leave {them} out with --drop "{listed}"'
        raise ColumnError(
            f"The {columns} can't be used as numbers. {leave_out}, name {them} in --categorical if each value is a "
            f"category, or turn {them} into numbers such as an hour or an age."
        )


@dataclass(frozen=True, eq=False)
class TableRows:
    """A table in memory, which of its columns is what, and what messages call it."""

    table: Any
    roles: Roles
    name: str

    def column(self, name: str | None) -> Any:
        """A column; None if no name is given."""
        return None if name is None else self.table.column(name)

    def pos_label(self, positive: str | None) -> Any:
        """The label that --positive names."""
        return positive_label(positive, self.table.column(self.roles.label).type)


def read_rows(path: str, reading: Reading, columns: Columns) -> TableRows:
    """Read a table into memory and find its columns."""
    source = TableSource.of(path, reading)
    table = source.read()
    roles = columns.find(table, source.name)
    return TableRows(source.with_category_text(table, roles.categorical), roles, source.name)


@contextlib.contextmanager
def naming_columns(roles: Roles) -> Iterator[None]:
    """Let errors about labels and weights name their columns."""
    try:
        yield
    except LabelError as error:
        raise LabelError(f"The labels, column {roles.label!r}: {error}") from error
    except WeightError as error:
        raise WeightError(f"The weights, column {roles.weight!r}: {error}") from error


def check_column(name: str, columns: Sequence[str], option: str, where: str) -> None:
    """Refuse a name that is not there; say which are, and which one may have been meant."""
    try:
        names_from(option, [name], columns, where=where)
    except ColumnError as error:
        if len(columns) > 1 or not any(mark in columns[0] for mark in ",;|\t"):
            raise
        joined = "It looks like several joined: name what separates them with --delimiter."
        raise ColumnError(f"{error} {joined}") from None


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
            with contextlib.suppress(ValueError):  # whoever reads the labels says that this one is not there
                return read(text)
    return text


def _kind_of_time(arrow_type: Any) -> str | None:
    import pyarrow.types as at

    kinds = {"date": "dates", "timestamp": "dates with times", "time": "times of day", "duration": "durations"}
    return next((words for kind, words in kinds.items() if getattr(at, f"is_{kind}")(arrow_type)), None)


def _listed(values: Iterable[str], columns: Sequence[str], option: str, where: str) -> tuple[str, ...]:
    """The columns in a list such as ``a,b``; a name that has a comma in it is found as well."""
    names: dict[str, None] = {}
    for value in values:
        listed = [value] if value in columns else [name.strip() for name in value.split(",") if name.strip()]
        for name in listed:
            check_column(name, columns, option, where)
            names[name] = None
    return tuple(names)


def _no_features(table: Any, taken: Collection[str]) -> list[str]:
    """The index of a pandas DataFrame, and what `trueup` calls calibrated scores: left out unless they are named."""
    stored: Mapping[bytes, bytes] = table.schema.metadata or {}
    try:
        index = json.loads(stored[b"pandas"])["index_columns"]
    except (KeyError, ValueError, TypeError):
        index = ["", "Unnamed: 0"]  # what it is called in a CSV file, and when that was read and written again
    why = {name: "is the index of a pandas DataFrame" for name in index if isinstance(name, str)}
    why |= {"calibrated": "holds calibrated scores"}
    names = [name for name in why if name in table.column_names and name not in taken]
    for name in names:
        what = f"column {name!r}" if name else "the column without a name"
        text = f"Ignoring {what}: it {why[name]}. To use it, name it in --features."
        warnings.warn(text, DataWarning, stacklevel=3)
    return names
