"""Numbers that options may be, and modules that public names say they are of."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from numbers import Integral, Real
from types import FunctionType
from typing import Any

from trueup.errors import ParameterError


def check_whole(name: str, value: Any, least: int, most: int | None = None, *, allowed: str = "") -> None:
    """Refuse what is not a whole number of at least `least`; `allowed` names what else may be passed."""
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    if not whole or value < least or (most is not None and value > most):
        span = f"of at least {least:,}" if most is None else f"from {least:,} to {most:,}"
        raise ParameterError(f"{name} must be a whole number {span}{allowed}, got {value!r}.")


def check_fraction(name: str, value: Any) -> None:
    """Refuse what is not a number between 0 and 1, neither of them."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 < float(value) < 1:
        raise ParameterError(f"{name} must lie between 0 and 1, got {value!r}.")


def check_number(name: str, value: Any, least: float = 0.0, most: float = math.inf) -> None:
    """Refuse what is not a finite number of at least `least` and at most `most`."""
    wrong = isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(float(value))
    if wrong or not least <= float(value) <= most:
        asked = f"of at least {least:g}" if most == math.inf else f"from {least:.3g} to {most:.3g}"
        raise ParameterError(f"{name} must be a number {asked}, got {value!r}.")


def pin_to(module: str, names: Iterable[str], namespace: Mapping[str, Any]) -> None:
    """Set the module of classes and functions to the one that users import them from.

    Pickles and skops files name that module, so they survive when a file moves inside a package.
    """
    for name in names:
        if isinstance(namespace[name], (type, FunctionType)):
            namespace[name].__module__ = module
