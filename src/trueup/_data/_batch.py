"""A batch of rows, and errors that say where it is from."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from trueup.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Batch", "naming"]


@dataclass(frozen=True, eq=False)
class Batch:
    """At least one row of a stream."""

    table: pa.Table
    where: str  # a file and which of its rows, for messages
    part: str = ""  # the file alone, or whatever source it is


@contextlib.contextmanager
def naming(batch: Batch) -> Iterator[None]:
    """Say in errors about the data which batch they are in."""
    try:
        yield
    except DataError as error:
        raise type(error)(f"{batch.where[0].upper()}{batch.where[1:]}: {error}") from error
