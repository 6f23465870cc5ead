"""Scoring with a fitted baseline, without LightGBM, scikit-learn or pandas."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from trueup.errors import ColumnError
from trueup.features import FeatureEncoder
from trueup.inference._bodies import compile_body
from trueup.inference._members import masks_of_model
from trueup.inference._parity import parity_rows
from trueup.inference._scores import base_score_of_row, checked_score, read_base_scores
from trueup.inference._stream import calibrated_tables
from trueup.inference._threads import threads_for_rows
from trueup.model import BaselineModel, IsBetween, IsOneOf, LevelTrees, write_model
from trueup.streams import BATCH_ROWS

if TYPE_CHECKING:
    import pyarrow as pa

    from trueup.table import CalibrationTable

__all__ = ["BaselineCalibrator"]

Floats = npt.NDArray[np.float64]
_ANY_SCORE = 0.5  # stands for one that is missing, whose row gets NaN


class BaselineCalibrator:
    """A fitted baseline, ready to score.

    Scoring changes nothing in it, so one calibrator serves any number of threads at once.

    Parameters
    ----------
    model : BaselineModel
        The fitted model.
    n_jobs : int, optional
        Threads for tables; by default all cores that the process may use.

    See Also
    --------
    trueup.load : A calibrator from a model file.

    Examples
    --------
    >>> from trueup import BaselineCalibrator
    >>> from trueup.baselines import IsotonicCalibrator
    >>> fitted = IsotonicCalibrator().fit({"x": [0, 0, 0]}, [0, 1, 1], scores=[0.1, 0.3, 0.5])
    >>> BaselineCalibrator(fitted.model_).calibrate_one({"x": 0}, 0.2)
    0.5
    """

    def __init__(self, model: BaselineModel, *, n_jobs: int | None = None) -> None:
        self.model = model
        self.n_jobs = n_jobs
        self._inputs: tuple[Any, ...] = (*model.columns_read, *(("group", name) for name in model.mask_names))
        self._encoder = FeatureEncoder(model.features)
        self._body = compile_body(model)

    def __reduce__(self) -> tuple[Any, ...]:
        return _baseline_from, (self.model, self.n_jobs)

    def __repr__(self) -> str:
        return f"<BaselineCalibrator: {type(self.model.body).__name__}, {len(self.model.groups)} groups>"

    def calibrate(self, X: Any, scores: Any = None, groups: Any = None) -> Floats:
        """Calibrated probabilities of the positive class.

        Parameters
        ----------
        X : table
            The rows; columns are found by name.
        scores : array-like, optional
            The base model's probabilities. Not needed if the model was fitted without.
        groups : mapping or table, optional
            The masks of the groups that were given as masks at fit, by the same names.

        Returns
        -------
        float64 array
            One probability a row; NaN where the score is missing.
        """
        table, base = read_base_scores(self.model, X, scores)
        return self._of_table(table, base, groups)

    def _of_table(self, table: CalibrationTable, base: Floats, groups: Any = None) -> Floats:
        """The probabilities of a table with its base scores, NaN where they are.

        Parameters
        ----------
        table : CalibrationTable
            The rows.
        base : float64 array
            The base model's probabilities.
        groups : mapping or table, optional
            The masks of the groups that were given as masks at fit.

        Returns
        -------
        float64 array
            One probability a row.
        """
        matrix = self._encoder.encode(table) if self.model.features.features else np.empty((table.n_rows, 0))
        masks = masks_of_model(self.model, table, groups)
        missing = np.isnan(base)
        n_threads = threads_for_rows(self.n_jobs, len(base))
        calibrated = self._body(np.where(missing, _ANY_SCORE, base), matrix, masks, n_threads)
        calibrated[missing] = np.nan
        return calibrated

    def calibrate_stream(
        self, source: Any, *, score: str | None = None, column: str = "calibrated", batch_rows: int = BATCH_ROWS
    ) -> Iterator[pa.Table]:
        """Calibrate a table that need not fit into memory, batch by batch.

        Parameters
        ----------
        source : path-like, list or table
            Files, folders, patterns, datasets, lazy frames, queries or batches: whatever
            `trueup.streams.open_stream` takes.
        score : str, optional
            The column of the base model's probabilities; by default the one that had them at fit.
        column : str, default="calibrated"
            The name of the new column.
        batch_rows : int, default=131_072
            The most rows of a batch.

        Yields
        ------
        pyarrow.Table
            Some rows with all columns that every part of the source has, and the new one: the same probabilities as
            `calibrate` gives, missing where the score is.

        Notes
        -----
        A model whose groups were given as masks can't be used: a stream has no masks.

        Examples
        --------
        >>> import pyarrow as pa
        >>> from trueup import BaselineCalibrator
        >>> from trueup.baselines import IsotonicCalibrator
        >>> table = pa.table({"x": [1, 2, 3] * 50, "p": [0.2, 0.3, 0.4] * 50})
        >>> fitted = IsotonicCalibrator().fit(table.select(["x"]), [0, 1, 1] * 50, scores=table["p"])
        >>> batches = BaselineCalibrator(fitted.model_).calibrate_stream(table, score="p", batch_rows=100)
        >>> [(batch.num_rows, batch.column_names) for batch in batches]
        [(100, ['x', 'p', 'calibrated']), (50, ['x', 'p', 'calibrated'])]
        """
        return calibrated_tables(self, source, score, column, batch_rows)

    def calibrate_one(
        self, row: Mapping[str, Any], score: float | None = None, groups: Mapping[str, Any] | None = None
    ) -> float:
        """The calibrated probability of one row.

        Parameters
        ----------
        row : mapping
            The values by column name. None and NaN are missing.
        score : float, optional
            The base model's probability.
        groups : mapping, optional
            Whether the row is in each of the groups that were given as masks at fit.

        Returns
        -------
        float
            The probability; NaN if the score is missing.
        """
        from trueup.table import listed, read_table

        base = checked_score(base_score_of_row(self.model, row, score))
        if math.isnan(base):
            return math.nan
        absent = [name for name in self.model.columns_read if name not in row]
        if absent:
            raise ColumnError(
                f"The row has no value for {listed(absent)}. Add what is missing; a value that isn't known may be None."
            )
        spec = self.model.features
        table = replace(read_table({name: [row.get(name)] for name in spec.columns}), named=spec.named)
        masks = None if groups is None else {name: [inside] for name, inside in groups.items()}
        return float(self.calibrate(table, None if self.model.base_rate is not None else [base], masks)[0])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file, atomically.

        Parameters
        ----------
        path : path-like
            Where to; by custom it ends in ``.trueup``.
        """
        choices = [_choices(self.model, name) for name in self.model.columns_read]
        choices += [[True, False]] * len(self.model.mask_names)
        write_model(self.model, parity_rows(self._inputs, choices, self._calibrate_inputs), path)

    def _calibrate_inputs(self, row: Mapping[Any, Any], score: float) -> float:
        """The calibrated probability of a row whose masks stand among its values, a missing one being false.

        Parameters
        ----------
        row : mapping
            A value for each of `_inputs`: the columns by their names, the masks as ``("group", name)``.
        score : float
            The base score.

        Returns
        -------
        float
            The probability.
        """
        names = self.model.mask_names
        masks = {name: bool(row["group", name]) for name in names} if names else None
        return self.calibrate_one(row, None if self.model.base_rate is not None else score, masks)


