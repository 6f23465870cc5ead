"""Columns of dates and times, which are no features as they are: the next day would be a number never seen."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

from trueup.cli._columns import Roles
from trueup.errors import ColumnError, DataWarning

__all__ = ["dates_of", "refuse_dates", "without_dates"]


def dates_of(table: Any) -> list[str]:
    """The columns of dates, with times or without."""
    import pyarrow as pa

    return [field.name for field in table.schema if pa.types.is_date(field.type) or pa.types.is_timestamp(field.type)]


def refuse_dates(table: Any, roles: Roles, *, named: bool) -> None:
    """Refuse features that are dates, times or durations, all at once; `named` says if --features named them."""
    found = _found(table, roles)
    if found:
        listed, them = ",".join(found), "them" if len(found) > 1 else "it"
        leave_out = f"Take {them} out of --features" if named else f'Leave {them} out with --drop "{listed}"'
        raise ColumnError(
            f"The {_in_words(found)} can't be used as numbers. {leave_out}, name {them} in --categorical if each value "
            f"is a category, or turn {them} into numbers such as an hour or an age."
        )


def without_dates(table: Any, roles: Roles) -> Roles:
    """The roles without features that are dates, times or durations, of which one warning tells."""
    found = _found(table, roles)
    if found:
        listed = ",".join(found)
        warnings.warn(
            f'Ignoring the {_in_words(found)}: not numbers. Say --categorical "{listed}" if each value is a category, '
            f'or --drop "{listed}" to hide this warning.',
            DataWarning,
            stacklevel=2,
        )
    return replace(roles, features=tuple(name for name in roles.features if name not in found))


def _found(table: Any, roles: Roles) -> dict[str, str]:
    """The features that can't be numbers, and what they hold."""
    kinds = {name: _kind(table.schema.field(name).type) for name in roles.features if name not in roles.categorical}
    return {name: kind for name, kind in kinds.items() if kind is not None}


def _kind(arrow_type: Any) -> str | None:
    import pyarrow.types as at

    kinds = {"dates": at.is_date, "dates with times": at.is_timestamp, "times of day": at.is_time}
    return next((kind for kind, check in {**kinds, "durations": at.is_duration}.items() if check(arrow_type)), None)


def _in_words(found: dict[str, str]) -> str:
    columns = [f"{name!r} ({kind})" for name, kind in found.items()]
    return f"{'columns' if len(columns) > 1 else 'column'} {', '.join(columns)}"
