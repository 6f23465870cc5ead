"""What an estimator predicts for rows, and their labels in its own classes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from trueup._data import Labels, read_labels, read_table
from trueup.errors import ParameterError, ScoreError

if TYPE_CHECKING:
    from typing_extensions import Self


class DrawnFromEstimator:
    """A display whose `from_predictions` takes labels and probabilities, and perhaps the table as its `X`."""

    _takes_table = False
    from_predictions: Callable[..., Self]

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, scores: Any = None, name: str | None = None, **options: Any
    ) -> Self:
        """Draw what an estimator predicts for rows.

        Parameters
        ----------
        estimator : fitted estimator
            An `MCGrad`, what `trueup.load` gives, or any classifier of two classes.
        X, y : table and array-like
            The rows and their labels.
        scores : array-like, optional
            The base model's scores, if the estimator calibrates them.
        name : str, optional
            What to call it: in the legend, where the estimator's class is the default, or as the title.
        **options : object
            Options of `from_predictions`.

        Returns
        -------
        Self
            The display, drawn.
        """
        y_prob = scores_of(estimator, X, scores)
        if cls._takes_table:
            return cls.from_predictions(y, y_prob, X, name=name, **options)
        return cls.from_predictions(labels_for(estimator, X, y), y_prob, name=name_of(estimator, name), **options)


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
    """Labels as numbers if the estimator says which class is positive; otherwise as they are."""
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
