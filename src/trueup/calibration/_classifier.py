"""A classifier and its calibration in one estimator."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import StratifiedGroupKFold, check_cv
from sklearn.utils import _safe_indexing
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import check_is_fitted, column_or_1d, has_fit_parameter

from trueup._data import read_labels, read_table
from trueup.calibration._mcgrad import MCGrad
from trueup.errors import DataWarning, LabelError, ParameterError, callers_level

Floats = npt.NDArray[np.float64]


_DEFAULT = MCGrad()


class MulticalibratedClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier whose probabilities are true in every segment.

    The classifier is fitted on folds, so that each row gets a score from a model that has not seen it; the
    calibrator learns from those scores; then the classifier is fitted on all rows. A classifier in a
    `FrozenEstimator <sklearn.frozen.FrozenEstimator>` is used as it is: fit on rows that it has not seen.

    Parameters
    ----------
    estimator : classifier
        Any scikit-learn classifier with ``predict_proba`` or ``decision_function``.
    calibrator : MCGrad
        The calibrator to fit, which is cloned first. Its parameters can be set and searched, as
        ``calibrator__max_rounds`` and so on.
    cv : int, splitter or iterable
        How to make out-of-fold scores.

    Attributes
    ----------
    estimator_ : classifier
        The classifier fitted on all rows.
    calibrator_ : MCGrad
        The fitted calibrator.
    classes_ : array of two labels
        The labels, sorted.
    n_features_in_ : int
        How many columns `X` had.
    feature_names_in_ : array of str
        Their names, if they had any.

    See Also
    --------
    MCGrad : The calibrator alone, for scores from elsewhere.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from trueup import MCGrad, MulticalibratedClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 3))
    >>> y = rng.random(2000) < 1 / (1 + np.exp(-X[:, 0] * (X[:, 1] > 0)))
    >>> model = MulticalibratedClassifier(LogisticRegression(), calibrator=MCGrad(max_rounds=5)).fit(X, y)
    >>> model.predict_proba(X).shape
    (2000, 2)
    """

    def __init__(self, estimator: Any, *, calibrator: MCGrad = _DEFAULT, cv: Any = 5) -> None:
        self.estimator = estimator
        # All classifiers would share the one object in the signature, and set_params on one would change all of them.
        self.calibrator = clone(calibrator) if calibrator is _DEFAULT else calibrator
        self.cv = cv

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None, **fit_params: Any
    ) -> MulticalibratedClassifier:
        """Fit the classifier and its calibration.

        Parameters
        ----------
        X : table
            Rows that both the classifier and the calibrator can read.
        y : array-like
            Labels of two classes.
        sample_weight : array-like, optional
            Weights of the rows. The classifier gets them too; if its ``fit`` doesn't take them, as that of a
            pipeline, a warning says so and only the calibration uses them.
        groups : array-like, optional
            The group of each row, such as a user's id. Groups are never split apart: neither by `cv` (a number of
            folds becomes a `StratifiedGroupKFold <sklearn.model_selection.StratifiedGroupKFold>`) nor by the
            calibrator's own validation.
        **fit_params : dict
            What the classifier or the splitter requests, if scikit-learn's metadata routing is enabled.

        Returns
        -------
        MulticalibratedClassifier
            The estimator itself.
        """
        if isinstance(self.cv, str) and self.cv == "prefit":
            raise ParameterError(
                'cv="prefit" is not supported. To calibrate a classifier that is already fitted, pass '
                "FrozenEstimator(classifier) from sklearn.frozen as estimator, and leave cv out."
            )
        if getattr(y, "ndim", 1) == 2 and not hasattr(y, "columns"):
            y = column_or_1d(y, warn=True)
        if hasattr(X, "__array__") and not hasattr(X, "__getitem__"):
            X = np.asarray(X)  # folds are taken by index
        labels = read_labels(y, read_table(X).n_rows)
        if labels.soft:
            raise LabelError(
                "A classifier can't learn from probabilities. Pass classes, or calibrate scores with MCGrad."
            )
        y = np.array(labels.classes)[labels.values.astype(np.intp)]
        to_estimator, to_splitter = self._routed(sample_weight, groups, fit_params)
        if isinstance(self.estimator, FrozenEstimator):
            known = getattr(self.estimator, "classes_", None)
            if known is not None and np.asarray(known).tolist() != list(labels.classes):
                raise LabelError(
                    f"The frozen classifier knows the classes {np.asarray(known).tolist()}, but y holds "
                    f"{list(labels.classes)}."
                )
            self.estimator_ = self.estimator
            scores = _class_scores(self.estimator, X)
        else:
            scores = self._out_of_fold_scores(X, y, to_estimator, to_splitter)
            self.estimator_ = clone(self.estimator).fit(X, y, **to_estimator)
        self.calibrator_ = clone(self.calibrator).fit(X, y, scores=scores, sample_weight=sample_weight, groups=groups)
        self.classes_ = self.calibrator_.classes_
        self.n_features_in_ = self.calibrator_.n_features_in_
        if hasattr(self.calibrator_, "feature_names_in_"):
            self.feature_names_in_ = self.calibrator_.feature_names_in_
        return self

    def predict_proba(self, X: Any) -> Floats:
        """Calibrated probabilities of both classes.

        Parameters
        ----------
        X : table
            The rows.

        Returns
        -------
        float64 array of two columns
            In the order of ``classes_``.
        """
        check_is_fitted(self, "calibrator_")
        probabilities: Floats = self.calibrator_.predict_proba(X, scores=_class_scores(self.estimator_, X))
        return probabilities

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The more probable label of each row.

        Parameters
        ----------
        X : table
            The rows.

        Returns
        -------
        array
            Labels from ``classes_``.
        """
        check_is_fitted(self, "calibrator_")
        labels: npt.NDArray[Any] = self.calibrator_.predict(X, scores=_class_scores(self.estimator_, X))
        return labels

    def get_metadata_routing(self) -> MetadataRouter:
        """Who wants which metadata.

        Returns
        -------
        MetadataRouter
            As scikit-learn's metadata routing asks for it.
        """
        to_fit = MethodMapping().add(caller="fit", callee="fit")
        to_split = MethodMapping().add(caller="fit", callee="split")
        router = MetadataRouter(owner=self).add_self_request(self)
        return router.add(estimator=self.estimator, method_mapping=to_fit).add(
            splitter=self.cv, method_mapping=to_split
        )

    def _out_of_fold_scores(
        self, X: Any, y: npt.NDArray[Any], to_estimator: dict[str, Any], to_splitter: dict[str, Any]
    ) -> Floats:
        """A score for each row from a classifier that has not seen it."""
        cv, scores = self.cv, np.full((len(y), 2), np.nan)
        if "groups" in to_splitter and isinstance(cv, (int, np.integer)):
            cv = StratifiedGroupKFold(cv)
        for train, test in check_cv(cv, y, classifier=True).split(X, y, **to_splitter):
            fold_params = {
                name: _safe_indexing(value, train) if _is_one_a_row(value, len(y)) else value
                for name, value in to_estimator.items()
            }
            fold = clone(self.estimator).fit(_safe_indexing(X, train), y[train], **fold_params)
            scores[test] = _class_scores(fold, _safe_indexing(X, test))
        unscored = int(np.isnan(scores[:, 0]).sum())
        if unscored:
            raise ParameterError(f"cv leaves {unscored:,} of {len(y):,} rows without a test fold. Every row needs one.")
        return scores

    def _routed(
        self, sample_weight: Any, groups: Any, fit_params: dict[str, Any]
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """What the classifier's fit and the splitter's split are given."""
        from sklearn import get_config

        to_splitter = {} if groups is None else {"groups": groups}
        if get_config().get("enable_metadata_routing"):
            weights = {} if sample_weight is None else {"sample_weight": sample_weight}
            routed = process_routing(self, "fit", **weights, **to_splitter, **fit_params)
            is_routed = hasattr(self.cv, "get_metadata_routing")  # a number or a list can't ask for groups
            return dict(routed.estimator.fit), dict(routed.splitter.split) if is_routed else to_splitter
        if fit_params:
            unknown = sorted(fit_params)
            raise ParameterError(f"fit got {unknown}: enable scikit-learn's metadata routing to pass them on.")
        if sample_weight is None or isinstance(self.estimator, FrozenEstimator):
            return {}, to_splitter
        if has_fit_parameter(self.estimator, "sample_weight"):
            return {"sample_weight": np.asarray(sample_weight)}, to_splitter
        warnings.warn(
            f"{type(self.estimator).__name__}.fit takes no sample_weight, so only the calibration uses the weights and "
            "the classifier is fitted without them. To pass weights into a pipeline, enable scikit-learn's metadata "
            "routing and call set_fit_request(sample_weight=True) on its last step.",
            DataWarning,
            stacklevel=callers_level(),
        )
        return {}, to_splitter

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import get_tags

        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.poor_score = inner.classifier_tags.poor_score if inner.classifier_tags else False
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        tags.input_tags.categorical = inner.input_tags.categorical
        tags.input_tags.string = inner.input_tags.string
        return tags


def _class_scores(estimator: Any, X: Any) -> Floats:
    """The probabilities of both classes, of which the calibrator takes the positive one's."""
    if hasattr(estimator, "predict_proba"):
        probabilities = np.asarray(estimator.predict_proba(X))
        if probabilities.ndim != 2 or probabilities.shape[1] != 2:
            raise LabelError(
                f"The classifier's predict_proba has shape {probabilities.shape}; two columns are needed. Was it "
                "fitted on two classes?"
            )
        return probabilities.astype(np.float64)
    if hasattr(estimator, "decision_function"):
        from trueup._scoring import probabilities as of_logits

        positive = of_logits(np.ascontiguousarray(estimator.decision_function(X), dtype=np.float64))
        return np.column_stack([1 - positive, positive])
    raise ParameterError(f"{type(estimator).__name__} has neither predict_proba nor decision_function.")


def _is_one_a_row(value: Any, n_rows: int) -> bool:
    return hasattr(value, "__len__") and not isinstance(value, (str, dict)) and len(value) == n_rows
