"""Calibrations of the score alone: isotonic, Platt's, and by a temperature."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from trueup._data import CalibrationTable
from trueup._features import FeatureEncoder
from trueup._fitting import FitRows, fit_rescaling, fit_theta, json_parameters, package_versions
from trueup._model import CalibrationModel, FeatureSpec, KnotMap, LogitMap, ScoreMap, TrainingSummary
from trueup._scoring import Calibrator, map_scores, score_logits
from trueup.baselines._estimator import Baseline, Floats


class ScoreBaseline(Baseline):
    """A calibration of the score alone: a model with a map and no rounds, saved and served like any other."""

    model_: CalibrationModel

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file, atomically; `trueup.load` reads it.

        Parameters
        ----------
        path : path-like
            Where to; by custom it ends in ``.trueup``.
        """
        check_is_fitted(self, "model_")
        Calibrator(self.model_).save(path)

    def _learn(self, rows: FitRows, segments: Any) -> None:
        summary = TrainingSummary(
            n_rows=len(rows.labels),
            positive_rate=float(np.average(rows.labels, weights=rows.weights)),
            parameters={"method": type(self).__name__, **json_parameters(self.get_params())},
            versions=package_versions(),
        )
        columns = FeatureSpec(rows.table.names, (), rows.table.named)
        score_map = self._map_of(rows)
        self.model_ = CalibrationModel(columns, (), rows.base_rate, rows.given.classes, summary, score_map)

    def _calibrated(self, table: CalibrationTable, scores: Floats, segments: Any) -> Floats:
        FeatureEncoder(self.model_.features).encode(table)  # a table with other columns is an error all the same
        return map_scores(self.model_.score_map, scores)

    def _map_of(self, rows: FitRows) -> ScoreMap:
        raise NotImplementedError


class IsotonicCalibrator(ScoreBaseline):
    """The rising function of the score with the least squared error.

    Attributes
    ----------
    model_ : CalibrationModel
        All that scoring needs: a map with a knot wherever the function bends.
    classes_ : array of two labels
        The labels, negative first.

    See Also
    --------
    PlattCalibrator : Two numbers instead of a function.

    Notes
    -----
    scikit-learn's isotonic regression of the label on the score (Zadrozny and Elkan, 2002), level beyond the
    least and the greatest score of the fit.

    Examples
    --------
    >>> from trueup.baselines import IsotonicCalibrator
    >>> X = {"x": [0, 0, 0, 0]}
    >>> model = IsotonicCalibrator().fit(X, [0, 1, 0, 1], scores=[0.1, 0.2, 0.3, 0.9])
    >>> model.calibrate(X, [0.1, 0.2, 0.3, 0.9])
    array([0. , 0.5, 0.5, 1. ])
    """

    def _map_of(self, rows: FitRows) -> ScoreMap:
        from sklearn.isotonic import IsotonicRegression

        regression = IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip")
        regression.fit(rows.scores, rows.labels, sample_weight=rows.weights)
        return KnotMap(*_distinct(regression.X_thresholds_, regression.y_thresholds_))


class PlattCalibrator(ScoreBaseline):
    """A straight line of the score's logit: a factor and a shift with the least log loss.

    Attributes
    ----------
    model_ : CalibrationModel
        All that scoring needs: a map of the logit.
    theta_, shift_ : float
        The calibrated logit is ``theta_ (logit + shift_)``.
    classes_ : array of two labels
        The labels, negative first.

    See Also
    --------
    TemperatureCalibrator : The factor alone.

    Notes
    -----
    Platt's scaling (1999) with the logit as its input. The factor stays within 0.01 and 10, and rows whose
    logits are beyond ±10 count less in the fit, as in the rescaling of `MCGrad`.

    Examples
    --------
    A quarter of the rows at 50 % is positive, and three quarters of those at 90 %:

    >>> from trueup.baselines import PlattCalibrator
    >>> X, y, p = {"x": [0] * 8}, [1, 0, 0, 0, 1, 1, 1, 0], [0.5] * 4 + [0.9] * 4
    >>> PlattCalibrator().fit(X, y, scores=p).calibrate(X, p).round(6)[[0, 4]]
    array([0.25, 0.75])
    """

    def _map_of(self, rows: FitRows) -> ScoreMap:
        fitted = fit_rescaling(score_logits(rows.scores), rows.labels, rows.weights)
        self.theta_, self.shift_ = fitted.theta, fitted.shift
        return LogitMap(shift=fitted.theta * fitted.shift, slope=fitted.theta)


class TemperatureCalibrator(ScoreBaseline):
    """The score's logit times the factor with the least log loss: one over a temperature.

    Attributes
    ----------
    model_ : CalibrationModel
        All that scoring needs: a map of the logit.
    theta_ : float
        The calibrated logit is ``theta_`` times the logit.
    classes_ : array of two labels
        The labels, negative first.

    See Also
    --------
    PlattCalibrator : A shift besides.

    Notes
    -----
    Temperature scaling (Guo et al., 2017) for two classes. The factor stays within 0 and 10, and rows whose
    logits are beyond ±10 count less in the fit, as in the rescaling of `MCGrad`.

    Examples
    --------
    Of the rows at 90 %, three quarters are positive: the logit should be half as large.

    >>> from trueup.baselines import TemperatureCalibrator
    >>> X, y, p = {"x": [0] * 4}, [1, 1, 1, 0], [0.9] * 4
    >>> model = TemperatureCalibrator().fit(X, y, scores=p)
    >>> round(model.theta_, 6)
    0.5
    """

    def _map_of(self, rows: FitRows) -> ScoreMap:
        self.theta_ = fit_theta(score_logits(rows.scores), rows.labels, rows.weights)
        return LogitMap(slope=self.theta_)


def _distinct(scores: Any, values: Any) -> tuple[Any, Any]:
    """Knots of which no two have the same score, as 64-bit floats."""
    scores = np.asarray(scores, dtype=np.float64)
    first = np.append(True, scores[1:] > scores[:-1])
    return scores[first], np.clip(np.asarray(values, dtype=np.float64), 0.0, 1.0)[first]
