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
    """Some rows of a stream.

    Attributes
    ----------
    table : pyarrow.Table
        The rows, at least one.
    where : str
        Where they are from, for messages: a file, and which of its rows.
    part : str
        The file alone, or whatever part of the stream it is.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from trueup import open_stream
    >>> batch = next(open_stream(pa.table({"x": [1, 2, 3]})).batches(batch_rows=2))
    >>> batch.where, batch.table.num_rows
    ('the table, rows 0 to 1', 2)
    """

    table: pa.Table
    where: str
    part: str = ""


@contextlib.contextmanager
def naming(batch: Batch) -> Iterator[None]:
    """Say in errors about the data which batch they are in.

    Parameters
    ----------
    batch : Batch
        The batch that is worked on inside.

    Yields
    ------
    None
        Nothing.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from trueup.errors import ScoreError
    >>> from trueup._data import naming
    >>> from trueup import open_stream
    >>> for batch in open_stream(pa.table({"score": [0.5, 1.5]})).batches():
    ...     with naming(batch):
    ...         raise ScoreError("1 score is above 1.")
    Traceback (most recent call last):
    trueup.errors.ScoreError: The table: 1 score is above 1.
    """
    try:
        yield
    except DataError as error:
        raise type(error)(f"{batch.where[0].upper()}{batch.where[1:]}: {error}") from error
