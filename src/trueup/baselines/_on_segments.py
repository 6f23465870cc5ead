"""Gradient boosting whose features are the segments: DFMC, and MCGrad itself."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from trueup._fitting import FitRows
from trueup._runtime import check_number, check_whole
from trueup.baselines._estimator import Floats, SegmentBaseline
from trueup.baselines._given_segments import read_segments
from trueup.calibration import MCGrad
from trueup.errors import ParameterError

# LightGBM's own defaults, but for the depth.
_TREES = {
    "learning_rate": 0.1,
    "num_leaves": 31,
    "max_depth": 2,
    "min_child_samples": 20,
    "lambda_l2": 0.0,
    "min_gain_to_split": 0.0,
}
_MIN_SUM_HESSIAN = 1e-3
_MIN_LEARNING_RATE = 1e-6


class _RoundsOnSegments(SegmentBaseline):
    """An `MCGrad` whose table has one column of zeros and ones per segment."""

    estimator_: MCGrad

    def _learn(self, rows: FitRows, segments: Any) -> None:
        estimator, found = self._template(), read_segments(segments, rows, type(self).__name__)
        labels = rows.labels if rows.given.soft else rows.labels.astype(int)
        columns = _columns_of(found.names, found.masks)
        self.estimator_ = estimator.fit(columns, labels, scores=rows.scores, sample_weight=rows.weights)
        self._keep_segments(found)

    def _template(self) -> MCGrad:
        """The estimator to fit on the segments."""
        raise NotImplementedError

    def _calibrated_by_masks(self, scores: Floats, masks: Sequence[npt.NDArray[np.bool_]]) -> Floats:
        return self.estimator_.calibrate(_columns_of(self._segments.names, masks), scores)


def _columns_of(names: Iterable[str], masks: Iterable[npt.NDArray[np.bool_]]) -> dict[str, npt.NDArray[np.int8]]:
    return {name: mask.view(np.int8) for name, mask in zip(names, masks, strict=True)}


class DFMC(_RoundsOnSegments):
    """One gradient boosting of trees of depth 2 on the segments and the score, without bins.

    Parameters
    ----------
    n_estimators : int
        How many trees to grow.
    learning_rate : float
        How far each tree goes.
    n_jobs : int, optional
        How many threads to use. All cores that the process may use by default. The model doesn't depend on it.
    random_state : int, RandomState or None
        For LightGBM.

    Attributes
    ----------
    estimator_ : MCGrad
        The one boosting, fitted on the segments.
    classes_ : array of two labels
        The labels, negative first.

    See Also
    --------
    SegmentMCGrad : Rounds instead of one boosting.
    trueup.MCGrad : Needs no segments.

    Notes
    -----
    Discretisation-free multicalibration (Jin et al., 2025): a tree of depth 2 can ask whether a row is in a segment
    and whether its score is in an interval, or in two segments. The parameters are LightGBM's defaults, as in the
    benchmark of the MCGrad paper.

    Examples
    --------
    >>> from trueup.baselines import DFMC
    >>> from trueup.datasets import make_traffic
    >>> traffic = make_traffic(2000, random_state=0)
    >>> model = DFMC(n_estimators=20).fit(
    ...     traffic.X, traffic.y, scores=traffic.scores, segments=["device = phone", "hour < 6"]
    ... )
    >>> model.calibrate(traffic.X, traffic.scores).shape
    (2000,)
    """

    def __init__(
        self, *, n_estimators: int = 100, learning_rate: float = 0.1, n_jobs: int | None = None, random_state: Any = 0
    ) -> None:
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _template(self) -> MCGrad:
        check_whole("n_estimators", self.n_estimators, 1)
        check_number("learning_rate", self.learning_rate, _MIN_LEARNING_RATE, 1.0)
        return MCGrad(
            max_rounds=1,
            validation=None,
            rescale=None,
            min_sum_hessian_in_leaf=_MIN_SUM_HESSIAN,
            lightgbm_params={**_TREES, "n_estimators": self.n_estimators, "learning_rate": self.learning_rate},
            n_jobs=self.n_jobs,
            random_state=self.random_state,
        )


class SegmentMCGrad(_RoundsOnSegments):
    """`MCGrad` whose only features are the segments: 1 for the rows inside and 0 for the others.

    Parameters
    ----------
    estimator : MCGrad, optional
        How to fit; its `features`, `categorical_features` and `score_column` must be the defaults.

    Attributes
    ----------
    estimator_ : MCGrad
        The estimator that was fitted on the segments.
    classes_ : array of two labels
        The labels, negative first.

    See Also
    --------
    trueup.MCGrad : Finds the segments by itself.

    Examples
    --------
    >>> from trueup import MCGrad
    >>> from trueup.baselines import SegmentMCGrad
    >>> from trueup.datasets import make_traffic
    >>> traffic = make_traffic(2000, random_state=0)
    >>> model = SegmentMCGrad(estimator=MCGrad(max_rounds=2, validation=0.3)).fit(
    ...     traffic.X, traffic.y, scores=traffic.scores, segments=["device = phone", "hour < 6"]
    ... )
    >>> model.estimator_.feature_names_in_.tolist()
    ['device = phone', 'hour < 6']
    """

    def __init__(self, *, estimator: MCGrad | None = None) -> None:
        self.estimator = estimator

    def _template(self) -> MCGrad:
        estimator = MCGrad() if self.estimator is None else clone(self.estimator)
        named = (estimator.features, estimator.score_column, estimator.categorical_features)
        if named != (None, None, "from_dtype"):
            raise ParameterError(
                "The estimator of SegmentMCGrad has the segments as its features: leave features, "
                "categorical_features and score_column as they are."
            )
        return estimator
