"""Level-set boosting as an estimator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from trueup._data import CalibrationTable
from trueup._features import FeatureEncoder, learn_features
from trueup._fitting import FitRows, make_splits, seeds_from
from trueup._model import FeatureSpec, Trees
from trueup._runtime import check_number, check_whole, thread_count
from trueup.baselines._estimator import Baseline, Floats
from trueup.baselines._levels import LevelData, LevelGrowth, apply_levels, fit_levels
from trueup.errors import ParameterError

MAX_LEVELS = 1000  # with more, a level set has no rows to speak of
_MAX_DEPTH = 12


class LSBoost(Baseline):
    """Level-set boosting: where the score has one level, a small tree of the features says what it should be.

    Parameters
    ----------
    n_levels : int
        How many levels a probability is rounded to.
    max_rounds : int
        The most rounds.
    max_depth : int
        How deep the tree of a level set may be.
    min_child_samples : int
        How many rows a leaf must hold; a level set with fewer rows stays as it is.
    validation : float
        The part of the rows that says when to stop.
    tolerance : float
        By how much a round must lower the squared error of those rows.
    features : list of str, optional
        The columns that trees look at. All by default.
    categorical_features : "from_dtype" or list of str or int
        Columns to treat as categorical besides those whose type says so.
    n_jobs : int, optional
        Threads for scoring. All cores that the process may use by default. The model doesn't depend on it.
    random_state : int, RandomState or None
        For the split.

    Attributes
    ----------
    n_rounds_ : int
        How many rounds were kept.
    validation_errors_ : list of float
        The squared error of the validation rows, of the rounded scores and after each round that was tried.
    classes_ : array of two labels
        The labels, negative first.

    See Also
    --------
    trueup.MCGrad : Trees on all level sets at once, without rounding.

    Notes
    -----
    Globus-Harris et al. (2023). A round replaces ``f`` by ``round(h_v(x))`` where ``f(x) = v``, and ``h_v`` is the
    regression tree with the least squared error on that level set. The levels are the middles of equal intervals:
    the error of rounding is the same as with multiples of ``1 / n_levels``, and no probability becomes 0 or 1.
    The paper stops when a round gains less than ``alpha / (2 B)``, which is ``1 / n_levels`` here and more than
    most scores have to gain; so we stop when validation rows gain nothing, and then fit as many rounds on all rows.

    Examples
    --------
    >>> from trueup.baselines import LSBoost
    >>> from trueup.datasets import make_traffic
    >>> traffic = make_traffic(3000, random_state=0)
    >>> model = LSBoost(max_rounds=3).fit(traffic.X, traffic.y, scores=traffic.scores)
    >>> len(set(model.calibrate(traffic.X, traffic.scores))) <= 20
    True
    """

    def __init__(
        self,
        *,
        n_levels: int = 20,
        max_rounds: int = 50,
        max_depth: int = 3,
        min_child_samples: int = 50,
        validation: float = 0.2,
        tolerance: float = 0.0,
        features: Sequence[str] | None = None,
        categorical_features: Literal["from_dtype"] | Sequence[str | int] = "from_dtype",
        n_jobs: int | None = None,
        random_state: Any = 0,
    ) -> None:
        self.n_levels = n_levels
        self.max_rounds = max_rounds
        self.max_depth = max_depth
        self.min_child_samples = min_child_samples
        self.validation = validation
        self.tolerance = tolerance
        self.features = features
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _check_parameters(self) -> None:
        for name, least in (("n_levels", 1), ("max_rounds", 0), ("max_depth", 1), ("min_child_samples", 1)):
            check_whole(name, getattr(self, name), least)
        check_number("n_levels", self.n_levels, 1, MAX_LEVELS)
        check_number("max_depth", self.max_depth, 1, _MAX_DEPTH)
        check_number("tolerance", self.tolerance, 0.0, 1.0)
        check_number("validation", self.validation, 0.01, 0.99)

    def _learn(self, rows: FitRows, segments: Any) -> None:
        spec = learn_features(
            rows.table, features=self.features, categorical_features=self.categorical_features, rows=rows.kept
        )
        seeds = seeds_from(self.random_state)
        growth = LevelGrowth(
            int(self.n_levels), int(self.max_depth), int(self.min_child_samples), seeds[1], thread_count(self.n_jobs)
        )
        matrix = FeatureEncoder(spec).encode(rows.table, rows.kept)
        weights = np.ones(len(rows.labels)) if rows.weights is None else rows.weights
        data = LevelData(matrix, _categorical(spec), rows.labels, rows.scores, weights)
        self._trees = self._rounds(data, growth, rows.given.soft, seeds[0])
        self._n_levels, self._spec, self.n_rounds_ = growth.n_levels, spec, len(self._trees)

    def _calibrated(self, table: CalibrationTable, scores: Floats, segments: Any) -> Floats:
        matrix, n_threads = FeatureEncoder(self._spec).encode(table), thread_count(self.n_jobs)
        categorical = _categorical(self._spec)
        return apply_levels(self._trees, self._n_levels, scores, matrix, categorical=categorical, n_threads=n_threads)

    def _rounds(self, data: LevelData, growth: LevelGrowth, soft: bool, seed: int) -> list[Trees]:
        """As many rounds on all rows as lower the error of validation rows."""
        splits = make_splits(float(self.validation), data.labels, soft=soft, seed=seed)
        if isinstance(splits, str):
            raise ParameterError(f"validation={self.validation}: {splits}.")
        train, validation = splits[0]
        tried, errors = fit_levels(
            data, growth, (train, validation), max_rounds=int(self.max_rounds), tolerance=float(self.tolerance)
        )
        self.validation_errors_ = errors
        everything = np.arange(len(data.labels), dtype=np.int32)
        return fit_levels(data, growth, (everything, everything[:0]), max_rounds=len(tried))[0]


def _categorical(spec: FeatureSpec) -> npt.NDArray[np.uint8]:
    return np.array([feature.is_categorical for feature in spec.features], dtype=np.uint8)
