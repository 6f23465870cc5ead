"""The parameters of `MCGrad`, checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from trueup._fitting._summary import json_parameters
from trueup._runtime import thread_count
from trueup.errors import ParameterError

__all__ = ["FitOptions"]


@dataclass(frozen=True)
class FitOptions:
    """The parameters of `MCGrad`, under the same names."""

    features: Sequence[str] | None
    categorical_features: Any
    score_column: str | None
    pos_label: Any
    max_rounds: int
    validation: Any
    patience: int
    rescale: Any
    monotone_score: bool
    min_sum_hessian_in_leaf: float
    lightgbm_params: Mapping[str, Any] | None
    n_jobs: int | None
    random_state: Any
    verbose: int

    def __post_init__(self) -> None:
        for name, least in (("max_rounds", 0), ("patience", 0)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
                raise ParameterError(f"{name} must be a whole number of at least {least}, got {value!r}.")
        if self.rescale not in ("honest", "train", None):
            raise ParameterError(f'rescale must be "honest", "train" or None, got {self.rescale!r}.')
        hessian = self.min_sum_hessian_in_leaf
        if not isinstance(hessian, (int, float, np.number)) or not 0 <= hessian < np.inf:
            raise ParameterError(f"min_sum_hessian_in_leaf must be a number of at least 0, got {hessian!r}.")
        if not isinstance(self.monotone_score, (bool, np.bool_)):
            raise ParameterError(f"monotone_score must be True or False, got {self.monotone_score!r}.")
        if self.lightgbm_params is not None and not isinstance(self.lightgbm_params, Mapping):
            raise ParameterError(f"lightgbm_params must be a mapping of names to values, got {self.lightgbm_params!r}.")
        thread_count(self.n_jobs)

    def to_json(self) -> dict[str, Any]:
        """What a model file keeps: all that JSON can hold and that the model depends on."""
        return json_parameters(vars(self))
