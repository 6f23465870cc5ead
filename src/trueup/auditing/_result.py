"""What an audit found."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

from trueup._data import build_table, json_values
from trueup.auditing._listing import Listing
from trueup.errors import ParameterError

__all__ = ["SCHEMA_VERSION", "AuditResult"]

SCHEMA_VERSION = 1


@dataclass(frozen=True, eq=False, repr=False)
class AuditResult:
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
        Whether any segment's adjusted p-value is at most `level`.
    level : float
        The level of significance.
    power : float
        The chance that `minimum_detectable` is about.
    null_samples : int
        How often labels were drawn from the scores.
    classes : tuple
        The two labels, negative first.

    Examples
    --------
    >>> import trueup
    >>> from trueup.datasets import make_traffic
    >>> traffic = make_traffic(20_000)
    >>> result = trueup.audit(traffic.y, traffic.scores, traffic.X)
    >>> result.significant
    True
    >>> result.segments.slice(0, 1).to_pylist()[0]["segment"]
    'is_logged_in = false and referrer is missing'
    """

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
    level: float
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

    @cached_property
    def segments(self) -> Any:
        """The segments, a row each, in the library of the table that was audited.

        Those that tell a story of their own come first, by evidence; then the ones that no story explains;
        then the ones that repeat a story, which ``explained_by`` names. At most 100,000 are listed.
        """
        return build_table(self._listing.columns(), self._library)

    def to_dict(self, n_segments: int | None = 100) -> dict[str, Any]:
        """Return the result as plain values that JSON can hold.

        Parameters
        ----------
        n_segments : int or None, default=100
            How many segments to include; None for all that are listed.

        Returns
        -------
        dict
            The attributes, and ``segments``, a dict each with the columns of the table and the conditions.
            What is not a finite number is None.

        Examples
        --------
        >>> import trueup
        >>> result = trueup.audit([0, 1] * 50, [0.5] * 100)
        >>> result.to_dict()["schema_version"], result.to_dict()["ecce"]
        (1, 0.0)
        """
        if n_segments is not None and (not isinstance(n_segments, int) or n_segments < 0):
            raise ParameterError(f"n_segments must be a whole number of at least 0, or None; got {n_segments!r}.")
        facts = {one.name: getattr(self, one.name) for one in fields(self) if not one.name.startswith("_")}
        facts["classes"] = [value if isinstance(value, (bool, int, float)) else str(value) for value in self.classes]
        columns = self._listing.columns(n_segments)
        places = self._listing.order[:n_segments].tolist()
        rows = []
        for place, values in zip(places, zip(*columns.values(), strict=True), strict=True):
            row = dict(zip(columns, values, strict=True))
            rows.append(row | {"conditions": self._listing.segment(place).to_dict()["conditions"]})
        whole: dict[str, Any] = json_values({"schema_version": SCHEMA_VERSION, **facts, "segments": rows})
        return whole

    def to_html(self, path: str | os.PathLike[str] | None = None, *, title: str = "Audit") -> str | None:
        """Give the result as a page that opens in any browser, without a network.

        Parameters
        ----------
        path : path-like, optional
            The file to write, whole or not at all; without it the page is returned.
        title : str, default="Audit"
            What the page is about, such as the name of the model.

        Returns
        -------
        str or None
            The page as HTML; None if it was written.

        Examples
        --------
        >>> import trueup
        >>> result = trueup.audit([0, 1] * 50, [0.5] * 100)
        >>> result.to_html(title="A fair coin").startswith("<!doctype html>")
        True
        """
        from trueup._report import page_out
        from trueup.auditing._page import audit_page

        return page_out(audit_page(self, title=title), path)

    def _repr_html_(self) -> str:
        """The result in brief, for notebooks."""
        from trueup._report import render_summary
        from trueup.auditing._page import audit_page

        return render_summary(audit_page(self, in_full=False))

    def __repr__(self) -> str:
        chance = "" if math.isnan(self.mce_p_value) else f" (p = {self.mce_p_value:.3g})"
        return (
            f"AuditResult({self.n:,} rows, {self.n_segments:,} segments: ECCE {self.ecce_sigma:.1f} σ "
            f"(p = {self.p_value:.3g}), MCE {self.mce:.1f} σ{chance})"
        )
