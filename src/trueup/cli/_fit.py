"""`trueup fit`: from scored rows to a model file."""

from __future__ import annotations

import contextlib
import enum
import os
from typing import TYPE_CHECKING, Annotated, Any

from trueup.cli import _options as opt
from trueup.cli._answer import Answer, answer
from trueup.cli._columns import Columns, naming_columns, positive_label, read_rows
from trueup.cli._errors import WrongUsageError
from trueup.cli._files import STANDARD_STREAM, Format, Reading, TableSource, is_same_file, names_many, stream_of
from trueup.cli._inspect import base_model_in_words, describe_model, losses, most_used, rounds_and_trees
from trueup.cli._printing import bytes_in_words, facts, percent, positive_class, screen, shown
from trueup.cli._writing import check_output
from trueup.errors import FileError, MissingExtraError, ParameterError

if TYPE_CHECKING:
    from trueup._data import Stream
    from trueup.calibration import MCGrad

__all__ = ["fit", "parse_lightgbm_params", "parse_validation"]

STREAMED_FROM = 5_000_000  # rows of one file; as floats, 20 features of so many take 0.8 GB
PATIENCE = 10  # seconds that a scheduler has to answer


class Rescale(str, enum.Enum):
    """On which rows the factor of a round is fitted."""

    HONEST = "honest"
    TRAIN = "train"
    NONE = "none"


def fit(
    tables: opt.Tables,
    *,
    label: opt.Label,
    output: Annotated[
        str, opt.option("--output -o", "The model file to write, such as model.trueup.", opt.OUTPUT, "FILE")
    ],
    score: opt.Score = None,
    weight: opt.Weight = None,
    positive: opt.Positive = None,
    group: opt.Group = None,
    features: opt.Features = None,
    drop: opt.Drop = None,
    categorical: opt.Categorical = None,
    max_rounds: opt.MaxRounds = 100,
    validation: Annotated[
        str,
        opt.option(
            "--validation",
            "The rows that decide the number of rounds: auto, a share of all, a number of folds, or none.",
            opt.MODEL,
            "auto|0.2|5|none",
        ),
    ] = "auto",
    patience: Annotated[
        int,
        opt.option("--patience", "How many rounds without improvement to try before stopping.", opt.MODEL, "N", min=0),
    ] = 0,
    rescale: Annotated[
        Rescale,
        opt.option(
            "--rescale",
            "Where to fit the factor of a round: honest, on validation rows; train, on training rows, as in the "
            "paper; or none.",
            opt.MODEL,
            "honest|train|none",
        ),
    ] = Rescale.HONEST,
    monotone_score: Annotated[
        bool,
        opt.flag("--monotone-score", "Never rank two rows against their scores if only the score differs.", opt.MODEL),
    ] = False,
    min_sum_hessian: Annotated[
        float,
        opt.option(
            "--min-sum-hessian", "How much evidence a leaf needs, as the sum of w·p·(1−p).", opt.MODEL, "SUM", min=0.0
        ),
    ] = 20.0,
    lightgbm_param: Annotated[
        list[str] | None,
        opt.option(
            "--lightgbm-param", "A parameter for LightGBM. Repeat the option for more.", opt.MODEL, "NAME=VALUE"
        ),
    ] = None,
    seed: opt.Seed = 0,
    stream: Annotated[
        bool | None,
        opt.option(
            "--stream/--in-memory",
            "Read batch by batch, which needs little memory, or everything at once. By default, several files and "
            f"files of more than {STREAMED_FROM:,} rows are read batch by batch.",
            opt.INPUT,
            "",
        ),
    ] = None,
    scheduler: Annotated[
        str | None,
        opt.option(
            "--scheduler", "Fit on the Dask cluster at this address; its workers read the files.", opt.INPUT, "ADDRESS"
        ),
    ] = None,
    input_format: opt.InputFormat = None,
    delimiter: opt.Delimiter = None,
    as_json: opt.AsJson = False,
    quiet: opt.Quiet = False,
    jobs: opt.Jobs = None,
) -> int | None:
    """Learn from scored rows where the scores are wrong, and write a model that corrects them."""
    opt.refuse_both(features=features, drop=drop)
    if scheduler is not None and stream is False:
        raise WrongUsageError("--in-memory: the workers of a cluster read the files, not this process.")
    parameters = {
        "max_rounds": max_rounds,
        "validation": parse_validation(validation),
        "patience": patience,
        "rescale": None if rescale is Rescale.NONE else rescale.value,
        "monotone_score": monotone_score,
        "min_sum_hessian_in_leaf": min_sum_hessian,
        "lightgbm_params": parse_lightgbm_params(lightgbm_param or []) or None,
        "n_jobs": jobs,
        "random_state": seed,
        "verbose": 0 if quiet else 1,
    }
    if output == STANDARD_STREAM:
        raise ParameterError("A model can't go to stdout. Name a file with -o.")
    check_output(output)
    reading = Reading.of(input_format, delimiter)
    columns = Columns(label, score, weight, features, drop, categorical, others={"--group": group})
    in_batches = stream or scheduler is not None

    def compute() -> MCGrad:
        """Fit on one table, on many files or on a cluster."""
        if not names_many(tables):
            if tables[0] != STANDARD_STREAM and is_same_file(tables[0], output):
                raise ParameterError(f"-o names the table itself, {output!r}. Name another file for the model.")
            if stream is False or not (in_batches or _has_many_rows(tables[0], reading)):
                return _fitted_in_memory(tables[0], reading, columns, positive, parameters)
        elif stream is False:
            raise WrongUsageError("--in-memory reads one file, but more are named. Leave it out.")
        read = stream_of(tables, reading, [output])
        return _fitted_on_stream(read, columns, positive, parameters, scheduler)

    def describe(model: MCGrad, seconds: float) -> dict[str, Any]:
        """The model as JSON."""
        description = describe_model(model.model_)
        about = {"model": output, "bytes": os.path.getsize(output), "seconds": seconds, "loss": losses(description)}
        return about | description

    return answer(
        compute,
        Answer(as_json, quiet),
        write=lambda model: model.save(output),
        describe=describe,
        draw=lambda model, seconds: _print(describe_model(model.model_), output, seconds),
    )


