"""The options of `trueup fit`."""

from __future__ import annotations

import enum
from functools import partial
from typing import Annotated

import typer

from trueup.cli._files import Reading
from trueup.cli._fit import STREAMED_FROM, FitRequest, fit, parse_lightgbm_params, parse_validation
from trueup.cli._options import INPUT_TABLES, AsJson, Delimiter, InputFormat, Jobs, Positive, Work, refuse_both

__all__ = ["fit_command"]


class Rescale(str, enum.Enum):
    """On which rows the factor of a round is fitted."""

    HONEST = "honest"
    TRAIN = "train"
    NONE = "none"


def fit_command(
    tables: Annotated[list[str], typer.Argument(help=f"Scored rows: {INPUT_TABLES}")],
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
    positive: Positive = None,
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
    stream: Annotated[
        bool | None,
        typer.Option(
            "--stream/--in-memory",
            help="Read batch by batch what need not fit into memory. By default what is more than one file, or more "
            f"than {STREAMED_FROM:,} rows of one.",
        ),
    ] = None,
    group: Annotated[
        str | None,
        typer.Option(
            "--group",
            help="A column such as a user's id: no split separates rows with the same value. It is not a feature.",
        ),
    ] = None,
    scheduler: Annotated[
        str | None,
        typer.Option(help="Fit on the Dask cluster at this address, whose workers see the files.", metavar="ADDRESS"),
    ] = None,
    jobs: Jobs = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the splits.")] = 0,
    input_format: InputFormat = None,
    delimiter: Delimiter = None,
    as_json: AsJson = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress and no summary.")] = False,
) -> Work:
    """Learn from scored rows where the scores are wrong, and write a model."""
    refuse_both(features=features, drop=drop)
    if scheduler is not None and stream is False:
        raise typer.BadParameter("a cluster's workers read the files, not this process", param_hint="--in-memory")
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
        tables=tuple(tables),
        output=output,
        label=label,
        score=score,
        weight=weight,
        features=tuple(features or ()),
        categorical=tuple(categorical or ()),
        drop=tuple(drop or ()),
        reading=Reading.of(input_format, delimiter),
        as_json=as_json,
        quiet=quiet,
        estimator=estimator,
        stream=stream,
        group=group,
        positive=positive,
        scheduler=scheduler,
    )
    return partial(fit, request)


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
