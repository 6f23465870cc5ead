"""The model that is evaluated, the one that is fitted again on all rows, and what a fit did."""

from __future__ import annotations

import warnings
from dataclasses import asdict
from typing import Any

import numpy as np

from trueup._data import Rows
from trueup._fitting import AUTO_FOLDS, AUTO_FOLDS_MAX_ROWS
from trueup.calibration import MCGrad
from trueup.errors import ParameterError, SuspiciousDataWarning
from trueup.evaluation._split import BoolArray

__all__ = ["describe_fit", "estimator_for", "feature_shares", "fit_again", "fit_on", "restricts"]


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


def fit_on(rows: Rows, estimator: MCGrad, chosen: BoolArray | None, together: Any) -> MCGrad:
    """Fit on some rows, or on all; the folds too keep rows together that belong together."""
    from sklearn.base import clone

    every = slice(None) if chosen is None else chosen
    scores, weights = rows.scores["scores"][every], None if rows.weights is None else rows.weights[every]
    fitted: MCGrad = clone(estimator)
    is_auto = isinstance(fitted.validation, str) and fitted.validation == "auto"
    groups = None if together is None else together[every]
    if groups is not None:
        n_groups = len(np.unique(groups if weights is None else groups[weights > 0]))
        if n_groups in (1, len(scores)):  # folds of single rows are as good, and keep the classes in proportion
            groups = None
        elif n_groups < AUTO_FOLDS and is_auto and len(scores) <= AUTO_FOLDS_MAX_ROWS:
            fitted.set_params(validation=n_groups)  # such as two years: no fold may be empty
    by_name = rows.given.names.get("scores")
    return fitted.fit(
        rows.part(chosen, *([] if by_name is None else [by_name])),
        rows.label_values(chosen),
        scores=scores if by_name is None else None,
        sample_weight=weights,
        groups=groups,
    )


def fit_again(rows: Rows, estimator: MCGrad, evaluated: MCGrad, together: Any) -> MCGrad:
    """Fit on all rows, with no more rounds than the model that was evaluated has.

    The folds are made again: they give the rows that honest rescaling needs. They may choose fewer rounds, and
    never more.
    """
    from sklearn.base import clone

    same: MCGrad = clone(estimator)
    same.set_params(max_rounds=evaluated.n_rounds_, patience=evaluated.n_rounds_)
    with warnings.catch_warnings():  # the first fit gave the warning
        warnings.simplefilter("ignore", SuspiciousDataWarning)
        return fit_on(rows, same, None, together)


def describe_fit(model: MCGrad) -> dict[str, Any]:
    """The rounds of a model, what each did, and which columns they used."""
    return {
        "n_rounds": model.n_rounds_,
        "n_rows": model.model_.summary.n_rows,
        "feature_shares": dict(feature_shares(model)),
        "history": [asdict(record) for record in model.history_],
    }


def feature_shares(model: MCGrad) -> list[tuple[str, float]]:
    """Columns by their share of the gain of all rounds, the largest first; the score is one of them."""
    gains = model.model_.summary.gains
    total = sum(gains)
    if not total:
        return []
    names = [*model.model_.features.names, "the score itself"]
    shares = [(name, gain / total) for name, gain in zip(names, gains, strict=True) if gain > 0]
    return sorted(shares, key=lambda share: -share[1])
