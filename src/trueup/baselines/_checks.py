"""Parameters that are out of range."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

from trueup.errors import ParameterError

__all__ = ["check_number", "check_whole"]


def check_whole(name: str, value: Any, least: int) -> None:
    """Refuse what is not a whole number of at least this."""
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < least:
        raise ParameterError(f"{name} must be a whole number of at least {least}, got {value!r}.")


def check_number(name: str, value: Any, least: float, most: float) -> None:
    """Refuse what is not a number between these."""
    if isinstance(value, bool) or not isinstance(value, Real) or not least <= float(value) <= most:
        raise ParameterError(f"{name} must be a number from {least:.3g} to {most:.3g}, got {value!r}.")
