"""Segments before and after."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from trueup.auditing import AuditResult, audit
from trueup.errors import ParameterError
from trueup.plot._audited import AuditedSegment, segments_named, worst_segments
from trueup.plot._axes import BAD, GOOD, QUIET, checked_axes, require_matplotlib, sigmas_in_words, spread_out, wrapped
from trueup.plot._estimators import name_of, scores_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LABEL_WIDTH = 44
# The range of a Brownian motion on [0, 1] exceeds this one time in twenty.
_NOISE = 2.498
_LINE_HEIGHT = 0.033  # of a small line of text, as a share of the axes


@dataclass(frozen=True)
class Slope:
    """A segment's error before and after."""

    segment: str  # its conditions in words
    rows: int
    before: float  # ECCE in sigmas
    after: float
    significant: bool  # still wrong after, by more than noise explains, the search counted in


class SlopesDisplay:
    """How wrong segments were before and are after: a line for each, from left to right.

    It draws the worst segments before and the worst after, so that harm shows too: segments that got worse are grey,
    or of another colour if they are wrong by more than noise explains. Make it with `from_audits`, `from_predictions`
    or `from_estimator`.

    Parameters
    ----------
    slopes : sequence of slopes
        What is drawn, each with ``segment``, ``rows``, ``before``, ``after`` and ``significant``.
    names : tuple of two str
        What the two ends are called.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it is drawn.
    lines_, labels_ : lists of matplotlib Line2D and Text
        The lines, and at the left the segments in words, in the order of `slopes`.

    See Also
    --------
    SegmentsDisplay : The worst segments, predicted and observed.

    Examples
    --------
    >>> from trueup.datasets import make_traffic
    >>> from trueup.plot import SlopesDisplay
    >>> visits = make_traffic(20_000)
    >>> display = SlopesDisplay.from_predictions(
    ...     visits.y, visits.scores, visits.true_probability, visits.X, names=("base", "truth"), max_depth=2
    ... )
    >>> worst = display.slopes[0]
    >>> print(f"{worst.segment}: {worst.before:.1f} σ → {worst.after:.1f} σ")
    is_logged_in = false and referrer is missing: 9.4 σ → 2.6 σ
    """

    def __init__(self, slopes: Sequence[Slope], *, names: tuple[str, str] = ("before", "after")) -> None:
        self.slopes = tuple(slopes)
        self.names = names

    @classmethod
    def from_audits(
        cls,
        before: AuditResult,
        after: AuditResult,
        *,
        n_segments: int = 6,
        names: tuple[str, str] = ("before", "after"),
        ax: Axes | None = None,
    ) -> SlopesDisplay:
        """Draw the worst segments of two audits of the same rows.

        Parameters
        ----------
        before, after : AuditResult
            Two audits of the same rows and segments.
        n_segments : int, default=6
            How many of the worst before to draw, and half as many of the worst after if they are others.
        names : tuple of two str, default=("before", "after")
            What the two ends are called.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        SlopesDisplay
            The display, drawn.
        """
        require_matplotlib()
        if before.n != after.n:
            raise ParameterError(
                f"before is of {before.n:,} rows and after of {after.n:,}. Audit the same rows with both scores."
            )
        return cls(_slopes_between(before, after, n_segments), names=names).plot(ax)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        before: Any,
        after: Any,
        X: Any = None,
        *,
        n_segments: int = 6,
        names: tuple[str, str] = ("before", "after"),
        ax: Axes | None = None,
        **options: Any,
    ) -> SlopesDisplay:
        """Audit two scores of the same rows, and draw the worst segments.

        Parameters
        ----------
        y_true, before, after : array-like of shape (n,)
            Labels of two classes, or soft ones; and two probabilities of the positive class.
        X : table, optional
            The features that segments are made of.
        n_segments, names, ax : optional
            As in `from_audits`.
        **options : object
            Options of `trueup.audit`, such as ``segments``, ``sample_weight`` or ``max_depth``.

        Returns
        -------
        SlopesDisplay
            The display, drawn.
        """
        require_matplotlib()
        audits = (audit(X, y_true, scores, **options) for scores in (before, after))
        return cls.from_audits(*audits, n_segments=n_segments, names=names, ax=ax)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, scores: Any, names: tuple[str, str] | None = None, **options: Any
    ) -> SlopesDisplay:
        """Audit scores before and after an estimator calibrates them, and draw the worst segments.

        Parameters
        ----------
        estimator : fitted calibrator
            An `MCGrad` or what `trueup.load` gives.
        X, y, scores : table and array-like
            The rows, their labels, and the base model's scores: what was before.
        names : tuple of two str, optional
            What the two ends are called; "scores" and the estimator's class by default.
        **options : object
            Options of `from_predictions`.

        Returns
        -------
        SlopesDisplay
            The display, drawn.
        """
        called = ("scores", name_of(estimator, None)) if names is None else names
        return cls.from_predictions(y, scores, scores_of(estimator, X, scores), X, names=called, **options)

    def plot(self, ax: Axes | None = None) -> SlopesDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        SlopesDisplay
            The display itself.
        """
        ax = checked_axes(ax, 6.8, 5.2)
        slopes = self.slopes
        finite = [value for one in slopes for value in (one.before, one.after) if math.isfinite(value)]
        top = 1.08 * max([_NOISE, *finite])
        ax.set_ylim(0, top)
        ax.set_xlim(-0.04, 1.16)
        ax.set_xticks([0, 1], labels=self.names)
        ax.spines[["top", "right", "left"]].set_visible(False)
        ax.yaxis.tick_right()
        ax.yaxis.set_label_position("right")
        ax.set_ylabel("Error of the segment (ECCE, σ)")
        ax.axhspan(0, _NOISE, color=QUIET, alpha=0.12, lw=0, zorder=0)
        ax.text(
            1.15, 0.01 * top, "noise in one segment, 95 %", color=QUIET, fontsize="x-small", ha="right", va="bottom"
        )
        self.lines_ = []
        for one in slopes:
            worse = one.after > one.before
            colour = BAD if worse and one.significant else QUIET if worse else GOOD
            ends = [min(value, top) for value in (one.before, one.after)]  # infinite where nothing varies
            (line,) = ax.plot([0, 1], ends, marker="o", ms=4, lw=2 if colour == BAD else 1.3, color=colour)
            self.lines_.append(line)
        self._draw_labels(ax, top)
        self.ax_, self.figure_ = ax, ax.get_figure(root=True)
        return self

    def _draw_labels(self, ax: Axes, top: float) -> None:
        """The segments in words at the left, none over another, each joined to its line."""
        texts = [f"{wrapped(one.segment, _LABEL_WIDTH)}  {sigmas_in_words(one.before)}" for one in self.slopes]
        gaps = [(0.6 + text.count("\n") + 1) * _LINE_HEIGHT * top for text in texts]
        wanted = [min(one.before, top) for one in self.slopes]
        leader = {"arrowstyle": "-", "lw": 0.5, "relpos": (1, 0.5), "shrinkA": 1, "shrinkB": 3}
        self.labels_ = []
        for text, place, line, at in zip(texts, spread_out(wanted, gaps), self.lines_, wanted, strict=True):
            label = ax.annotate(
                text,
                xy=(0, at),
                xytext=(-0.1, place),
                ha="right",
                va="center",
                fontsize="x-small",
                color=line.get_color(),
                annotation_clip=False,
                arrowprops=leader | {"color": line.get_color()},
            )
            self.labels_.append(label)


def _slopes_between(before: AuditResult, after: AuditResult, n_segments: int) -> tuple[Slope, ...]:
    chosen = list(worst_segments(before, n_segments))
    known = {one.segment for one in chosen}
    chosen += [one for one in worst_segments(after, max(1, n_segments // 2)) if one.segment not in known]
    names = [one.segment for one in chosen]
    sides = [segments_named(audited, names) for audited in (before, after)]
    # An audit leaves out segments of too little variance, which depends on the scores.
    shared = [name for name in names if all(name in side for side in sides)]
    if not shared:
        raise ParameterError("The two audits share no segment. Audit the same rows and features with both scores.")
    return tuple(_slope(sides[0][name], sides[1][name]) for name in shared)


def _slope(before: AuditedSegment, after: AuditedSegment) -> Slope:
    return Slope(before.segment, before.rows, before.ecce_sigma, after.ecce_sigma, after.significant)
