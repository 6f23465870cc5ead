"""What the values of a column are, told from its Arrow type, and whether that is the same in all parts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from trueup._model import ValueKind
from trueup.errors import ColumnError

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["KindWatch", "kind_in_words"]


def kind_in_words(arrow_type: pa.DataType) -> str | None:
    """What values of a type are, in a word or two; None for nothing but missing values, which are of any kind.

    Types of one kind differ in what they can hold, not in what they mean: integers of any width, floats and decimals
    are numbers; strings are strings whether a dictionary encodes them or not.
    """
    import pyarrow.types as at

    while at.is_dictionary(arrow_type):
        arrow_type = arrow_type.value_type
    if at.is_null(arrow_type):
        return None
    kinds = {
        ValueKind.NUMBER: (at.is_integer, at.is_floating, at.is_decimal),
        ValueKind.BOOLEAN: (at.is_boolean,),
        ValueKind.DATE: (at.is_date,),
        ValueKind.DATETIME: (at.is_timestamp,),
    }
    for kind, checks in kinds.items():
        if any(check(arrow_type) for check in checks):
            return kind.value
    name = str(arrow_type)
    if name in ("string", "large_string", "string_view"):
        return ValueKind.STRING.value
    simple = name.partition("[")[0].partition("<")[0]  # no unit, no field
    return f"values of type {simple.removeprefix('large_').removesuffix('_view')}"


class KindWatch:
    """Sees the types of columns in source after source, and refuses a column that changes its kind."""

    def __init__(self) -> None:
        self._seen: dict[str, tuple[str, str]] = {}

    def difference(self, column: str, arrow_type: pa.DataType, where: str) -> str | None:
        """What differs from what was seen before, in words; None if nothing does."""
        kind = kind_in_words(arrow_type)
        if kind is None:
            return None
        first, first_where = self._seen.setdefault(column, (kind, where))
        if first == kind:
            return None
        return (
            f"Column {column!r} holds {first} in {first_where} and {kind} in {where}. Give it one type in all of them, "
            "or leave it out."
        )

    def see(self, column: str, arrow_type: pa.DataType, where: str) -> None:
        """Refuse a type of another kind than the column had before."""
        different = self.difference(column, arrow_type, where)
        if different:
            raise ColumnError(different)

    def see_all(self, schema: Iterable[pa.Field], where: str) -> None:
        """Refuse a schema in which a column has another kind than before."""
        for field in schema:
            self.see(field.name, field.type, where)
