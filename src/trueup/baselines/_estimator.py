"""What baselines have in common: how they are fitted and called, as `MCGrad` is, and segments that the user lists."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from trueup._data import CalibrationTable
from trueup._fitting import FitRows, read_fit_rows
from trueup._model import CalibrationModel, FeatureSpec
from trueup._scoring import read_base_scores
from trueup.baselines._given_segments import GivenSegments, segments_again
from trueup.errors import ColumnError

if TYPE_CHECKING:
    from typing_extensions import Self

Floats = npt.NDArray[np.float64]
_ANY_SCORE = 0.5  # stands for a missing one, whose row gets NaN in the end


class Baseline(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A calibration that is fitted and applied as `MCGrad` is; all baselines are called alike."""

    def fit(self, X: Any, y: Any, *, scores: Any = None, sample_weight: Any = None, segments: Any = None) -> Self:
        """Learn how to calibrate the scores.

        Parameters
        ----------
        X : table
            The features, and what conditions are about.
        y : array-like
            Labels of two classes, or probabilities in [0, 1].
        scores : array-like, optional
            The base model's probabilities. Without them the base rate is the base model.
        sample_weight : array-like, optional
            Weights of the rows.
        segments : mapping, sequence or table, optional
            Masks by name, a table of booleans, or conditions such as ``["country = NO", "age < 25"]``. Methods that
            need no segments ignore them.

        Returns
        -------
        Self
            The estimator itself.
        """
        self._check_parameters()
        rows = self._read(X, y, scores, sample_weight)
        self._learn(rows, segments)
        self._keep(rows)
        return self

    def calibrate(self, X: Any, scores: Any = None, segments: Any = None) -> Floats:
        """Calibrated probabilities of the positive class.

        Parameters
        ----------
        X : table
            The rows; columns are found by name.
        scores : array-like, optional
            The base model's probabilities; needed if they were at fit.
        segments : mapping or table, optional
            The masks of the segments that were given as masks at fit, by the same names. Conditions are known
            from fit.

        Returns
        -------
        float64 array
            One probability per row; NaN, with a warning, if the score is missing.
        """
        check_is_fitted(self, "classes_")
        table, base = read_base_scores(self._base_model, X, scores)
        missing = np.isnan(base)
        calibrated = self._calibrated(table, np.where(missing, _ANY_SCORE, base), segments)
        calibrated[missing] = np.nan
        return calibrated

    def predict_proba(self, X: Any, *, scores: Any = None, segments: Any = None) -> Floats:
        """Calibrated probabilities of both classes.

        Parameters
        ----------
        X : table
            The rows.
        scores : array-like, optional
            As `calibrate` takes them.
        segments : mapping or table, optional
            As `calibrate` takes them.

        Returns
        -------
        float64 array of two columns
            In the order of ``classes_``.
        """
        positive = self.calibrate(X, scores, segments)
        return np.column_stack([1 - positive, positive])

    def predict(self, X: Any, *, scores: Any = None, segments: Any = None) -> npt.NDArray[Any]:
        """The more probable label of each row.

        Parameters
        ----------
        X : table
            The rows.
        scores : array-like, optional
            As `calibrate` takes them.
        segments : mapping or table, optional
            As `calibrate` takes them.

        Returns
        -------
        array
            Labels from ``classes_``.
        """
        positive = self.calibrate(X, scores, segments)
        return np.asarray(self.classes_[(positive > 0.5).astype(np.intp)])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.poor_score = True  # without scores, most of them give the base rate to every row
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    def _read(self, X: Any, y: Any, scores: Any, sample_weight: Any) -> FitRows:
        rows = read_fit_rows(X, y, scores, sample_weight)
        if not rows.table.names:
            raise ColumnError(
                f"Found array with 0 feature(s) (shape=({rows.table.n_rows}, 0)) while a minimum of 1 is required. "
                "Pass a table with at least one column."
            )
        return rows

    def _check_parameters(self) -> None:
        """Refuse parameters that are out of range."""

    def _learn(self, rows: FitRows, segments: Any) -> None:
        """Fit on checked rows; `segments` are as the user gave them."""
        raise NotImplementedError

    def _calibrated(self, table: CalibrationTable, scores: Floats, segments: Any) -> Floats:
        """The probabilities of rows, none of whose scores is missing."""
        raise NotImplementedError

    def _keep(self, rows: FitRows) -> None:
        """Remember what scoring needs to know of the rows: their columns, classes and base rate."""
        columns = FeatureSpec(rows.table.names, (), rows.table.named)
        self._base_model = CalibrationModel(columns, (), rows.base_rate, rows.given.classes)
        self.classes_ = np.array(rows.given.classes)
        self.n_features_in_ = len(columns.columns)
        if columns.named:
            self.feature_names_in_ = np.array(columns.columns, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_


class SegmentBaseline(Baseline):
    """A calibration of segments that the user lists."""

    def _calibrated(self, table: CalibrationTable, scores: Floats, segments: Any) -> Floats:
        return self._calibrated_by_masks(scores, segments_again(self._segments, table, segments))

    def _keep_segments(self, found: GivenSegments) -> None:
        self._segments = replace(found, masks=())  # those of the fit are of no use after it

    def _calibrated_by_masks(self, scores: Floats, masks: Sequence[npt.NDArray[np.bool_]]) -> Floats:
        raise NotImplementedError
