"""What all baselines have in common."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from trueup.inference import BaselineCalibrator, Calibrator
from trueup.model import BaselineModel, CalibrationModel

__all__ = ["Baseline"]

Floats = npt.NDArray[np.float64]


class Baseline(BaseEstimator):  # type: ignore[misc]
    """A calibration that is fitted, applied and saved as `MCGrad` is."""

    model_: CalibrationModel | BaselineModel

    def calibrate(self, X: Any, scores: Any = None, groups: Any = None) -> Floats:
        """Calibrated probabilities of the positive class.

        Parameters
        ----------
        X : table
            The rows; columns are found by name.
        scores : array-like, optional
            The base model's probabilities; needed if they were at fit.
        groups : mapping or table, optional
            The masks of the groups that were given as masks at fit, by the same names. Conditions are known
            from fit.

        Returns
        -------
        float64 array
            One probability a row; NaN, with a warning, where the score is missing.
        """
        check_is_fitted(self, "model_")
        calibrator = self._calibrator
        if isinstance(calibrator, BaselineCalibrator) and calibrator.model.groups:
            return calibrator.calibrate(X, scores, groups)
        return calibrator.calibrate(X, scores)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file, atomically; `trueup.load` reads it.

        Parameters
        ----------
        path : path-like
            Where to; by custom it ends in ``.trueup``.
        """
        check_is_fitted(self, "model_")
        self._calibrator.save(path)

    def _set_model(self, model: CalibrationModel | BaselineModel, n_jobs: int | None = None) -> None:
        self.model_ = model
        self.classes_ = np.array(model.classes)
        self.n_features_in_ = len(model.features.columns)
        self._calibrator: Calibrator | BaselineCalibrator
        if isinstance(model, BaselineModel):
            self._calibrator = BaselineCalibrator(model, n_jobs=n_jobs)
        else:
            self._calibrator = Calibrator(model, n_jobs=n_jobs)
