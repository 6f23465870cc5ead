"""What a fit depends on besides its rows, and what a model keeps of that."""

from __future__ import annotations

import importlib.metadata
import json
import platform
from collections.abc import Mapping
from typing import Any

import numpy as np

from trueup.errors import ParameterError

__all__ = ["json_parameters", "package_versions", "seeds_from"]

_OF_THE_MACHINE = ("n_jobs", "verbose")


def json_parameters(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """What a model file keeps: all parameters that JSON can hold and that the model depends on."""
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
    """The versions of what takes part in a fit."""
    names = ("trueup", "lightgbm", "numpy", "scikit-learn")
    return {"python": platform.python_version()} | {name: importlib.metadata.version(name) for name in names}


def _plain(value: Any) -> Any:
    """The same in the types that JSON knows, where there are such."""
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
