"""The options of `trueup diagnose`."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from trueup.cli._diagnose import DiagnoseRequest, diagnose
from trueup.cli._files import Reading
from trueup.cli._options import INPUT_FILES, AsJson, Delimiter, InputFormat, Jobs, Positive, Work, refuse_both

__all__ = ["diagnose_command"]


def diagnose_command(
    table: Annotated[str, typer.Argument(help=f"Rows to fit on: {INPUT_FILES}")],
    *,
    label: Annotated[str, typer.Option("--label", help="The column of labels: two classes of any type.")],
    score: Annotated[str | None, typer.Option("--score", help="The column of the model's probabilities.")] = None,
    weight: Annotated[str | None, typer.Option("--weight", help="The column of sample weights.")] = None,
    positive: Positive = None,
    test: Annotated[str | None, typer.Option("--test", help="Rows to test on, in a table of the same columns.")] = None,
    input_format: InputFormat = None,
    delimiter: Delimiter = None,
    features: Annotated[
        list[str] | None, typer.Option("--features", help="Columns to look at, as a,b; all others by default.")
    ] = None,
    drop: Annotated[
        list[str] | None,
        typer.Option("--drop", help="Columns to leave out, as a,b, such as the one that rows were split by."),
    ] = None,
    categorical: Annotated[
        list[str] | None,
        typer.Option(
            "--categorical",
            help="Columns of numbers that are categories, as a,b; strings and booleans are anyway.",
        ),
    ] = None,
    max_rows: Annotated[
        int, typer.Option(min=100, help="Rows drawn for the classifier that tries to tell the tables apart.")
    ] = 50_000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the draws and folds.")] = 0,
    jobs: Jobs = None,
    as_json: AsJson = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress and no findings.")] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="End with exit code 5 if there is a warning or an error; notes are fine.")
    ] = False,
) -> Work:
    """Show what is wrong with rows before anything is fitted or tested on them."""
    refuse_both(features=features, drop=drop)
    request = DiagnoseRequest(
        table=table,
        test=test,
        label=label,
        score=score,
        weight=weight,
        reading=Reading.of(input_format, delimiter),
        features=tuple(features or ()),
        drop=tuple(drop or ()),
        categorical=tuple(categorical or ()),
        as_json=as_json,
        quiet=quiet,
        strict=strict,
        positive=positive,
        options={"max_rows": max_rows, "random_state": seed, "n_jobs": jobs},
    )
    return partial(diagnose, request)
