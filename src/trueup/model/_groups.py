"""Groups of rows that a model was fitted on, as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from trueup.model._features import Feature

__all__ = ["Group", "GroupCondition", "IsBetween", "IsMissing", "IsOneOf"]


@dataclass(frozen=True)
class IsOneOf:
    """The column holds one of the categories of `values`, or, if excluded, something that is none of them.

    Attributes
    ----------
    values : Feature
        The column's name, the kind of its values at fit, and the categories that are meant.
    excluded, or_missing : bool
        Whether other values are meant, and whether a missing one is meant too.
    """

    values: Feature
    excluded: bool
    or_missing: bool

    @property
    def column(self) -> str:
        """The column's name."""
        return self.values.name


@dataclass(frozen=True)
class IsBetween:
    """The column holds a number between two bounds, of which one may be None.

    Attributes
    ----------
    column : str
        The column's name.
    low, high : float or None
        The bounds.
    includes_low, includes_high : bool
        Whether the bounds themselves are inside.
    or_missing : bool
        Whether a missing value is meant too.
    """

    column: str
    low: float | None
    high: float | None
    includes_low: bool
    includes_high: bool
    or_missing: bool


@dataclass(frozen=True)
class IsMissing:
    """The column holds nothing, or, if excluded, anything."""

    column: str
    excluded: bool


GroupCondition: TypeAlias = IsOneOf | IsBetween | IsMissing


@dataclass(frozen=True)
class Group:
    """Rows that meet all of some conditions, or that the user marks.

    Attributes
    ----------
    name : str
        What it is called.
    conditions : tuple of conditions, or None
        What its rows have in common; None if only the user knows which rows they are.
    """

    name: str
    conditions: tuple[GroupCondition, ...] | None = None

    @property
    def is_mask(self) -> bool:
        """Whether its rows must be passed with every table."""
        return self.conditions is None
