"""Scoring a Dask frame, each partition where it is."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

from trueup._data import listed
from trueup._model import CalibrationModel
from trueup._scoring import Calibrator
from trueup.calibration import MCGrad
from trueup.distributed._cluster import columns_of
from trueup.distributed._partitions import with_names
from trueup.errors import ColumnError, ParameterError


def calibrate_dask(model: MCGrad | Calibrator, frame: Any, score: str | None = None) -> Any:
    """Calibrated probabilities of a Dask frame, computed where its rows are when they are asked for.

    Parameters
    ----------
    model : MCGrad or Calibrator
        A fitted estimator, or what `trueup.load` gives.
    frame : dask.dataframe.DataFrame
        The rows; columns are found by name.
    score : str, optional
        The column of the base model's probabilities, if its name is not the one at fit.

    Returns
    -------
    dask.dataframe.Series
        One probability per row, called ``calibrated``.

    Examples
    --------
    >>> import dask.dataframe as dd
    >>> import trueup
    >>> from trueup.distributed import calibrate_dask
    >>> frame = dd.read_parquet("days/")  # doctest: +SKIP
    >>> frame["calibrated"] = calibrate_dask(trueup.load("model.trueup"), frame)  # doctest: +SKIP
    """
    if score is not None and not isinstance(score, str):
        raise ParameterError("The scores of a Dask frame are one of its columns: pass the column's name.")
    if isinstance(model, Calibrator):
        fitted = model.model
    else:
        check_is_fitted(model, "model_")
        fitted = model.model_
    needed = [*(feature.name for feature in fitted.features.features), score or fitted.features.score_column]
    columns = columns_of(frame)
    absent = [name for name in needed if name is not None and name not in columns]
    if absent:
        raise ColumnError(f"The frame has no column {listed(absent)}. Its columns are {listed(columns, 12)}.")
    return frame.map_partitions(_calibrated, fitted, score, meta=("calibrated", "float64"))


def _calibrated(partition: Any, model: CalibrationModel, score: str | None) -> Any:
    import pandas as pd

    partition, name = with_names(partition), model.features.score_column if score is None else score
    values = Calibrator(model, n_jobs=1).calibrate(partition, None if name is None else partition[name])
    return pd.Series(values, index=partition.index, name="calibrated")
