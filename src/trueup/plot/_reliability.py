"""The reliability diagram: predicted against observed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trueup.metrics import ReliabilityCurve, reliability_curve
from trueup.plot._axes import (
    REFERENCE,
    checked_axes,
    child_of,
    in_points,
    legend_if_named,
    mark_as_curve,
    next_colour,
    next_marker,
    percent_axis,
    require_matplotlib,
    tidy,
)
from trueup.plot._estimators import DrawnFromEstimator

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_DIAGONAL, _STRIP = "trueup-diagonal", "trueup-density"
_STRIP_PLACE = (0.0, -0.17, 1.0, 0.14)  # below the axes, in shares of them
_SHOWN_SHARE = 0.98  # of the scores; a few very high ones must not press the rest into a corner
_MARGIN = 0.03


class ReliabilityDisplay(DrawnFromEstimator):
    """Reliability diagram with bands, and a strip below it that shows how the scores are distributed.

    Make it with `from_predictions` or `from_estimator`. To compare two models, draw both into the same axes, each
    with its name.

    Parameters
    ----------
    curve : ReliabilityCurve
        What is drawn.
    name : str, optional
        What the legend calls it.

    Attributes
    ----------
    ax_, density_ax_, figure_ : matplotlib Axes and Figure
        The axes with the curve, those of the strip (or None), and the figure.
    line_, band_, strip_ : matplotlib Line2D, collection and StepPatch
        A point for each bin, the bands, and the density of the scores (or None).

    See Also
    --------
    trueup.metrics.reliability_curve : The values.
    CumulativeDisplay : The same question without bins.

    Examples
    --------
    >>> from trueup.datasets import make_traffic
    >>> from trueup.plot import ReliabilityDisplay
    >>> visits = make_traffic(5_000)
    >>> display = ReliabilityDisplay.from_predictions(visits.y, visits.scores, name="base")
    >>> display = ReliabilityDisplay.from_predictions(
    ...     visits.y, visits.true_probability, name="truth", ax=display.ax_
    ... )
    >>> display.figure_.savefig("reliability.png")  # doctest: +SKIP
    """

    def __init__(self, curve: ReliabilityCurve, *, name: str | None = None) -> None:
        self.curve = curve
        self.name = name

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_prob: Any,
        *,
        sample_weight: Any = None,
        n_bins: int = 10,
        confidence: float = 0.95,
        name: str | None = None,
        ax: Axes | None = None,
        color: Any = None,
        density: bool = True,
    ) -> ReliabilityDisplay:
        """Draw the reliability of scores.

        Parameters
        ----------
        y_true, y_prob, sample_weight : array-like of shape (n,)
            Labels of two classes, or soft ones; probabilities of the positive class; and weights, if any.
        n_bins : int, default=10
            The most bins; they weigh the same as far as ties allow.
        confidence : float, default=0.95
            The chance that a band covers the true rate.
        name : str, optional
            What the legend calls the scores.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        color : matplotlib color, optional
            By default the next of a few that colour-blind people can tell apart.
        density : bool, default=True
            Whether to draw the strip.

        Returns
        -------
        ReliabilityDisplay
            The display, drawn.
        """
        require_matplotlib()
        curve = reliability_curve(y_true, y_prob, sample_weight=sample_weight, n_bins=n_bins, confidence=confidence)
        return cls(curve, name=name).plot(ax, color=color, density=density)

    def plot(
        self, ax: Axes | None = None, *, name: str | None = None, color: Any = None, density: bool = True
    ) -> ReliabilityDisplay:
        """Draw.

        Parameters
        ----------
        ax, name, color, density : optional
            As in `from_predictions`; the name is by default the display's own.

        Returns
        -------
        ReliabilityDisplay
            The display itself.
        """
        ax = checked_axes(ax, 4.8, 5.0)
        name = self.name if name is None else name
        color = next_colour(ax) if color is None else color
        marker = next_marker(ax)
        _draw_frame(ax, self.curve)
        curve = self.curve
        (self.line_,) = ax.plot(curve.score, curve.rate, color=color, marker=marker, ms=4, lw=1.5, label=name)
        mark_as_curve(self.line_)
        if len(curve) > 1:
            self.band_: Any = ax.fill_between(curve.score, curve.low, curve.high, color=color, alpha=0.2, lw=0)
        else:  # a band needs two points
            self.band_ = ax.vlines(curve.score, curve.low, curve.high, color=color, alpha=0.4, lw=4)
        self.density_ax_: Any = child_of(ax, _STRIP)
        self.strip_: Any = None
        if density:
            self.density_ax_ = _strip_below(ax) if self.density_ax_ is None else self.density_ax_
            share = curve.density.share
            # The second is an outline: two fills would mix to a third colour.
            is_first = not self.density_ax_.patches
            looks: dict[str, Any] = {"ec": color, "lw": 1}
            looks |= {"fill": True, "fc": color, "alpha": 0.4} if is_first else {}
            self.strip_ = self.density_ax_.stairs(share / share.max(), curve.density.edges, **looks)
        legend_if_named(ax, loc="upper left")
        self.ax_, self.figure_ = ax, ax.get_figure(root=True)
        return self


def limits_of(curve: ReliabilityCurve) -> tuple[float, float]:
    """Where both axes begin and end: around the curve and nearly all scores, and from 0 if that is near."""
    density = curve.density
    low = min(float(density.edges[0]), float(curve.low.min()))
    high = max(density.quantile(_SHOWN_SHARE), float(curve.high.max()))
    if low < 0.3 * high:
        low = 0.0
    if high > 0.7:
        high = 1.0
    return low, high


def _draw_frame(ax: Axes, curve: ReliabilityCurve) -> None:
    """Draw the diagonal and the words once, and widen the limits so that they hold all curves so far."""
    low, high = limits_of(curve)
    diagonal: Any = next((line for line in ax.lines if line.get_gid() == _DIAGONAL), None)
    if diagonal is None:
        tidy(ax)
        percent_axis(ax.xaxis)
        percent_axis(ax.yaxis)
        ax.set_xlabel("Predicted: mean score")
        ax.set_ylabel(f"Observed rate ({curve.confidence * 100:g} % band)")
        (diagonal,) = ax.plot([low, high], [low, high], color=REFERENCE, lw=1, ls="--", zorder=1)
        diagonal.set_gid(_DIAGONAL)
    else:
        before_low, before_high = diagonal.get_xdata()
        low, high = min(low, float(before_low)), max(high, float(before_high))
    set_limits(ax, low, high)


def set_limits(ax: Axes, low: float, high: float) -> None:
    """Let both axes, and the diagonal, go from low to high."""
    for line in ax.lines:
        if line.get_gid() == _DIAGONAL:
            line.set_data([low, high], [low, high])
    margin = _MARGIN * (high - low)
    ax.set_xlim(low - margin, high + margin)
    ax.set_ylim(low - margin, high + margin)


def _strip_below(ax: Axes) -> Axes:
    """Axes for the density between the curve and the words of the horizontal axis."""
    strip = ax.inset_axes(_STRIP_PLACE, sharex=ax)
    strip.set_label(_STRIP)
    strip.set_ylim(0, 1.05)
    strip.set_yticks([])
    strip.spines[["top", "left", "right"]].set_visible(False)
    percent_axis(strip.xaxis)
    strip.text(0.99, 0.92, "where the scores are", transform=strip.transAxes, ha="right", va="top", fontsize="x-small")
    ax.tick_params(axis="x", labelbottom=False)
    ax.xaxis.set_label_coords(0.5, _STRIP_PLACE[1], transform=ax.transAxes + in_points(ax, 0, -20))
    return strip
