"""LightGBM's parameters over the paper's."""

from __future__ import annotations

from typing import Any

import pytest

from trueup._fitting import DEFAULTS, PAPER_DEFAULTS, GrowthParameters
from trueup._fitting._lightgbm_private import parameter_aliases
from trueup._fitting._parameters import _FIXED, growth_parameters
from trueup.errors import ParameterError


def grow(user: dict[str, Any] | None = None, **changes: Any) -> GrowthParameters:
    options = {
        "min_sum_hessian_in_leaf": 20.0,
        "n_features": 2,
        "monotone_score": False,
        "seed": 1,
    }
    return growth_parameters(user, **{**options, **changes})


def test_the_defaults_are_the_papers_but_for_those_that_are_ours() -> None:
    parameters = grow()
    assert parameters.n_trees == 30
    booster = {**parameters.booster, "n_estimators": parameters.n_trees}
    assert {name: booster[name] for name in DEFAULTS} == DEFAULTS
    assert {name for name in DEFAULTS if DEFAULTS[name] != PAPER_DEFAULTS[name]} == {
        "learning_rate",
        "min_gain_to_split",
        "n_estimators",
        "num_leaves",
        "lambda_l2",
    }
    assert (PAPER_DEFAULTS["learning_rate"], PAPER_DEFAULTS["num_leaves"]) == (0.02873, 5)
    assert parameters.booster["min_sum_hessian_in_leaf"] == 20


def test_many_categories_are_smoothed_unless_the_user_says_otherwise() -> None:
    assert grow(most_categories=50).booster["cat_smooth"] == 10
    assert grow(most_categories=51).booster["cat_smooth"] == 100
    assert grow({"cat_smooth": 3.0}, most_categories=51).booster["cat_smooth"] == 3
    assert grow(PAPER_DEFAULTS, most_categories=51).booster["cat_smooth"] == 10


def test_an_alias_replaces_the_default_instead_of_standing_beside_it() -> None:
    parameters = grow({"eta": 0.1, "reg_lambda": 2.0, "num_iterations": 7, "min_child_weight": 3})
    assert parameters.booster["learning_rate"] == 0.1
    assert parameters.booster["lambda_l2"] == 2.0
    assert parameters.booster["min_sum_hessian_in_leaf"] == 3
    assert parameters.n_trees == 7
    assert "eta" not in parameters.booster


def test_the_same_parameter_under_two_names_is_refused() -> None:
    with pytest.raises(ParameterError, match="'learning_rate' twice"):
        grow({"eta": 0.1, "learning_rate": 0.2})


@pytest.mark.parametrize(
    "name", ["objective", "boosting", "linear_tree", "num_threads", "seed", "monotone_constraints"]
)
def test_what_a_round_depends_on_cannot_be_changed(name: str) -> None:
    with pytest.raises(ParameterError, match=name):
        grow({name: 1})


def test_a_monotone_score_constrains_the_last_column_alone() -> None:
    assert grow(monotone_score=True).booster["monotone_constraints"] == [0, 0, 1]


@pytest.mark.parametrize("wrong", [0, -1, 2.5, "many"])
def test_a_round_needs_a_tree(wrong: object) -> None:
    with pytest.raises(ParameterError, match="n_estimators"):
        grow({"n_estimators": wrong})


def test_a_misspelt_parameter_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(ParameterError, match=r"'learning_rat'.*Did you mean 'learning_rate'"):
        grow({"learning_rat": 0.1})


def test_no_other_name_of_a_fixed_parameter_gets_through() -> None:
    tried = 0
    for proper, others in parameter_aliases().items():
        for name in (proper, *others) if proper in _FIXED else ():
            tried += 1
            with pytest.raises(ParameterError, match=f"can't set '{name}'"):
                grow({name: 1})
    assert tried > 30
