"""Scoring a Dask frame, each partition where it is."""

from __future__ import annotations

from typing import Any

from trueup._data import listed
from trueup._model import CalibrationModel
from trueup._scoring import Calibrator
from trueup.distributed._pieces import with_names
from trueup.errors import ColumnError, ParameterError

__all__ = ["calibrate_frame", "is_dask"]


def is_dask(X: Any) -> bool:
    """Whether it is a frame of Dask."""
    return type(X).__module__.partition(".")[0] in ("dask", "dask_expr")


def calibrate_frame(model: CalibrationModel, frame: Any, score: Any = None) -> Any:
    """The calibrated probabilities of a Dask frame, as a Series that is computed when it is asked for."""
    if score is not None and not isinstance(score, str):
        raise ParameterError("The scores of a Dask frame are one of its columns: pass the column's name.")
    needed = [*(feature.name for feature in model.features.features), score or model.features.score_column]
    absent = [name for name in needed if name is not None and name not in map(str, frame.columns)]
    if absent:
        raise ColumnError(
            f"The frame has no column {listed(absent)}. Its columns are {listed(list(map(str, frame.columns)), 12)}."
        )
    return frame.map_partitions(_calibrated, model, score, meta=("calibrated", "float64"))


def _calibrated(partition: Any, model: CalibrationModel, score: str | None) -> Any:
    import pandas as pd

    partition, name = with_names(partition), model.features.score_column if score is None else score
    values = Calibrator(model, n_jobs=1).calibrate(partition, None if name is None else partition[name])
    return pd.Series(values, index=partition.index, name="calibrated")
