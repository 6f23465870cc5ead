"""The parameters of `MCGrad`, checked, and what a model file keeps of them."""

from __future__ import annotations

import importlib.metadata
import json
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from trueup._runtime import thread_count
from trueup.errors import ParameterError


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
        """The parameters that a model file keeps."""
        return json_parameters(vars(self))


_OF_THE_MACHINE = ("n_jobs", "verbose")


def json_parameters(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters that a model file keeps: those that the model depends on and that JSON can hold."""
    kept = {name: _plain(value) for name, value in parameters.items() if name not in _OF_THE_MACHINE}
    return {name: value for name, value in kept.items() if _fits_json(value)}


def seeds_from(random_state: Any) -> tuple[int, int]:
    """A seed for the splits and one for LightGBM."""
    from sklearn.utils import check_random_state

    most = np.iinfo(np.int32).max
    if isinstance(random_state, np.random.Generator):
        first, second = random_state.integers(most, size=2)
        return int(first), int(second)
    try:
        first, second = check_random_state(random_state).randint(most, size=2)
    except ValueError as error:
        raise ParameterError(
            f"random_state must be an int, a RandomState, a Generator or None, got {random_state!r}."
        ) from error
    return int(first), int(second)


def package_versions() -> dict[str, str]:
    """The versions of Python and of the packages that decide what a fit gives."""
    names = ("trueup", "lightgbm", "numpy", "scikit-learn")
    return {"python": platform.python_version()} | {name: importlib.metadata.version(name) for name in names}


def _plain(value: Any) -> Any:
    """The value in JSON's types, if it can be."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, (list, tuple)):
        return [_plain(entry) for entry in value]
    if isinstance(value, Mapping):
        return {name: _plain(entry) for name, entry in value.items()}
    return value


def _fits_json(value: Any) -> bool:
    try:
        return bool(json.loads(json.dumps(value, allow_nan=False)) == value)
    except (TypeError, ValueError):
        return False
