"""From rows to sketches: of a table at once, or batch by batch."""

from __future__ import annotations

from typing import Any

import numpy as np

from trueup._runtime import thread_count
from trueup.auditing._sketches._fixed_point import FixedRows, fixed_rows
from trueup.auditing._sketches._sketch import Sketch
from trueup.auditing._sketches._spec import SketchSpec
from trueup.auditing._sketches._sums import Sums, add_sums, no_sums, sum_rows

__all__ = ["SketchBuilder", "make_sketch"]

_BLOCK_ROWS = 2**19  # summed at once: large enough for the pass to be worth its while, small enough for memory


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
        X : table or None
            The features, if the spec has any.
        y : array-like of shape (n,)
            Labels, as in `make_sketch`; there may be none.
        scores : array-like of shape (n,) or (n, 2)
            Scores.
        sample_weight : array-like of shape (n,), optional
            Weights of at least 0.
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
