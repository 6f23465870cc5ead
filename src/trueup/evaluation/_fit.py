"""The model that is evaluated, and the one that is fitted again on all rows."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from trueup._data import Rows
from trueup.calibration import MCGrad
from trueup.errors import ParameterError, SuspiciousDataWarning
from trueup.evaluation._split import BoolArray

__all__ = ["estimator_for", "fit_again", "fit_on", "folds_of_groups", "restricts"]

_FOLDS = 5
_FOLDS_MAX_ROWS = 1_000_000


def estimator_for(rows: Rows, estimator: MCGrad | None, *, categorical_features: Any, **how: Any) -> MCGrad:
    """The estimator to fit: the user's, unfitted, or one with the defaults and `how`."""
    from sklearn.base import clone

    score_column, positive = rows.given.names.get("scores"), rows.labels.classes[1]
    if estimator is None:
        estimator = MCGrad(**how)
    elif not isinstance(estimator, MCGrad):
        raise ParameterError(f"estimator must be an MCGrad, got a {type(estimator).__name__}.")
    if estimator.features is not None:
        raise ParameterError("Name the features in evaluate(features=...), not in the estimator: they are audited too.")
    if estimator.score_column not in (None, score_column):
        raise ParameterError(
            f"The estimator's score_column is {estimator.score_column!r}. Pass that name as scores, or leave it out."
        )
    if estimator.pos_label not in (None, positive):
        raise ParameterError(f"pos_label is {positive!r}, and the estimator's is {estimator.pos_label!r}. Name one.")
    chosen: MCGrad = clone(estimator)
    if categorical_features != "from_dtype":
        chosen.set_params(categorical_features=categorical_features)
    chosen.set_params(features=restricts(rows), score_column=score_column, pos_label=rows.pos_label)
    return chosen


def restricts(rows: Rows) -> list[str] | None:
    """What `features=` must say of the tables that `Rows.part` gives: None if all of their columns are features."""
    table = rows.given.table
    assert table is not None
    return None if table.named or len(rows.features) == len(table.names) else rows.features


def fit_on(rows: Rows, estimator: MCGrad, chosen: BoolArray | None, together: Any, seed: int) -> MCGrad:
    """Fit on some rows, or on all; the folds too keep rows together that belong together."""
    from sklearn.base import clone

    every = slice(None) if chosen is None else chosen
    scores = rows.scores["scores"][every]
    fitted: MCGrad = clone(estimator)
    is_auto = isinstance(fitted.validation, str) and fitted.validation == "auto"
    if together is not None and is_auto:
        folds = folds_of_groups(together[every], n_folds=_FOLDS, seed=seed)
        if folds:
            fitted.set_params(validation=folds if len(scores) <= _FOLDS_MAX_ROWS else folds[:1])
    by_name = rows.given.names.get("scores")
    return fitted.fit(
        rows.part(chosen, *([] if by_name is None else [by_name])),
        rows.label_values(chosen),
        scores=scores if by_name is None else None,
        sample_weight=None if rows.weights is None else rows.weights[every],
    )


def fit_again(rows: Rows, estimator: MCGrad, evaluated: MCGrad, together: Any, seed: int) -> MCGrad:
    """Fit on all rows, with no more rounds than the model that was evaluated has.

    The folds are made again: they give the rows that honest rescaling needs. They may choose fewer rounds, and
    never more.
    """
    from sklearn.base import clone

    same: MCGrad = clone(estimator)
    same.set_params(max_rounds=evaluated.n_rounds_, patience=evaluated.n_rounds_)
    with warnings.catch_warnings():  # the first fit has told
        warnings.simplefilter("ignore", SuspiciousDataWarning)
        return fit_on(rows, same, None, together, seed)


def folds_of_groups(
    codes: npt.NDArray[Any], *, n_folds: int, seed: int
) -> Sequence[tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]]:
    """Folds of whole groups, of about as many rows each; none if there is one group only, or one per row.

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
