"""A comparison on a screen."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from trueup.cli._printing import (
    facts,
    in_plural,
    p_value_in_words,
    percent,
    plain_table,
    print_places,
    screen,
    shown,
    signed,
)

if TYPE_CHECKING:
    from rich.console import Console

    from trueup.cli._answer import Answer
    from trueup.comparison import Comparison

__all__ = ["VERDICTS", "print_comparison"]

VERDICTS = {
    "ship": "Ship the candidate.",
    "keep": "Keep the base.",
    "inconclusive": "Inconclusive: these rows support neither shipping nor keeping.",
}
_COLOURS = {"ship": "green", "keep": "red", "inconclusive": "yellow"}
_WIDTH_OF_A_TABLE = 72


def print_comparison(heading: str, result: Comparison, seconds: float, top: int, to: Answer) -> None:
    """Show a comparison on stdout."""
    from rich.padding import Padding

    console, found = screen(), result.to_dict(0)
    console.print(shown(heading), style="bold", soft_wrap=True)
    console.print(facts(_facts(result, seconds)))
    console.print()
    console.print(VERDICTS[result.verdict], style=f"bold {_COLOURS[result.verdict]}")
    for reason in result.reasons:
        mark, text = "✓" if reason.holds else "✗", shown(reason.text)
        console.print(Padding(f"{mark} {text}", (0, 0, 0, 2)))
    console.print()
    console.print(_metrics(found["metrics"]))
    if result.n_segments and top:
        console.print()
        _print_segments(console, result._rows_of(result._listing.ranked(top)), result.null_samples)
    _print_notes(console, result)
    print_places(console, to)


def _facts(result: Comparison, seconds: float) -> list[tuple[str, Any]]:
    rows = f"{result.n:,}"
    if result.n_groups != result.n:
        rows += f" in {result.n_groups:,} groups"
    predicted = f"base {percent(result.mean_base)}, candidate {percent(result.mean_candidate)}"
    found: list[tuple[str, Any]] = [
        ("Rows", f"{rows}, compared in {seconds:.1f} s"),
        ("Base rate", f"predicted by {predicted}; observed {percent(result.prevalence)}"),
    ]
    if result.n_segments:
        words = (
            f"{result.n_segments:,} tested: {result.n_gaining:,} get significantly better, {result.n_harmed:,} worse"
        )
        if result.n_left_out:
            words += f"; {result.n_left_out:,} left out, because the two models hardly differ there"
        found.append(("Segments", words))
    if result.classes not in ((0, 1), (False, True)):
        found.append(("Positive class", shown(repr(result.classes[1]))))
    return found


def _metrics(metrics: list[dict[str, Any]]) -> Any:
    from trueup.metrics import METRICS

    table = plain_table("=Metric", ">Base", ">Candidate", ">Difference", ">Interval", "=Outcome")
    for metric in metrics:
        known = METRICS[metric["metric"]]
        digits = 1 if known.unit else 5
        low, high = (signed(metric[end], digits) for end in ("low", "high"))
        values = (_number(metric[name], digits) for name in ("base", "candidate"))
        table.add_row(
            f"{known.title},{known.unit}" if known.unit else known.title,
            *values,
            signed(metric["difference"], digits),
            "–" if metric["low"] is None else f"{low} … {high}",
            metric["outcome"] if metric["low"] is not None else "–",
            style="dim" if metric["role"] == "shown" else "",
        )
    return table


def _print_segments(console: Console, segments: list[dict[str, Any]], n_draws: int) -> None:
    if console.width < _WIDTH_OF_A_TABLE:
        for row in segments:
            chance = p_value_in_words(row["adjusted_p_value"], n_draws)
            numbers = f"{row['rows']:,} rows, {signed(row['difference'], 5)}, p {chance}"
            console.print(f"{shown(row['segment'])}: {numbers}, {row['outcome']}")
        return
    table = plain_table("Segment", ">Rows", ">Difference", ">p", "=Outcome")
    for row in segments:
        table.add_row(
            shown(row["segment"]),
            f"{row['rows']:,}\n{percent(row['share'])}",
            signed(row["difference"], 5),
            p_value_in_words(row["adjusted_p_value"], n_draws),
            row["outcome"],
            style="bold" if row["outcome"] != "unclear" else "dim",
        )
    console.print(table)


def _print_notes(console: Console, result: Comparison) -> None:
    notes = [f"Differences: candidate minus base. Intervals: {100 * (1 - result.significance):g} %."]
    if result.n_segments:
        what = in_plural(result.null_samples, "search", "searches")
        drawn = f", against {what} among equally good models" if result.null_samples else ""
        notes.append(f"p: corrected for the search{drawn}. Segments that repeat others are not listed.")
    console.print(" ".join(notes), style="dim")


def _number(value: float | None, digits: int) -> str:
    return "–" if value is None or math.isnan(value) else f"{value:.{digits}f}"
