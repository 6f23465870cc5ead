"""Segments as the groups of a model."""

from __future__ import annotations

from trueup.errors import ColumnError
from trueup.model import Feature, Group, GroupCondition, IsBetween, IsMissing, IsOneOf, ValueKind
from trueup.segments._conditions import Condition, Interval, OneOf, Segment, values_in
from trueup.table import CalibrationTable

__all__ = ["frozen_group"]


def frozen_group(segment: Segment, table: CalibrationTable) -> Group:
    """The group that a segment of a table is; one without conditions but with a name is a mask.

    What a written value means depends on the column that it is compared with, and is settled here.
    """
    if segment.name is not None and not segment.conditions:
        return Group(segment.name)
    return Group(str(segment), tuple(_frozen(condition, table) for condition in segment.conditions))


def _frozen(condition: Condition, table: CalibrationTable) -> GroupCondition:
    if isinstance(condition, OneOf):
        column = table.column(condition.column)
        if column.kind is ValueKind.EMPTY:
            raise ColumnError(f"Column {column.name!r} holds missing values only, so {str(condition)!r} means nothing.")
        meant = values_in(condition, column)
        values = meant.categories or ()
        ordered = values if meant.kind is ValueKind.MIXED else tuple(sorted(values))
        return IsOneOf(Feature(meant.name, meant.kind, ordered), condition.excluded, condition.or_missing)
    if isinstance(condition, Interval):
        return IsBetween(
            condition.column,
            low=_bound(condition.low),
            high=_bound(condition.high),
            includes_low=condition.includes_low,
            includes_high=condition.includes_high,
            or_missing=condition.or_missing,
        )
    return IsMissing(condition.column, condition.excluded)


def _bound(value: float | None) -> float | None:
    return None if value is None else float(value)
