"""`trueup demo`: the whole story on real flights, or on simulated traffic where they are not installed."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trueup.cli._errors import after_writing
from trueup.cli._printing import print_json
from trueup.cli._typed import named_in_reports
from trueup.errors import DataFileError, FileError

if TYPE_CHECKING:
    from trueup.cli._demo_stories import Story

__all__ = ["demo"]

_OF_OLDER_DEMOS = ("model.trueup", "scored.parquet", "calibrated.parquet", "report.html")
_OWN = ("by-day", "in-time", "evaluation", "flights.parquet", "visits.parquet", *_OF_OLDER_DEMOS)


@named_in_reports()
def demo(data: str, rows: int, seed: int, folder: str, as_json: bool) -> None:
    """Tell the story, and leave its files behind."""
    from trueup._runtime import check_folder

    if os.path.exists(folder) and not os.path.isdir(folder):
        raise FileError(f"{folder!r} is not a folder. Name another one with --output.")
    check_folder(folder, _OWN)
    story = _told(data, rows, seed)
    files = _write(story, Path(folder))
    with after_writing():
        if as_json:
            print_json(_as_dict(story, files))
        else:
            from trueup.cli._demo_screen import print_story

            print_story(story, files)


def _told(data: str, rows: int, seed: int) -> Story:
    """The story of the data that was asked for; by default of flights, if they are installed."""
    from trueup.cli._demo_stories import flights_story, traffic_story

    if data == "traffic":
        return traffic_story(rows, seed)
    try:
        return flights_story(seed)
    except DataFileError as error:
        if data == "flights":
            raise
        print(f"{error} Simulated traffic takes their place.", file=sys.stderr)
        return traffic_story(rows, seed)


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
