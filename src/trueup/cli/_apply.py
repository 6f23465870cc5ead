"""`trueup apply`: tables with one column more, the calibrated probabilities. LightGBM is not needed."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

from trueup._data import CSV, Dialect, csv_schema, with_faithful_text
from trueup.cli import _options as opt
from trueup.cli._answer import Answer, answer
from trueup.cli._columns import check_column
from trueup.cli._errors import WrongUsageError, after_writing
from trueup.cli._files import STANDARD_STREAM, Format, Reading, TableSource, is_same_file, names_many, stream_of
from trueup.cli._printing import screen, shown
from trueup.cli._writing import check_output, format_of, writing_table
from trueup.errors import ColumnError, ParameterError, ScoreError

if TYPE_CHECKING:
    from trueup._data import Batch, Stream
    from trueup._model import ValueKind
    from trueup._scoring import Calibrator, ScoredBatch

__all__ = ["apply"]

_WHOLE_FILE = 2**62  # rows at a time


def apply(
    tables: opt.Tables,
    *,
    model: opt.Model,
    output: Annotated[str, opt.option("--output -o", "The table to write, or - for stdout.", opt.OUTPUT, "FILE")],
    score: Annotated[
        str | None,
        opt.option(
            "--score",
            "The column of the base model's probabilities; by default the one that had them at fit.",
            opt.COLUMNS,
            "COLUMN",
        ),
    ] = None,
    column: opt.Column = "calibrated",
    overwrite_column: Annotated[
        bool, opt.flag("--overwrite-column", "Replace a column of that name.", opt.COLUMNS)
    ] = False,
    input_format: opt.InputFormat = None,
    delimiter: opt.Delimiter = None,
    output_format: Annotated[
        Format | None,
        opt.option(
            "--output-format",
            "parquet, csv or arrow, if the name of the file doesn't tell. Stdout is CSV by default.",
            opt.OUTPUT,
            "FORMAT",
        ),
    ] = None,
    force: opt.Force = False,
    as_json: opt.AsJson = False,
    quiet: opt.Quiet = False,
    jobs: opt.Jobs = None,
) -> int | None:
    """Add a column of calibrated probabilities to tables of any size."""
    import numpy as np

    if as_json and output == STANDARD_STREAM:
        raise WrongUsageError("--json: the table goes to stdout, so JSON can't.")
    written_as = format_of(output, output_format, "--output-format")
    if output != STANDARD_STREAM:
        check_output(output)
        # Several tables are looked at where they are found.
        if not force and not names_many(tables) and is_same_file(tables[0], output):
            raise ParameterError(f"-o names the table itself, {output!r}. Name another file, or add --force.")
    reading, outputs = Reading.of(input_format, delimiter), [output] if names_many(tables) else []

    def compute() -> _Totals:
        """Score all batches, and write them as they come."""
        from trueup._runtime import shown_progress
        from trueup._scoring import check_columns, kinds_of, load, score_batches, with_probabilities

        calibrator = load(model, n_jobs=jobs)
        kinds, totals = kinds_of(calibrator.model), _Totals()
        with after_writing() if output == STANDARD_STREAM else contextlib.nullcontext():
            if _is_read_whole(tables, reading):
                source = _whole(tables[0], reading, kinds, written_as)
            else:
                source = _streamed(stream_of(tables, reading, outputs).with_kinds(kinds), written_as)
            if (column in source.columns or column in source.partial) and not overwrite_column:
                raise ColumnError(
                    f"{source.name} already has a column {column!r}. Name another with --column, or replace it with "
                    "--overwrite-column."
                )
            base = _score_column(score, calibrator, source.columns, source.name)
            if source.stream is not None:
                check_columns(calibrator, source.stream, base)
            schema = with_probabilities(source.schema.empty_table(), column, np.zeros(0)).schema
            with (
                shown_progress(0 if quiet else 1, "calibrating", source.n_rows, unit="rows") as progress,
                writing_table(output, written_as, schema, source.dialect) as writer,
            ):
                for one in score_batches(calibrator, source.batches, base):
                    totals.add(one)
                    table = with_probabilities(source.to_write(one.batch), column, one.calibrated)
                    writer.write(_in_dialect(table, column, source.dialect))
                    progress.advance(len(one.calibrated))
        return totals

    def describe(totals: _Totals, seconds: float) -> dict[str, Any]:
        """The totals as JSON."""
        mean_score, mean_calibrated = totals.means
        return {
            "output": output,
            "column": column,
            "rows": totals.rows,
            "missing_scores": totals.rows - totals.scored,
            "mean_score": mean_score,
            "mean_calibrated": mean_calibrated,
            "seconds": seconds,
        }

    def draw(totals: _Totals, seconds: float) -> None:
        """The totals on the screen."""
        mean_score, mean_calibrated = totals.means
        console = screen()
        heading = f"Wrote {totals.rows:,} rows to {shown(output)}, with column {shown(column)!r}."
        console.print(heading, style="bold", soft_wrap=True)
        if not math.isnan(mean_score):
            console.print(f"  Mean score {mean_score:.5f} → {mean_calibrated:.5f} calibrated, in {seconds:.1f} s.")

    to = Answer(as_json, quiet or output == STANDARD_STREAM)
    return answer(compute, to, describe=describe, draw=draw)


def _is_read_whole(tables: Sequence[str], reading: Reading) -> bool:
    """Whether the table is read into memory: stdin, or one CSV file, whose types are those of all its rows."""
    if names_many(tables):
        return False
    return tables[0] == STANDARD_STREAM or TableSource.of(tables[0], reading).written.format is Format.CSV


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


@dataclass(frozen=True)
class _Source:
    """The rows to score, and how they are written."""

    name: str
    columns: Sequence[str]
    batches: Iterator[Batch]
    n_rows: int | None
    schema: Any  # of what is written; CSV has no types
    dialect: Dialect
    to_write: Callable[[Batch], Any]  # the rows of a batch
    partial: Collection[str] = ()  # columns that only some files have
    stream: Stream | None = None


def _whole(path: str, reading: Reading, kinds: dict[str, ValueKind], written_as: Format) -> _Source:
    """One table in memory."""
    from trueup._data import Batch

    source = TableSource.of(path, reading)
    table = source.read(kinds)
    return _Source(
        source.name,
        table.column_names,
        iter([Batch(table, source.name)]),
        len(table),
        table.schema,
        source.written.dialect if written_as is Format.CSV else CSV,
        lambda batch: source.with_faithful_text(batch.table, written_as),
    )


def _streamed(stream: Stream, written_as: Format) -> _Source:
    """Tables of any size, one batch after the other."""
    import pyarrow as pa

    as_text = written_as is Format.CSV and None not in stream.dialects.values()
    is_typed = written_as is not Format.CSV
    return _Source(
        stream.name,
        stream.columns,
        _whole_files(stream) if as_text else stream.batches(),
        stream.n_rows,
        stream.schema() if is_typed else pa.schema([(name, pa.null()) for name in stream.columns]),
        (as_text and stream.dialects[stream.files[0]]) or CSV,  # that of the first file is for all
        lambda batch: _as_text(batch, stream) if as_text else batch.table,
        stream.partial_columns,
        stream,
    )


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
    path, dialect = next((path, how or CSV) for path, how in stream.dialects.items() if repr(path) == batch.source)
    in_file = set(csv_schema(path, dialect).names)  # others are told by its folders
    own = with_faithful_text(batch.table.select([name for name in stream.columns if name in in_file]), path, dialect)
    for name in stream.columns:
        if name not in in_file:
            own = own.append_column(name, batch.table.column(name))
    return own.select(stream.columns)


def _score_column(score: str | None, calibrator: Calibrator, columns: Sequence[str], where: str) -> str | None:
    """The column of the base scores; None for a model that starts from the base rate."""
    model = calibrator.model
    if model.base_rate is not None:
        if score is not None:
            raise ParameterError(
                "The model was fitted without scores and starts from the base rate. Leave --score out."
            )
        return None
    name = model.features.score_column if score is None else score
    if name is None:
        raise ScoreError("The model was fitted on scores. Name the column that holds them with --score.")
    check_column(name, columns, "--score", where)
    return name
