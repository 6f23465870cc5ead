"""Scoring tables that come batch by batch."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from trueup._data import Batch, Stream, naming, open_stream, read_scores, read_table
from trueup._model import CalibrationModel, ValueKind
from trueup._scoring._scores import score_column_of, warn_of_missing, warn_of_unseen
from trueup.errors import ColumnError, DataWarning, callers_level

if TYPE_CHECKING:
    import pyarrow as pa

    from trueup._scoring._calibrator import Calibrator

Floats: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ScoredBatch:
    """A batch with its base scores and its probabilities."""

    batch: Batch
    base: Floats | None
    calibrated: Floats


def kinds_of(model: CalibrationModel) -> dict[str, ValueKind]:
    """What the features were at fit, so that CSV files are not read as something else."""
    return {feature.name: feature.kind for feature in model.features.features}


def calibrated_tables(
    calibrator: Calibrator, source: Any, score: str | None, column: str, batch_rows: int
) -> Iterator[pa.Table]:
    """The rows of a source with a column more; what is wrong with its columns is told at once."""
    model = calibrator.model
    stream = open_stream(source, kinds=kinds_of(model))
    if column in stream.columns or column in stream.partial_columns:
        raise ColumnError(f"{stream.name} already has a column {column!r}. Choose another name with column=.")
    score = score_column_of(model, score, stream.columns)
    check_columns(calibrator, stream, score)
    batches = stream.batches(batch_rows=batch_rows)
    scored = score_batches(calibrator, batches, score)
    return (with_probabilities(one.batch.table, column, one.calibrated) for one in scored)


def check_columns(calibrator: Calibrator, stream: Stream, score: str | None) -> None:
    """Refuse a stream that lacks what the model needs, and say what else is lost."""
    import pyarrow as pa

    model = calibrator.model
    named = [] if score is None else [score]
    stream.check([*(name for name in model.features.names if name in stream.partial_columns), *named])
    without_rows = pa.table({name: pa.array([], pa.null()) for name in stream.columns})
    calibrator._of_table(read_table(without_rows), np.zeros(0))  # says which columns are missing
    for name, lacking in stream.partial_columns.items():
        warnings.warn(f"Ignoring column {name!r}: {lacking} doesn't have it.", DataWarning, stacklevel=callers_level())


def score_batches(calibrator: Calibrator, batches: Iterator[Batch], score: str | None) -> Iterator[ScoredBatch]:
    """The scores of batches; at the end, one warning each if scores were missing and if most categories were unseen."""
    base_rate = calibrator.model.base_rate
    n_rows, missing, first = 0, 0, ""
    lacking: Counter[str] = Counter()
    unseen: Counter[str] = Counter()
    for batch in batches:
        with naming(batch):
            table = batch.table
            if score is None:
                base = np.full(table.num_rows, base_rate)
            else:
                base = read_scores(table[score], table.num_rows, name=f"Column {score!r}", missing_allowed=True)
            observed = calibrator._of_table(read_table(table), base)
        n_rows += len(base)
        gone = int(np.isnan(base).sum())
        first = first or (f"in {batch.where}" if gone else "")
        missing += gone
        lacking.update(observed.missing)
        unseen.update(observed.unseen)
        yield ScoredBatch(batch, None if score is None else base, observed.probabilities)
    if missing:
        warn_of_missing(f"Column {score!r}", missing, n_rows, first)
    warn_of_unseen(n_rows, lacking, unseen)


def with_probabilities(table: pa.Table, name: str, values: Floats) -> pa.Table:
    """The table with a column of probabilities; NaN becomes missing, which every format can say."""
    import pyarrow as pa

    column = pa.array(values, mask=np.isnan(values))
    if name in table.column_names:
        return table.set_column(table.column_names.index(name), name, column)
    return table.append_column(name, column)
