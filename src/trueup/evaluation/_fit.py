"""The model that is evaluated, and the one that is fitted again on all rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from trueup.calibration import MCGrad
from trueup.errors import ParameterError
from trueup.evaluation._input import BoolArray, EvaluationInput

__all__ = ["estimator_for", "fit_again", "fit_on", "folds_of_groups", "pos_label_of"]

_FOLDS = 5
_FOLDS_MAX_ROWS = 1_000_000


def estimator_for(
    given: EvaluationInput,
    estimator: MCGrad | None,
    *,
    categorical_features: Any,
    random_state: int,
    n_jobs: int | None,
    verbose: int,
) -> MCGrad:
    """The estimator to fit: the user's, unfitted, or one with the defaults."""
    if estimator is None:
        return MCGrad(
            features=given.restricts,
            categorical_features=categorical_features,
            score_column=given.names.get("scores"),
            pos_label=given.pos_label,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
        )
    if not isinstance(estimator, MCGrad):
        raise ParameterError(f"estimator must be an MCGrad, got a {type(estimator).__name__}.")
    from sklearn.base import clone

    if estimator.features is not None:
        raise ParameterError("Name the features in evaluate(features=...), not in the estimator: they are audited too.")
    if estimator.score_column not in (None, given.names.get("scores")):
        raise ParameterError(
            f"The estimator's score_column is {estimator.score_column!r}. Pass that name as scores, or leave it out."
        )
    positive = given.labels.classes[1]
    if estimator.pos_label not in (None, positive):
        raise ParameterError(f"pos_label is {positive!r}, and the estimator's is {estimator.pos_label!r}. Name one.")
    chosen: MCGrad = clone(estimator)
    if categorical_features != "from_dtype":
        chosen.set_params(categorical_features=categorical_features)
    chosen.set_params(features=given.restricts, score_column=given.names.get("scores"), pos_label=given.pos_label)
    return chosen


def pos_label_of(estimator: Any) -> Any:
    """The positive class that the user's estimator names, if any."""
    return getattr(estimator, "pos_label", None)


def fit_on(given: EvaluationInput, estimator: MCGrad, rows: BoolArray | None, together: Any, seed: int) -> MCGrad:
    """Fit on some rows, or on all; rows that belong together are not torn apart by the folds either."""
    from sklearn.base import clone

    n_rows = given.table.n_rows if rows is None else int(rows.sum())
    fitted: MCGrad = clone(estimator)
    is_auto = isinstance(fitted.validation, str) and fitted.validation == "auto"
    if together is not None and is_auto:
        codes = together if rows is None else together[rows]
        folds = folds_of_groups(codes, n_folds=_FOLDS, seed=seed)
        if folds:
            fitted.set_params(validation=folds if n_rows <= _FOLDS_MAX_ROWS else folds[:1])
    by_name = given.names.get("scores")
    scores = given.scores if rows is None else given.scores[rows]
    weights = given.weights if rows is None else given.weights_of(rows)
    return fitted.fit(
        given.features_of(rows, *([] if by_name is None else [by_name])),
        given.label_values(rows),
        scores=scores if by_name is None else None,
        sample_weight=weights,
    )


def fit_again(given: EvaluationInput, estimator: MCGrad, evaluated: MCGrad, together: Any, seed: int) -> MCGrad:
    """Fit on all rows, with no more rounds than the model that was evaluated has.

    The folds are made again: they give the rows that honest rescaling needs. They may choose fewer rounds, and
    never more.
    """
    from sklearn.base import clone

    same: MCGrad = clone(estimator)
    same.set_params(max_rounds=evaluated.n_rounds_, patience=evaluated.n_rounds_)
    return fit_on(given, same, None, together, seed)


def folds_of_groups(
    codes: npt.NDArray[Any], *, n_folds: int, seed: int
) -> Sequence[tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]]:
    """Folds of whole groups, of about as many rows each; none if there is but one group, or one a row.

    Groups are dealt out in a drawn order, each to the fold that has the fewest rows so far.
    """
    sizes = np.bincount(codes)
    groups = np.random.default_rng(seed).permutation(np.flatnonzero(sizes))
    n_folds = min(n_folds, len(groups))
    if n_folds < 2 or len(groups) == len(codes):
        return []
    fold_of = np.zeros(len(sizes), dtype=np.int64)
    filled = np.zeros(n_folds, dtype=np.int64)
    for group in groups.tolist():
        emptiest = int(np.argmin(filled))
        fold_of[group] = emptiest
        filled[emptiest] += sizes[group]
    folds = fold_of[codes]
    return [(np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)) for fold in range(n_folds)]
