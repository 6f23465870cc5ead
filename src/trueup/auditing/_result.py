"""What an audit found."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar

from trueup._report import Page, SegmentResult
from trueup.auditing._listing import AuditListing
from trueup.auditing._measured import Measured, detectable_sum


@dataclass(frozen=True, eq=False, repr=False)
class AuditResult(SegmentResult):
    """What an audit found: how wrong the scores are, where, and whether that is more than noise.

    `trueup.audit` makes it of rows, and `trueup.auditing.Sketch.audit` of a sketch. From a sketch, an ECCE is known
    between bounds only; from rows, both bounds are the ECCE itself.

    Attributes
    ----------
    n : int
        Rows with a weight above 0.
    n_groups : int
        Groups of rows that belong together; without `groups`, as many as rows.
    n_segments : int
        Segments that were tested, all rows among them.
    prevalence, mean_score : float
        The observed rate of the positive class, and the rate that the scores predict.
    ecce : float
        The estimated cumulative calibration error of all rows: over some range of scores, observed and predicted
        positives differ by this share of the rows. From a sketch, over ranges that end where bins end.
    ecce_low, ecce_high : float
        The exact ECCE lies between these.
    sigma : float
        Its standard error.
    ecce_sigma, ecce_sigma_low, ecce_sigma_high : float
        The same three in standard errors. If the scores are true, noise gives 1 to 2.5.
    p_value : float
        The chance of as much as ``ecce_sigma_low`` if the scores are true.
    mce, mce_low, mce_high : float
        The multicalibration error, which is the largest ``ecce_sigma`` of any segment, and its bounds.
    mce_absolute : float
        The same as a share of all rows: ``mce`` times ``sigma``.
    mce_p_value : float
        The chance that true scores show as large an MCE in the same search; without draws from the null, a bound on it.
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
        How often labels were drawn from the scores; 0 if they were not, and p-values are adjusted by Holm's rule.
    classes : tuple
        The two labels, negative first.

    Notes
    -----
    In ``segments``, those with a pattern of their own come first, by evidence; then those that no pattern explains;
    then those that are wrong only because they overlap a pattern, which ``explained_by`` names. Patterns are found
    among rows: from a sketch, every significant segment counts as one.

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
    n_groups: int
    n_segments: int
    prevalence: float
    mean_score: float
    ecce: float
    ecce_low: float
    ecce_high: float
    sigma: float
    ecce_sigma: float
    ecce_sigma_low: float
    ecce_sigma_high: float
    p_value: float
    mce: float
    mce_low: float
    mce_high: float
    mce_absolute: float
    mce_p_value: float
    alpha: float
    minimum_detectable: float
    significant: bool
    significance: float
    power: float
    null_samples: int
    classes: tuple[Any, ...]
    _listing: AuditListing = field(repr=False)
    _library: Any = field(repr=False)

    @property
    def from_sketch(self) -> bool:
        """Whether a sketch was audited, and not rows."""
        return self._listing.audited is None

    @property
    def n_significant(self) -> int:
        """How many segments are significantly wrong."""
        return int(self._listing.is_significant.sum())

    @property
    def n_patterns(self) -> int:
        """How many of the significant segments have a pattern of their own."""
        return int(self._listing.is_significant[list(self._listing.patterns.found)].sum())

    @property
    def n_repeating(self) -> int:
        """How many of the significant segments are explained by a pattern."""
        return int(self._listing.is_significant[list(self._listing.patterns.explained_by)].sum())

    def _page(self, title: str, *, in_full: bool) -> Page:
        from trueup.auditing._page import audit_page

        return audit_page(self, title=title, in_full=in_full)

    def __repr__(self) -> str:
        to_ecce, to_mce = "", ""
        if self.from_sketch:
            to_ecce, to_mce = f"to {self.ecce_sigma_high:.1f} σ, ", f"to {self.mce_high:.1f} σ, "
        return (
            f"AuditResult({self.n:,} rows, {self.n_segments:,} segments: ECCE {self.ecce_sigma:.1f} σ "
            f"({to_ecce}p = {self.p_value:.3g}), MCE {self.mce:.1f} σ ({to_mce}p = {self.mce_p_value:.3g}))"
        )


