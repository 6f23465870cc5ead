"""What a comparison found."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from trueup._data import build_table, json_values
from trueup.comparison._listing import ComparisonListing
from trueup.comparison._metrics import MetricDifference
from trueup.comparison._reasons import Reason
from trueup.comparison._segments import SegmentSearch
from trueup.errors import ParameterError

if TYPE_CHECKING:
    from trueup.auditing import AuditResult

__all__ = ["SCHEMA_VERSION", "Comparison"]

SCHEMA_VERSION = 1
_COLUMNS = (
    *("metric", "base", "candidate", "difference", "low", "high", "p_value"),
    *("better", "role", "margin", "outcome"),
)


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
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
        The level of significance.
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
    _search: SegmentSearch = field(repr=False)
    _audit: Callable[[str], AuditResult] = field(repr=False)
    _library: Any = field(repr=False)

    @cached_property
    def metrics(self) -> Any:
        """The metrics of both models, a row each, in the library of the table that was given."""
        columns = {name: [getattr(metric, name) for metric in self._metrics] for name in _COLUMNS}
        return build_table(columns, self._library)

    @cached_property
    def segments(self) -> Any:
        """The segments, a row each, in the library of the table that was given.

        Those that gain or are harmed with the most significance come first. At most 100,000 are listed.
        """
        return build_table(self._listing.columns(), self._library)

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
        """The rows of the table for the segments at these places of the sums, as plain values."""
        columns = self._listing.columns_of(np.array(places, dtype=np.int64))
        rows = [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]
        plain: list[dict[str, Any]] = json_values(rows)
        return plain

    def to_dict(self, n_segments: int | None = 100) -> dict[str, Any]:
        """Return the result as plain values that JSON can hold.

        Parameters
        ----------
        n_segments : int or None, default=100
            How many segments to include; None for all that are listed.

        Returns
        -------
        dict
            The attributes, ``metrics`` and ``segments``, a dict each with the columns of the tables. What is not a
            finite number is None.

        Examples
        --------
        >>> import trueup
        >>> result = trueup.compare(None, [0, 1] * 50, [0.5] * 100, [0.4, 0.6] * 50)
        >>> result.to_dict()["metrics"][0]["metric"]
        'log_loss'
        """
        if n_segments is not None and (not isinstance(n_segments, int) or n_segments < 0):
            raise ParameterError(f"n_segments must be a whole number of at least 0, or None; got {n_segments!r}.")
        facts = {name: getattr(self, name) for name in self.__dataclass_fields__ if not name.startswith("_")}
        facts["classes"] = [value if isinstance(value, (bool, int, float)) else str(value) for value in self.classes]
        facts["reasons"] = [asdict(reason) for reason in self.reasons]
        metrics = [{name: getattr(metric, name) for name in _COLUMNS} for metric in self._metrics]
        columns = self._listing.columns(n_segments)
        places = self._listing.order[:n_segments].tolist()
        rows = []
        for place, values in zip(places, zip(*columns.values(), strict=True), strict=True):
            row = dict(zip(columns, values, strict=True))
            rows.append(row | {"conditions": self._listing.segment(place).to_dict()["conditions"]})
        counted = {"n_harmed": self.n_harmed, "n_gaining": self.n_gaining}
        whole = {"schema_version": SCHEMA_VERSION, **facts, **counted, "metrics": metrics, "segments": rows}
        plain: dict[str, Any] = json_values(whole)
        return plain

    def to_html(self, path: str | os.PathLike[str] | None = None, *, title: str = "Comparison") -> str | None:
        """Give the result as a page that opens in any browser, without a network.

        Parameters
        ----------
        path : path-like, optional
            The file to write, whole or not at all; without it the page is returned.
        title : str, default="Comparison"
            What the page is about, such as the names of the models.

        Returns
        -------
        str or None
            The page as HTML; None if it was written.

        Examples
        --------
        >>> import trueup
        >>> result = trueup.compare(None, [0, 1] * 50, [0.5] * 100, [0.4, 0.6] * 50)
        >>> result.to_html(title="A fair coin").startswith("<!doctype html>")
        True
        """
        from trueup._report import page_out
        from trueup.comparison._page import comparison_page

        return page_out(comparison_page(self, title=title), path)

    def _repr_html_(self) -> str:
        """The result in brief, for notebooks."""
        from trueup._report import render_summary
        from trueup.comparison._page import comparison_page

        return render_summary(comparison_page(self, in_full=False))

    def __repr__(self) -> str:
        primary = next(metric for metric in self._metrics if metric.role == "primary")
        change = f"{primary.metric} {primary.base:.4f} → {primary.candidate:.4f} (p = {primary.p_value:.3g})"
        segments = f"; of {self.n_segments:,} segments {self.n_gaining:,} gain, {self.n_harmed:,} are harmed"
        return f"Comparison({self.verdict}: {self.n:,} rows, {change}{segments if self.n_segments else ''})"
