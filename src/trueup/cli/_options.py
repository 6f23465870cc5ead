"""Options that several commands have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, TypeAlias

import typer

from trueup.cli._errors import EXIT_CODE_MEANINGS
from trueup.cli._files import Format

__all__ = [
    "EXIT_CODES",
    "INPUT_FILES",
    "INPUT_TABLES",
    "AsJson",
    "Delimiter",
    "Force",
    "Html",
    "InputFormat",
    "Jobs",
    "Positive",
    "Work",
    "refuse_both",
]

# What a command returns: its work, which may return an exit code.
Work: TypeAlias = Callable[[], int | None]

EXIT_CODES = "Exit codes: " + "; ".join(f"{int(code)} {meaning}" for code, meaning in EXIT_CODE_MEANINGS.items()) + "."
INPUT_FILES = ".parquet, .csv, .tsv (also .gz, .bz2, .zst), .arrow, .feather, .ipc, or - for stdin."
INPUT_TABLES = f"files, folders or patterns such as 'days/*.parquet'. {INPUT_FILES}"

AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]
Html: TypeAlias = Annotated[
    str | None,
    typer.Option("--html", help="Write a report here: one HTML page that opens in any browser.", metavar="FILE"),
]
Force: TypeAlias = Annotated[bool, typer.Option("--force", help="Replace what the output would overwrite.")]
Positive: TypeAlias = Annotated[
    str | None,
    typer.Option("--positive", help="The label that the scores are probabilities of; by default the greater one."),
]
Jobs: TypeAlias = Annotated[
    int | None,
    typer.Option("--jobs", help="Threads to use; by default all cores that the process may use."),
]
InputFormat: TypeAlias = Annotated[
    Format | None,
    typer.Option(help="The table's format, if neither its first bytes nor its ending tell; stdin is CSV by default."),
]
Delimiter: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--delimiter",
        help="What is between the columns of a CSV file, such as ; or tab; by default what its first lines suggest.",
        show_default=False,
    ),
]


def refuse_both(**options: object) -> None:
    """Refuse options of which one at most makes sense, if more are given; names are as in Python."""
    given = [f"--{name.replace('_', '-')}" for name, value in options.items() if value]
    if len(given) > 1:
        raise typer.BadParameter(f"use {' or '.join(given)}, not {_all(given)}", param_hint=given[-1])


def _all(given: list[str]) -> str:
    return "both" if len(given) == 2 else "all of them"
