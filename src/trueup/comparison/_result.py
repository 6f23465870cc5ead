"""What a comparison found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from trueup._data import build_table, json_values
from trueup._report import Page, SegmentResult
from trueup.comparison._listing import ComparisonListing
from trueup.comparison._metrics import MetricDifference
from trueup.comparison._reasons import Reason

if TYPE_CHECKING:
    from trueup.auditing import AuditResult

__all__ = ["Comparison"]

_COLUMNS = (
    *("metric", "base", "candidate", "difference", "low", "high", "p_value"),
    *("better", "role", "margin", "outcome"),
)


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(SegmentResult):
    """What `trueup.compare` found: whether the candidate should replace the base, and why.

    Attributes
    ----------
    verdict : {"ship", "keep", "inconclusive"}
        Replace the base by the candidate, keep the base, or neither is shown.
    reasons : tuple of Reason
        The conditions for shipping, one by one, and whether each holds.
    n : int
        Rows with a weight above 0.
    n_groups : int
        Groups of them; as many as rows if none were given.
    n_segments : int
        Segments that were tested, all rows among them.
    n_left_out : int
        Segments in which the scores differ too little, or too few positives are expected, to tell: not tested.
    prevalence : float
        The observed rate of the positive class.
    mean_base, mean_candidate : float
        The mean scores.
    primary : str
        The metric that must improve.
    significance : float
        The error rate of the tests.
    n_bootstrap, null_samples : int
        How often rows, and the search, were drawn again.
    classes : tuple
        The two labels, negative first.

    Examples
    --------
    >>> import trueup
    >>> from trueup.datasets import make_traffic
    >>> visits = make_traffic(20_000)
    >>> result = trueup.compare(visits.X, visits.y, visits.scores, visits.true_probability, max_depth=2)
    >>> result.verdict
    'ship'
    >>> result.metrics.column("metric").to_pylist()
    ['log_loss', 'brier', 'prauc', 'auroc', 'ecce', 'ece', 'mce']
    """

    _title: ClassVar[str] = "Comparison"

    verdict: str
    reasons: tuple[Reason, ...]
    n: int
    n_groups: int
    n_segments: int
    n_left_out: int
    prevalence: float
    mean_base: float
    mean_candidate: float
    primary: str
    significance: float
    n_bootstrap: int
    null_samples: int
    classes: tuple[Any, ...]
    _metrics: Sequence[MetricDifference] = field(repr=False)
    _listing: ComparisonListing = field(repr=False)
    _audit: Callable[[str], AuditResult] = field(repr=False)
    _library: Any = field(repr=False)

    @cached_property
    def metrics(self) -> Any:
        """The metrics of both models as a table, one row each, in the library of the caller's table."""
        columns = {name: [getattr(metric, name) for metric in self._metrics] for name in _COLUMNS}
        return build_table(columns, self._library)

    @cached_property
    def audits(self) -> tuple[AuditResult, AuditResult]:
        """The audits of the base and of the candidate, made when they are first asked for."""
        return self._audit("base"), self._audit("candidate")

    @property
    def n_harmed(self) -> int:
        """How many segments are significantly worse off."""
        return int(np.count_nonzero(self._listing.outcomes == "harmed"))

    @property
    def n_gaining(self) -> int:
        """How many segments are significantly better off."""
        return int(np.count_nonzero(self._listing.outcomes == "gains"))

    def _rows_of(self, places: list[int]) -> list[dict[str, Any]]:
        """The rows of the table for the segments at these places, as plain values."""
        columns = self._listing.columns_of(np.array(places, dtype=np.int64))
        rows = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
        plain: list[dict[str, Any]] = json_values(rows)
        return plain

    def _facts(self) -> dict[str, Any]:
        metrics = [{name: getattr(metric, name) for name in _COLUMNS} for metric in self._metrics]
        return {**super()._facts(), "n_harmed": self.n_harmed, "n_gaining": self.n_gaining, "metrics": metrics}

    def _page(self, title: str, *, in_full: bool) -> Page:
        from trueup.comparison._page import comparison_page

        return comparison_page(self, title=title, in_full=in_full)

    def __repr__(self) -> str:
        primary = next(metric for metric in self._metrics if metric.role == "primary")
        change = f"{primary.metric} {primary.base:.4f} → {primary.candidate:.4f} (p = {primary.p_value:.3g})"
        segments = f"; of {self.n_segments:,} segments {self.n_gaining:,} gain, {self.n_harmed:,} are harmed"
        return f"Comparison({self.verdict}: {self.n:,} rows, {change}{segments if self.n_segments else ''})"
