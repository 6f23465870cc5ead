"""`trueup apply`: tables with one column more, the calibrated probabilities. LightGBM is not needed."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from trueup._data import CSV, Dialect, csv_schema, with_faithful_text
from trueup.cli._columns import check_column
from trueup.cli._errors import after_writing
from trueup.cli._files import (
    STANDARD_STREAM,
    Format,
    Reading,
    TableSource,
    check_output,
    format_of,
    is_same_file,
    write_table,
)
from trueup.cli._printing import print_json, screen, shown
from trueup.cli._streams import names_many, refuse_output_in, stream_of
from trueup.errors import ColumnError, ParameterError, ScoreError

if TYPE_CHECKING:
    from trueup._data import Batch, Stream
    from trueup._scoring import Calibrator, ScoredBatch

__all__ = ["ApplyRequest", "apply"]

_WHOLE_FILE = 2**62  # rows at a time


@dataclass(frozen=True)
class ApplyRequest:
    """The options of `trueup apply`."""

    tables: tuple[str, ...]
    model: str
    output: str
    score: str | None
    column: str
    overwrite_column: bool
    reading: Reading
    output_format: Format | None
    jobs: int | None
    as_json: bool
    force: bool


def apply(request: ApplyRequest) -> None:
    """Calibrate the scores of tables and write them with the probabilities."""
    from trueup._scoring import load

    output_format = format_of(request.output, request.output_format, "--output-format")
    if request.output != STANDARD_STREAM:
        check_output(request.output)
        _refuse_input_as_output(request)
    started = time.perf_counter()
    calibrator = load(request.model, n_jobs=request.jobs)
    write = _of_whole_table if _is_read_whole(request) else _of_stream
    if request.output == STANDARD_STREAM:
        with after_writing():
            write(request, calibrator, output_format)
        return
    totals = write(request, calibrator, output_format)
    with after_writing():
        _print_summary(request, totals, time.perf_counter() - started)


def _refuse_input_as_output(request: ApplyRequest) -> None:
    """Refuse to write over the table that is read; several tables are looked at where they are found."""
    if not request.force and not names_many(request.tables) and is_same_file(request.tables[0], request.output):
        raise ParameterError(f"-o names the table itself, {request.output!r}. Name another file, or add --force.")


def _is_read_whole(request: ApplyRequest) -> bool:
    """Whether the table is read into memory: stdin, or one CSV file, whose types are those of all its rows."""
    if names_many(request.tables):
        return False
    path = request.tables[0]
    return path == STANDARD_STREAM or TableSource.of(path, request.reading).format is Format.CSV


@dataclass
class _Totals:
    """What is said of all rows in the end."""

    rows: int = 0
    scored: int = 0
    sum_base: list[float] = field(default_factory=list)
    sum_calibrated: list[float] = field(default_factory=list)

    def add(self, one: ScoredBatch) -> None:
        """Count some rows."""
        import numpy as np

        present = ~np.isnan(one.calibrated)
        self.rows += len(one.calibrated)
        self.scored += int(np.count_nonzero(present))
        self.sum_calibrated.append(float(one.calibrated[present].sum()))
        if one.base is not None:
            self.sum_base.append(float(one.base[present].sum()))

    @property
    def means(self) -> tuple[float, float]:
        """The means before and after; NaN if there are none."""
        before = self.scored if self.sum_base else 0
        mean_base = math.fsum(self.sum_base) / before if before else math.nan
        return mean_base, math.fsum(self.sum_calibrated) / self.scored if self.scored else math.nan


def _of_whole_table(request: ApplyRequest, calibrator: Calibrator, output_format: Format) -> _Totals:
    """Score one table in memory, and write it."""
    from trueup._data import Batch
    from trueup._scoring import kinds_of, score_batches, with_probabilities

    source = TableSource.of(request.tables[0], request.reading)
    table = source.read(kinds_of(calibrator.model))
    _check_new_column(request, table.column_names, source.name)
    score = _score_column(request, calibrator, table.column_names, source.name)
    totals = _Totals()
    for one in score_batches(calibrator, iter([Batch(table, source.name)]), score):
        totals.add(one)
        table = with_probabilities(source.with_faithful_text(table, output_format), request.column, one.calibrated)
    if output_format is Format.CSV:
        table = _in_dialect(table, request.column, source.dialect)
    write_table(table, request.output, output_format, source.dialect)
    return totals


def _of_stream(request: ApplyRequest, calibrator: Calibrator, output_format: Format) -> _Totals:
    """Score tables batch by batch, and write them as one."""
    from trueup._runtime import shown_progress
    from trueup._scoring import check_columns, kinds_of, score_batches, with_probabilities
    from trueup.cli._writing import writing_table

    stream = stream_of(request.tables, request.reading, single_files=True)
    assert stream is not None
    if request.output != STANDARD_STREAM and names_many(request.tables):
        refuse_output_in(request.tables, request.output, stream)
    stream = stream.with_kinds(kinds_of(calibrator.model))
    _check_new_column(request, [*stream.columns, *stream.partial_columns], stream.name)
    score = _score_column(request, calibrator, stream.columns, stream.name)
    check_columns(calibrator, stream, score)
    as_text = output_format is Format.CSV and _are_csv(stream)
    batches = _whole_files(stream) if as_text else stream.batches()
    dialect = stream.dialect_of(stream.files[0]) if as_text else CSV  # that of the first file is for all
    totals = _Totals()
    with (
        shown_progress(1, "calibrating", stream.n_rows, unit="rows") as progress,
        writing_table(request.output, output_format, _schema(request, stream, output_format), dialect) as writer,
    ):
        for one in score_batches(calibrator, batches, score):
            totals.add(one)
            table = _as_text(one.batch, stream) if as_text else one.batch.table
            table = with_probabilities(table, request.column, one.calibrated)
            writer.write(_in_dialect(table, request.column, dialect))
            progress.advance(len(one.calibrated))
    return totals


def _are_csv(stream: Stream) -> bool:
    return all(format_ is Format.CSV for format_ in stream.formats)


def _in_dialect(table: Any, column: str, dialect: Dialect) -> Any:
    """The table with numbers of a column written as the others are: 0,25 where those have decimal commas."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if dialect.decimal_point == ".":
        return table
    text = pc.replace_substring(pc.cast(table.column(column), pa.string()), ".", dialect.decimal_point)
    return table.set_column(table.column_names.index(column), column, text)


