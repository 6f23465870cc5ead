"""Calibrations of the score alone: isotonic, Platt's, and by a temperature."""

from __future__ import annotations

from typing import Any

import numpy as np

from trueup.baselines._estimator import Baseline
from trueup.baselines._rows import FitRows, read_rows, summary_of
from trueup.inference import score_logits
from trueup.model import BaselineModel, CalibrationModel, FeatureSpec, FittedRound, ScoreMap, Trees
from trueup.training import Rescaling, fit_rescaling, fit_theta

__all__ = ["IsotonicCalibrator", "PlattCalibrator", "TemperatureCalibrator"]


class IsotonicCalibrator(Baseline):
    """The rising function of the score with the least squared error.

    Attributes
    ----------
    model_ : BaselineModel
        All that scoring needs.
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

    def fit(
        self, X: Any, y: Any, *, scores: Any = None, sample_weight: Any = None, groups: Any = None
    ) -> IsotonicCalibrator:
        """Learn the function.

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
        groups : object, optional
            Not used; here so that all baselines are called alike.

        Returns
        -------
        IsotonicCalibrator
            The estimator itself.
        """
        from sklearn.isotonic import IsotonicRegression

        rows = read_rows(X, y, scores, sample_weight)
        regression = IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip")
        regression.fit(rows.scores, rows.labels, sample_weight=rows.weights)
        body = ScoreMap(*_distinct(regression.X_thresholds_, regression.y_thresholds_))
        spec = _all_columns(rows)
        summary = summary_of(rows, "IsotonicCalibrator", self.get_params())
        self._set_model(BaselineModel(spec, (), body, rows.base_rate, rows.given.classes, summary))
        return self


class PlattCalibrator(Baseline):
    """A straight line of the score's logit: a factor and a shift with the least log loss.

    Attributes
    ----------
    model_ : CalibrationModel
        All that scoring needs: one round, whose only tree is the shift.
    theta_, shift_ : float
        The calibrated logit is ``theta_ (logit + shift_)``.
    classes_ : array of two labels
        The labels, negative first.

    See Also
    --------
    TemperatureCalibrator : The factor alone.

    Notes
    -----
    Platt's scaling (1999) with the logit as its input. The factor stays within 0.01 and 10, and logits beyond
    ±10 count as ±10 in the fit, as in the rescaling of `MCGrad`.

    Examples
    --------
    A quarter of the rows that promise one half is positive, three quarters of those that promise 90 %:

    >>> from trueup.baselines import PlattCalibrator
    >>> X, y, p = {"x": [0] * 8}, [1, 0, 0, 0, 1, 1, 1, 0], [0.5] * 4 + [0.9] * 4
    >>> PlattCalibrator().fit(X, y, scores=p).calibrate(X, p).round(6)[[0, 4]]
    array([0.25, 0.75])
    """

    def fit(
        self, X: Any, y: Any, *, scores: Any = None, sample_weight: Any = None, groups: Any = None
    ) -> PlattCalibrator:
        """Learn the factor and the shift.

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
        groups : object, optional
            Not used; here so that all baselines are called alike.

        Returns
        -------
        PlattCalibrator
            The estimator itself.
        """
        rows = read_rows(X, y, scores, sample_weight)
        fitted = fit_rescaling(score_logits(rows.scores), rows.labels, rows.weights)
        self.theta_, self.shift_ = fitted.theta, fitted.shift
        self._set_model(_one_round(rows, fitted, "PlattCalibrator"))
        return self


class TemperatureCalibrator(Baseline):
    """The score's logit times the factor with the least log loss: one over a temperature.

    Attributes
    ----------
    model_ : CalibrationModel
        All that scoring needs: one round without trees that do anything.
    theta_ : float
        The calibrated logit is ``theta_`` times the logit.
    classes_ : array of two labels
        The labels, negative first.

    See Also
    --------
    PlattCalibrator : A shift besides.

    Notes
    -----
    Temperature scaling (Guo et al., 2017) for two classes. The factor stays within 0 and 10, and logits beyond
    ±10 count as ±10 in the fit, as in the rescaling of `MCGrad`.

    Examples
    --------
    Of the rows that promise 90 %, three quarters are positive: the logit should have been half as large.

    >>> from trueup.baselines import TemperatureCalibrator
    >>> X, y, p = {"x": [0] * 4}, [1, 1, 1, 0], [0.9] * 4
    >>> model = TemperatureCalibrator().fit(X, y, scores=p)
    >>> round(model.theta_, 6)
    0.5
    """

    def fit(
        self, X: Any, y: Any, *, scores: Any = None, sample_weight: Any = None, groups: Any = None
    ) -> TemperatureCalibrator:
        """Learn the factor.

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
        groups : object, optional
            Not used; here so that all baselines are called alike.

        Returns
        -------
        TemperatureCalibrator
            The estimator itself.
        """
        rows = read_rows(X, y, scores, sample_weight)
        self.theta_ = fit_theta(score_logits(rows.scores), rows.labels, rows.weights)
        self._set_model(_one_round(rows, Rescaling(self.theta_), "TemperatureCalibrator"))
        return self


def _one_round(rows: FitRows, rescaling: Rescaling, method: str) -> CalibrationModel:
    """A rescaling as a model: a round whose tree adds the shift to every logit."""
    fitted = FittedRound(Trees.constant(rescaling.shift), rescaling.theta)
    summary = summary_of(rows, method, {})
    return CalibrationModel(_all_columns(rows), (fitted,), rows.base_rate, rows.given.classes, summary)


def _all_columns(rows: FitRows) -> FeatureSpec:
    """The columns of the table, none of which is a feature."""
    return FeatureSpec(rows.table.names, (), rows.table.named)


def _distinct(scores: Any, values: Any) -> tuple[Any, Any]:
    """Knots of which no two have the same score, as 64-bit floats."""
    scores = np.asarray(scores, dtype=np.float64)
    first = np.append(True, scores[1:] > scores[:-1])
    return scores[first], np.clip(np.asarray(values, dtype=np.float64), 0.0, 1.0)[first]
