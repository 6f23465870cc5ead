"""From data and splits to rounds, and from rounds to a `CalibrationModel`."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np

from trueup._data import Labels
from trueup._fitting._data import Rows, TrainingData
from trueup._fitting._folds import Rescale
from trueup._fitting._lightgbm import LightGBMGrower
from trueup._fitting._loop import FitOutcome, FitPlan, fit_rounds, shown_rounds
from trueup._fitting._options import FitOptions, package_versions
from trueup._fitting._parameters import GrowthParameters, growth_parameters
from trueup._fitting._splits import Split
from trueup._model import CalibrationModel, FeatureSpec, TrainingSummary
from trueup._runtime import thread_count
from trueup.errors import InsufficientDataWarning, RescaleWarning, callers_level


def growth_of(options: FitOptions, spec: FeatureSpec, seed: int) -> GrowthParameters:
    """How trees are grown on these features."""
    return growth_parameters(
        options.lightgbm_params,
        min_sum_hessian_in_leaf=float(options.min_sum_hessian_in_leaf),
        n_features=len(spec.features),
        most_categories=max((len(feature.categories or ()) for feature in spec.features), default=0),
        monotone_score=options.monotone_score,
        seed=seed,
    )


def fitted_model(
    options: FitOptions,
    spec: FeatureSpec,
    labels: Labels,  # their classes
    outcome: FitOutcome,
    *,
    base_rate: float | None,
    n_rows: int,
    positive_rate: float,
) -> CalibrationModel:
    """The model that a fit gives."""
    summary = TrainingSummary(
        n_rows=n_rows,
        positive_rate=positive_rate,
        history=outcome.history,
        gains=tuple(outcome.gains.tolist()),
        parameters=options.to_json(),
        versions=package_versions(),
    )
    return CalibrationModel(spec, outcome.rounds, base_rate, labels.classes, summary)


def fit_data(
    data: TrainingData,
    n_fit: int,
    splits: list[Split] | str,
    parameters: GrowthParameters,
    options: FitOptions,
    *,
    follows: bool = True,
) -> FitOutcome:
    """Fit on the first rows; those after them, if there are any, and the splits decide the number of rounds.

    `splits` is a reason if there are too few rows to split.
    """
    reason = splits if isinstance(splits, str) else _too_few(data, n_fit, splits, parameters)
    if isinstance(splits, str) or (reason and options.max_rounds):
        return no_rounds(reason, data.n_features)
    plan = plan_of(options, validates=bool(splits), n_threads=thread_count(options.n_jobs), follows=follows)
    shares_bins = _may_share_bins(data, splits, n_fit, parameters)
    grower = LightGBMGrower(data, parameters, shares_bins=shares_bins, n_threads=plan.n_threads)
    refit_rows = None if n_fit == data.n_rows else np.arange(n_fit, dtype=np.int32)
    with shown_rounds(options.verbose, plan.max_rounds) as listener:
        return fit_rounds(data, grower, splits, plan, listener, refit_rows=refit_rows)


_NO_DOUBT = 1e-9  # of w·p·(1−p) per row: such scores are 0 or 1 but for rounding, and more rows won't help
_SATURATED = (
    "The scores are saturated: they are all 0 or 1, or next to it, and trees need rows whose label is in doubt. Pass "
    "probabilities, not classes"
)


def no_rounds(reason: str, n_features: int) -> FitOutcome:
    """The outcome if no tree can grow, after a warning that says why."""
    reason = reason if reason == _SATURATED else f"Too few rows: {reason}"
    warnings.warn(
        f"{reason}. No round is fitted, and the base scores are given back unchanged.",
        InsufficientDataWarning,
        stacklevel=callers_level(),
    )
    return FitOutcome((), (), np.zeros(n_features + 1))


def plan_of(options: FitOptions, *, validates: bool, n_threads: int, follows: bool = True) -> FitPlan:
    """How the user wants rounds to be searched for."""
    rescale = _rescale_with(options, validates)
    rounds, patience = int(options.max_rounds), int(options.patience)
    return FitPlan(validates, rounds, patience, rescale, n_threads, follows=follows)


def _rescale_with(options: FitOptions, validates: bool) -> Rescale:
    """How to rescale rounds. Without validation rows it can't be honest, and a warning says so."""
    rescale: Rescale = options.rescale
    if rescale != "honest" or validates:
        return rescale
    if options.max_rounds:
        warnings.warn(
            'rescale="honest" needs validation rows, and with validation=None there are none: '
            'theta is fitted on the training rows, as with rescale="train".',
            RescaleWarning,
            stacklevel=callers_level(),
        )
    return "train"


def _may_share_bins(data: TrainingData, splits: Sequence[Split], n_fit: int, parameters: GrowthParameters) -> bool:
    """Whether every training set is large enough to use bins made from all rows."""
    return n_fit == data.n_rows and all(len(train) >= parameters.rows_to_share_bins for train, _ in splits)


def _too_few(data: TrainingData, n_fit: int, splits: Sequence[Split], parameters: GrowthParameters) -> str:
    """Why no tree can be grown on the smallest training set, or nothing."""
    smallest: Rows | slice = min((train for train, _ in splits), key=len) if splits else slice(n_fit)
    n_rows = n_fit if isinstance(smallest, slice) else len(smallest)
    return too_few(n_rows, data.hessian(smallest), data.weights is not None, parameters)


def too_few(n_rows: int, hessian: float, weighted: bool, parameters: GrowthParameters) -> str:
    """Why no tree can be grown on this many rows, or nothing."""
    if n_rows < parameters.min_rows:
        return (
            f"a split needs {parameters.min_rows:,} training rows (min_child_samples on each side), and there "
            f"are {n_rows:,}"
        )
    if hessian < parameters.min_hessian:
        if hessian < _NO_DOUBT * n_rows:
            return _SATURATED
        hint = " (multiply the weights so that their mean is 1)" if weighted else ""
        return (
            f"a split needs a sum of w·p·(1−p) of {parameters.min_hessian:g} (min_sum_hessian_in_leaf on each "
            f"side), and the training rows have {hessian:.3g}{hint}"
        )
    return ""