def _whole_files(stream: Stream) -> Iterator[Batch]:
    """The files one after the other. As they are written as they were, a column need not be of one kind in all."""
    for file in stream.split():
        yield from file.batches(stream.columns, batch_rows=_WHOLE_FILE)


def _as_text(batch: Batch, stream: Stream) -> Any:
    """The rows of a CSV file, in which nothing changes on the way to another."""
    path = next(path for path in stream.files if repr(path) == batch.source)
    dialect = stream.dialect_of(path)
    in_file = set(csv_schema(path, dialect).names)  # others are told by its folders
    own = with_faithful_text(batch.table.select([name for name in stream.columns if name in in_file]), path, dialect)
    for name in stream.columns:
        if name not in in_file:
            own = own.append_column(name, batch.table.column(name))
    return own.select(stream.columns)


def _schema(request: ApplyRequest, stream: Stream, output_format: Format) -> Any:
    """The columns that are written, and their types, of which CSV has none."""
    import numpy as np
    import pyarrow as pa

    from trueup._scoring import with_probabilities

    if output_format is Format.CSV:
        schema = pa.schema([(name, pa.null()) for name in stream.columns])
    else:
        schema = stream.schema()
    return with_probabilities(schema.empty_table(), request.column, np.zeros(0)).schema


def _check_new_column(request: ApplyRequest, columns: Sequence[str], where: str) -> None:
    if request.column in columns and not request.overwrite_column:
        raise ColumnError(
            f"{where} has a column {request.column!r} already. Name another with --column, or replace "
            "it with --overwrite-column."
        )


def _score_column(request: ApplyRequest, calibrator: Calibrator, columns: Sequence[str], where: str) -> str | None:
    """The column of the base scores; None for a model that starts from the base rate."""
    model = calibrator.model
    if model.base_rate is not None:
        if request.score is not None:
            raise ParameterError(
                "The model was fitted without scores and starts from the base rate. Leave --score out."
            )
        return None
    name = model.features.score_column if request.score is None else request.score
    if name is None:
        raise ScoreError("The model was fitted on scores. Name the column that holds them with --score.")
    check_column(name, columns, "--score", where)
    return name


def _print_summary(request: ApplyRequest, totals: _Totals, seconds: float) -> None:
    mean_score, mean_calibrated = totals.means
    if request.as_json:
        print_json(
            {
                "output": request.output,
                "column": request.column,
                "rows": totals.rows,
                "missing_scores": totals.rows - totals.scored,
                "mean_score": mean_score,
                "mean_calibrated": mean_calibrated,
                "seconds": seconds,
            }
        )
        return
    console = screen()
    column = repr(shown(request.column))
    heading = f"Wrote {totals.rows:,} rows to {shown(request.output)}, with column {column}."
    console.print(heading, style="bold", soft_wrap=True)
    if not math.isnan(mean_score):
        console.print(f"  Mean score {mean_score:.5f} → {mean_calibrated:.5f} calibrated, in {seconds:.1f} s.")
