"""The demo on a screen."""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trueup.cli._evaluate_screen import VERDICT_STYLES, draw_numbers, draw_verdict, verdict_in_words
from trueup.cli._printing import percent, screen, shown

if TYPE_CHECKING:
    from rich.console import Console

    from trueup.cli._demo_stories import Act, PlantedSegment, Story

__all__ = ["print_story"]

_BAR_WIDTH = 12
_WIDTH_WITH_BARS = 96
_WORSE, _BETTER = "red", "green"
_IN_BRIEF = ("log_loss", "auroc", "ece")


def print_story(story: Story, files: dict[str, str]) -> None:
    """Show the story on stdout; it ends with the verdict and the report's path."""
    console = screen()
    console.print(story.title, style="bold cyan")
    console.print(story.told)
    *earlier, last = story.acts
    for number, act in enumerate(earlier, 1):
        console.print()
        console.print(f"{number}. {act.question}", style="bold")
        _draw_in_brief(console, act, files)
    console.print()
    console.print(f"{len(story.acts)}. {last.question}" if earlier else last.question, style="bold")
    if story.segments:
        console.print(_segment_table(story.segments, with_bars=console.width >= _WIDTH_WITH_BARS))
        note = " Error: mean score minus true rate, in percentage points; the truth is known, for it is simulated."
        console.print(note, style="dim")
        console.print()
    draw_numbers(console, last.evaluation)
    console.print()
    if story.moral:
        console.print(story.moral)
        console.print()
    _draw_commands(console, story, files)
    console.print()
    draw_verdict(console, last.evaluation, _files_of(last, files))


def _files_of(act: Act, files: dict[str, str]) -> dict[str, str]:
    return {name.removeprefix(f"{act.folder}/"): path for name, path in files.items() if name.startswith(act.folder)}


def _draw_in_brief(console: Console, act: Act, files: dict[str, str]) -> None:
    from trueup.metrics import METRICS

    evaluation = act.evaluation
    metrics = {row["metric"]: row for row in evaluation.comparison.to_dict(0)["metrics"]}
    changes = [
        f"{METRICS[name].label} {metrics[name]['base']:.4f} → {metrics[name]['candidate']:.4f}" for name in _IN_BRIEF
    ]
    split = str(evaluation.split)
    console.print(f"   {split[0].upper()}{split[1:]}.")
    console.print(f"   {', '.join(changes)}.")
    console.print(f"   {verdict_in_words(evaluation)}", style=VERDICT_STYLES[evaluation.verdict])
    report = _files_of(act, files).get("report.html")
    if report:
        console.print(f"   The report: {shown(report)}", soft_wrap=True)


def _segment_table(segments: tuple[PlantedSegment, ...], with_bars: bool) -> Any:
    from rich.table import Table

    table = Table(box=None, padding=(0, 1), header_style="cyan")
    table.add_column("Where it is wrong by design", no_wrap=True)
    table.add_column("Visits", justify="right", no_wrap=True)
    table.add_column("True rate", justify="right", no_wrap=True)
    for when in ("before", "after"):
        if with_bars:
            table.add_column("Error", justify="right", no_wrap=True)
            table.add_column(when, width=_BAR_WIDTH)
        else:
            table.add_column(f"Error {when}", justify="right")
    errors = [abs(error) for segment in segments for error in (segment.error_before, segment.error_after)]
    largest = max([*errors, 1e-9])
    for segment in segments[:-1]:
        _add_segment(table, segment, largest if with_bars else None)
    _add_segment(table, segments[-1], largest if with_bars else None, style="dim")
    return table


def _add_segment(table: Any, segment: PlantedSegment, largest: float | None, style: str = "") -> None:
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


def _draw_commands(console: Console, story: Story, files: dict[str, str]) -> None:
    """What to try next, on the same rows."""
    program, table = _program(), shlex.quote(files[story.table_name])
    model = shlex.quote(files[f"{story.acts[-1].folder}/model.trueup"])
    split = "--time date --test-size 0.15 " if len(story.acts) > 1 else "--refit "
    out = shlex.quote(files[story.table_name].removesuffix(story.table_name).rstrip("/") + "-again")
    console.print("Try next:")
    for line in (
        f"{program} audit {table} {story.options}",
        f"{program} evaluate {table} {story.options} {split}-o {out}",
        f"{program} inspect {model}",
    ):
        console.print(f"  {line}", style="bold", soft_wrap=True)


def _points(share: float) -> str:
    """A share in signed percentage points; what rounds to zero has no sign."""
    return "0.0" if abs(share) < 0.0005 else f"{100 * share:+.1f}".replace("-", "−")


def _program() -> str:
    """How to call this program from here: by its name if the shell finds it, else by the path that was used."""
    if shutil.which("trueup") is not None or Path(sys.argv[0]).name != "trueup":
        return "trueup"
    return shlex.quote(sys.argv[0])
