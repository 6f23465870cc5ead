"""Requests and answers as Arrow IPC streams."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from trueup.errors import DataError
from trueup.serving._arrow_columns import VIEWS, gather
from trueup.serving._arrow_messages import check_messages
from trueup.serving._batch import ArrowBatch
from trueup.serving._plan import RowPlan
from trueup.serving._problems import Problem

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["CALIBRATED", "read_arrow", "write_arrow"]

Floats = npt.NDArray[np.float64]
CALIBRATED = "calibrated"
_MAX_CELLS = 2**24
_PLAIN = (
    "null", "boolean", "integer", "floating", "decimal", "date", "time", "timestamp", "duration", "string",
    "large_string",
    "binary", "large_binary", "fixed_size_binary",
)  # fmt: skip


def read_arrow(body: bytes, plan: RowPlan, *, max_rows: int, score_column: str | None = None) -> ArrowBatch:
    """The rows of an Arrow IPC stream, of which nothing is believed before it is checked.

    Parameters
    ----------
    body : bytes
        The stream.
    plan : RowPlan
        What the rows must look like.
    max_rows : int
        The most rows that are taken.
    score_column : str, optional
        Where the scores are.

    Returns
    -------
    ArrowBatch
        The columns of the model, and scores in [0, 1].
    """
    import pyarrow as pa

    try:
        _check_cells(check_messages(body, max_rows), plan)
        with pa.ipc.open_stream(body) as reader:
            score_name = _check_schema(reader.schema, plan, score_column)
            needed = [name for name in reader.schema.names if name in plan.types or name == score_name]
            readable = [name for name in needed if _is_plain(reader.schema.field(name).type)]
            batches = list(reader)
            table = gather(batches, reader.schema, readable)
    except (pa.ArrowException, ValueError, OSError, EOFError, OverflowError) as error:
        if isinstance(error, DataError):
            raise
        raise Problem("bad-arrow", f"The stream can't be read: {_first_line(error)}") from None
    n_rows = sum(batch.num_rows for batch in batches)  # the table may have no columns at all
    return ArrowBatch(_scores(table, n_rows, plan, score_name), table)


def write_arrow(probabilities: Floats) -> bytes:
    """A stream of one column; NaN becomes null."""
    import pyarrow as pa

    from trueup._data import floats_to_arrow

    column = floats_to_arrow(probabilities)
    batch = pa.RecordBatch.from_arrays([column], names=[CALIBRATED])
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return bytes(sink.getvalue())


def _check_cells(n_rows: int, plan: RowPlan) -> None:
    """Refuse rows that take no bytes in the stream, as nulls do, but eight each for every column of a wide model."""
    if n_rows * len(plan.columns) > _MAX_CELLS:
        raise Problem(
            "too-many-rows",
            f"The stream has {n_rows:,} rows of {len(plan.columns):,} columns; at most {_MAX_CELLS:,} values are "
            "taken.",
        )


def _check_schema(schema: pa.Schema, plan: RowPlan, score_column: str | None) -> str:
    names = schema.names
    if len(set(names)) < len(names):
        raise Problem("wrong-shape", "The stream has two columns of one name.")
    score_name = score_column or plan.score_column
    if plan.base_rate is None:
        score_name = plan.score_name(score_column)
        if score_name not in names or not _is_plain(schema.field(score_name).type):
            raise Problem("bad-score", f"The stream has no column {score_name!r} of base scores.", column=score_name)
    plan.check_names(names, score_name)
    for field in schema:
        if field.name in plan.types and not _is_plain(field.type):
            raise Problem(
                "wrong-type",
                f"Column {field.name!r} is of type {field.type}, which is not taken. Cast it to a plain type.",
                column=field.name,
            )
    return score_name


def _is_plain(arrow_type: pa.DataType) -> bool:
    """Whether a column of that type may be read: of types that the table knows, nothing nested, and no extension."""
    import pyarrow.types as at

    if at.is_dictionary(arrow_type) and not _takes_bytes(arrow_type.value_type):
        return False
    plain = arrow_type.value_type if at.is_dictionary(arrow_type) else arrow_type
    return str(plain) in VIEWS or any(getattr(at, f"is_{name}")(plain) for name in _PLAIN)


def _takes_bytes(arrow_type: pa.DataType) -> bool:
    """Whether every value is at least a byte of the body, so that a dictionary can't be longer than the body is."""
    import pyarrow.types as at

    is_empty = at.is_fixed_size_binary(arrow_type) and arrow_type.byte_width == 0
    return not (is_empty or at.is_null(arrow_type) or at.is_boolean(arrow_type))


def _scores(table: pa.Table, n_rows: int, plan: RowPlan, score_name: str) -> Floats:
    from trueup._data import read_scores

    if plan.base_rate is not None:
        return np.full(n_rows, plan.base_rate)
    try:
        return read_scores(table.column(score_name), n_rows, name=f"Column {score_name!r}", missing_allowed=True)
    except DataError as error:
        raise Problem("bad-score", str(error), column=score_name) from None


def _first_line(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0][:200]