def _choices(model: BaselineModel, column: str) -> list[Any]:
    """Values of a column that matter to a model: on and beside thresholds and bounds, categories, values named."""
    if column in model.features:
        feature = model.features[column]
        if feature.categories is not None or not isinstance(model.body, LevelTrees):
            return list(feature.categories or ())
        trees = model.body.trees
        numbers = trees.threshold[trees.split_feature == model.features.names.index(column)]
        return _beside(numbers.tolist())
    conditions = [condition for group in model.groups for condition in group.conditions or ()]
    named = [c for c in conditions if isinstance(c, IsOneOf) and c.column == column]
    if named:
        return [value for condition in named for value in condition.values.categories or ()]
    between = [c for c in conditions if isinstance(c, IsBetween) and c.column == column]
    return _beside([bound for c in between for bound in (c.low, c.high) if bound is not None])


def _beside(numbers: list[float]) -> list[float]:
    distinct = np.unique(np.array(numbers, dtype=np.float64))
    distinct = distinct[np.abs(distinct) < np.finfo(np.float64).max]  # there is a number above each of them
    return [float(value) for value in np.concatenate([distinct, np.nextafter(distinct, np.inf)])]


def _baseline_from(model: BaselineModel, n_jobs: int | None) -> BaselineCalibrator:
    """What unpickling calls: compiled trees are made again, not copied."""
    return BaselineCalibrator(model, n_jobs=n_jobs)
