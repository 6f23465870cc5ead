"""What an audit found."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar

from trueup._report import Page, SegmentResult
from trueup.auditing._listing import Listing

__all__ = ["AuditResult"]


@dataclass(frozen=True, eq=False, repr=False)
class AuditResult(SegmentResult):
    """What `trueup.audit` found: how wrong the scores are, where, and whether that is more than noise.

    Attributes
    ----------
    n : int
        Rows with a weight above 0.
    n_segments : int
        Segments that were tested, all rows among them.
    prevalence : float
        The observed rate of the positive class.
    mean_score : float
        What the scores promise.
    ecce, sigma, ecce_sigma, p_value : float
        ECCE of all rows, its standard error, their ratio, and the chance of as much if the scores are true.
    mce : float
        The multicalibration error: the largest ``ecce_sigma`` of any segment.
    mce_absolute : float
        The same as a share of all rows: ``mce`` times ``sigma``.
    mce_p_value : float
        The chance that true scores show as large an MCE in the same search; NaN without draws from the null.
    alpha : float
        ``mce`` over the square root of the number of rows: the scores are alpha-multicalibrated.
    minimum_detectable : float
        An error of this much, as a share of all rows, is found wherever it is, with a chance of at least
        `power`: one of 10 points in 2 % of the rows is 0.002.
    significant : bool
        Whether any segment's adjusted p-value is at most `significance`.
    significance : float
        How often true scores may raise a false alarm.
    power : float
        The chance that `minimum_detectable` is about.
    null_samples : int
        How often labels were drawn from the scores.
    classes : tuple
        The two labels, negative first.

    Notes
    -----
    In ``segments``, those that tell a story of their own come first, by evidence; then the ones that no story explains;
    then the ones that repeat a story, which ``explained_by`` names.

    Examples
    --------
    >>> import trueup
    >>> from trueup.datasets import make_traffic
    >>> traffic = make_traffic(20_000)
    >>> result = trueup.audit(traffic.X, traffic.y, traffic.scores)
    >>> result.significant
    True
    >>> result.segments.slice(0, 1).to_pylist()[0]["segment"]
    'is_logged_in = false and referrer is missing'
    """

    _title: ClassVar[str] = "Audit"

    n: int
    n_segments: int
    prevalence: float
    mean_score: float
    ecce: float
    sigma: float
    ecce_sigma: float
    p_value: float
    mce: float
    mce_absolute: float
    mce_p_value: float
    alpha: float
    minimum_detectable: float
    significant: bool
    significance: float
    power: float
    null_samples: int
    classes: tuple[Any, ...]
    _listing: Listing = field(repr=False)
    _library: Any = field(repr=False)

    @property
    def n_significant(self) -> int:
        """How many segments are significantly wrong."""
        return int(self._listing.is_significant.sum())

    @property
    def n_stories(self) -> int:
        """How many of the significant segments tell a story of their own."""
        return int(self._listing.is_significant[list(self._listing.stories.told)].sum())

    @property
    def n_repeating(self) -> int:
        """How many of the significant segments repeat a story."""
        return int(self._listing.is_significant[list(self._listing.stories.explained_by)].sum())

    def _page(self, title: str, *, in_full: bool) -> Page:
        from trueup.auditing._page import audit_page

        return audit_page(self, title=title, in_full=in_full)

    def __repr__(self) -> str:
        chance = "" if math.isnan(self.mce_p_value) else f" (p = {self.mce_p_value:.3g})"
        return (
            f"AuditResult({self.n:,} rows, {self.n_segments:,} segments: ECCE {self.ecce_sigma:.1f} σ "
            f"(p = {self.p_value:.3g}), MCE {self.mce:.1f} σ{chance})"
        )
