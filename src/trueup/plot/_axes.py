"""What all plots share: axes, colours, limits, and words that fit."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from trueup.errors import MissingExtraError, ParameterError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's colours, which people with any kind of colour vision can tell apart; the lightest are left out.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
_MARKERS = ("o", "s", "D", "^", "v", "P")
GOOD, BAD, BOTH = _COLOURS[0], _COLOURS[1], _COLOURS[3]
QUIET = "#767676"
REFERENCE = "#9A9A9A"
_CURVE = "trueup-curve"


def require_matplotlib() -> None:
    """Say how to install matplotlib if it is not there."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise MissingExtraError('Plots need matplotlib, which is not installed: pip install "trueup[plot]".') from None


def new_axes(width: float, height: float, *, rows: int = 1, columns: int = 1) -> Any:
    """Axes in a figure of this size in inches; ``pyplot`` knows it, so notebooks show it."""
    require_matplotlib()
    import matplotlib.pyplot as plt

    _, axes = plt.subplots(rows, columns, figsize=(width, height), layout="constrained", squeeze=False)
    return axes if rows * columns > 1 else axes[0, 0]


def checked_axes(ax: Any, width: float, height: float) -> Axes:
    """The axes given, or new ones."""
    require_matplotlib()
    if ax is None:
        ax = new_axes(width, height)
    return ax  # type: ignore[no-any-return]


def checked_panels(axes: Any, n: int) -> list[Any]:
    """Axes in one list, if there are enough of them."""
    places = list(np.asarray(axes, dtype=object).ravel())
    if len(places) < n:
        raise ParameterError(f"axes has {len(places)} axes, and {n} panels are to be drawn. Pass more, or None.")
    return places


def tidy(ax: Axes) -> None:
    """Hide the frame at the top and the right."""
    ax.spines[["top", "right"]].set_visible(False)


def n_drawn(ax: Axes) -> int:
    """How many of our curves these axes hold already."""
    return sum(1 for line in ax.lines if line.get_gid() == _CURVE)


def next_colour(ax: Axes) -> str:
    """The colour of the next curve."""
    return _COLOURS[n_drawn(ax) % len(_COLOURS)]


def next_marker(ax: Axes) -> str:
    """The marker of the next curve, so that colour is not the only difference."""
    return _MARKERS[n_drawn(ax) % len(_MARKERS)]


def mark_as_curve(line: Any) -> None:
    """Let a later call know that this is one of our curves."""
    line.set_gid(_CURVE)


def child_of(ax: Axes, label: str) -> Any:
    """The axes inside of these that carry the label; None if there are none."""
    return next((child for child in ax.child_axes if child.get_label() == label), None)


def percent_axis(axis: Any) -> None:
    """Write shares as percentages, with no more digits than they need."""
    axis.set_major_formatter(lambda share, _: f"{round(100 * share, 9):g} %".replace("-", "−"))


def legend_if_named(ax: Axes, **where: Any) -> None:
    """Show a legend if any curve has a name."""
    handles, _ = ax.get_legend_handles_labels()
    if handles:
        handles.sort(key=lambda handle: handle.get_gid() != _CURVE)
        ax.legend(handles=handles, frameon=False, fontsize="small", **where)


def in_points(ax: Axes, x: float, y: float) -> Any:
    """A shift by some points, to add to a transformation."""
    from matplotlib.transforms import ScaledTranslation

    return ScaledTranslation(x / 72, y / 72, ax.get_figure(root=True).dpi_scale_trans)  # type: ignore[union-attr]


def wrapped(text: str, width: int, most_lines: int = 3) -> str:
    """A text in lines of this many characters, cut off with an ellipsis if there are too many."""
    # An unescaped "$" would begin a formula.
    return "\n".join(textwrap.wrap(text, width, max_lines=most_lines, placeholder=" …")).replace("$", r"\$")


def width_in_inches(ax: Axes) -> float:
    """How wide the axes are, as far as is known before the figure is laid out."""
    return ax.get_window_extent().width / ax.get_figure(root=True).dpi  # type: ignore[union-attr]


def sigmas_in_words(sigmas: float) -> str:
    """An error in sigmas; infinite where nothing varies."""
    return f"{sigmas:.1f} σ" if math.isfinite(sigmas) else "∞ σ"


def spread_out(places: Sequence[float], gaps: Sequence[float]) -> list[float]:
    """Places near those given, in the same order, each at least its gap above the one below it.

    Labels at these places don't overlap. Those that are too close to each other are spread around their middle.
    """
    from sklearn.isotonic import isotonic_regression

    if not len(places):
        return []
    order = np.argsort(places, kind="stable")
    heights = np.cumsum(np.asarray(gaps, dtype=np.float64)[order])  # of a pile without any space between
    # Less these heights, places must only not fall: the nearest such places are those of an isotonic regression.
    found = np.empty(len(places))
    found[order] = isotonic_regression(np.asarray(places, dtype=np.float64)[order] - heights) + heights
    return found.tolist()
