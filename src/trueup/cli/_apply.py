"""`trueup apply`: a table with one column more, the calibrated probabilities. LightGBM is not needed."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from trueup.cli._columns import check_column
from trueup.cli._errors import after_writing
from trueup.cli._files import STANDARD_STREAM, Format, TableSource, check_output, format_of, write_table
from trueup.cli._printing import print_json, screen, shown
from trueup.errors import ColumnError, ParameterError, ScoreError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from trueup.inference import BaselineCalibrator, Calibrator

__all__ = ["ApplyRequest", "apply"]


@dataclass(frozen=True)
class ApplyRequest:
    """The options of `trueup apply`."""

    table: str
    model: str
    output: str
    score: str | None
    column: str
    overwrite_column: bool
    input_format: Format | None
    output_format: Format | None
    jobs: int | None
    as_json: bool


def apply(request: ApplyRequest) -> None:
    """Calibrate the scores of a table and write it with them."""
    from trueup.inference import load

    output_format = format_of(request.output, request.output_format, "--output-format")
    if request.output != STANDARD_STREAM:
        check_output(request.output)
    started = time.perf_counter()
    calibrator = load(request.model, n_jobs=request.jobs)
    source = TableSource.of(request.table, request.input_format)
    table = source.read({feature.name: feature.kind for feature in calibrator.model.features.features})
    if request.column in table.column_names and not request.overwrite_column:
        raise ColumnError(
            f"{source.name} has a column {request.column!r} already. Name another with --column, or replace "
            "it with --overwrite-column."
        )
    base = _base_scores(request, calibrator, table, source.name)
    calibrated = calibrator.calibrate(table, base)
    table = with_probabilities(source.with_faithful_text(table, output_format), request.column, calibrated)
    if request.output == STANDARD_STREAM:
        with after_writing():
            write_table(table, request.output, output_format)
        return
    write_table(table, request.output, output_format)
    with after_writing():
        _print_summary(request, base, calibrated, time.perf_counter() - started)


def with_probabilities(table: Any, name: str, values: npt.NDArray[np.float64]) -> Any:
    """The table with a column of probabilities; NaN becomes missing, which every format can say."""
    import numpy as np
    import pyarrow as pa

    column = pa.array(values, mask=np.isnan(values))
    if name in table.column_names:
        return table.set_column(table.column_names.index(name), name, column)
    return table.append_column(name, column)


def _base_scores(
    request: ApplyRequest, calibrator: Calibrator | BaselineCalibrator, table: Any, where: str
) -> npt.NDArray[np.float64] | None:
    """The base scores of all rows; None for a model that starts from the base rate."""
    from trueup.table import read_scores

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
    check_column(name, table.column_names, "--score", where)
    return read_scores(table.column(name), table.num_rows, name=f"Column {name!r}", missing_allowed=True)


def _print_summary(
    request: ApplyRequest,
    base: npt.NDArray[np.float64] | None,
    calibrated: npt.NDArray[np.float64],
    seconds: float,
) -> None:
    import numpy as np

    scored = calibrated[~np.isnan(calibrated)]
    before = np.array([]) if base is None else base[~np.isnan(base)]
    means = [float(values.mean()) if len(values) else float("nan") for values in (before, scored)]
    if request.as_json:
        print_json(
            {
                "output": request.output,
                "column": request.column,
                "rows": len(calibrated),
                "missing_scores": len(calibrated) - len(scored),
                "mean_score": means[0],
                "mean_calibrated": means[1],
                "seconds": seconds,
            }
        )
        return
    console = screen()
    column = repr(shown(request.column))
    heading = f"Wrote {len(calibrated):,} rows to {shown(request.output)}, with column {column}."
    console.print(heading, style="bold", soft_wrap=True)
    if len(before):
        console.print(f"  Mean score {means[0]:.5f} → {means[1]:.5f} calibrated, in {seconds:.1f} s.")
