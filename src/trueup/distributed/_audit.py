"""Auditing a Dask frame: partitions are summed where they are, and only sums travel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from trueup._data import listed
from trueup._fitting import SAMPLE_ROWS, StreamRoles, batch_scores, batch_weights, naming_roles, row_hashes
from trueup.auditing import AuditResult, Sketch, SketchBuilder, SketchSpec, make_sketch, merge_sketches
from trueup.distributed._cluster import columns_of, connected, naming_unreadable, reduced, shared_with_all
from trueup.distributed._partitions import ROWS_A_PARTITION, as_arrow, naming_partition
from trueup.distributed._shard import worker_threads
from trueup.errors import ColumnError, TableError
from trueup.segments import MIN_VARIANCE

if TYPE_CHECKING:
    import pyarrow as pa


def audit_dask(
    frame: Any,
    *,
    label: str,
    score: str,
    weight: str | None = None,
    spec: SketchSpec | None = None,
    client: Any = None,
    sample_rows: int = SAMPLE_ROWS,
    min_rows: int = 10,
    min_variance: float = MIN_VARIANCE,
    significance: float = 0.05,
    power: float = 0.8,
    **learning: Any,
) -> AuditResult:
    """Return where scores are wrong in a Dask frame, whose rows stay where they are.

    Partitions are summed by the workers that hold them, and their sums are added up on the way to the client.

    Parameters
    ----------
    frame : dask.dataframe.DataFrame
        The rows, with all columns.
    label : str
        The column of labels.
    score : str
        The column of scores.
    weight : str, optional
        The column of weights.
    spec : SketchSpec, optional
        What to count. By default it is learned from rows drawn at random from all partitions.
    client : distributed.Client, optional
        The cluster; by default the one that was connected last.
    sample_rows : int, default=200_000
        From about how many rows to learn the spec.
    min_rows : int, default=10
        The fewest rows of a segment.
    min_variance : float, default=1.0
        Sigmas are taken of at least this variance, in squared rows, as in `trueup.audit`.
    significance : float, default=0.05
        How often true scores may raise a false alarm.
    power : float, default=0.8
        The chance with which `minimum_detectable` errors are found.
    **learning : object
        Options of `SketchSpec.learn` if no spec is given: `features`, `max_depth`, `classes` and others.

    Returns
    -------
    AuditResult
        The main numbers of `trueup.audit`, with bounds; what `trueup.auditing.audit_stream` gives with the same spec.

    Examples
    --------
    >>> from distributed import Client
    >>> import dask.dataframe as dd
    >>> from trueup.distributed import audit_dask
    >>> client = Client("scheduler:8786")  # doctest: +SKIP
    >>> audit_dask(dd.read_parquet("scored/"), label="y", score="p", max_depth=2)  # doctest: +SKIP
    AuditResult(20,000 rows, 591 segments: ECCE 1.9 σ (to 1.9 σ, p = 0.233), MCE 9.4 σ (to 9.4 σ, p = 2.4e-13))
    """
    if spec is not None and learning:
        raise TypeError(f"{listed(learning)} can't be given with a spec, which has learned all that.")
    roles = StreamRoles(label, score, weight, group=None, features=())
    with connected(client) as cluster:
        frame = _projected(frame, roles, learning.get("features") if spec is None else spec.columns)
        if spec is None:
            spec = _learned(cluster, frame, roles, sample_rows, learning)
        sketch = _sketched(cluster, frame, roles, spec)
    return sketch.audit(min_rows=min_rows, min_variance=min_variance, significance=significance, power=power)


def _projected(frame: Any, roles: StreamRoles, features: Sequence[str] | None) -> Any:
    """The columns that the audit needs; no others are read."""
    present = columns_of(frame)
    wanted = present if features is None else [*roles.columns, *features]
    absent = [name for name in dict.fromkeys([*roles.columns, *wanted]) if name not in present]
    if absent:
        raise ColumnError(f"The frame has no column {listed(absent)}. Its columns are {listed(present, 12)}.")
    return frame if len(set(wanted)) == len(present) else frame[[name for name in frame.columns if str(name) in wanted]]


def _learned(client: Any, frame: Any, roles: StreamRoles, sample_rows: int, learning: dict[str, Any]) -> SketchSpec:
    """A spec learned from rows drawn at random from all partitions."""
    from dask.delayed import delayed

    counted = list((frame[[roles.score]] if roles.score in frame.columns else frame).to_delayed())
    counts = client.compute([delayed(len)(partition) for partition in counted])
    with naming_unreadable(counted, counts, [roles.score] if roles.score else []):
        n_rows = sum(client.gather(counts))
    if not n_rows:
        raise TableError("There are no rows to learn from: all partitions are empty.")
    cut = min(2**64 - 1, int(sample_rows / n_rows * 2**64))
    columns, partitions = columns_of(frame), list(frame.to_delayed())
    samples = client.compute(
        [delayed(_sampled)(rows, columns, roles, cut, place) for place, rows in enumerate(partitions)]
    )
    with naming_unreadable(partitions, samples, columns):
        learned: SketchSpec = client.submit(_spec_of, reduced(client, _joined, samples), roles, learning).result()
    return learned


def _sampled(partition: Any, columns: Sequence[str], roles: StreamRoles, cut: int, number: int) -> pa.Table:
    """The rows of a partition whose hashes are at most `cut`, and its first row, so that no sample is empty."""
    with naming_partition(number):
        table = as_arrow(partition, columns)
        if table.num_rows:  # an empty column may have no type
            # Checked here, because once rows are drawn nobody could say where a bad value is.
            batch_scores(table, roles)
            batch_weights(table, roles)
    chosen = row_hashes(number * ROWS_A_PARTITION, table.num_rows) <= np.uint64(cut)
    chosen[:1] = True
    return table.filter(chosen)


def _joined(tables: Sequence[pa.Table]) -> pa.Table:
    import pyarrow as pa

    filled = [table.unify_dictionaries() for table in tables if table.num_rows] or tables[:1]
    try:
        return pa.concat_tables(filled, promote_options="permissive").unify_dictionaries()
    except pa.ArrowException as error:
        raise TableError(f"The partitions can't be put together: {error}") from error


def _spec_of(sample: pa.Table, roles: StreamRoles, learning: dict[str, Any]) -> SketchSpec:
    X = sample.drop_columns(list(roles.columns))
    scores, weights = batch_scores(sample, roles), batch_weights(sample, roles)
    return SketchSpec.learn(X if X.num_columns else None, scores, sample_weight=weights, **learning)


def _sketched(client: Any, frame: Any, roles: StreamRoles, spec: SketchSpec) -> Sketch:
    """The sketch of all rows, which stay where they are."""
    from dask.delayed import delayed

    shared, partitions = shared_with_all(client, spec), list(frame.to_delayed())
    sketches = client.compute(
        [delayed(_sketch_of)(rows, roles, shared, place) for place, rows in enumerate(partitions)]
    )
    with naming_unreadable(partitions, sketches, [*roles.columns, *spec.columns]):
        merged: Sketch = reduced(client, merge_sketches, sketches).result()
    return merged


def _sketch_of(partition: Any, roles: StreamRoles, spec: SketchSpec, number: int) -> Sketch:
    with naming_partition(number), naming_roles(roles):
        table = as_arrow(partition, list(dict.fromkeys([*roles.columns, *spec.columns])))
        if not table.num_rows:  # an empty column may have no type
            return SketchBuilder(spec).sketch()
        labels, X = table.column(roles.label), table.select(list(spec.columns))
        scores, weights = batch_scores(table, roles), batch_weights(table, roles)
        return make_sketch(X, labels, scores, spec, sample_weight=weights, n_jobs=worker_threads())
