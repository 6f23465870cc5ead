"""What an estimator predicts for rows, and their labels in its own classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from trueup._data import Labels, read_labels, read_table
from trueup.errors import ParameterError, ScoreError

__all__ = ["labels_for", "name_of", "scores_of"]


def scores_of(estimator: Any, X: Any, scores: Any) -> Any:
    """The probabilities of the positive class that an estimator gives; `scores` are the base model's."""
    if hasattr(estimator, "calibrate"):
        return estimator.calibrate(X, scores)
    if not hasattr(estimator, "predict_proba"):
        raise ParameterError(
            f"estimator is a {type(estimator).__name__} with neither calibrate nor predict_proba. Pass a fitted "
            "MCGrad, what trueup.load gives, or a classifier; or pass its scores to from_predictions."
        )
    if scores is not None:
        raise ParameterError(
            f"scores are a base model's, and {type(estimator).__name__} takes none. Leave them out, or pass a "
            "calibrator."
        )
    given = np.asarray(estimator.predict_proba(X))
    if given.ndim != 2 or given.shape[1] != 2:
        raise ScoreError(f"predict_proba gave shape {given.shape}; only classifiers of two classes can be drawn.")
    return given[:, 1]


def labels_for(estimator: Any, X: Any, y: Any) -> Any:
    """Labels as numbers, if the estimator says which class is the positive one; else as they are."""
    if hasattr(estimator, "calibrate"):  # whose positive class need not be the second of classes_
        model = getattr(estimator, "model_", getattr(estimator, "model", None))
        classes = getattr(model, "classes", None)
    else:
        classes = getattr(estimator, "classes_", None)
    if classes is None or len(classes) != 2:
        return y
    known = Labels(np.zeros(0), tuple(np.asarray(classes).tolist()), soft=False)
    return read_labels(y, read_table(X).n_rows, like=known).values


def name_of(estimator: Any, name: str | None) -> str:
    """What a legend calls the estimator."""
    return type(estimator).__name__ if name is None else name
