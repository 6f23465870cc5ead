"""Audits of tables that come batch by batch, in memory that doesn't grow with their number of rows."""

from __future__ import annotations

import contextlib
import itertools
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from trueup._data import Batch, Stream, listed, naming, open_stream, read_scores, sample_of
from trueup._runtime import give_back_memory, shown_progress, thread_count
from trueup.auditing._result import AuditResult
from trueup.auditing._sketches._sketch import Sketch
from trueup.auditing._sketches._spec import SketchSpec
from trueup.auditing._sketches._sums import FixedRows, Sums, add_sums, fixed_rows, no_sums, sum_rows
from trueup.errors import DataWarning, ParameterError, ScoreError, callers_level
from trueup.segments import MIN_VARIANCE

if TYPE_CHECKING:
    import pyarrow as pa

_BLOCK_ROWS = 2**19  # summed at once: enough to make a pass worthwhile, and few enough for memory


def make_sketch(
    X: Any, y: Any, scores: Any, spec: SketchSpec, *, sample_weight: Any = None, n_jobs: int | None = None
) -> Sketch:
    """Return the sketch of some rows: what an audit needs of them, in a size that doesn't grow with the rows.

    Parameters
    ----------
    X : table or None
        The features. Columns are found by name; None if the spec has none.
    y : array-like of shape (n,)
        Labels: the two classes of the spec, or, if those are 0 and 1, soft labels in [0, 1]. One class may be absent.
    scores : array-like of shape (n,) or (n, 2)
        The model's probabilities of the positive class.
    spec : SketchSpec
        What to count.
    sample_weight : array-like of shape (n,), optional
        Weights of at least 0.
    n_jobs : int, optional
        Threads; None is all cores. The result doesn't depend on it.

    Returns
    -------
    Sketch
        The sketch, to be audited, saved, or merged with others of the same spec.

    Examples
    --------
    Two days, each summed where it is, and audited together:

    >>> from trueup.datasets import make_traffic
    >>> from trueup.auditing import SketchSpec, make_sketch
    >>> monday, tuesday = make_traffic(20_000, random_state=0), make_traffic(20_000, random_state=1)
    >>> spec = SketchSpec.learn(monday.X, monday.scores, max_depth=2)
    >>> sketches = [make_sketch(day.X, day.y, day.scores, spec) for day in (monday, tuesday)]
    >>> sketches[0].merge(sketches[1])
    Sketch(40,000 rows, 591 segments)
    """
    builder = SketchBuilder(spec, n_jobs=n_jobs)
    builder.add(X, y, scores, sample_weight=sample_weight)
    return builder.sketch()


class SketchBuilder:
    """Sums rows batch by batch, in memory that doesn't grow with their number.

    Parameters
    ----------
    spec : SketchSpec
        What to count.
    n_jobs : int, optional
        Threads; None is all cores. The result doesn't depend on it.

    Examples
    --------
    >>> from trueup.auditing import SketchBuilder, SketchSpec
    >>> builder = SketchBuilder(SketchSpec.learn())
    >>> builder.add(None, [0, 1], [0.2, 0.9])
    >>> builder.add(None, [1, 1], [0.7, 0.4])
    >>> builder.sketch()
    Sketch(4 rows, 1 segments)
    """

    def __init__(self, spec: SketchSpec, *, n_jobs: int | None = None) -> None:
        self.spec = spec
        self._n_threads = thread_count(n_jobs)
        self._sums: Sums = no_sums()
        self._waiting: list[FixedRows] = []

    def add(self, X: Any, y: Any, scores: Any, *, sample_weight: Any = None) -> None:
        """Add some rows; if they are refused, nothing of them is added.

        Parameters
        ----------
        X, y, scores, sample_weight : object
            As in `make_sketch`; there may be no rows.
        """
        rows = fixed_rows(X, y, scores, self.spec, sample_weight)
        if not rows.n:
            return
        if self._waiting and not _alike(self._waiting[-1], rows):
            self._sum_waiting()
        self._waiting.append(rows)
        if sum(waiting.n for waiting in self._waiting) >= _BLOCK_ROWS:
            self._sum_waiting()

    def sketch(self) -> Sketch:
        """Return the sketch of all rows that were added so far.

        Returns
        -------
        Sketch
            The sketch; more rows may be added afterwards, for another one.
        """
        self._sum_waiting()
        return Sketch(self.spec, self._sums)

    def _sum_waiting(self) -> None:
        if self._waiting:
            self._waiting = [_joined(self._waiting)]  # what it was joined from is not needed twice
            added = sum_rows(self._waiting[0], self.spec, self._n_threads)
            self._sums = add_sums([self._sums, added], self.spec)
            self._waiting = []


