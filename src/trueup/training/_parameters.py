"""LightGBM's parameters: the paper's defaults, the user's over them, and those that a round depends on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trueup.errors import ParameterError

__all__ = ["PAPER_DEFAULTS", "GrowthParameters", "growth_parameters"]

PAPER_DEFAULTS: dict[str, Any] = {
    "learning_rate": 0.02873,
    "max_depth": 5,
    "min_child_samples": 160,
    "n_estimators": 94,
    "num_leaves": 5,
    "lambda_l2": 0.00913,
    "min_gain_to_split": 0.15,
}

_ALIASES: dict[str, tuple[str, ...]] = {
    "learning_rate": ("shrinkage_rate", "eta"),
    "max_depth": (),
    "min_child_samples": ("min_data_in_leaf", "min_data_per_leaf", "min_data", "min_samples_leaf"),
    "n_estimators": (
        "num_iterations", "num_iteration", "n_iter", "num_tree", "num_trees", "num_round", "num_rounds", "nrounds",
        "num_boost_round", "max_iter",
    ),
    "num_leaves": ("num_leaf", "max_leaves", "max_leaf", "max_leaf_nodes"),
    "lambda_l2": ("reg_lambda", "lambda", "l2_regularization"),
    "min_gain_to_split": ("min_split_gain",),
    "min_sum_hessian_in_leaf": (
        "min_sum_hessian_per_leaf", "min_sum_hessian", "min_hessian", "min_child_weight",
    ),
}  # fmt: skip

# What a round is made of. Another objective, trees that are averaged or reweighted, or leaves that are linear would not be
# MCGrad, and the model file could not hold them.
_FIXED = {
    "objective": "the rounds need the log loss",
    "objective_type": "the rounds need the log loss",
    "app": "the rounds need the log loss",
    "application": "the rounds need the log loss",
    "loss": "the rounds need the log loss",
    "boosting": "the rounds need plain gradient boosting",
    "boosting_type": "the rounds need plain gradient boosting",
    "boost": "the rounds need plain gradient boosting",
    "linear_tree": "a model file holds trees with constant leaves",
    "linear_trees": "a model file holds trees with constant leaves",
    "num_class": "the rounds have one logit",
    "sigmoid": "the logit's scale is fixed",
    "monotone_constraints": "use monotone_score",
    "categorical_feature": "use categorical_features",
    "init_score": "use scores",
    "num_threads": "use n_jobs",
    "num_thread": "use n_jobs",
    "nthread": "use n_jobs",
    "nthreads": "use n_jobs",
    "n_jobs": "use n_jobs",
    "seed": "use random_state",
    "random_seed": "use random_state",
    "random_state": "use random_state",
}


class GrowthParameters:
    """How the trees of a round are grown.

    Parameters
    ----------
    n_trees : int
        How many trees a round grows.
    booster : mapping
        LightGBM's parameters, by the names in `PAPER_DEFAULTS`.
    """

    def __init__(self, n_trees: int, booster: Mapping[str, Any]) -> None:
        self.n_trees = n_trees
        self.booster = dict(booster)

    @property
    def min_rows(self) -> int:
        """The fewest rows that can be split."""
        return 2 * max(1, int(self.booster["min_child_samples"]))

    @property
    def min_hessian(self) -> float:
        """The least sum of Hessians that can be split."""
        return 2 * float(self.booster["min_sum_hessian_in_leaf"])


def growth_parameters(
    user: Mapping[str, Any] | None,
    *,
    min_sum_hessian_in_leaf: float,
    soft_labels: bool,
    n_features: int,
    monotone_score: bool,
    seed: int,
) -> GrowthParameters:
    """The paper's defaults under the user's parameters, and what makes the same fit give the same trees."""
    merged = {**PAPER_DEFAULTS, "min_sum_hessian_in_leaf": min_sum_hessian_in_leaf}
    known_as = {alias: name for name, aliases in _ALIASES.items() for alias in aliases}
    given: dict[str, Any] = {}
    for name, value in (user or {}).items():
        if name in _FIXED:
            raise ParameterError(f"lightgbm_params can't set {name!r}: {_FIXED[name]}.")
        proper = known_as.get(name, name)
        if proper in given:
            raise ParameterError(f"lightgbm_params sets {proper!r} twice, under two of its names.")
        given[proper] = value
    merged.update(given)
    n_trees = merged.pop("n_estimators")
    if not isinstance(n_trees, int) or n_trees < 1:
        raise ParameterError(f"lightgbm_params: n_estimators must be a whole number of at least 1, got {n_trees!r}.")
    merged.update(
        objective="cross_entropy" if soft_labels else "binary",
        verbosity=-1,
        seed=seed,
        deterministic=True,
        force_col_wise=not merged.get("force_row_wise", False),
    )
    if monotone_score:
        merged["monotone_constraints"] = [0] * n_features + [1]
    return GrowthParameters(n_trees, merged)
