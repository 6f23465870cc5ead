"""The rules of a verdict and what they are measured with, checked."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from trueup._runtime import check_fraction, check_number, check_whole
from trueup.errors import ParameterError
from trueup.metrics import METRICS

__all__ = ["GUARDRAILS", "CompareOptions"]

GUARDRAILS = ("prauc", "auroc", "ecce")
PRIMARIES = tuple(name for name in METRICS if name != "mce")  # the MCE is a maximum, of noise too


@dataclass(frozen=True)
class CompareOptions:
    """Parameters of `trueup.compare`, under their own names."""

    primary: str
    guardrails: Sequence[str]
    margins: Mapping[str, float]
    significance: float
    power: float
    n_bootstrap: int
    min_rows: int
    null_samples: int
    random_state: int

    def __post_init__(self) -> None:
        if self.primary not in PRIMARIES:
            raise ParameterError(f"primary must be one of {', '.join(PRIMARIES)}, got {self.primary!r}.")
        if isinstance(self.guardrails, str):
            raise ParameterError(f"guardrails must be a list of metrics, got the string {self.guardrails!r}.")
        for name in self.guardrails:
            if name not in METRICS:
                raise ParameterError(f"guardrails: {name!r} must be one of {', '.join(METRICS)}.")
        for name, margin in self.margins.items():
            if name not in self.guardrails:
                raise ParameterError(f"margins: {name!r} is not among the guardrails, {', '.join(self.guardrails)}.")
            check_number(f"margins: the margin of {name!r}", margin)
        for name, least in (("min_rows", 1), ("null_samples", 0), ("n_bootstrap", 0), ("random_state", 0)):
            check_whole(name, getattr(self, name), least)
        for name in ("significance", "power"):
            check_fraction(name, getattr(self, name))
        self._check_draws()

    @property
    def n_splits(self) -> int:
        """How often rows are halved, to have as many halves as there are draws."""
        return -(-self.n_bootstrap // 2)

    def _check_draws(self) -> None:
        judged = dict.fromkeys((self.primary, *self.guardrails))
        drawn = [name for name in judged if name not in ("log_loss", "brier")]
        if self.n_bootstrap == 0 and drawn:
            raise ParameterError(
                f"n_bootstrap=0 gives no intervals, by which {', '.join(drawn)} must be judged. Draw some, or choose "
                "primary and guardrails among log_loss and brier."
            )
        for name, tails, what in (("null_samples", 1, "show"), ("n_bootstrap", 2, "give intervals for")):
            fewest = math.ceil(tails / self.significance - 1e-9) - (tails == 1)
            if 0 < getattr(self, name) < fewest:
                raise ParameterError(
                    f"{name}={getattr(self, name)} is too few to {what} a significance of {self.significance:g}: pass "
                    f"at least {fewest}, or 0 for none."
                )