def _alike(one: FixedRows, other: FixedRows) -> bool:
    """Whether both have weights, or neither."""
    return bool(one.lanes.shape[1] == other.lanes.shape[1])


def _joined(rows: list[FixedRows]) -> FixedRows:
    if len(rows) == 1:
        return rows[0]
    return FixedRows(
        codes=np.concatenate([some.codes for some in rows], axis=1),
        slots=np.concatenate([some.slots for some in rows], axis=1),
        steps=np.concatenate([some.steps for some in rows]),
        lanes=np.concatenate([some.lanes for some in rows]),
        weight=rows[0].weight,
    )


SAMPLE_ROWS = 200_000


def audit_stream(
    source: Any,
    *,
    label: str,
    score: str,
    weight: str | None = None,
    spec: SketchSpec | None = None,
    sample_rows: int = SAMPLE_ROWS,
    min_rows: int = 10,
    min_variance: float = MIN_VARIANCE,
    significance: float = 0.05,
    power: float = 0.8,
    n_jobs: int | None = None,
    verbose: int = 0,
    **learning: Any,
) -> AuditResult:
    """Return where scores are wrong in a table that comes batch by batch.

    Parameters
    ----------
    source : path-like, list, table or iterable of tables
        Files, folders, patterns, datasets, lazy frames, queries or batches: whatever `trueup.open_stream`
        takes. Some batches may be empty.
    label : str
        The column of labels.
    score : str
        The column of scores.
    weight : str, optional
        The column of weights.
    spec : SketchSpec, optional
        What to count. By default it is learned from rows that are drawn from all, in a pass of its own. What can be
        read only once is learned from its first rows; if it is sorted by time or by a feature, pass a spec.
    sample_rows : int, default=200_000
        From how many rows to learn the spec.
    min_rows, min_variance, significance, power : object
        As in `trueup.audit`.
    n_jobs : int, optional
        Threads; None is all cores. The result doesn't depend on it.
    verbose : int, default=0
        Whether to show on a terminal how many rows have come.
    **learning : object
        Options of `SketchSpec.learn` if no spec is given: `features`, `max_depth`, `classes` and others.

    Returns
    -------
    AuditResult
        The main numbers of `trueup.audit`, with bounds.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from trueup.datasets import make_traffic
    >>> from trueup.auditing import audit_stream
    >>> traffic = make_traffic(20_000)
    >>> table = traffic.X.append_column("y", pa.array(traffic.y)).append_column("p", pa.array(traffic.scores))
    >>> audit_stream(table.to_batches(max_chunksize=1_000), label="y", score="p", max_depth=2)
    AuditResult(20,000 rows, 591 segments: ECCE 1.9 σ (to 1.9 σ, p = 0.233), MCE 9.4 σ (to 9.4 σ, p = 2.4e-13))
    """
    sketch = sketch_stream(
        source,
        label=label,
        score=score,
        weight=weight,
        spec=spec,
        sample_rows=sample_rows,
        n_jobs=n_jobs,
        verbose=verbose,
        **learning,
    )
    return sketch.audit(min_rows=min_rows, min_variance=min_variance, significance=significance, power=power)


