"""What an audit of a sketch found."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from trueup._data import build_table, json_values, library_of
from trueup._report import MOST_LISTED
from trueup.auditing._listing import directions
from trueup.auditing._power import detectable_sum
from trueup.errors import ParameterError
from trueup.metrics import brownian_range_survival, wilson_interval

if TYPE_CHECKING:
    from trueup.auditing._sketches._audit import Measured

__all__ = ["SketchAudit"]

SCHEMA_VERSION = 1


@dataclass(frozen=True, eq=False, repr=False)
class SketchAudit:
    """What the audit of a sketch found: the main numbers of `trueup.AuditResult`, with bounds where bins blur them.

    Attributes
    ----------
    n : int
        Rows with a weight above 0.
    n_segments : int
        Segments that were tested, all rows among them.
    prevalence, mean_score : float
        The observed rate of the positive class, and what the scores promise.
    ecce : float
        ECCE of all rows over the intervals of scores that end where bins end.
    ecce_low, ecce_high : float
        Between these is the ECCE over all intervals, which `trueup.audit` gives.
    sigma : float
        Its standard error.
    ecce_sigma, ecce_sigma_low, ecce_sigma_high : float
        The same three in standard errors.
    p_value : float
        The chance of as much as ``ecce_sigma_low`` if the scores are true; never below the exact one.
    mce, mce_low, mce_high : float
        The multicalibration error, the largest ``ecce_sigma`` of any segment, and between what the exact one is.
    mce_absolute : float
        ``mce`` as a share of all rows: times ``sigma``.
    mce_p_value : float
        A bound on the chance that true scores show as much evidence in any segment, by Bonferroni's rule.
    alpha : float
        ``mce`` over the square root of the number of rows.
    minimum_detectable : float
        An error of this much, as a share of all rows, is found wherever it is, with a chance of at least `power`.
    significant : bool
        Whether any segment's adjusted p-value is at most `significance`.
    significance, power : float
        How often true scores may raise a false alarm, and the chance that `minimum_detectable` is about.
    classes : tuple
        The two labels, negative first.

    Notes
    -----
    Adjusted p-values are Holm's. They hold however segments overlap, but don't know that they do, as the draws of
    `trueup.audit` do, so that they are larger: the rows that draws need are no longer there.

    Examples
    --------
    >>> from trueup.datasets import make_traffic
    >>> from trueup.auditing import SketchSpec, make_sketch
    >>> traffic = make_traffic(20_000)
    >>> spec = SketchSpec.learn(traffic.X, traffic.scores)
    >>> result = make_sketch(traffic.X, traffic.y, traffic.scores, spec).audit()
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
    classes: tuple[Any, ...]
    _measured: Measured = field(repr=False)
    _total_weight: float = field(repr=False)

    @property
    def n_significant(self) -> int:
        """How many segments are significantly wrong."""
        return int(np.count_nonzero(self._measured.adjusted <= self.significance))

    @cached_property
    def segments(self) -> Any:
        """The segments as a pyarrow table, a row each, the ones with the most evidence first; at most 100,000."""
        return build_table(self._columns(None), library_of())

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
        >>> from trueup.auditing import SketchSpec, make_sketch
        >>> sketch = make_sketch(None, [0, 1] * 50, [0.5] * 100, SketchSpec.learn(scores=[0.5]))
        >>> sketch.audit().to_dict()["ecce"]
        0.0
        """
        if n_segments is not None and (not isinstance(n_segments, int) or n_segments < 0):
            raise ParameterError(f"n_segments must be a whole number of at least 0, or None; got {n_segments!r}.")
        facts = {one.name: getattr(self, one.name) for one in fields(self) if not one.name.startswith("_")}
        facts["classes"] = [value if isinstance(value, (bool, int, float)) else str(value) for value in self.classes]
        columns = self._columns(n_segments)
        rows = []
        for place, values in zip(self._order(n_segments).tolist(), zip(*columns.values(), strict=True), strict=True):
            conditions = self._measured.segment(place).to_dict()["conditions"]
            rows.append(dict(zip(columns, values, strict=True)) | {"conditions": conditions})
        whole: dict[str, Any] = json_values({"schema_version": SCHEMA_VERSION, **facts, "segments": rows})
        return whole

    def __repr__(self) -> str:
        chance = "" if math.isnan(self.mce_p_value) else f", p = {self.mce_p_value:.3g}"
        return (
            f"SketchAudit({self.n:,} rows, {self.n_segments:,} segments: ECCE {self.ecce_sigma:.1f} σ "
            f"(to {self.ecce_sigma_high:.1f} σ, p = {self.p_value:.3g}), MCE {self.mce:.1f} σ "
            f"(to {self.mce_high:.1f} σ{chance}))"
        )

    def _order(self, n: int | None) -> npt.NDArray[np.intp]:
        measured = self._measured
        return np.lexsort((-measured.sums.evidence, measured.adjusted))[:MOST_LISTED][:n]

    def _columns(self, n: int | None) -> dict[str, Any]:
        """The first rows of the table, a column each."""
        order, measured = self._order(n), self._measured
        sums = measured.sums.of(order)
        rate = np.clip(sums.label / sums.weight, 0, 1)
        observed_low, observed_high = wilson_interval(rate, sums.weight / sums.unit)
        ecce, ecce_low, ecce_high = (bound[order] for bound in measured.ecce)
        sigmas, sigmas_low, sigmas_high = (bound[order] for bound in measured.sigmas)
        strength = np.maximum(sigmas_low, measured.strength[order])
        detectable = detectable_sum(sums.variance, sums.unit, measured.critical, measured.power)
        return {
            "segment": [str(measured.segment(place)) for place in order.tolist()],
            "rows": sums.rows.astype(np.int64),
            "weight": np.ldexp(sums.weight, measured.spec.weight_exponent),
            "share": sums.weight / self._total_weight,
            "mean_score": np.clip(sums.score / sums.weight, 0, 1),
            "observed_rate": rate,
            "observed_low": observed_low,
            "observed_high": observed_high,
            "direction": directions(sums),
            "ecce": ecce,
            "ecce_low": ecce_low,
            "ecce_high": ecce_high,
            "sigma": np.sqrt(sums.sigma_variance) / sums.weight,
            "ecce_sigma": sigmas,
            "ecce_sigma_low": sigmas_low,
            "ecce_sigma_high": sigmas_high,
            "evidence": sums.evidence,
            "p_value": np.array([brownian_range_survival(one) for one in strength.tolist()]),
            "adjusted_p_value": measured.adjusted[order],
            "significant": measured.adjusted[order] <= self.significance,
            "minimum_detectable": detectable / sums.weight,
        }
