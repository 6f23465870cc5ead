"""LightGBM's parameters: our defaults or the paper's, those of the user, and those that can't be changed."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

import numpy as np

from trueup._fitting._lightgbm_private import parameter_aliases
from trueup.errors import ParameterError

PAPER_DEFAULTS: dict[str, Any] = {
    "learning_rate": 0.02873,
    "max_depth": 5,
    "min_child_samples": 160,
    "n_estimators": 94,
    "num_leaves": 5,
    "lambda_l2": 0.00913,
    "min_gain_to_split": 0.15,
    "cat_smooth": 10.0,  # LightGBM's
}
# Where we depart from the paper: docs/decisions/training-defaults.md has the figures.
DEFAULTS: dict[str, Any] = {
    **PAPER_DEFAULTS,
    # A third of the trees, somewhat larger, in larger steps: as good in less than half of the time.
    "n_estimators": 30,
    "num_leaves": 8,
    "learning_rate": 0.15,
    "lambda_l2": 10.0,
    # Below a split, LightGBM ignores features whose gain there was not above this, and a feature that matters only in
    # an interaction has no gain at the root. But at 0, it may choose a split with an empty side and fail.
    "min_gain_to_split": 0.01,
}
# If a column has more categories than this, many of them hold few rows, and their means are noise unless smoothed.
_MANY_CATEGORIES = 50
_SMOOTHING_OF_MANY = 100.0
# A bin holds a 255th of the rows. If every training set has this many rows, bins come out the same with and without the
# rows of other folds, so all sets can share one binning.
_ROWS_TO_SHARE_BINS = 50_000

# Parameters that users can't set, and why. With another objective, with averaged or reweighted trees or with linear
# leaves it would not be MCGrad, and the model file could not hold it.
_FIXED = {
    "objective": "the rounds need the log loss",
    "boosting": "the rounds need plain gradient boosting",
    "linear_tree": "a model file holds trees with constant leaves",
    "num_class": "the rounds have one logit",
    "sigmoid": "the logit's scale is fixed",
    "is_unbalance": "use sample_weight, which the losses and theta see too",
    "scale_pos_weight": "use sample_weight, which the losses and theta see too",
    "monotone_constraints": "use monotone_score",
    "categorical_feature": "use categorical_features",
    "init_score": "use scores",
    "num_threads": "use n_jobs",
    "seed": "use random_state",
    "deterministic": "the same fit must give the same trees",
    "force_col_wise": "the same fit must give the same trees",
    "force_row_wise": "the same fit must give the same trees",
    "verbosity": "use verbose",
}


class GrowthParameters:
    """How the trees of a round are grown."""

    def __init__(self, n_trees: int, booster: Mapping[str, Any]) -> None:
        self.n_trees = n_trees
        self.booster = dict(booster)

    @property
    def min_rows(self) -> int:
        """The fewest rows that can be split."""
        return 2 * max(1, int(self.booster["min_child_samples"]))

    @property
    def rows_to_share_bins(self) -> int:
        """From how many training rows on it doesn't matter which rows bins are made from."""
        return min(_ROWS_TO_SHARE_BINS, int(self.booster.get("bin_construct_sample_cnt", _ROWS_TO_SHARE_BINS)))

    @property
    def min_hessian(self) -> float:
        """The least sum of Hessians that can be split."""
        return 2 * float(self.booster["min_sum_hessian_in_leaf"])


def growth_parameters(
    user: Mapping[str, Any] | None,
    *,
    min_sum_hessian_in_leaf: float,
    n_features: int,
    most_categories: int = 0,
    monotone_score: bool,
    seed: int,
) -> GrowthParameters:
    """The user's parameters over our defaults, and those that make the same fit give the same trees.

    `most_categories` is the number of categories of the column that has the most.
    """
    merged = {**DEFAULTS, "min_sum_hessian_in_leaf": min_sum_hessian_in_leaf}
    if most_categories > _MANY_CATEGORIES:
        merged["cat_smooth"] = _SMOOTHING_OF_MANY
    merged.update(_by_our_names(user or {}, merged))
    n_trees = merged.pop("n_estimators")
    if isinstance(n_trees, bool) or not isinstance(n_trees, (int, np.integer)) or n_trees < 1:
        raise ParameterError(f"lightgbm_params: n_estimators must be a whole number of at least 1, got {n_trees!r}.")
    merged.update(
        objective="none",  # the log loss, whose derivatives we compute
        verbosity=-1,
        seed=seed,
        deterministic=True,
        force_col_wise=True,
    )
    if monotone_score:
        merged["monotone_constraints"] = [0] * n_features + [1]
    return GrowthParameters(int(n_trees), merged)


def _by_our_names(user: Mapping[str, Any], ours: Mapping[str, Any]) -> dict[str, Any]:
    """The user's parameters, under the names that our defaults use where LightGBM has several for one."""
    canonical: dict[str, str] = {}
    name_of: dict[str, str] = {}
    for proper, others in parameter_aliases().items():
        family = {proper, *others}
        canonical.update(dict.fromkeys(family, proper))
        name_of.update(dict.fromkeys(family, next((name for name in ours if name in family), proper)))
    given: dict[str, Any] = {}
    for name, value in user.items():
        reason = _FIXED.get(name) or _FIXED.get(canonical.get(name, name))
        if reason:
            raise ParameterError(f"lightgbm_params can't set {name!r}: {reason}.")
        if name_of and name not in name_of:
            nearest = difflib.get_close_matches(name, name_of, n=1)
            hint = f" Did you mean {nearest[0]!r}?" if nearest else ""
            raise ParameterError(f"lightgbm_params: LightGBM has no parameter {name!r}.{hint}")
        proper = name_of.get(name, name)
        if proper in given:
            raise ParameterError(f"lightgbm_params sets {proper!r} twice, under two of its names.")
        given[proper] = value
    return given
