"""The held-out rows, with what both models say of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trueup._data import subtable, with_columns

if TYPE_CHECKING:
    from trueup.evaluation._result import HeldOutRows

__all__ = ["scored_rows"]


def scored_rows(held: HeldOutRows) -> Any:
    """All columns that were given, the arrays beside them, and ``calibrated``, in the caller's library.

    What came as an array is called ``label``, ``score``, ``weight``, ``time`` and ``group``. If the table has such a
    column already, the name gets an underscore.
    """
    rows, test = held.rows, held.test
    more: dict[str, Any] = {"y": ("label", rows.label_values(test)), "scores": ("score", rows.scores["scores"][test])}
    if rows.weights is not None:
        more["sample_weight"] = "weight", rows.weights[test]
    for role, name in (("time", "time"), ("groups", "group")):
        column = rows.given.column(role)
        if column is not None:
            more[role] = name, column.of_rows(test).objects()
    added = [one for role, one in more.items() if role not in rows.given.names]
    assert rows.given.table is not None
    taken = set(rows.given.table.names)
    columns = {}
    for wanted, values in (*added, ("calibrated", held.calibrated)):
        name = wanted
        while name in taken:
            name += "_"
        taken.add(name)
        columns[name] = values
    return with_columns(subtable(rows.given.X, test), columns)
