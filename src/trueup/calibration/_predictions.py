"""What a fitted estimator predicts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted

from trueup._model import CalibrationModel
from trueup._scoring import Calibrator
from trueup.errors import ScoreError

Floats = npt.NDArray[np.float64]


class Predictions:
    """What `MCGrad` predicts once it has a model."""

    model_: CalibrationModel
    _calibrator: Calibrator

    def calibrate(self, X: Any, scores: Any = None) -> Floats:
        """Calibrated probabilities of the positive class.

        Parameters
        ----------
        X : table
            The rows; columns are found by name.
        scores : array-like, optional
            The base model's probabilities; needed if they were at fit.

        Returns
        -------
        float64 array
            One probability per row; NaN, with a warning, if the score is missing.
        """
        check_is_fitted(self, "model_")
        return self._calibrator.calibrate(X, scores)

    def staged_calibrate(self, X: Any, scores: Any = None) -> Iterator[Floats]:
        """Calibrated probabilities after each round.

        Parameters
        ----------
        X : table
            The rows.
        scores : array-like, optional
            The base model's probabilities; needed if they were at fit.

        Yields
        ------
        float64 array
            The probabilities after round 1, 2, ...
        """
        check_is_fitted(self, "model_")
        return self._calibrator.staged(X, scores)

    def predict_proba(self, X: Any, *, scores: Any = None) -> Floats:
        """Calibrated probabilities of both classes.

        Parameters
        ----------
        X : table
            The rows.
        scores : array-like, optional
            The base model's probabilities; needed if they were at fit.

        Returns
        -------
        float64 array of two columns
            In the order of ``classes_``.
        """
        positive = self.calibrate(X, scores)
        columns = [1 - positive, positive]
        return np.column_stack(columns if self.model_.positive_column else columns[::-1])

    def predict(self, X: Any, *, scores: Any = None) -> npt.NDArray[Any]:
        """The more probable label of each row.

        Parameters
        ----------
        X : table
            The rows.
        scores : array-like, optional
            The base model's probabilities; needed if they were at fit.

        Returns
        -------
        array
            Labels from ``classes_``.
        """
        positive = self.calibrate(X, scores)
        missing = int(np.isnan(positive).sum())
        if missing:
            raise ScoreError(
                f"{missing:,} of {len(positive):,} rows have no score, so they get no label. Drop those rows."
            )
        return np.asarray(np.array(self.model_.classes)[(positive > 0.5).astype(np.intp)])

    def score(self, X: Any, y: Any, sample_weight: Any = None, *, scores: Any = None) -> float:
        """Share of the rows whose more probable label is right.

        Parameters
        ----------
        X : table
            The rows.
        y : array-like
            Their labels.
        sample_weight : array-like, optional
            Weights of the rows.
        scores : array-like, optional
            The base model's probabilities; needed if they were at fit.

        Returns
        -------
        float
            The accuracy. `trueup.metrics` has what probabilities are better judged by.
        """
        return float(accuracy_score(y, self.predict(X, scores=scores), sample_weight=sample_weight))
