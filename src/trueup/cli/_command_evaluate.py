"""The options of `trueup evaluate`."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from trueup.cli._compare import FailOn
from trueup.cli._evaluate import EvaluateOptions, EvaluateRequest, evaluate
from trueup.cli._files import Reading
from trueup.cli._models import ModelSpec
from trueup.cli._options import INPUT_FILES, AsJson, Delimiter, Force, InputFormat, Jobs, Positive, Work, refuse_both
from trueup.cli._rules import Guardrails, Primary, PrimaryMetric, Significance, rules_of

__all__ = ["evaluate_command"]

_ROWS, _MODEL, _MANY, _GATE = "Which rows test", "The model", "Many models at once", "For scripts"


def evaluate_command(
    table: Annotated[
        str | None,
        typer.Argument(help=f"Scored rows, or a folder of such files, a model each: {INPUT_FILES}"),
    ] = None,
    *,
    output: Annotated[
        str, typer.Option("--output", "-o", help="The folder for the report, the model and the held-out rows.")
    ],
    label: Annotated[str | None, typer.Option("--label", help="The column of labels: two classes of any type.")] = None,
    score: Annotated[str | None, typer.Option("--score", help="The column of the model's probabilities.")] = None,
    weight: Annotated[str | None, typer.Option("--weight", help="The column of sample weights.")] = None,
    positive: Positive = None,
    input_format: InputFormat = None,
    delimiter: Delimiter = None,
    time: Annotated[
        str | None,
        typer.Option(
            "--time",
            help="Train on the earlier rows and test on the later ones, by this column of years, numbers or dates. It "
            "is no feature.",
            rich_help_panel=_ROWS,
        ),
    ] = None,
    group: Annotated[
        str | None,
        typer.Option(
            "--group",
            help="A column such as a user's id: rows with the same value are never separated, and intervals resample "
            "them together. With --time the split is in time all the same. It is not a feature.",
            rich_help_panel=_ROWS,
        ),
    ] = None,
    test_size: Annotated[
        float, typer.Option("--test-size", help="About what share of the rows tests.", rich_help_panel=_ROWS)
    ] = 0.3,
    features: Annotated[
        list[str] | None,
        typer.Option(
            "--features",
            help="Columns that segments are made of, as a,b; all others by default.",
            rich_help_panel=_MODEL,
        ),
    ] = None,
    drop: Annotated[
        list[str] | None,
        typer.Option("--drop", help="Columns that are no features, as a,b.", rich_help_panel=_MODEL),
    ] = None,
    categorical: Annotated[
        list[str] | None,
        typer.Option(
            "--categorical",
            help="Features of numbers that are categories, as a,b; strings and booleans are anyway.",
            rich_help_panel=_MODEL,
        ),
    ] = None,
    max_rounds: Annotated[int, typer.Option(min=0, help="The most rounds to fit.", rich_help_panel=_MODEL)] = 100,
    refit: Annotated[
        bool,
        typer.Option(
            "--refit",
            help="Save a model that is fitted again on all rows, with at most as many rounds, instead of the one that "
            "was tested.",
            rich_help_panel=_MODEL,
        ),
    ] = False,
    manifest: Annotated[
        str | None,
        typer.Option(
            "--manifest",
            help="A list of models, .json, .toml or .csv: name, table, label, score, weight, time, group, ... of each. "
            "What it leaves open is as these options say.",
            rich_help_panel=_MANY,
        ),
    ] = None,
    primary: Primary = PrimaryMetric.LOG_LOSS,
    guardrail: Guardrails = None,
    significance: Significance = 0.05,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the split, the fit and the draws.")] = 0,
    force: Force = False,
    jobs: Jobs = None,
    as_json: AsJson = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress and no summary.")] = False,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict",
            help="Stop with exit code 5, before the fit, if the diagnosis of the data has a warning.",
            rich_help_panel=_GATE,
        ),
    ] = False,
    fail_on: Annotated[
        FailOn | None,
        typer.Option("--fail-on", help="End with exit code 5 if that is the verdict.", rich_help_panel=_GATE),
    ] = None,
) -> Work:
    """Split scored rows, calibrate on the one side, and say on the other whether to ship it."""
    refuse_both(features=features, drop=drop)
    if (table is None) == (manifest is None):
        raise typer.BadParameter("name a table, a folder of tables, or --manifest: one of them", param_hint="TABLE")
    if not 0 < test_size < 1:
        raise typer.BadParameter(f"{test_size:g} is no share between 0 and 1", param_hint="--test-size")
    spec = ModelSpec(
        table=table or "",
        label=label,
        score=score,
        weight=weight,
        positive=positive,
        time=time,
        group=group,
        test_size=test_size,
        features=tuple(features or ()),
        drop=tuple(drop or ()),
        categorical=tuple(categorical or ()),
    )
    request = EvaluateRequest(
        spec=spec,
        manifest=manifest,
        output=output,
        reading=Reading.of(input_format, delimiter),
        options=EvaluateOptions(
            max_rounds=max_rounds,
            refit=refit,
            comparison={"significance": significance, **rules_of(primary, guardrail)},
            seed=seed,
            strict=strict,
        ),
        jobs=jobs,
        as_json=as_json,
        quiet=quiet,
        force=force,
        fail_on=fail_on,
    )
    return partial(evaluate, request)
