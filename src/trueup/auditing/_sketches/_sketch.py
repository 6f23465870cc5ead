"""A sketch: a spec and sums, to be merged, saved and audited."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from trueup.auditing._sketches._spec import SketchSpec
from trueup.auditing._sketches._sums import Sums, add_sums
from trueup.errors import ParameterError
from trueup.segments import MIN_VARIANCE

if TYPE_CHECKING:
    from trueup.auditing._result import AuditResult

_AT_ONCE = 8  # sketches that are added together: more are faster, and take more memory


@dataclass(frozen=True, eq=False, repr=False)
class Sketch:
    """What an audit needs of rows, in a size that doesn't grow with their number.

    `make_sketch` and `SketchBuilder` make sketches, `merge` adds them up, over partitions, days and machines. Sums are
    whole numbers: in whatever order and grouping the same rows are summed and merged, the sketch is the same to the
    last bit, and so is its file.

    Attributes
    ----------
    spec : SketchSpec
        What was counted.
    sums : Sums
        The sums, of cells that have rows only.

    Examples
    --------
    >>> from trueup.datasets import make_traffic
    >>> from trueup.auditing import SketchSpec, make_sketch
    >>> traffic = make_traffic(20_000)
    >>> spec = SketchSpec.learn(traffic.X, traffic.scores)
    >>> sketch = make_sketch(traffic.X, traffic.y, traffic.scores, spec)
    >>> sketch.audit()
    AuditResult(20,000 rows, 5,822 segments: ECCE 1.9 σ (to 1.9 σ, p = 0.233), MCE 9.4 σ (to 9.4 σ, p = 2.6e-12))
    """

    spec: SketchSpec
    sums: Sums

    def __post_init__(self) -> None:
        for field in fields(Sums):
            getattr(self.sums, field.name).flags.writeable = False

    @property
    def n(self) -> int:
        """Rows with a weight above 0."""
        return int(self.sums.lane("rows")[0]) if len(self.sums.cell) else 0

    @property
    def nbytes(self) -> int:
        """Bytes that the sums take, in memory and in a file."""
        return sum(getattr(self.sums, field.name).nbytes for field in fields(Sums))

    def merge(self, *others: Sketch) -> Sketch:
        """Return the sketch of the rows of this sketch and others together.

        Parameters
        ----------
        *others : Sketch
            Sketches of the same spec and of other rows: what is in two of them is counted twice.

        Returns
        -------
        Sketch
            A new sketch; this one stays as it is.
        """
        for other in others:
            if not isinstance(other, Sketch):
                raise ParameterError(f"Sketches merge with sketches, not with a {type(other).__name__}.")
            different = self.spec.differences(other.spec)
            if different:
                raise ParameterError(
                    f"Sketches of different specs can't be merged: {'; '.join(different)}. Learn one spec, and "
                    "make_sketch all parts of the data with it."
                )
        return Sketch(self.spec, add_sums([self.sums, *(other.sums for other in others)], self.spec))

    def audit(
        self, *, min_rows: int = 10, min_variance: float = MIN_VARIANCE, significance: float = 0.05, power: float = 0.8
    ) -> AuditResult:
        """Return how wrong the scores are, and where, each number with the bounds of its exact value.

        Parameters
        ----------
        min_rows, min_variance, significance, power : object
            As in `trueup.audit`.

        Returns
        -------
        AuditResult
            The numbers, and the segments as a table.
        """
        from trueup.auditing._sketches._audit import audit_sketch

        return audit_sketch(self, min_rows=min_rows, min_variance=min_variance, significance=significance, power=power)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the sketch as one Arrow file, whole or not at all.

        Parameters
        ----------
        path : path-like
            Where to; by custom it ends in ``.arrow``.
        """
        from trueup.auditing._sketches._file import write_sketch

        write_sketch(self, path)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sketch):
            return NotImplemented
        return self.spec == other.spec and all(
            np.array_equal(getattr(self.sums, field.name), getattr(other.sums, field.name)) for field in fields(Sums)
        )

    def __hash__(self) -> int:
        return hash((self.spec, self.n))

    def __repr__(self) -> str:
        return f"Sketch({self.n:,} rows, {len(self.sums.cell):,} segments)"


def merge_sketches(sketches: Iterable[Any]) -> Sketch:
    """Return the sketch of the rows of all sketches together.

    Parameters
    ----------
    sketches : iterable of Sketch
        Sketches of one spec, at least one. They are taken a few at a time, so that a generator that loads files
        needs memory for a few only.

    Returns
    -------
    Sketch
        Their sum.

    Examples
    --------
    >>> from trueup.auditing import SketchSpec, merge_sketches, make_sketch
    >>> spec = SketchSpec.learn()
    >>> week = [make_sketch(None, [0, 1], [0.1 * day, 0.9], spec) for day in range(7)]
    >>> merge_sketches(week)
    Sketch(14 rows, 1 segments)
    """
    merged: Sketch | None = None
    waiting: list[Sketch] = []
    for sketch in sketches:
        if merged is None:
            merged = sketch
            continue
        waiting.append(sketch)
        if len(waiting) == _AT_ONCE:
            merged, waiting = merged.merge(*waiting), []
    if merged is None:
        raise ParameterError("There are no sketches to merge. Pass at least one.")
    return merged.merge(*waiting) if waiting else merged
