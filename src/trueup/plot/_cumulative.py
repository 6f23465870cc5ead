"""The cumulative differences between observed and predicted, whose vertical range is the ECCE."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from trueup.metrics import CumulativeCurve, cumulative_curve
from trueup.plot._axes import (
    QUIET,
    checked_axes,
    child_of,
    in_points,
    legend_if_named,
    mark_as_curve,
    n_drawn,
    next_colour,
    percent_axis,
    require_matplotlib,
    sigmas_in_words,
    tidy,
    width_in_inches,
)
from trueup.plot._estimators import DrawnFromEstimator

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SCORES = "trueup-scores"
_SCORES_HEIGHT = 36  # points, of the axis above with its words
_DRAWN_POINTS = 2000  # more than a screen is wide
_BRACKET, _BRACKET_STEP = 1.03, 0.13  # to the right of all rows; one beside the other
_SHARES, _FEWER_SHARES = (0.0, 0.25, 0.5, 0.75, 1.0), (0.0, 0.5, 1.0)
_NARROW = 3.0  # inches


class CumulativeDisplay(DrawnFromEstimator):
    """The running sum of observed minus predicted, and the ECCE as its vertical range.

    Where the curve rises, the scores are too low; where it falls, too high. Its slope is the error, so there are no
    bins to choose. The grey bar beside the range, at the right, is as long as noise alone makes it in 95 % of cases:
    a longer range is more than noise. Make it with `from_predictions` or `from_estimator`.

    Parameters
    ----------
    curve : CumulativeCurve
        What is drawn.
    name : str, optional
        What the legend calls it.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it is drawn.
    line_ : matplotlib Line2D
        The curve.
    range_, noise_ : matplotlib Line2D
        The vertical range that is the ECCE, at the right, and behind it the one that noise alone stays below.
    range_text_ : matplotlib Text
        The ECCE in sigmas, beside it.

    See Also
    --------
    trueup.metrics.cumulative_curve : The values.
    trueup.metrics.ecce : The ECCE alone.

    Examples
    --------
    >>> from trueup.datasets import make_traffic
    >>> from trueup.plot import CumulativeDisplay
    >>> visits = make_traffic(5_000)
    >>> display = CumulativeDisplay.from_predictions(visits.y, visits.scores)
    >>> low, high = display.range_.get_ydata()
    >>> bool(abs((high - low) - display.curve.ecce) < 1e-12)
    True
    """

    def __init__(self, curve: CumulativeCurve, *, name: str | None = None) -> None:
        self.curve = curve
        self.name = name

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_prob: Any,
        *,
        sample_weight: Any = None,
        confidence: float = 0.95,
        name: str | None = None,
        ax: Axes | None = None,
        color: Any = None,
    ) -> CumulativeDisplay:
        """Draw the cumulative differences of scores.

        Parameters
        ----------
        y_true, y_prob, sample_weight : array-like of shape (n,)
            Labels of two classes, or soft ones; probabilities of the positive class; and weights, if any.
        confidence : float, default=0.95
            The chance that the range of true scores is shorter than the grey bar.
        name : str, optional
            What the legend calls the scores.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        color : matplotlib color, optional
            By default the next of a few that colour-blind people can tell apart.

        Returns
        -------
        CumulativeDisplay
            The display, drawn.
        """
        require_matplotlib()
        curve = cumulative_curve(
            y_true, y_prob, sample_weight=sample_weight, max_points=_DRAWN_POINTS, confidence=confidence
        )
        return cls(curve, name=name).plot(ax, color=color)

    def plot(self, ax: Axes | None = None, *, name: str | None = None, color: Any = None) -> CumulativeDisplay:
        """Draw.

        Parameters
        ----------
        ax, name, color : optional
            As in `from_predictions`; the name is by default the display's own.

        Returns
        -------
        CumulativeDisplay
            The display itself.
        """
        ax = checked_axes(ax, 6.4, 4.2)
        name = self.name if name is None else name
        color = next_colour(ax) if color is None else color
        curve, n_before = self.curve, n_drawn(ax)
        if n_before == 0:
            _draw_frame(ax, curve)
        else:
            _hide_scores(ax)  # of the first curve: those of this one are elsewhere
        words = ecce_in_words(curve)
        label = words if name is None else f"{name}: {words}"
        (self.line_,) = ax.plot(curve.share, curve.difference, color=color, lw=1.3, label=label)
        mark_as_curve(self.line_)
        self._draw_range(ax, color, n_before)
        ax.set_xlim(-0.01, _BRACKET + (n_before + 1) * _BRACKET_STEP)
        above = ax.transAxes + in_points(ax, 0, 4 if n_before else _SCORES_HEIGHT)
        legend_if_named(ax, loc="lower left", bbox_to_anchor=(0, 1), bbox_transform=above, borderaxespad=0)
        self.ax_, self.figure_ = ax, ax.get_figure(root=True)
        return self

    def _draw_range(self, ax: Axes, color: Any, n_before: int) -> None:
        """The ECCE as a vertical line between the heights of the lowest and the highest point."""
        curve = self.curve
        x = _BRACKET + n_before * _BRACKET_STEP
        ends = [curve.difference[curve.low_at], curve.difference[curve.high_at]]
        for place, height in zip((curve.low_at, curve.high_at), ends, strict=True):
            ax.plot([curve.share[place], x], [height, height], color=color, lw=0.7, ls=":")
        middle = float(np.mean(ends))
        noise = [middle - curve.noise / 2, middle + curve.noise / 2]
        words = f"noise alone: no longer than this, {curve.confidence * 100:g} %" if n_before == 0 else None
        (self.noise_,) = ax.plot([x, x], noise, color=QUIET, alpha=0.35, lw=7, solid_capstyle="butt", label=words)
        (self.range_,) = ax.plot([x, x], ends, color=color, lw=2, marker="_", ms=7, clip_on=False)
        self.range_text_ = ax.text(
            x + 0.02,
            middle,
            sigmas_in_words(curve.ecce_sigma),
            color=color,
            va="center",
            fontsize="small",
        )


def ecce_in_words(curve: CumulativeCurve) -> str:
    """The ECCE, its sigmas and its p-value."""
    chance = "p < 0.001" if curve.p_value < 0.001 else f"p = {curve.p_value:.2g}"
    return f"ECCE {curve.ecce * 100:.2g} % = {sigmas_in_words(curve.ecce_sigma)}, {chance}"


def _draw_frame(ax: Axes, curve: CumulativeCurve) -> None:
    tidy(ax)
    percent_axis(ax.xaxis)
    percent_axis(ax.yaxis)
    shares = _FEWER_SHARES if width_in_inches(ax) < _NARROW else _SHARES
    ax.set_xticks(shares)
    ax.set_xlabel("Share of rows, in order of score")
    ax.set_ylabel("Observed − predicted, summed up\n(share of all rows)")
    ax.axhline(0, color=QUIET, lw=0.8, zorder=1)
    places = np.searchsorted(curve.share, shares).clip(0, len(curve) - 1)
    above: Any = ax.secondary_xaxis("top")
    above.set_label(_SCORES)
    above.set_xticks(shares, labels=[f"{score:.2g}" for score in curve.score[places]])
    above.set_xlabel("Score there", fontsize="small")
    above.tick_params(labelsize="small")
    above.spines["top"].set_visible(False)


def _hide_scores(ax: Axes) -> None:
    scores = child_of(ax, _SCORES)
    if scores is not None:
        scores.set_visible(False)
