"""The charts as Vega-Lite specifications without data: the page's script fills them in.

Colours are the page's CSS variables, so that dark mode and printing need no second chart.
"""

from __future__ import annotations

import functools
from typing import Any

# The page has one or two sets of scores; the script names each by its role, so that no text of a user is in a chart.
SERIES_ROLES = ("first", "second")
_COLOURS = ("var(--first)", "var(--second)")
_DASHES = ([5, 3], [1, 0])
_SHAPES = ("circle", "diamond")
_HEIGHT = 240
# The page's own, by name: Vega measures texts with it to place them.
_FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", Arial, sans-serif'


@functools.cache
def chart_specifications() -> dict[str, Any]:
    """The specification of every kind of chart, by name."""
    import altair as alt

    return {"reliability": _reliability(alt), "cumulative": _cumulative(alt), "rounds": _rounds(alt)}


def _reliability(alt: Any) -> dict[str, Any]:
    x = alt.X("score:Q", title="predicted (the score)", axis=alt.Axis(format=".2~%"), scale=alt.Scale(zero=True))
    y_title = "observed (rate of positives)"
    diagonal = (
        alt.Chart(alt.NamedData("diagonal"))
        .mark_line(color="var(--muted)", strokeDash=[2, 3], strokeWidth=1)
        .encode(x="score:Q", y="rate:Q")
    )
    base = alt.Chart(alt.NamedData("reliability"))
    whiskers = base.mark_rule(strokeWidth=2, opacity=0.35).encode(
        x=x, y=alt.Y("low:Q", title=y_title), y2="high:Q", color=_colour(alt)
    )
    line = base.mark_line(strokeWidth=1.75).encode(
        x=x,
        y=alt.Y("rate:Q", title=y_title, axis=alt.Axis(format=".2~%"), scale=alt.Scale(zero=True)),
        color=_colour(alt),
        strokeDash=_dash(alt),
    )
    points = base.mark_point(filled=True, size=45, opacity=1).encode(
        x=x,
        y=alt.Y("rate:Q", title=y_title),
        color=_colour(alt),
        shape=_shape(alt),
        tooltip=[
            alt.Tooltip("name:N", title="scores"),
            alt.Tooltip("score:Q", title="predicted", format=".2%"),
            alt.Tooltip("rate:Q", title="observed", format=".2%"),
            alt.Tooltip("low:Q", title="from", format=".2%"),
            alt.Tooltip("high:Q", title="to", format=".2%"),
        ],
    )
    about = "Observed against predicted rates, in bins of the score. On the diagonal the scores are true."
    return _specification(alt, alt.layer(diagonal, whiskers, line, points), about)


def _cumulative(alt: Any) -> dict[str, Any]:
    shares = [0, 0.25, 0.5, 0.75, 1]
    x = alt.X(
        "share:Q",
        title="rows, from the lowest score to the highest",
        axis=alt.Axis(format=".0%", values=shares),
        scale=alt.Scale(domain=[0, 1.1], nice=False),  # with room for the bars
    )
    y_title = "observed − predicted, so far"
    y = alt.Y("difference:Q", title=y_title, axis=alt.Axis(format=".2~%"))
    ranges = alt.Chart(alt.NamedData("ranges"))
    zero = ranges.mark_rule(color="var(--muted)", strokeDash=[2, 3]).encode(y=alt.Y("zero:Q", title=y_title))
    noise = ranges.mark_rule(color="var(--muted)", strokeWidth=11, opacity=0.3).encode(
        x=x, y=alt.Y("noiseLow:Q", title=y_title), y2="noiseHigh:Q"
    )
    swing = ranges.mark_rule(strokeWidth=3).encode(
        x=x,
        y=alt.Y("low:Q", title=y_title),
        y2="high:Q",
        color=_colour(alt),
        tooltip=[
            alt.Tooltip("name:N", title="scores"),
            alt.Tooltip("ecce:Q", title="ECCE", format=".2%"),
            alt.Tooltip("noise:Q", title="noise stays below", format=".2%"),
        ],
    )
    path = (
        alt.Chart(alt.NamedData("cumulative"))
        .mark_line(strokeWidth=1.75)
        .encode(x=x, y=y, color=_colour(alt), strokeDash=_dash(alt))
    )
    extremes = (
        alt.Chart(alt.NamedData("extremes"))
        .mark_point(filled=True, size=55, opacity=1)
        .encode(
            x=x,
            y=y,
            color=_colour(alt),
            shape=_shape(alt),
            tooltip=[
                alt.Tooltip("name:N", title="scores"),
                alt.Tooltip("share:Q", title="rows so far", format=".1%"),
                alt.Tooltip("difference:Q", title="observed − predicted", format="+.3%"),
            ],
        )
    )
    about = (
        "The running sum of observed minus predicted positives. At the right, how far it swings, and behind that "
        "how far noise alone swings."
    )
    return _specification(alt, alt.layer(zero, noise, swing, path, extremes), about)


def _rounds(alt: Any) -> dict[str, Any]:
    x = alt.X(
        "number:Q", title="round", axis=alt.Axis(format="d", grid=False, labelExpr="datum.value % 1 ? '' : datum.label")
    )
    base = alt.Chart(alt.NamedData("rounds"))
    y = alt.Y("loss:Q", title="log loss", scale=alt.Scale(zero=False))
    line = base.mark_line(strokeWidth=1.75).encode(x=x, y=y, color=_colour(alt), strokeDash=_dash(alt))
    points = base.mark_point(filled=True, size=40, opacity=1).encode(
        x=x,
        y=y,
        color=_colour(alt),
        shape=_shape(alt),
        tooltip=[
            alt.Tooltip("name:N", title="rows"),
            alt.Tooltip("number:Q", title="round", format="d"),
            alt.Tooltip("loss:Q", title="log loss", format=".5f"),
        ],
    )
    kept = (
        alt.Chart(alt.NamedData("kept"))
        .mark_rule(color="var(--muted)", strokeDash=[2, 3])
        .encode(x=alt.X("number:Q", title="round"))
    )
    about = "Log loss after each round. The dashed line marks the round that was kept."
    return _specification(alt, alt.layer(kept, line, points), about)


def _colour(alt: Any) -> Any:
    return alt.Color("role:N", scale=alt.Scale(domain=SERIES_ROLES, range=_COLOURS), legend=None)


def _dash(alt: Any) -> Any:
    return alt.StrokeDash("role:N", scale=alt.Scale(domain=SERIES_ROLES, range=_DASHES), legend=None)


def _shape(alt: Any) -> Any:
    return alt.Shape("role:N", scale=alt.Scale(domain=SERIES_ROLES, range=_SHAPES), legend=None)


def _specification(alt: Any, chart: Any, about: str) -> dict[str, Any]:
    """The chart as it fits into a page: as wide as its place, transparent, in the page's own type and colours."""
    styled = (
        chart.properties(width="container", height=_HEIGHT, description=about, background="transparent")
        .configure(autosize=alt.AutoSizeParams(type="fit", contains="padding"), font=_FONT)
        .configure_view(stroke=None)
        .configure_axis(
            labelColor="var(--muted)",
            titleColor="var(--muted)",
            gridColor="var(--line)",
            domainColor="var(--line)",
            tickColor="var(--line)",
            labelFontSize=11,
            titleFontSize=11,
            titleFontWeight="normal",
            tickCount=5,
        )
    )
    specification: dict[str, Any] = styled.to_dict(context={"pre_transform": False})
    return specification
