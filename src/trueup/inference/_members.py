"""Which rows are in which groups."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from trueup.errors import ColumnError, ParameterError
from trueup.features import holds_between, holds_missing, holds_one_of
from trueup.model import BaselineModel, Group, GroupCondition, IsBetween, IsOneOf

if TYPE_CHECKING:
    from trueup.table import CalibrationTable, Column

__all__ = ["masks_of_model", "members_matrix", "packed_members"]

Bits = npt.NDArray[np.uint8]
Mask = npt.NDArray[np.bool_]
_FORMS = "the same masks as at fit: a dict of them by name, or a table of booleans"


def masks_of_model(model: BaselineModel, table: CalibrationTable, groups: Any) -> Iterator[Mask]:
    """The rows of each group of a model, one group at a time.

    Conditions are looked up in the table; what was given as masks at fit must be given again, by the same names.
    """
    from trueup.table import listed, read_mask, read_mask_table

    if groups is not None and not model.mask_names:
        raise ParameterError(
            "The model takes no masks: "
            + ("its groups are conditions on X" if model.groups else "it has no groups")
            + ". Leave groups out."
        )
    given = None if groups is None else read_mask_table(groups, _FORMS)
    absent = [name for name in model.mask_names if given is None or name not in given]
    if absent:
        present = "" if given is None else f" Present: {listed(given.names, 12)}."
        raise ColumnError(
            f"{len(absent)} of {len(model.mask_names)} groups are missing that were given as masks at fit: "
            f"{listed(absent)}.{present} Pass groups=, {_FORMS}."
        )
    columns = _Columns(table)
    return (
        read_mask(group.name, given.column(group.name), table.n_rows, rows_of="X")
        if given is not None and group.is_mask
        else _rows_meeting(group, columns)
        for group in model.groups
    )


def packed_members(masks: Iterable[Mask], n_rows: int) -> Bits:
    """Masks as bits: bit ``g % 8`` of byte ``g // 8`` of a row tells whether it is in group g."""
    masks, columns = iter(masks), list[Bits]()
    while eight := list(itertools.islice(masks, 8)):
        columns.append(np.packbits(eight, axis=0, bitorder="little")[0])
    return np.stack(columns, axis=1) if columns else np.zeros((n_rows, 1), np.uint8)


def members_matrix(masks: Iterable[Mask], n_rows: int, n_groups: int) -> npt.NDArray[np.float64]:
    """Masks as the columns of a matrix: 1 for the rows inside and 0 for the others."""
    matrix = np.empty((n_rows, n_groups), order="F")
    for place, mask in enumerate(masks):
        matrix[:, place] = mask
    return matrix


class _Columns:
    """The columns of a table, each read once, however many groups are about it."""

    def __init__(self, table: CalibrationTable) -> None:
        self._table = table
        self._read: dict[str, Column] = {}

    def of(self, group: Group, name: str) -> Column:
        if name not in self._read:
            if name not in self._table:
                from trueup.table import listed

                raise ColumnError(
                    f"The group {group.name!r} is about column {name!r}, which is missing. Columns of X: "
                    f"{listed(self._table.names, 12)}."
                )
            self._read[name] = self._table.column(name)
        return self._read[name]

    @property
    def n_rows(self) -> int:
        return self._table.n_rows


def _rows_meeting(group: Group, columns: _Columns) -> Mask:
    if not group.conditions:
        return np.ones(columns.n_rows, dtype=bool)
    found = (_holds(condition, columns.of(group, condition.column)) for condition in group.conditions)
    return functools.reduce(np.logical_and, found)


def _holds(condition: GroupCondition, column: Column) -> Mask:
    if isinstance(condition, IsOneOf):
        flags = {"excluded": condition.excluded, "or_missing": condition.or_missing}
        return holds_one_of(column, condition.values, **flags)
    if isinstance(condition, IsBetween):
        return holds_between(
            column,
            condition.low,
            condition.high,
            includes_low=condition.includes_low,
            includes_high=condition.includes_high,
            or_missing=condition.or_missing,
        )
    return holds_missing(column, excluded=condition.excluded)