def sketch_stream(
    source: Any,
    *,
    label: str,
    score: str,
    weight: str | None = None,
    spec: SketchSpec | None = None,
    sample_rows: int = SAMPLE_ROWS,
    n_jobs: int | None = None,
    verbose: int = 0,
    **learning: Any,
) -> Sketch:
    """Return the sketch of a table that comes batch by batch.

    Parameters
    ----------
    source, label, score, weight, spec, sample_rows, n_jobs, verbose, **learning : object
        As in `audit_stream`.

    Returns
    -------
    Sketch
        The sketch, to be audited, saved or merged.

    Examples
    --------
    >>> from trueup.auditing import sketch_stream
    >>> import pyarrow as pa
    >>> batch = pa.record_batch({"device": ["phone", "desktop"], "y": [0, 1], "p": [0.2, 0.9]})
    >>> sketch_stream([batch] * 100, label="y", score="p")
    Sketch(200 rows, 3 segments)
    """
    stream = open_stream(source)
    roles = [name for name in (label, score, weight) if name is not None]
    if len(set(roles)) < len(roles):
        raise ParameterError(f"label, score and weight name {listed(roles)}. They must differ.")
    stream.check(roles)
    if spec is not None and learning:
        raise TypeError(f"{listed(learning)} can't be given with a spec, which has learned all that.")
    if spec is not None:
        batches = stream.batches(list(dict.fromkeys([*roles, *spec.columns])))
    else:
        columns = [*roles, *_features(stream, roles, learning)]
        if stream.rereadable:
            sample = stream.sample(sample_rows, columns)
            batches = stream.batches(columns)
        else:
            sample, batches = _first_rows(stream.batches(columns), sample_rows)
        with naming_bad_scores(stream, score):
            spec = _learned(sample, roles, score, weight, learning)
        del sample
        give_back_memory()
    builder = SketchBuilder(spec, n_jobs=n_jobs)
    with shown_progress(verbose, "auditing", stream.n_rows, unit="rows") as progress:
        for batch in batches:
            table = batch.table
            with naming(batch):
                builder.add(
                    table.select(list(spec.columns)),
                    table.column(label),
                    table.column(score),
                    sample_weight=None if weight is None else table.column(weight),
                )
            progress.advance(table.num_rows)
        return builder.sketch()


@contextlib.contextmanager
def naming_bad_scores(stream: Stream, score: str) -> Iterator[None]:
    """Say of scores that are refused in a sample in which batch they are, at the price of another pass."""
    try:
        yield
    except ScoreError:
        for batch in stream.batches([score]) if stream.rereadable else ():
            with naming(batch):
                read_scores(batch.table.column(score), batch.table.num_rows, name=f"Column {score!r}")
        raise


def _features(stream: Stream, roles: list[str], learning: dict[str, Any]) -> list[str]:
    """The columns that segments may be made of; all that every part has, unless some are named."""
    named = learning.get("features")
    if named is not None:
        return [name for name in named if name not in roles]
    for name, lacking in stream.partial_columns.items():
        warnings.warn(f"Ignoring column {name!r}: {lacking} doesn't have it.", DataWarning, stacklevel=callers_level())
    return [name for name in stream.columns if name not in roles]


def _first_rows(batches: Iterator[Batch], n: int) -> tuple[pa.Table, Iterator[Batch]]:
    """The first batches, until they have n rows, and all batches again."""
    taken: list[Batch] = []
    n_rows = 0
    for batch in batches:
        taken.append(batch)
        n_rows += batch.table.num_rows
        if n_rows >= n:
            break
    return sample_of(taken, max(n_rows, 1), 0), itertools.chain(taken, batches)


def _learned(
    sample: pa.Table, roles: list[str], score: str, weight: str | None, learning: dict[str, Any]
) -> SketchSpec:
    X = sample.drop_columns(roles)
    return SketchSpec.learn(
        X if X.num_columns else None,
        sample.column(score),
        sample_weight=None if weight is None else sample.column(weight),
        **learning,
    )
