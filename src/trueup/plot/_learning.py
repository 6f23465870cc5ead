"""The loss, round by round."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from trueup.errors import ParameterError
from trueup.plot._axes import BAD, GOOD, QUIET, checked_axes, require_matplotlib, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class LearningCurveDisplay:
    """Log loss after each round, on training and on validation rows, with the kept round marked.

    Make it with `from_estimator`.

    Parameters
    ----------
    rounds : sequence of int
        The rounds; 0 is the base model.
    train_loss, validation_loss : sequence of float
        The loss on the training rows, which grow the trees, and on the validation rows, which judge them; NaN if none.
    n_rounds : int
        How many rounds were kept.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it is drawn.
    train_line_, validation_line_ : matplotlib Line2D
        The two losses; the second is None without validation rows.
    kept_line_, kept_text_ : matplotlib Line2D and Text
        The vertical line at the kept round, and what it says.

    Examples
    --------
    >>> from trueup import MCGrad
    >>> from trueup.datasets import make_traffic
    >>> from trueup.plot import LearningCurveDisplay
    >>> visits = make_traffic(5_000)
    >>> model = MCGrad(validation=0.3, max_rounds=3).fit(visits.X, visits.y, scores=visits.scores)
    >>> display = LearningCurveDisplay.from_estimator(model)
    >>> display.n_rounds == model.n_rounds_
    True
    """

    def __init__(
        self,
        rounds: Sequence[int],
        train_loss: Sequence[float],
        validation_loss: Sequence[float],
        *,
        n_rounds: int,
    ) -> None:
        self.rounds = tuple(rounds)
        self.train_loss = tuple(train_loss)
        self.validation_loss = tuple(validation_loss)
        self.n_rounds = n_rounds

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Axes | None = None) -> LearningCurveDisplay:
        """Draw how a fit went.

        Parameters
        ----------
        estimator : MCGrad
            A fitted estimator.
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        LearningCurveDisplay
            The display, drawn.
        """
        require_matplotlib()
        history = getattr(estimator, "history_", None)
        if not history:
            raise ParameterError(
                f"This {type(estimator).__name__} has no history of rounds. Pass an MCGrad that was fitted, or loaded "
                "with MCGrad.load."
            )
        losses = [(one.number, one.train_loss, one.validation_loss) for one in history]
        rounds, train, validation = zip(*losses, strict=True)
        return cls(rounds, train, validation, n_rounds=estimator.n_rounds_).plot(ax)

    def plot(self, ax: Axes | None = None) -> LearningCurveDisplay:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        LearningCurveDisplay
            The display itself.
        """
        ax = checked_axes(ax, 6.0, 3.8)
        from matplotlib.ticker import MaxNLocator

        tidy(ax)
        ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
        ax.ticklabel_format(axis="y", useOffset=False)
        ax.set_xlabel("Round (0 is the base model)")
        ax.set_ylabel("Log loss (mean per row)")
        ax.margins(x=0.02, y=0.1)
        looks: dict[str, Any] = {"ms": 4, "lw": 1.5}
        (self.train_line_,) = ax.plot(
            self.rounds, self.train_loss, color=QUIET, marker="o", label="training rows", **looks
        )
        self.validation_line_: Any = None
        if not all(math.isnan(loss) for loss in self.validation_loss):
            (self.validation_line_,) = ax.plot(
                self.rounds, self.validation_loss, color=GOOD, marker="s", label="validation rows", **looks
            )
        self._mark_kept(ax)
        last = self.rounds[-1]
        ax.set_xlim(-0.03 * max(last, 1), last + 0.03 * max(last, 1))
        ax.legend(frameon=False, fontsize="small")
        self.ax_, self.figure_ = ax, ax.get_figure(root=True)
        return self

    def _mark_kept(self, ax: Axes) -> None:
        at = self.n_rounds
        self.kept_line_ = ax.axvline(at, color=BAD, lw=1, ls="--", zorder=1)
        words = {0: "no round kept: the scores stay as they are", 1: "1 round kept"}.get(at, f"{at} rounds kept")
        right_half = at > self.rounds[-1] / 2
        self.kept_text_ = ax.annotate(
            words,
            xy=(at, 0),
            xycoords=ax.get_xaxis_transform(),
            xytext=(-4 if right_half else 4, 4),
            textcoords="offset points",
            ha="right" if right_half else "left",
            va="bottom",
            fontsize="small",
            color=BAD,
        )
