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
    """A column that segments are made of, as it was at fit."""

    name: str
    kind: ValueKind
    categories: tuple[Any, ...] | None = None  # sorted; a category's code is its place. None for a numerical feature

    @property
    def is_categorical(self) -> bool:
        """Whether the feature is split by category rather than by threshold."""
        return self.categories is not None


@dataclass(frozen=True)
class FeatureSpec:
    """All columns of the table at fit, and the features among them."""

    columns: tuple[str, ...]
    features: tuple[Feature, ...]  # in the order in which trees number them
    named: bool = True  # if not, columns are found by position
    score_column: str | None = None  # holds the base scores, and is no feature
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
