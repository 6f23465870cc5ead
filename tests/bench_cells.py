"""Cells and timings of the benchmark, made by hand."""

from __future__ import annotations

from paper._cells import Cell, CellKey
from paper._metrics import METRICS
from paper._timing import TimingCell


def make_cell(task: str, method: str, origin: str = "same data", **metrics: float) -> Cell:
    """A cell whose metrics are 1 where they are not given."""
    return Cell(
        key=CellKey(task, method, "0", "sources", None, "{}"),
        origin=origin,
        source="rows made up",
        rows=1_000,
        metrics=dict.fromkeys(METRICS, 1.0) | metrics,
        rounds=None,
        fit_seconds=0.5,
        predict_seconds=0.25,
        chosen={},
        notes=(),
    )


def timing(method: str, n_groups: int, seconds: float) -> TimingCell:
    return TimingCell(method, n_groups, "ACSEmploy", "0", 1_000_000, 1_000_000, seconds, seconds)


GROWING = [
    *[timing("MCGrad", n, 20) for n in (10, 1000)],
    *[timing("HKRR", n, 5 * n) for n in (10, 1000)],
    *[timing("DFMC", n, 1.3 * n) for n in (10, 1000)],
]