def result_of(
    whole: Measured,
    listing: AuditListing,
    *,
    classes: tuple[Any, ...],
    library: Any,
    n_groups: int | None = None,
    null_samples: int = 0,
    mce_p_value: float | None = None,
) -> AuditResult:
    """The result for all rows together, `whole`, and for the segments that were tested."""
    sums = whole.sums
    weight, unit = float(sums.weight[0]), float(sums.unit[0])
    ecce, sigmas = ([float(bound[0]) for bound in bounds] for bounds in (whole.ecce, whole.sigmas))
    tested = Measured(listing.sums, listing.bounds).sigmas
    mce = [float(bound.max()) if len(bound) else math.nan for bound in tested]
    sigma = math.sqrt(sums.sigma_variance[0]) / weight
    if mce_p_value is None:
        mce_p_value = float(listing.adjusted.min()) if len(listing.sums) else math.nan
    return AuditResult(
        n=int(sums.rows[0]),
        n_groups=int(sums.rows[0]) if n_groups is None else n_groups,
        n_segments=len(listing.sums),
        prevalence=min(1.0, max(0.0, float(sums.label[0]) / weight)),
        mean_score=min(1.0, max(0.0, float(sums.score[0]) / weight)),
        ecce=ecce[0],
        ecce_low=ecce[1],
        ecce_high=ecce[2],
        sigma=sigma,
        ecce_sigma=sigmas[0],
        ecce_sigma_low=sigmas[1],
        ecce_sigma_high=sigmas[2],
        p_value=float(whole.p_values[0]),
        mce=mce[0],
        mce_low=mce[1],
        mce_high=mce[2],
        mce_absolute=mce[0] * sigma,
        mce_p_value=mce_p_value,
        alpha=mce[0] / math.sqrt(weight / unit),
        minimum_detectable=float(detectable_sum(sums.variance, sums.unit, listing.critical, listing.power)[0]) / weight,
        significant=bool(listing.is_significant.any()),
        significance=listing.significance,
        power=listing.power,
        null_samples=null_samples,
        classes=classes,
        _listing=listing,
        _library=library,
    )


_POINTS = (10, 20, 50, 100)


def verdict_in_words(result: AuditResult, *, folded: bool = True) -> str:
    """The audit in a sentence or two; folded, it says how many patterns the segments tell."""
    if result.n_segments == 0:
        return "No segment could be tested."
    if not result.significant:
        found = detectable_in_words(result)
        would = f" {found[0].upper()}{found[1:]} would most likely have been found." if found else ""
        return f"No segment is wrong by more than noise explains.{would}"
    at, n_significant = f"({100 * result.significance:g} % significance)", result.n_significant
    if n_significant == 1:
        return f"1 segment is significantly wrong {at}."
    patterns = f", in {patterns_in_words(result)}" if folded and not result.from_sketch else ""
    return f"{n_significant:,} segments are significantly wrong {at}{patterns}."


def patterns_in_words(result: AuditResult) -> str:
    """How many different patterns there are; "at least", if there are more than are looked for."""
    least = "at least " if result.n_significant > result.n_patterns + result.n_repeating else ""
    return f"{least}{in_plural(result.n_patterns, 'pattern', 'different patterns')}"


def detectable_in_words(result: AuditResult) -> str:
    """The smallest error that is found; empty if none would be."""
    share = result.minimum_detectable
    for points in _POINTS:
        if share <= points / 100:
            return f"an error of {points} points in {_two_digits(100 * share / points)} of the rows"
    return ""


def in_plural(n: int, one: str, many: str) -> str:
    """A number with its noun."""
    return f"{n:,} {one if n == 1 else many}"


def _two_digits(share: float) -> str:
    """A share as a percentage of two digits that mean something."""
    digits = 1 if share <= 0 else max(0, 1 - math.floor(math.log10(100 * share)))
    return f"{100 * share:.{digits}f} %"
