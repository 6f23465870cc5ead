"""Audits of tables that come batch by batch, in memory that doesn't grow with their number of rows."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from trueup.auditing._progress import shown_rows
from trueup.errors import ColumnError, DataError, TableError
from trueup.segments import MIN_VARIANCE
from trueup.summaries._builder import SummaryBuilder
from trueup.summaries._result import SummaryAudit
from trueup.summaries._spec import SummarySpec
from trueup.summaries._summary import SegmentSummary
from trueup.table import listed

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["audit_stream", "summarize_stream"]

SAMPLE_ROWS = 200_000


def audit_stream(
    batches: Iterable[Any],
    *,
    label: str,
    score: str,
    weight: str | None = None,
    spec: SummarySpec | None = None,
    sample_rows: int = SAMPLE_ROWS,
    min_rows: int = 10,
    min_variance: float = MIN_VARIANCE,
    level: float = 0.05,
    power: float = 0.8,
    n_jobs: int | None = None,
    verbose: int = 0,
    **learning: Any,
) -> SummaryAudit:
    """Return where scores are wrong in a table that comes batch by batch.

    Parameters
    ----------
    batches : iterable of tables
        pyarrow record batches or tables, or tables of any library that gives Arrow data; some may be empty.
    label : str
        The column of labels.
    score : str
        The column of scores.
    weight : str, optional
        The column of weights.
    spec : SummarySpec, optional
        What to count. By default it is learned from the first rows, so that in data sorted by time or by a feature,
        a spec from a random sample is better: bounds are tighter and quantiles are those of all rows.
    sample_rows : int, default=200_000
        From how many rows at the beginning to learn the spec.
    min_rows : int, default=10
        The fewest rows of a segment.
    min_variance : float, default=1.0
        The least variance of a segment's sum of errors, in squared rows, as in `trueup.audit`.
    level : float, default=0.05
        The level of significance.
    power : float, default=0.8
        The chance with which `minimum_detectable` errors are found.
    n_jobs : int, optional
        Threads; None is all cores. The result doesn't depend on it.
    verbose : int, default=0
        Whether to show on a terminal how many rows have come.
    **learning : object
        Options of `SummarySpec.learn` if no spec is given: `features`, `max_depth`, `classes` and others.

    Returns
    -------
    SummaryAudit
        The main numbers of `trueup.audit`, with bounds.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from trueup.datasets import make_traffic
    >>> from trueup.summaries import audit_stream
    >>> traffic = make_traffic(20_000)
    >>> table = traffic.X.append_column("y", pa.array(traffic.y)).append_column("p", pa.array(traffic.scores))
    >>> audit_stream(table.to_batches(max_chunksize=1_000), label="y", score="p", max_depth=2)
    SummaryAudit(20,000 rows, 591 segments: ECCE 1.9 σ (to 1.9 σ, p = 0.233), MCE 9.4 σ (to 9.4 σ, p = 2.4e-13))
    """
    summary = summarize_stream(
        batches,
        label=label,
        score=score,
        weight=weight,
        spec=spec,
        sample_rows=sample_rows,
        n_jobs=n_jobs,
        verbose=verbose,
        **learning,
    )
    return summary.audit(min_rows=min_rows, min_variance=min_variance, level=level, power=power)


def summarize_stream(
    batches: Iterable[Any],
    *,
    label: str,
    score: str,
    weight: str | None = None,
    spec: SummarySpec | None = None,
    sample_rows: int = SAMPLE_ROWS,
    n_jobs: int | None = None,
    verbose: int = 0,
    **learning: Any,
) -> SegmentSummary:
    """Return the summary of a table that comes batch by batch.

    Parameters
    ----------
    batches : iterable of tables
        pyarrow record batches or tables, or tables of any library that gives Arrow data; some may be empty.
    label : str
        The column of labels.
    score : str
        The column of scores.
    weight : str, optional
        The column of weights.
    spec : SummarySpec, optional
        What to count; learned from the first rows by default.
    sample_rows : int, default=200_000
        From how many rows at the beginning to learn the spec.
    n_jobs : int, optional
        Threads; None is all cores. The result doesn't depend on it.
    verbose : int, default=0
        Whether to show on a terminal how many rows have come.
    **learning : object
        Options of `SummarySpec.learn` if no spec is given.

    Returns
    -------
    SegmentSummary
        The summary, to be audited, saved or merged.

    Examples
    --------
    >>> from trueup.summaries import summarize_stream
    >>> import pyarrow as pa
    >>> batch = pa.record_batch({"device": ["phone", "desktop"], "y": [0, 1], "p": [0.2, 0.9]})
    >>> summarize_stream([batch] * 100, label="y", score="p")
    SegmentSummary(200 rows, 3 segments)
    """
    roles = [name for name in (label, score, weight) if name is not None]
    tables = _numbered(batches)
    if spec is None:
        first, tables = _first_rows(tables, sample_rows)
        spec = _learned(first, roles, score, weight, learning)
    elif learning:
        raise TypeError(f"{listed(learning)} can't be given with a spec, which has learned all that.")
    builder = SummaryBuilder(spec, n_jobs=n_jobs)
    with shown_rows(verbose) as tell:
        for number, table in tables:
            with _naming_batch(number):
                _check_columns(table, [*roles, *spec.columns])
                builder.add(
                    table.column(label),
                    table.column(score),
                    table.select(list(spec.columns)),
                    sample_weight=None if weight is None else table.column(weight),
                )
            tell(table.num_rows)
        return builder.summary()


@contextlib.contextmanager
def _naming_batch(number: int) -> Iterator[None]:
    """Say in errors about the data which batch they are in."""
    try:
        yield
    except DataError as error:
        raise type(error)(f"Batch {number:,}: {error}") from error


def _numbered(batches: Iterable[Any]) -> Iterator[tuple[int, pa.Table]]:
    """The batches that have rows as Arrow tables, and which they are."""
    import pyarrow as pa

    for number, batch in enumerate(batches):
        if isinstance(batch, pa.RecordBatch):
            table = pa.Table.from_batches([batch])
        else:
            try:
                table = batch if isinstance(batch, pa.Table) else pa.table(batch)
            except (TypeError, ValueError) as error:
                what = f"Batch {number:,} is a {type(batch).__name__}, which gives no Arrow data ({error})."
                raise TableError(f"{what} Pass record batches or tables.") from error
        if table.num_rows:
            yield number, table


def _first_rows(
    tables: Iterator[tuple[int, pa.Table]], n: int
) -> tuple[list[pa.Table], Iterator[tuple[int, pa.Table]]]:
    """The first batches, until they have n rows, and all batches again."""
    taken: list[tuple[int, pa.Table]] = []
    n_rows = 0
    for numbered in tables:
        taken.append(numbered)
        n_rows += numbered[1].num_rows
        if n_rows >= n:
            break
    if not taken:
        raise TableError("There are no rows to learn from: all batches are empty.")
    return [table for _, table in taken], itertools.chain(taken, tables)


def _learned(
    tables: list[pa.Table], roles: list[str], score: str, weight: str | None, learning: dict[str, Any]
) -> SummarySpec:
    import pyarrow as pa

    _check_columns(tables[0], roles)
    try:
        sample = pa.concat_tables([table.unify_dictionaries() for table in tables]).unify_dictionaries()
    except pa.ArrowException as error:
        raise TableError(f"The first batches can't be put together: {error}") from error
    X = sample.drop_columns(roles)
    return SummarySpec.learn(
        X if X.num_columns else None,
        sample.column(score),
        sample_weight=None if weight is None else sample.column(weight),
        **learning,
    )


def _check_columns(table: pa.Table, names: list[str]) -> None:
    absent = [name for name in names if name not in table.column_names]
    if absent:
        raise ColumnError(f"There is no column {listed(absent)}. The columns are {listed(table.column_names, 12)}.")
