"""The options of `trueup compare`."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from trueup.cli._compare import CompareRequest, FailOn, compare
from trueup.cli._files import STANDARD_STREAM, Reading
from trueup.cli._options import INPUT_FILES, AsJson, Delimiter, Html, InputFormat, Jobs, Positive, Work, refuse_both
from trueup.cli._rules import Guardrails, Primary, PrimaryMetric, Significance, rules_of

__all__ = ["compare_command"]

_ASK, _SEARCH, _SHOW, _GATE = "Which segments", "The draws", "The answer", "For scripts"


def compare_command(
    table: Annotated[str, typer.Argument(help=f"Rows that both models scored: {INPUT_FILES}")],
    *,
    label: Annotated[str, typer.Option("--label", help="The column of labels: two classes of any type.")],
    base: Annotated[str, typer.Option("--base", help="The column of the base model's probabilities.")],
    candidate: Annotated[str, typer.Option("--candidate", help="The column of the candidate's probabilities.")],
    weight: Annotated[str | None, typer.Option("--weight", help="The column of sample weights.")] = None,
    group: Annotated[
        str | None,
        typer.Option("--group", help="A column such as a user's id: rows with the same value are resampled together."),
    ] = None,
    positive: Positive = None,
    input_format: InputFormat = None,
    delimiter: Delimiter = None,
    primary: Primary = PrimaryMetric.LOG_LOSS,
    guardrail: Guardrails = None,
    significance: Significance = 0.05,
    features: Annotated[
        list[str] | None,
        typer.Option(
            "--features",
            help="Columns that segments are made of, as a,b; all others by default.",
            rich_help_panel=_ASK,
        ),
    ] = None,
    drop: Annotated[
        list[str] | None,
        typer.Option("--drop", help="Columns that no segment is made of, as a,b.", rich_help_panel=_ASK),
    ] = None,
    categorical: Annotated[
        list[str] | None,
        typer.Option(
            "--categorical",
            help="Columns of numbers that are categories, as a,b; strings and booleans are anyway.",
            rich_help_panel=_ASK,
        ),
    ] = None,
    max_depth: Annotated[
        int, typer.Option(min=0, help="The most columns that a segment combines.", rich_help_panel=_ASK)
    ] = 3,
    max_values: Annotated[
        int,
        typer.Option(
            min=2,
            help="Into how many values a column is cut: the most frequent categories and the rest, or quantiles.",
            rich_help_panel=_ASK,
        ),
    ] = 3,
    min_rows: Annotated[int, typer.Option(min=1, help="The fewest rows of a segment.", rich_help_panel=_ASK)] = 10,
    n_bootstrap: Annotated[
        int,
        typer.Option("--bootstrap", min=0, help="How often rows are drawn again.", rich_help_panel=_SEARCH),
    ] = 1000,
    null_samples: Annotated[
        int,
        typer.Option(
            min=0,
            help="How often the search is repeated on differences of equally good models.",
            rich_help_panel=_SEARCH,
        ),
    ] = 200,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the draws.", rich_help_panel=_SEARCH)] = 0,
    jobs: Jobs = None,
    top: Annotated[int, typer.Option(min=0, help="How many segments to show.", rich_help_panel=_SHOW)] = 10,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            help="Write all segments to this table: .csv, .parquet, .arrow, or - for CSV on stdout and no text.",
            rich_help_panel=_SHOW,
        ),
    ] = None,
    html: Html = None,
    as_json: AsJson = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress and no summary.")] = False,
    fail_on: Annotated[
        FailOn | None,
        typer.Option(
            help="End with exit code 5 on this verdict, or on any but ship.",
            rich_help_panel=_GATE,
        ),
    ] = None,
) -> Work:
    """Say whether a candidate model should replace the base: ship, keep or inconclusive, and why."""
    refuse_both(features=features, drop=drop)
    if as_json and output == STANDARD_STREAM:
        raise typer.BadParameter("the table goes to stdout, so JSON can't", param_hint="--json")
    options = {
        "significance": significance,
        "max_depth": max_depth,
        "max_values": max_values,
        "min_rows": min_rows,
        "n_bootstrap": n_bootstrap,
        "null_samples": null_samples,
        "random_state": seed,
        "n_jobs": jobs,
        "verbose": 0 if quiet else 1,
        **rules_of(primary, guardrail),
    }
    request = CompareRequest(
        table=table,
        label=label,
        base=base,
        candidate=candidate,
        weight=weight,
        group=group,
        reading=Reading.of(input_format, delimiter),
        features=tuple(features or ()),
        drop=tuple(drop or ()),
        categorical=tuple(categorical or ()),
        top=top,
        output=output,
        html=html,
        as_json=as_json,
        quiet=quiet,
        fail_on=fail_on,
        positive=positive,
        options=options,
    )
    return partial(compare, request)
