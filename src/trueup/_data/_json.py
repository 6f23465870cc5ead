"""Values as JSON holds them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

__all__ = ["json_values"]


def json_values(value: Any) -> Any:
    """The same in types that JSON knows; what is not a finite number is None, and any other value its text."""
    if isinstance(value, Mapping):
        return {str(name): json_values(inner) for name, inner in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [json_values(inner) for inner in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, (str, bool, int, float)) or value is None else str(value)
