"""MCGrad as a scikit-learn estimator: it wires, it computes nothing."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from trueup._fitting import FitOptions, fit_model, fit_stream_model
from trueup._model import CalibrationModel
from trueup._scoring import Calibrator, load
from trueup.calibration._predictions import Predictions
from trueup.errors import ModelFileError

Floats = npt.NDArray[np.float64]


class MCGrad(Predictions, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Probabilities that are true in every segment, without a list of segments.

    MCGrad takes the scores of any classifier and the features of its rows. In each round it grows a few small
    trees on the features and the current score, adds them to the score's logit, and rescales the sum; it
    stops when validation rows, which did not grow the trees, gain no more. If the scores are already right, no
    round is kept and they are given back as they are.

    Parameters
    ----------
    features : list of str, optional
        The columns that segments are made of. All by default.
    categorical_features : "from_dtype" or list of str or int
        Columns to treat as categorical besides those whose type says so (strings, categoricals, enums,
        booleans).
    score_column : str, optional
        The column of `X` that holds the base scores, so that `scores` need not be passed.
    pos_label : label, optional
        The class that scores and calibrated probabilities are about; ``classes_[1]`` by default.
    max_rounds : int
        The most rounds to fit.
    validation : "auto", float, int, splitter or None
        Rows that decide the number of rounds: a hold-out's fraction, a number of folds, anything that
        scikit-learn takes as ``cv``, or None to fit exactly `max_rounds`.
    patience : int
        How many rounds without a gain are allowed before the fit stops.
    rescale : "honest", "train" or None
        How each round is rescaled: by a factor and a shift fitted on validation rows; by a factor fitted
        on the training rows, as in the paper; or not at all.
    monotone_score : bool
        Whether a higher base score must give a higher probability to otherwise equal rows.
    min_sum_hessian_in_leaf : float
        How much evidence, the sum of w·p·(1−p), a leaf must hold.
    lightgbm_params : mapping, optional
        Parameters for LightGBM over our defaults.
    n_jobs : int, optional
        How many threads to use. All cores that the process may use by default. The model doesn't depend on
        it.
    random_state : int, RandomState, Generator or None
        For the splits.
    verbose : int
        1 shows a progress bar on a terminal.

    Attributes
    ----------
    model_ : CalibrationModel
        All that scoring needs.
    n_rounds_ : int
        How many rounds were kept. 0 means that the base scores are given back bit for bit.
    history_ : tuple of RoundRecord
        What every round did, also those after the best. ``pandas.DataFrame(history_)`` makes a table of it.
    classes_ : array of two labels
        The labels, sorted. ``model_.classes`` are the same, negative first.
    feature_importances_ : array
        The share of each column of `X` in the total gain of all rounds; the rest of 1 is the score's own.
    n_features_in_ : int
        How many columns `X` had.
    feature_names_in_ : array of str
        Their names, if they had any.

    See Also
    --------
    MulticalibratedClassifier : A classifier and its calibration in one.
    trueup.load : Scoring from a saved model, without LightGBM or scikit-learn.

    Notes
    -----
    With ``F_0 = logit(score)``, round t gives ``F_t = theta_t (F_(t-1) + h_t(x, F_(t-1)))``, where ``h_t`` is
    a small gradient boosting on the log loss that starts from ``F_(t-1)``. The algorithm is that of *MCGrad:
    Multicalibration at Web Scale* (KDD 2026). Ours are: theta and a shift fitted on validation
    rows, fewer and larger trees in larger steps, splits without a least gain, and smoother means of many categories.
    `MCGrad.paper` gives the paper's algorithm.

    Examples
    --------
    >>> from trueup import MCGrad
    >>> from trueup.datasets import make_traffic
    >>> traffic = make_traffic(5000, random_state=0)
    >>> model = MCGrad(validation=0.3, max_rounds=3).fit(traffic.X, traffic.y, scores=traffic.scores)
    >>> model.calibrate(traffic.X, traffic.scores).shape
    (5000,)
    """

    def __init__(
        self,
        *,
        features: Sequence[str] | None = None,
        categorical_features: Literal["from_dtype"] | Sequence[str | int] = "from_dtype",
        score_column: str | None = None,
        pos_label: Any = None,
        max_rounds: int = 100,
        validation: Any = "auto",
        patience: int = 0,
        rescale: Literal["honest", "train"] | None = "honest",
        monotone_score: bool = False,
        min_sum_hessian_in_leaf: float = 20.0,
        lightgbm_params: Mapping[str, Any] | None = None,
        n_jobs: int | None = None,
        random_state: Any = 0,
        verbose: int = 0,
    ) -> None:
        self.features = features
        self.categorical_features = categorical_features
        self.score_column = score_column
        self.pos_label = pos_label
        self.max_rounds = max_rounds
        self.validation = validation
        self.patience = patience
        self.rescale = rescale
        self.monotone_score = monotone_score
        self.min_sum_hessian_in_leaf = min_sum_hessian_in_leaf
        self.lightgbm_params = lightgbm_params
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @classmethod
    def paper(cls, **parameters: Any) -> MCGrad:
        """Return an estimator with the paper's algorithm and parameters.

        Parameters
        ----------
        **parameters : object
            Parameters of `MCGrad` to set besides.

        Returns
        -------
        MCGrad
            One with ``rescale="train"`` and the paper's parameters for LightGBM.

        Notes
        -----
        Four things still differ from the paper. Rounds are chosen by five folds, and fitted again on all rows, where
        there are a million rows or fewer; the paper holds one part of the rows out (``validation=0.2``). Trees see
        the logit of the current score and not its probability, which puts the rows in the same order. Theta is kept
        within 0 and 10, and rows whose logits are beyond ±10 count less when it is fitted; the paper bounds neither.

        Examples
        --------
        >>> from trueup import MCGrad
        >>> model = MCGrad.paper(max_rounds=10, validation=5)
        >>> model.rescale, model.lightgbm_params["learning_rate"]
        ('train', 0.02873)
        """
        from trueup._fitting import PAPER_DEFAULTS

        over = parameters.pop("lightgbm_params", None) or {}
        return cls(**{"rescale": "train", "lightgbm_params": {**PAPER_DEFAULTS, **over}, **parameters})

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        scores: Any = None,
        sample_weight: Any = None,
        groups: Any = None,
        eval_set: tuple[Any, ...] | None = None,
    ) -> MCGrad:
        """Learn where the scores are wrong.

        Parameters
        ----------
        X : table
            The features: a pandas, polars or pyarrow table, a dict of arrays, or a NumPy array.
        y : array-like
            Labels of two classes, or probabilities in [0, 1].
        scores : array-like, optional
            The base model's probabilities of the positive class, one per row, or the two columns of
            ``predict_proba``. Without them, and without `score_column`, the base rate is the base model.
        sample_weight : array-like, optional
            Weights of the rows.
        groups : array-like, optional
            The group of each row, such as a user's id or a day. Rows of a group are never split apart: all of them
            grow trees or all validate. A splitter given as `validation` gets the groups;
            with `eval_set` there is nothing to split.
        eval_set : tuple, optional
            ``(X, y)``, ``(X, y, scores)`` or ``(X, y, scores, sample_weight)``: rows that decide the number
            of rounds instead of `validation`.

        Returns
        -------
        MCGrad
            The estimator itself.
        """
        given = {"scores": scores, "sample_weight": sample_weight, "groups": groups, "eval_set": eval_set}
        return fitted_by(self, lambda options: fit_model(options, X, y, **given))

    def fit_stream(
        self, source: Any, *, label: str, score: str | None = None, weight: str | None = None, group: str | None = None
    ) -> MCGrad:
        """Learn from a table that is larger than memory.

        Its rows are read twice: to learn what the columns hold, and to keep them as codes, usually one byte per feature
        per row. The same rows validate as in `fit`. The model is the same too if no number has more than 253 values;
        with more, numbers are cut at slightly other places.

        Parameters
        ----------
        source : path, pattern, folder, dataset, query, table, or list of them
            Whatever `trueup.open_stream` takes, if it can be read again.
        label : str
            The column of labels.
        score : str, optional
            The column of the base model's probabilities; `score_column` by default.
        weight : str, optional
            The column of weights.
        group : str, optional
            A column of groups, such as a user's id, which are never split apart: a hash of the group decides which
            rows validate, in whatever files they are. By default each row is dealt for itself, as in `fit`.

        Returns
        -------
        MCGrad
            The estimator itself.

        Examples
        --------
        >>> import pyarrow as pa
        >>> from trueup import MCGrad
        >>> from trueup.datasets import make_traffic
        >>> rows = make_traffic(5000, random_state=0)
        >>> table = rows.X.append_column("y", pa.array(rows.y)).append_column("p", pa.array(rows.scores))
        >>> model = MCGrad(validation=0.3, max_rounds=3).fit_stream(table.to_batches(1000), label="y", score="p")
        >>> model.calibrate(table).shape
        (5000,)
        """
        columns = {"label": label, "score": score, "weight": weight, "group": group}
        return fitted_by(self, lambda options: fit_stream_model(options, source, **columns))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file, atomically.

        Parameters
        ----------
        path : path-like
            Where to; by custom it ends in ``.trueup``.
        """
        check_is_fitted(self, "model_")
        self._calibrator.save(path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> MCGrad:
        """An estimator from a model file, as it was saved.

        Parameters
        ----------
        path : path-like
            The model file.

        Returns
        -------
        MCGrad
            Fitted. Parameters that a file can't hold, such as a splitter, have their defaults.
        """
        model = load(path).model
        if model.score_map is not None:
            raise ModelFileError(f"{os.fspath(path)!r} holds a map of the score, not an MCGrad. Use trueup.load.")
        # Without those that depend on the machine, not the model.
        known = cls().get_params(deep=False).keys() - {"n_jobs", "verbose"}
        parameters = {name: value for name, value in model.summary.parameters.items() if name in known}
        if not model.positive_column:  # also if JSON can't hold the label, a date, say
            parameters["pos_label"] = model.classes[1]
        estimator = cls(**parameters)
        estimator._set_model(model)
        return estimator

    def _set_model(self, model: CalibrationModel) -> None:
        spec = model.features
        self.model_ = model
        self.n_rounds_ = len(model.rounds)
        self.history_ = model.summary.history
        self.classes_ = np.array(sorted(model.classes))
        self.n_features_in_ = len(spec.columns)
        if spec.named:
            self.feature_names_in_ = np.array(spec.columns, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        gains = dict(zip(spec.names, model.summary.gains, strict=False))
        total = sum(model.summary.gains) or 1.0
        self.feature_importances_ = np.array([gains.get(name, 0.0) / total for name in spec.columns])
        self._calibrator = Calibrator(model, n_jobs=self.n_jobs)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        # On the few rows of a test, the base rate is all that can be said with confidence, and it is given
        # back.
        tags.classifier_tags.poor_score = True
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


def fitted_by(estimator: MCGrad, fit: Callable[[FitOptions], CalibrationModel]) -> MCGrad:
    """Fit an estimator with whatever makes a model of its parameters: in memory, from a stream, on a cluster."""
    estimator._set_model(fit(FitOptions(**estimator.get_params(deep=False))))
    return estimator
