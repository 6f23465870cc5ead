"""What an audit is to do, checked."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from trueup.errors import ParameterError

__all__ = ["AuditOptions"]


@dataclass(frozen=True)
class AuditOptions:
    """The options of `trueup.audit`, under their own names."""

    discover: str | None
    features: Sequence[str] | None
    categorical_features: str | Iterable[str | int]
    max_depth: int
    max_values: int | Mapping[str, int] | None
    min_rows: int
    min_variance: float
    max_segments: int | None
    null_samples: int
    significance: float
    power: float
    random_state: int

    def __post_init__(self) -> None:
        if self.discover not in (None, "tree"):
            raise ParameterError(f'discover must be None or "tree", got {self.discover!r}.')
        _check_whole("min_rows", self.min_rows, 1)
        _check_whole("null_samples", self.null_samples, 0)
        _check_whole("random_state", self.random_state, 0)
        if self.max_segments is not None:
            _check_whole("max_segments", self.max_segments, 1)
        for name, value in (("significance", self.significance), ("power", self.power)):
            if not _is_number(value) or not 0 < value < 1:
                raise ParameterError(f"{name} must lie between 0 and 1, got {value!r}.")
        if not _is_number(self.min_variance) or not 0 <= self.min_variance < math.inf:
            raise ParameterError(f"min_variance must be a number of at least 0, got {self.min_variance!r}.")
        if 0 < self.null_samples < self.fewest_samples:
            raise ParameterError(
                f"null_samples={self.null_samples} can't reach significance={self.significance:g}: pass at least "
                f"{self.fewest_samples}, or 0 for none."
            )

    @property
    def fewest_samples(self) -> int:
        """With fewer draws, no p-value could be that small."""
        return math.ceil(1 / self.significance - 1e-9) - 1


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def _check_whole(name: str, value: Any, least: int) -> None:
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < least:
        raise ParameterError(f"{name} must be a whole number of at least {least}, got {value!r}.")
