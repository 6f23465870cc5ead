"""Tables for the user, in the library that the user's own tables come from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["build_table", "library_of"]


def library_of(*values: Any) -> Any:
    """The library, as narwhals names it, of the first value that is a table or a Series of one; else Arrow."""
    import narwhals.stable.v2 as nw

    for value in values:
        known = nw.from_native(value, pass_through=True, allow_series=True)
        if isinstance(known, (nw.DataFrame, nw.Series)):
            return known.implementation
    return nw.Implementation.PYARROW


def build_table(columns: Mapping[str, Any], library: Any) -> Any:
    """A table of the library that `library_of` gives."""
    import narwhals.stable.v2 as nw

    return nw.from_dict(columns, backend=library).to_native()
