"""An estimator for tests whose tables are too small for the paper's trees."""

from __future__ import annotations

from typing import Any

from trueup import MCGrad

__all__ = ["quick"]


def quick(**more: Any) -> MCGrad:
    """Real rounds on few rows."""
    growth = {"min_child_samples": 1, "min_data_per_group": 1, "cat_smooth": 1, "n_estimators": 8, "num_leaves": 4}
    few = {"max_rounds": 2, "validation": None, "rescale": "train", "min_sum_hessian_in_leaf": 0.0, "n_jobs": 1}
    return MCGrad(**{**few, "lightgbm_params": growth, **more})
