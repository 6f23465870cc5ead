"""What a comparison is to do, checked."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from trueup.errors import ParameterError
from trueup.metrics import METRICS

__all__ = ["GUARDRAILS", "CompareOptions"]

GUARDRAILS = ("prauc", "auroc", "ecce")
PRIMARIES = tuple(name for name in METRICS if name != "mce")  # the MCE is a maximum, of noise too


@dataclass(frozen=True)
class CompareOptions:
    """The options of `trueup.compare`, under their own names."""

    primary: str
    guardrails: Sequence[str]
    margins: Mapping[str, float] = field(default_factory=dict)
    level: float = 0.05
    power: float = 0.8
    n_bootstrap: int = 1000
    features: Sequence[str] | None = None
    categorical_features: str | Iterable[str | int] = "from_dtype"
    max_depth: int = 3
    max_values: int | Mapping[str, int] = 3
    min_rows: int = 10
    null_samples: int = 200
    random_state: int = 0

    def __post_init__(self) -> None:
        if self.primary not in PRIMARIES:
            raise ParameterError(f"primary must be one of {', '.join(PRIMARIES)}, got {self.primary!r}.")
        self._check_guardrails()
        for name, least in (("min_rows", 1), ("null_samples", 0), ("n_bootstrap", 0), ("random_state", 0)):
            _check_whole(name, getattr(self, name), least)
        for name in ("level", "power"):
            value = getattr(self, name)
            if not _is_number(value) or not 0 < value < 1:
                raise ParameterError(f"{name} must lie between 0 and 1, got {value!r}.")
        self._check_draws()

    @property
    def judged(self) -> tuple[str, ...]:
        """The metrics that the verdict depends on."""
        return (self.primary, *(name for name in self.guardrails if name != self.primary))

    @property
    def n_splits(self) -> int:
        """How often rows are halved, to have as many halves as there are draws."""
        return -(-self.n_bootstrap // 2)

    def _check_guardrails(self) -> None:
        if isinstance(self.guardrails, str):
            raise ParameterError(f"guardrails must be a list of metrics, got the string {self.guardrails!r}.")
        for name in self.guardrails:
            if name not in METRICS:
                raise ParameterError(f"guardrails: {name!r} is none of {', '.join(METRICS)}.")
        for name, margin in self.margins.items():
            if name not in self.guardrails:
                raise ParameterError(f"margins: {name!r} is not among the guardrails, {', '.join(self.guardrails)}.")
            if not _is_number(margin) or not 0 <= margin < math.inf:
                raise ParameterError(f"margins: that of {name!r} must be a number of at least 0, got {margin!r}.")

    def _check_draws(self) -> None:
        fewest = math.ceil(1 / self.level - 1e-9) - 1
        if 0 < self.null_samples < fewest:
            raise ParameterError(
                f"null_samples={self.null_samples} can't show significance at level {self.level:g}: pass at least "
                f"{fewest}, or 0 for none."
            )
        fewest = math.ceil(2 / self.level - 1e-9)
        if self.n_bootstrap == 0:
            drawn = [name for name in self.judged if name not in ("log_loss", "brier")]
            if drawn:
                raise ParameterError(
                    f"n_bootstrap=0 leaves out the intervals that judge {', '.join(drawn)}: draw some, or choose "
                    "primary and guardrails among log_loss and brier."
                )
        elif self.n_bootstrap < fewest:
            raise ParameterError(
                f"n_bootstrap={self.n_bootstrap} can't give intervals at level {self.level:g}: pass at least {fewest}, "
                "or 0 for none."
            )


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def _check_whole(name: str, value: Any, least: int) -> None:
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool) or value < least:
        raise ParameterError(f"{name} must be a whole number of at least {least}, got {value!r}.")
