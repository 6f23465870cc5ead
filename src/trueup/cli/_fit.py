"""`trueup fit`: from a table of scored rows to a model file."""

from __future__ import annotations

import contextlib
import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from trueup.cli._columns import positive_label
from trueup.cli._describe import base_model_in_words, describe_model, losses, most_used
from trueup.cli._errors import after_writing
from trueup.cli._files import STANDARD_STREAM, Format, Reading, TableSource, check_output, is_same_file
from trueup.cli._fit_stream import estimator, fitted_stream, roles_of_table
from trueup.cli._printing import bytes_in_words, facts, percent, print_json, screen, shown
from trueup.cli._streams import names_many, refuse_output_in, stream_of
from trueup.errors import LabelError, ParameterError, WeightError

if TYPE_CHECKING:
    from trueup._data import Stream

__all__ = ["STREAMED_FROM", "FitRequest", "fit", "parse_lightgbm_params", "parse_validation"]


STREAMED_FROM = 5_000_000  # rows of one file; as floats, 20 features of so many take 0.8 GB


@dataclass(frozen=True)
class FitRequest:
    """The options of `trueup fit`."""

    tables: tuple[str, ...]
    output: str
    label: str
    score: str | None
    weight: str | None
    features: tuple[str, ...]
    categorical: tuple[str, ...]
    drop: tuple[str, ...]
    reading: Reading
    as_json: bool
    quiet: bool
    estimator: dict[str, Any]  # parameters of MCGrad
    stream: bool | None = None  # None: if the rows are many
    group: str | None = None
    positive: str | None = None
    scheduler: str | None = None


def fit(request: FitRequest) -> None:
    """Fit a model, write it, and say what came out."""
    if request.output == STANDARD_STREAM:
        raise ParameterError("A model can't go to stdout. Name a file with -o.")
    check_output(request.output)
    stream = _stream(request)
    started = time.perf_counter()
    model = _fitted_in_memory(request) if stream is None else fitted_stream(request, stream)
    seconds = time.perf_counter() - started
    model.save(request.output)
    with after_writing():
        description = describe_model(model.model_)
        if request.as_json:
            size = os.path.getsize(request.output)
            extra = {"model": request.output, "bytes": size, "seconds": seconds, "loss": losses(description)}
            print_json(extra | description)
        elif not request.quiet:
            _print_summary(description, request.output, seconds)


def _stream(request: FitRequest) -> Stream | None:
    """The tables as a stream, or None if they are read into memory."""
    tables = request.tables
    if not names_many(tables):
        if tables[0] != STANDARD_STREAM and is_same_file(tables[0], request.output):
            raise ParameterError(f"-o names the table itself, {request.output!r}. Name another file for the model.")
        asked_for = request.stream or request.group is not None or request.scheduler is not None
        if request.stream is False or not (asked_for or _has_many_rows(tables[0], request.reading)):
            return None
    elif request.stream is False:
        raise ParameterError("--in-memory reads one file, and more are named. Leave it out.")
    stream = stream_of(tables, request.reading, single_files=True)
    assert stream is not None
    if names_many(tables):
        refuse_output_in(tables, request.output, stream)
    return stream


def _has_many_rows(path: str, reading: Reading) -> bool:
    """Whether a Parquet file, which alone knows how many rows it has, has more than are read into memory."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if path == STANDARD_STREAM or TableSource.of(path, reading).format is not Format.PARQUET:
        return False
    try:
        with pq.ParquetFile(path) as file:
            return int(file.metadata.num_rows) > STREAMED_FROM
    except (pa.ArrowException, OSError):
        return False  # whoever reads it says what is wrong


def _fitted_in_memory(request: FitRequest) -> Any:
    if request.group is not None:
        raise ParameterError("--group only works with --stream. Add --stream.")
    source = TableSource.of(request.tables[0], request.reading)
    table = source.read()
    roles = roles_of_table(request, table, source.name)
    table = source.with_category_text(table, roles.categorical)
    model = estimator(request, roles, pos_label=positive_label(request.positive, table.column(roles.label).type))
    used = [*roles.features, *([] if roles.score is None else [roles.score])]
    weights = None if roles.weight is None else table.column(roles.weight)
    try:
        return model.fit(table.select(used), table.column(roles.label), sample_weight=weights)
    except LabelError as error:
        raise LabelError(f"The labels, column {roles.label!r}: {error}") from error
    except WeightError as error:
        raise WeightError(f"The weights, column {roles.weight!r}: {error}") from error


def _print_summary(description: dict[str, Any], path: str, seconds: float) -> None:
    rounds, loss = description["rounds"], losses(description)
    features = description["features"]
    n_categorical = sum(feature["categorical"] for feature in features)
    fitted_on = f"{description['rows']:,} rows ({percent(description['positive_rate'])} positive) in {seconds:.1f} s"
    rows: list[tuple[str, Any]] = [("Fitted on", fitted_on)]
    if loss["before"] is not None:
        change = percent(loss["after"] / loss["before"] - 1, 2).replace("-", "−")
        rows.append(("Log loss", f"{loss['before']:.5f} → {loss['after']:.5f} ({change}) on {loss['rows']} rows"))
    rows.append(("Base model", base_model_in_words(description)))
    if description["classes"] not in ([0, 1], [False, True]):
        rows.append(("Positive class", repr(description["classes"][1])))
    rows.append(("Features", f"{len(features)}, of which {n_categorical} categorical"))
    if rounds:
        score = f", the score itself {percent(description['score_importance'], 0)}"
        rows.append(("Most used", (most_used(description) or "none") + (score if description["score_column"] else "")))
    console = screen()
    noun = "round" if rounds == 1 else "rounds"
    size = bytes_in_words(os.path.getsize(path))
    console.print(f"{shown(path)}: {rounds} {noun}, {description['trees']} trees, {size}", style="bold", soft_wrap=True)
    if rounds == 0:
        console.print("No round helped: the model gives the base scores back as they are.", style="yellow")
    console.print(facts(rows))


def parse_validation(text: str) -> str | int | float | None:
    """``auto``, ``none``, a number of folds or a fraction; `ValueError` for anything else."""
    if text in ("auto", "none"):
        return None if text == "none" else text
    try:
        return int(text)
    except ValueError:
        return float(text)


def parse_lightgbm_params(settings: list[str]) -> dict[str, Any]:
    """Parameters from ``name=value``; a value that reads as a number or a truth is one."""
    parameters: dict[str, Any] = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not name.strip() or not equals or not value.strip():
            raise ValueError(setting)
        parameters[name.strip()] = _read_value(value.strip())
    return parameters


def _read_value(text: str) -> Any:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    with contextlib.suppress(ValueError):
        return int(text)
    with contextlib.suppress(ValueError):
        return float(text)
    return text
