"""The worst segments of an audit, ranked, with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from trueup.auditing import AuditResult, audit
from trueup.plot._audited import AuditedSegment, worst_segments
from trueup.plot._axes import (
    BAD,
    BOTH,
    GOOD,
    QUIET,
    checked_axes,
    percent_axis,
    require_matplotlib,
    sigmas_in_words,
    tidy,
    width_in_inches,
    wrapped,
)
from trueup.plot._estimators import DrawnFromEstimator

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LETTERS_AN_INCH, _LEAST_LETTERS, _MOST_LETTERS = 7, 16, 38
_WORDS = {"over-estimates": "score too high", "under-estimates": "score too low", "both": "wrong both ways"}
_COLOURS = {"over-estimates": BAD, "under-estimates": GOOD}


class SegmentsDisplay(DrawnFromEstimator):
    """The worst segments, one below the other: predicted and observed, with an interval.

    Make it with `from_audit`, `from_predictions` or `from_estimator`. Segments that are only wrong because they
    overlap another are left out. Colour says which way the scores are wrong; grey segments may be noise.

    Parameters
    ----------
    segments : sequence of segments
        What is drawn, the worst first, each with ``segment``, ``rows``, ``mean_score``, ``observed_rate``,
        ``observed_low``, ``observed_high``, ``direction``, ``ecce_sigma`` and ``significant``.
    name : str, optional
        The title.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it is drawn.
    predicted_, observed_ : matplotlib Line2D, and list of them
        The mean scores and the observed rates, a mark for each segment.
    intervals_ : matplotlib LineCollection
        The intervals of the observed rates.
    notes_ : list of matplotlib Text
        Sigmas and rows of each segment, at the right.

    See Also
    --------
    trueup.audit : What finds the segments.
    SlopesDisplay : Segments before and after.

    Examples
    --------
    >>> from trueup.datasets import make_traffic
    >>> from trueup.plot import SegmentsDisplay
    >>> visits = make_traffic(20_000)
    >>> display = SegmentsDisplay.from_predictions(visits.y, visits.scores, visits.X, max_depth=2, n_segments=5)
    >>> display.segments[0].segment
    'is_logged_in = false and referrer is missing'
    """

    _takes_table = True

    def __init__(self, segments: Sequence[AuditedSegment], *, name: str | None = None) -> None:
        self.segments = tuple(segments)
        self.name = name

    @classmethod
    def from_audit(
        cls, result: AuditResult, *, n_segments: int = 10, name: str | None = None, ax: Axes | None = None
    ) -> SegmentsDisplay:
        """Draw the worst segments of an audit.

        Parameters
        ----------
        result : AuditResult
            The result of `trueup.audit`.
        n_segments : int, default=10
            The most segments to draw.
        name : str, optional
            The title.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        SegmentsDisplay
            The display, drawn.
        """
        require_matplotlib()
        return cls(worst_segments(result, n_segments), name=name).plot(ax)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_prob: Any,
        X: Any = None,
        *,
        n_segments: int = 10,
        name: str | None = None,
        ax: Axes | None = None,
        **options: Any,
    ) -> SegmentsDisplay:
        """Audit scores, and draw the worst segments.

        Parameters
        ----------
        y_true, y_prob : array-like of shape (n,)
            Labels of two classes, or soft ones; and probabilities of the positive class.
        X : table, optional
            The features that segments are made of.
        n_segments, name, ax : optional
            As in `from_audit`.
        **options : object
            Options of `trueup.audit`, such as ``segments``, ``sample_weight`` or ``max_depth``.

        Returns
        -------
        SegmentsDisplay
            The display, drawn.
        """
        require_matplotlib()
        return cls.from_audit(audit(X, y_true, y_prob, **options), n_segments=n_segments, name=name, ax=ax)

    def plot(self, ax: Axes | None = None, *, name: str | None = None) -> SegmentsDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        name : str, optional
            The title; the display's own name by default.

        Returns
        -------
        SegmentsDisplay
            The display itself.
        """
        ax = checked_axes(ax, 7.2, 1.2 + 0.42 * max(2, len(self.segments)))
        width = min(max(round(_LETTERS_AN_INCH * width_in_inches(ax)), _LEAST_LETTERS), _MOST_LETTERS)
        labels = [wrapped(one.segment, width) for one in self.segments]
        name = self.name if name is None else name
        tidy(ax)
        ax.spines["left"].set_visible(False)
        percent_axis(ax.xaxis)
        ax.set_xlabel("Rate in the segment: ◇ predicted, ● observed (95 % interval)", fontsize="small")
        ax.grid(axis="y", lw=0.5, alpha=0.4)
        ax.set_axisbelow(True)
        if name is not None:
            ax.set_title(name, loc="left")
        places = list(range(len(self.segments)))
        ax.set_yticks(places, labels=labels, fontsize="small")
        ax.tick_params(axis="y", length=0)
        ax.set_ylim(len(places) - 0.4 if places else 1, -0.6)  # the worst at the top
        self._draw_marks(ax, places)
        self.ax_, self.figure_ = ax, ax.get_figure(root=True)
        return self

    def _draw_marks(self, ax: Axes, places: list[int]) -> None:
        segments = self.segments
        colours = [_colour(one) for one in segments]
        lows, highs = [one.observed_low for one in segments], [one.observed_high for one in segments]
        self.intervals_ = ax.hlines(places, lows, highs, colors=colours, lw=5, alpha=0.3)
        (self.predicted_,) = ax.plot(
            [one.mean_score for one in segments],
            places,
            ls="none",
            marker="D",
            ms=6,
            mfc="none",
            mec="black",
        )
        self.observed_ = [
            ax.plot([one.observed_rate], [place], ls="none", marker="o", ms=5, color=colour)[0]
            for one, place, colour in zip(segments, places, colours, strict=True)
        ]
        right = ax.get_yaxis_transform()
        self.notes_ = [
            ax.text(1.02, place, _note(one), transform=right, va="center", fontsize="x-small", color=colour)
            for one, place, colour in zip(segments, places, colours, strict=True)
        ]
        if not segments:
            ax.set_xticks([])
            ax.text(0.5, 0.5, "no segment was tested", transform=ax.transAxes, ha="center", color=QUIET)


def _colour(one: AuditedSegment) -> str:
    return _COLOURS.get(one.direction, BOTH) if one.significant else QUIET


def _note(one: AuditedSegment) -> str:
    words = _WORDS[one.direction] if one.significant else "may be noise"
    return f"{words}, {sigmas_in_words(one.ecce_sigma)}\n{one.rows:,} rows"
