"""Public names say where users find them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import FunctionType
from typing import Any


def pin_to(module: str, names: Iterable[str], namespace: Mapping[str, Any]) -> None:
    """Set the module of classes and functions to the one that users import them from.

    Pickles and skops files name that module, so they survive when a file moves inside a package.
    """
    for name in names:
        if isinstance(namespace[name], (type, FunctionType)):
            namespace[name].__module__ = module
