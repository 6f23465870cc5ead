"""What was learned of the columns at fit, and is needed to read a table or a row later."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Feature", "FeatureSpec", "ValueKind"]


class ValueKind(enum.Enum):
    """What the values of a column are."""

    NUMBER = "numbers"
    STRING = "strings"
    BOOLEAN = "booleans"
    DATE = "dates"
    DATETIME = "datetimes"
    MIXED = "values of mixed or unusual types"
    EMPTY = "missing values only"

    def __reduce__(self) -> tuple[Any, ...]:
        return ValueKind, (self.value,)  # skops asks for this, pickle for Enum's own


@dataclass(frozen=True)
class Feature:
    """A column that segments are made of.

    Attributes
    ----------
    name : str
        The column's name.
    kind : ValueKind
        What its values were at fit.
    categories : tuple or None
        The categories seen at fit, sorted; a category's code is its place. None for a numerical feature.
    """

    name: str
    kind: ValueKind
    categories: tuple[Any, ...] | None = None

    @property
    def is_categorical(self) -> bool:
        """Whether the feature is split by category rather than by threshold."""
        return self.categories is not None


@dataclass(frozen=True)
class FeatureSpec:
    """All columns of the table at fit, and the features among them.

    Attributes
    ----------
    columns : tuple of str
        The names of all columns, in the order of the table at fit.
    features : tuple of Feature
        The features, in the order in which trees number them.
    named : bool
        Whether the columns had names of their own. If not, they are found by position.
    score_column : str or None
        The column that holds the base scores, if one does.
    """

    columns: tuple[str, ...]
    features: tuple[Feature, ...]
    named: bool = True
    score_column: str | None = None
    _by_name: dict[str, Feature] = field(init=False, repr=False, compare=False, default_factory=dict)

    def __post_init__(self) -> None:
        self._by_name.update((feature.name, feature) for feature in self.features)

    def __contains__(self, name: str) -> bool:
        return name in self._by_name

    def __getitem__(self, name: str) -> Feature:
        return self._by_name[name]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the features."""
        return tuple(feature.name for feature in self.features)
