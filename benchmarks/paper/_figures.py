"""The page's figures: drawn from tables that are already computed, as SVG to put into the page."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from typing import Any

from paper._comparison import COMPARED, HEADLINE, TABLE_METRICS, Figures, relative_improvement
from paper._metrics import METRICS
from paper._timing import TimingCell, by_method
from trueup.errors import DataFileError

__all__ = ["draw_ablations", "draw_errors", "draw_timing"]

# Black is replaced with the page's own colour of text; these are readable on light and dark.
_INK = "#000000"
_COLOURS = {
    HEADLINE: "#2f7fd1",
    "trueup": "#d1495b",
    "Isotonic": "#2a9d6f",
    "DFMC": "#e08214",
    "HKRR": "#9b5de5",
    "base_model": "#8a8a8a",
    "MCGrad": "#2f7fd1",
    "MCGrad_one_round": "#9b5de5",
    "MCGrad_no_unshrink": "#2a9d6f",
}
_MARKERS = {HEADLINE: "o", "trueup": "D", "Isotonic": "s", "DFMC": "^", "HKRR": "v", "base_model": "X"}
_WIDTH, _FONT_SIZE = 7.2, 8
_CLIPPED_AT = -100.0  # percent, as in the paper's figure


def draw_errors(figures: Figures, paper: Figures, tasks: Sequence[str]) -> str:
    """The paper's Figure 1: the MCE of each method on each task; hollow marks are the paper's."""
    figure, axes = _canvas(2, 1, height=1.4 + 0.75 * len(tasks))
    methods = [*COMPARED, "trueup"]
    for axis, name in zip(axes, ("mce_unspecified", "mce_prespecified"), strict=True):
        for place, task in enumerate(tasks):
            for offset, method in enumerate(methods):
                height = place + 0.12 * (offset - (len(methods) - 1) / 2)
                style: dict[str, Any] = {"marker": _MARKERS[method], "color": _COLOURS[method], "linestyle": "none"}
                if (task, method) in paper:
                    theirs = paper[task, method][name]
                    axis.plot(theirs, height, markerfacecolor="none", markersize=4, alpha=0.6, **style)
                if (task, method) in figures:
                    axis.plot(figures[task, method][name], height, markersize=5, **style)
        axis.set_xscale("log")
        _plain_ticks(axis.xaxis)
        axis.set_yticks(range(len(tasks)), tasks)
        axis.set_ylim(len(tasks) - 0.5, -0.5)
        _title(axis, METRICS[name].label)
        axis.grid(axis="x", which="major", color=_INK, alpha=0.12)
        for border in range(1, len(tasks)):
            axis.axhline(border - 0.5, color=_INK, alpha=0.12, linewidth=0.6)
    _legend(figure, [(method, _MARKERS[method]) for method in methods])
    return _svg(figure, "errors")


def draw_ablations(figures: Figures, tasks: Sequence[str]) -> str:
    """The paper's Figure 2: by how many percent each variant is better than MCGrad, clipped at twice as bad."""
    figure, axes = _canvas(2, 2, height=1.6 + 0.5 * len(tasks))
    variants = ("MCGrad_one_round", "MCGrad_no_unshrink", HEADLINE)
    for axis, name in zip(axes.flat, TABLE_METRICS, strict=True):
        for place, task in enumerate(tasks):
            for offset, variant in enumerate(variants):
                change = relative_improvement(figures, name, task, variant, "MCGrad")
                height = place + 0.24 * (offset - 1)
                axis.barh(height, max(change, _CLIPPED_AT), 0.22, color=_COLOURS[variant])
        axis.axvline(0, color=_INK, linewidth=0.8)
        axis.set_yticks(range(len(tasks)), tasks)
        axis.set_ylim(len(tasks) - 0.5, -0.5)
        _title(axis, f"{METRICS[name].label}: better by %")
        axis.grid(axis="x", color=_INK, alpha=0.12)
    for axis in axes[:, 1]:
        axis.set_yticklabels([])
    _legend(figure, [(variant, "s") for variant in variants])
    return _svg(figure, "ablations")


def draw_timing(cells: Sequence[TimingCell]) -> str:
    """The paper's Figure 3: microseconds a row by the number of groups."""
    figure, axes = _canvas(1, 2, height=3.0)
    for axis, part in zip(axes, ("fit", "predict"), strict=True):
        for method, own in by_method(cells).items():
            times = [getattr(cell, f"{part}_microseconds") for cell in own]
            axis.plot([cell.n_groups for cell in own], times, marker="o", color=_COLOURS[method])
        axis.set_xscale("log")
        axis.set_yscale("log")
        _plain_ticks(axis.xaxis)
        _plain_ticks(axis.yaxis)
        _title(axis, f"µs a row to {part}, by the number of groups")
        axis.grid(color=_INK, alpha=0.12)
    _legend(figure, [(method, "o") for method in by_method(cells)])
    return _svg(figure, "timing")


def _canvas(rows: int, columns: int, height: float) -> tuple[Any, Any]:
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise DataFileError("The page needs matplotlib and jinja2: pip install matplotlib jinja2.") from None
    figure = Figure(figsize=(_WIDTH, height), layout="constrained")
    axes = figure.subplots(rows, columns)
    for axis in getattr(axes, "flat", [axes]):
        axis.spines[["top", "right"]].set_visible(False)
        axis.tick_params(labelsize=_FONT_SIZE)
    return figure, axes


def _title(axis: Any, text: str) -> None:
    axis.set_title(text, loc="left", fontsize=_FONT_SIZE + 1)


def _plain_ticks(axis: Any) -> None:
    """Whole powers of ten and their halves and doubles, as plain numbers."""
    from matplotlib.ticker import LogLocator, NullFormatter

    axis.set_major_locator(LogLocator(subs=(1, 2, 5), numticks=20))
    axis.set_major_formatter(lambda value, _: f"{value:,.6g}")
    axis.set_minor_formatter(NullFormatter())


def _legend(figure: Any, entries: Sequence[tuple[str, str]]) -> None:
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], color=_COLOURS[name], marker=marker, linestyle="none", label=name) for name, marker in entries
    ]
    figure.legend(handles=handles, loc="outside upper left", ncol=3, frameon=False, fontsize=_FONT_SIZE)


def _svg(figure: Any, name: str) -> str:
    """The figure as an element of a page: its size comes from the page, its ink too."""
    import matplotlib

    buffer = io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": name}):
        figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    text = buffer.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r'<svg([^>]*?) width="[^"]*"', r"<svg\1", text, count=1)
    text = re.sub(r'<svg([^>]*?) height="[^"]*"', r'<svg\1 role="img"', text, count=1)
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    # Text without a fill of its own is black, not the page's ink.
    text = text.replace("<text ", '<text fill="currentColor" ')
    return text.replace(_INK, "currentColor")
