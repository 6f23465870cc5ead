"""The demo's one screen, in a terminal and as a page."""

from __future__ import annotations

import io
import shlex
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trueup.cli._findings import in_plural
from trueup.cli._printing import percent, screen, shown

if TYPE_CHECKING:
    from rich.console import Console

    from trueup.cli._demo import DemoResult, Metric, Segment
    from trueup.cli._findings import Findings

__all__ = ["print_screen", "report_html"]

WIDTH = 100
_BAR_WIDTH = 12
_WIDTH_WITH_BARS = 96
_MORE_ROWS = 800_000
_WORSE, _BETTER = "red", "green"

# A format string: what rich fills in stands in single braces.
_PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>trueup demo: one model, before and after</title>
<style>
{stylesheet}
body {{ color: {foreground}; background-color: {background}; }}
body {{ margin: 2rem auto; width: max-content; max-width: 95vw; }}
h1 {{ font: 600 1.4rem system-ui, sans-serif; }}
pre {{ overflow-x: auto; }}
code {{ font: 15px/1.35 ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; }}
</style>
</head>
<body>
<h1>trueup demo: one model, before and after</h1>
<pre><code>{code}</code></pre>
</body>
</html>
"""


def print_screen(result: DemoResult, files: dict[str, str]) -> None:
    """Show the result on stdout."""
    _draw(screen(), result, files)


def report_html(result: DemoResult, files: dict[str, str]) -> str:
    """The same screen as a page."""
    from rich.console import Console
    from rich.terminal_theme import DEFAULT_TERMINAL_THEME

    recording = Console(
        record=True,
        width=WIDTH,
        file=io.StringIO(),
        force_terminal=True,
        color_system="standard",
        legacy_windows=False,
        highlight=False,
        markup=False,
        emoji=False,
    )
    _draw(recording, result, files)
    return recording.export_html(theme=DEFAULT_TERMINAL_THEME, code_format=_PAGE)


def _draw(console: Console, result: DemoResult, files: dict[str, str]) -> None:
    from rich.padding import Padding

    everything = result.everything
    promised = percent(everything.true_rate + everything.error_before)
    console.print(f"A click model before and after trueup, on {result.test_rows:,} visits", style="bold cyan")
    console.print(
        f"On the whole the model is right: it promises {promised} clicks, "
        f"and the truth is {percent(everything.true_rate)}."
    )
    console.print("Yet in these segments it is wrong, and nobody told trueup where they are:")
    console.print()
    console.print(_segment_table(result, with_bars=console.width >= _WIDTH_WITH_BARS))
    console.print(Padding(_note(result), (0, 1)), style="dim")
    console.print()
    console.print(_metric_table(result))
    console.print()
    _draw_audits(console, result)
    console.print()
    _draw_files(console, result, files)


def _note(result: DemoResult) -> str:
    meaning = "Error: mean score minus true rate, in percentage points."
    if result.rounds == 0:
        return f"{meaning} With so few visits no correction is certain, so none is made: try more --rows."
    advice = "The fewer visits a segment has, the more rows it takes to be sure of it"
    if result.fit_rows + result.test_rows < _MORE_ROWS:
        advice += f": see what --rows {_MORE_ROWS} does to the small ones"
    return f"{meaning} {advice}."


def _segment_table(result: DemoResult, with_bars: bool) -> Any:
    from rich.table import Table

    table = Table(box=None, padding=(0, 1), header_style="cyan")
    table.add_column("Segment", no_wrap=True)
    table.add_column("Visits", justify="right", no_wrap=True)
    table.add_column("True rate", justify="right", no_wrap=True)
    for when in ("before", "after"):
        if with_bars:
            table.add_column("Error", justify="right", no_wrap=True)
            table.add_column(when, width=_BAR_WIDTH)
        else:
            table.add_column(f"Error {when}", justify="right")
    errors = [abs(error) for segment in result.segments for error in (segment.error_before, segment.error_after)]
    largest = max([*errors, 1e-9])
    for segment in result.segments:
        _add_segment(table, segment, largest if with_bars else None)
    _add_segment(table, result.everything, largest if with_bars else None, style="dim")
    return table


def _add_segment(table: Any, segment: Segment, largest: float | None, style: str = "") -> None:
    from rich.bar import Bar

    improved = abs(segment.error_after) <= abs(segment.error_before)
    cells: list[Any] = [segment.words, f"{segment.rows:,}", percent(segment.true_rate)]
    for error, color in (
        (segment.error_before, _WORSE),
        (segment.error_after, _BETTER if improved else _WORSE),
    ):
        cells.append(_points(error))
        if largest is not None:
            cells.append(Bar(size=largest, begin=0, end=abs(error), width=_BAR_WIDTH, color=color))
    table.add_row(*cells, style=style)


def _metric_table(result: DemoResult) -> Any:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, 1), header_style="cyan")
    table.add_column("All visits", no_wrap=True)
    table.add_column("before", justify="right", no_wrap=True)
    table.add_column("after", justify="right", no_wrap=True)
    table.add_column("")
    names = ("log_loss", "average_precision", "ecce", "ecce_sigma", "ecce_pvalue")
    loss, ranking, error, sigma, chance = (result.metrics[name] for name in names)
    shares = f"{percent(chance.before, 0)} → {percent(chance.after, 0)}"
    rows = (
        (loss, "Log loss", "{:.4f}", f"lower is better: {_change(loss)}"),
        (ranking, "PRAUC", "{:.4f}", f"higher is better: {_change(ranking)}"),
        (error, "ECCE", "{:.4f}", "the most that any range of scores is off, as a share of all visits"),
        (sigma, "ECCE in sigma", "{:.1f} σ", f"true scores show as much or more in {shares} of cases"),
        (result.metrics["mce"], "MCE", "{:.1f} σ", f"the largest of {result.audits[0].result.n_segments:,} segments"),
    )
    for metric, name, how, remark in rows:
        table.add_row(name, how.format(metric.before), how.format(metric.after), Text(remark, style="dim"))
    return table


def _draw_audits(console: Console, result: DemoResult) -> None:
    before, after = result.audits
    found = f"before, {_significant_in_words(before)}; after, {_significant_in_words(after)}."
    if result.rounds == 0:
        found = f"before and after, {_significant_in_words(before)}."
    console.print(f"The audit, without being told where to look, of {before.result.n_segments:,} segments: {found}")
    if before.n_significant or after.n_significant:
        console.print(_story_table(result))


def _significant_in_words(findings: Findings) -> str:
    if findings.n_significant == 0:
        return "none is significantly wrong"
    verb = "is" if findings.n_significant == 1 else "are"
    stories = in_plural(findings.n_stories, "story", "stories")
    return f"{findings.n_significant:,} {verb} significantly wrong, in {stories}"


def _story_table(result: DemoResult) -> Any:
    from rich.table import Table

    table = Table(box=None, padding=(0, 1), header_style="cyan")
    table.add_column("", no_wrap=True, style="dim")
    table.add_column("Found", overflow="fold")
    for name in ("Visits", "Promised", "Observed", "σ"):
        table.add_column(name, justify="right", no_wrap=True)
    for when, findings in zip(("before", "after"), result.audits, strict=True):
        if when == "after" and result.rounds == 0:
            break
        stories = [finding for finding in findings.shown if finding.is_significant]
        for i, story in enumerate(stories):
            rates = (percent(story.mean_score), percent(story.observed_rate))
            table.add_row("" if i else when, story.segment, f"{story.rows:,}", *rates, f"{story.ecce_sigma:.1f}")
    return table


def _draw_files(console: Console, result: DemoResult, files: dict[str, str]) -> None:
    noun = "round" if result.rounds == 1 else "rounds"
    console.print(f"Fitted on {result.fit_rows:,} other visits: {result.rounds} {noun} in {result.seconds:.1f} s.")
    about = {
        "report.html": "this page",
        "model.trueup": "the model",
        "scored.parquet": "the visits above",
        "calibrated.parquet": "the same with the calibrated probabilities",
    }
    longest = max(len(shown(path)) for path in files.values())
    for name, what in about.items():
        console.print(f"  {shown(files[name]):{longest}}  {what}", soft_wrap=True)
    console.print()
    model, scored = shlex.quote(files["model.trueup"]), shlex.quote(files["scored.parquet"])
    again = shlex.quote(files["model.trueup"].removesuffix("model.trueup") + "again.csv")
    console.print("Try next:")
    program = _program()
    lines = (
        f"{program} inspect {model}",
        f"{program} audit {scored} --label label --score score --drop true_probability",
        f"{program} apply {scored} --model {model} -o {again}",
    )
    for line in lines:
        console.print(f"  {line}", style="bold", soft_wrap=True)


def _program() -> str:
    """How to call this program from here: by its name if the shell finds it, else by the path that was used."""
    if shutil.which("trueup") is not None or Path(sys.argv[0]).name != "trueup":
        return "trueup"
    return shlex.quote(sys.argv[0])


def _points(share: float) -> str:
    """A share in signed percentage points; what rounds to zero has no sign."""
    return "0.0" if abs(share) < 0.0005 else f"{100 * share:+.1f}".replace("-", "−")


def _change(metric: Metric) -> str:
    return f"{100 * (metric.after / metric.before - 1):+.1f} %".replace("-", "−")
