"""The options of `trueup audit`."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from trueup.cli._audit import AuditRequest, audit
from trueup.cli._files import STANDARD_STREAM, Reading
from trueup.cli._options import INPUT_TABLES, AsJson, Delimiter, Html, InputFormat, Jobs, Positive, Work, refuse_both

__all__ = ["audit_command"]

_ASK, _SEARCH, _SHOW, _GATE = "Which segments", "The search", "The answer", "For scripts"
_LARGE = "More data than memory"
_NULL_SAMPLES = 200


def audit_command(
    tables: Annotated[list[str], typer.Argument(help=f"Scored rows: {INPUT_TABLES}")],
    *,
    label: Annotated[
        str | None,
        typer.Option("--label", help="The column of labels: two classes of any type. Needed.", show_default=False),
    ] = None,
    score: Annotated[
        str | None,
        typer.Option("--score", help="The column of the model's probabilities. Needed.", show_default=False),
    ] = None,
    weight: Annotated[str | None, typer.Option("--weight", help="The column of sample weights.")] = None,
    positive: Positive = None,
    input_format: InputFormat = None,
    delimiter: Delimiter = None,
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
    by: Annotated[
        list[str] | None,
        typer.Option(
            "--by",
            help="Audit your own segments: every value of these columns, and every combination, as a,b.",
            rich_help_panel=_ASK,
        ),
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(
            "--where",
            help='Audit a segment of your own, such as "country = NO and age < 25"; may be given again.',
            metavar="CONDITION",
            rich_help_panel=_ASK,
        ),
    ] = None,
    discover: Annotated[
        bool,
        typer.Option(
            "--discover",
            help="Let trees look beyond the grid too: they search one half of the rows, the other half tests.",
            rich_help_panel=_ASK,
        ),
    ] = False,
    max_depth: Annotated[
        int | None,
        typer.Option(min=0, help="The most columns that a segment combines; 3 by default.", rich_help_panel=_SEARCH),
    ] = None,
    max_values: Annotated[
        int | None,
        typer.Option(
            min=2,
            help="Into how many values a column is cut: the most frequent categories and the rest, or quantiles; "
            "3 by default, and with --by as many as there are.",
            rich_help_panel=_SEARCH,
        ),
    ] = None,
    min_rows: Annotated[int, typer.Option(min=1, help="The fewest rows of a segment.", rich_help_panel=_SEARCH)] = 10,
    max_segments: Annotated[
        int | None,
        typer.Option(min=1, help="Test the first so many segments only; all by default.", rich_help_panel=_SEARCH),
    ] = None,
    null_samples: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="How often the search is repeated on labels drawn from the scores, to learn what noise shows; "
            "200 by default.",
            rich_help_panel=_SEARCH,
        ),
    ] = None,
    significance: Annotated[
        float,
        typer.Option(
            "--significance",
            help="How often a search may find a wrong segment where every score is right: 0.05 is 5 %.",
            rich_help_panel=_SEARCH,
        ),
    ] = 0.05,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the draws and halves.", rich_help_panel=_SEARCH)] = 0,
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
    fail_above: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            help="End with exit code 5 if the MCE is above so many sigmas.",
            metavar="SIGMA",
            rich_help_panel=_GATE,
        ),
    ] = None,
    stream: Annotated[
        bool,
        typer.Option(
            "--stream",
            help="Read a file batch by batch, in memory that doesn't grow with it, as folders, patterns and several "
            "files always are. Each ECCE is then known up to a range.",
            rich_help_panel=_LARGE,
        ),
    ] = False,
    save_sketch: Annotated[
        str | None,
        typer.Option(
            "--save-sketch",
            help="Save the sketch: all that an audit needs of the rows, in a file of fixed size.",
            metavar="FILE",
            rich_help_panel=_LARGE,
        ),
    ] = None,
    sketches: Annotated[
        bool,
        typer.Option(
            "--sketches",
            help="The tables are saved sketches, each of other rows: audit them together.",
            rich_help_panel=_LARGE,
        ),
    ] = False,
    fail_on_significant: Annotated[
        bool,
        typer.Option(
            "--fail-on-significant",
            help="End with exit code 5 if any segment is significantly wrong.",
            rich_help_panel=_GATE,
        ),
    ] = False,
) -> Work:
    """Show where scores are wrong, by how much, and whether that is more than noise."""
    if not sketches:
        for option, value in (("--label", label), ("--score", score)):
            if value is None:
                raise typer.BadParameter("name the column", param_hint=option)
    refuse_both(features=features, drop=drop)
    refuse_both(by=by, where=where, discover=discover)
    refuse_both(features=features, drop=drop, by=by)
    refuse_both(features=features, drop=drop, where=where)
    if as_json and output == STANDARD_STREAM:
        raise typer.BadParameter("the table goes to stdout, so JSON can't", param_hint="--json")
    needs_rows = {
        "--where": where,
        "--discover": discover,
        "--html": html,
        "--max-segments": max_segments,
        "--null-samples": null_samples,
    }
    options = {
        "min_rows": min_rows,
        "max_segments": max_segments,
        "null_samples": _NULL_SAMPLES if null_samples is None else null_samples,
        "significance": significance,
        "random_state": seed,
        "n_jobs": jobs,
        "verbose": 0 if quiet else 1,
    }
    request = AuditRequest(
        tables=tuple(tables),
        label=label or "",
        score=score or "",
        weight=weight,
        reading=Reading.of(input_format, delimiter),
        features=tuple(features or ()),
        drop=tuple(drop or ()),
        categorical=tuple(categorical or ()),
        by=tuple(by or ()),
        where=tuple(where or ()),
        discover=discover,
        max_depth=max_depth,
        max_values=max_values,
        top=top,
        output=output,
        html=html,
        as_json=as_json,
        quiet=quiet,
        fail_above=fail_above,
        fail_on_significant=fail_on_significant,
        stream=stream,
        sketches=sketches,
        save_sketch=save_sketch,
        needs_rows=tuple(option for option, value in needs_rows.items() if value is not None and value is not False),
        options=options,
        positive=positive,
    )
    return partial(audit, request)
