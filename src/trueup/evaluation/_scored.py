"""The held-out rows, with what both models say of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from trueup._data import part_of, to_arrow

if TYPE_CHECKING:
    from trueup.evaluation._result import HeldOut

__all__ = ["scored_rows"]


def scored_rows(held: HeldOut) -> Any:
    """All columns that were given, the arrays beside them, and ``calibrated``.

    What came as an array is called ``label``, ``score``, ``weight``, ``time``, ``group`` and ``cluster``. A name that
    the table has already gets an underscore more.
    """
    given, test = held.given, held.test
    table = to_arrow(part_of(given.given, test))
    more: dict[str, Any] = {}
    if "y" not in given.names:
        more["label"] = given.label_values(test)
    if "scores" not in given.names:
        more["score"] = given.scores[test]
    if given.weights is not None and "sample_weight" not in given.names:
        more["weight"] = given.weights[test]
    for role in ("time", "group", "cluster"):
        column = getattr(given, role)
        if column is not None and role not in given.names:
            more[role] = column.of_rows(test).objects()
    more["calibrated"] = held.calibrated
    for name, values in more.items():
        table = table.append_column(_new_name(name, table.column_names), _array(values))
    return table


def _new_name(name: str, taken: list[str]) -> str:
    return _new_name(f"{name}_", taken) if name in taken else name


def _array(values: Any) -> Any:
    try:
        return pa.array(values)
    except (pa.ArrowException, TypeError):
        return pa.array([None if value is None else str(value) for value in values], pa.string())