def _has_many_rows(path: str, reading: Reading) -> bool:
    """Whether a Parquet file, the only kind that knows how many rows it has, has more than are read into memory."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if path == STANDARD_STREAM or TableSource.of(path, reading).written.format is not Format.PARQUET:
        return False
    try:
        with pq.ParquetFile(path) as file:
            return int(file.metadata.num_rows) > STREAMED_FROM
    except (pa.ArrowException, OSError):
        return False  # whoever reads it says what is wrong


def _fitted_in_memory(
    table: str, reading: Reading, columns: Columns, positive: str | None, parameters: dict[str, Any]
) -> MCGrad:
    from trueup.calibration import MCGrad

    rows = read_rows(table, reading, columns)
    roles = rows.roles
    model = MCGrad(
        score_column=roles.score,
        categorical_features=list(roles.categorical) or "from_dtype",
        pos_label=rows.pos_label(positive),
        **parameters,
    )
    used = [*roles.features, *([] if roles.score is None else [roles.score])]
    with naming_columns(roles):
        return model.fit(
            rows.table.select(used),
            rows.column(roles.label),
            sample_weight=rows.column(roles.weight),
            groups=rows.column(columns.others["--group"]),
        )


def _fitted_on_stream(
    stream: Stream, columns: Columns, positive: str | None, parameters: dict[str, Any], scheduler: str | None
) -> MCGrad:
    """The model of tables that are read batch by batch; by the workers of a cluster if one is named."""
    from trueup.calibration import MCGrad

    group = columns.others["--group"]
    named = [name for name in (columns.label, columns.score, columns.weight, group) if name is not None]
    # This error names the file that lacks the column, and the one that would follow does not.
    stream.check([name for name in named if name in stream.partial_columns])
    roles = columns.find(stream.shape(), stream.name)
    parameters = parameters | {
        "score_column": roles.score,
        "categorical_features": list(roles.categorical) or "from_dtype",
        "features": list(roles.features),
        "pos_label": positive_label(positive, stream.schema([roles.label]).field(0).type),
    }
    by_role: dict[str, Any] = {"label": roles.label, "score": roles.score, "weight": roles.weight, "group": group}
    if scheduler is None:
        return MCGrad(**parameters).fit_stream(stream, **by_role)
    return _fitted_on_cluster(stream, parameters, by_role, scheduler)


def _fitted_on_cluster(stream: Stream, parameters: dict[str, Any], by_role: dict[str, Any], scheduler: str) -> MCGrad:
    try:
        import dask.dataframe as dd
        from distributed import Client
    except ImportError:
        raise MissingExtraError('A cluster needs Dask, which is not installed: pip install "trueup[dask]".') from None
    from trueup.calibration import MCGrad
    from trueup.distributed import fit_dask

    if not stream.files or not all(file.lower().endswith(".parquet") for file in stream.files):
        raise ParameterError("--scheduler: the workers of a cluster read Parquet files. Name Parquet files.")
    try:
        client = Client(scheduler, timeout=PATIENCE)
    except (OSError, TimeoutError, ValueError) as error:
        raise FileError(f"--scheduler: there is no Dask scheduler at {scheduler!r} ({error}).") from error
    with client:
        frame = dd.read_parquet(list(stream.files))
        model: MCGrad = fit_dask(frame, estimator=MCGrad(**parameters), client=client, **by_role)
        return model


def _print(description: dict[str, Any], path: str, seconds: float) -> None:
    rounds, loss = description["rounds"], losses(description)
    features = description["features"]
    n_categorical = sum(feature["categorical"] for feature in features)
    fitted_on = f"{description['rows']:,} rows ({percent(description['positive_rate'])} positive) in {seconds:.1f} s"
    rows: list[tuple[str, Any]] = [("Fitted on", fitted_on)]
    if loss["before"] is not None:
        change = percent(loss["after"] / loss["before"] - 1, 2).replace("-", "−")
        rows.append(("Log loss", f"{loss['before']:.5f} → {loss['after']:.5f} ({change}) on {loss['rows']} rows"))
    rows.append(("Base model", base_model_in_words(description)))
    rows += positive_class(description["classes"])
    rows.append(("Features", f"{len(features)}, of which {n_categorical} categorical"))
    if rounds:
        score = f", the score itself {percent(description['score_importance'], 0)}"
        rows.append(("Most used", (most_used(description) or "none") + (score if description["score_column"] else "")))
    console = screen()
    heading = f"{shown(path)}: {rounds_and_trees(description)}, {bytes_in_words(os.path.getsize(path))}"
    console.print(heading, style="bold", soft_wrap=True)
    if rounds == 0:
        console.print("No round helped: the model gives the base scores back as they are.", style="yellow")
    console.print(facts(rows))


def parse_validation(text: str) -> str | int | float | None:
    """``auto``, ``none``, a number of folds or a fraction."""
    if text in ("auto", "none"):
        return None if text == "none" else text
    number = _number(text)
    if number is not None:
        return number
    raise WrongUsageError(f"--validation: {text!r} is neither auto, none, a number of folds nor a fraction.")


def parse_lightgbm_params(settings: list[str]) -> dict[str, Any]:
    """Parameters from ``name=value``; a value that reads as a number or a truth is one."""
    parameters: dict[str, Any] = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not name.strip() or not equals or not value.strip():
            raise WrongUsageError(f"--lightgbm-param: {setting!r} is not NAME=VALUE.")
        text = value.strip()
        number = text.lower() == "true" if text.lower() in ("true", "false") else _number(text)
        parameters[name.strip()] = text if number is None else number
    return parameters


def _number(text: str) -> int | float | None:
    for read in (int, float):
        with contextlib.suppress(ValueError):
            return read(text)
    return None
