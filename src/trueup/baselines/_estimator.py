"""What baselines have in common: those of the score alone are models, the others are estimators that one pickles."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from trueup._data import CalibrationTable
from trueup._model import CalibrationModel, FeatureSpec, ScoreMap
from trueup._scoring import Calibrator, read_base_scores
from trueup.baselines._rows import FitRows, GivenSegments, read_rows, segments_again, summary_of

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Baseline", "ScoreBaseline", "SegmentBaseline"]

Floats = npt.NDArray[np.float64]
_ANY_SCORE = 0.5  # stands for a missing one, whose row gets NaN in the end


class Baseline(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A calibration that is fitted and applied as `MCGrad` is."""

    calibrate: Callable[..., Floats]

    def predict_proba(self, X: Any, **given: Any) -> Floats:
        """Calibrated probabilities of both classes.

        Parameters
        ----------
        X : table
            The rows.
        **given : object
            What else `calibrate` takes: the scores, and the masks of segments.

        Returns
        -------
        float64 array of two columns
            In the order of ``classes_``.
        """
        check_is_fitted(self, "classes_")
        positive = self.calibrate(X, **given)
        return np.column_stack([1 - positive, positive])

    def predict(self, X: Any, **given: Any) -> npt.NDArray[Any]:
        """The more probable label of each row.

        Parameters
        ----------
        X : table
            The rows.
        **given : object
            What else `calibrate` takes: the scores, and the masks of segments.

        Returns
        -------
        array
            Labels from ``classes_``.
        """
        positive = self.predict_proba(X, **given)[:, 1]
        return np.asarray(self.classes_[(positive > 0.5).astype(np.intp)])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.poor_score = True  # without scores, most of them give the base rate to every row
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

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

    def _read(self, X: Any, scores: Any) -> tuple[CalibrationTable, Floats, npt.NDArray[np.bool_]]:
        """A table, its base scores, and which of them are missing and stand in for nothing."""
        check_is_fitted(self, "classes_")
        table, base = read_base_scores(self._base_model, X, scores)
        missing = np.isnan(base)
        return table, np.where(missing, _ANY_SCORE, base), missing


class ScoreBaseline(Baseline):
    """A calibration of the score alone: a model with a map and no rounds, saved and served like any other."""

    model_: CalibrationModel

    def fit(self, X: Any, y: Any, *, scores: Any = None, sample_weight: Any = None, segments: Any = None) -> Self:
        """Learn the map from score to probability.

        Parameters
        ----------
        X : table
            The rows; only their number matters.
        y : array-like
            Labels of two classes, or probabilities in [0, 1].
        scores : array-like, optional
            The base model's probabilities. Without them the base rate is the base model.
        sample_weight : array-like, optional
            Weights of the rows.
        segments : object, optional
            Not used; here so that all baselines are called alike.

        Returns
        -------
        Self
            The estimator itself.
        """
        rows = read_rows(X, y, scores, sample_weight)
        self._keep(rows)
        summary = summary_of(rows, type(self).__name__, self.get_params())
        columns, score_map = self._base_model.features, self._map_of(rows)
        self.model_ = CalibrationModel(columns, (), rows.base_rate, rows.given.classes, summary, score_map)
        return self

    def _map_of(self, rows: FitRows) -> ScoreMap:
        raise NotImplementedError

    def calibrate(self, X: Any, scores: Any = None) -> Floats:
        """Calibrated probabilities of the positive class.

        Parameters
        ----------
        X : table
            The rows; only their number matters.
        scores : array-like, optional
            The base model's probabilities; needed if they were at fit.

        Returns
        -------
        float64 array
            One probability per row; NaN, with a warning, where the score is missing.
        """
        check_is_fitted(self, "model_")
        return Calibrator(self.model_).calibrate(X, scores)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file, atomically; `trueup.load` reads it.

        Parameters
        ----------
        path : path-like
            Where to; by custom it ends in ``.trueup``.
        """
        check_is_fitted(self, "model_")
        Calibrator(self.model_).save(path)


class SegmentBaseline(Baseline):
    """A calibration of segments that the user lists."""

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
            One probability per row; NaN, with a warning, where the score is missing.
        """
        table, base, missing = self._read(X, scores)
        calibrated = self._calibrated(base, segments_again(self._segments, table, segments))
        calibrated[missing] = np.nan
        return calibrated

    def _keep_segments(self, rows: FitRows, found: GivenSegments) -> None:
        self._keep(rows)
        self._segments = replace(found, masks=())  # those of the fit are of no use after it

    def _calibrated(self, scores: Floats, masks: Sequence[npt.NDArray[np.bool_]]) -> Floats:
        """The probabilities of rows, none of whose scores is missing."""
        raise NotImplementedError
