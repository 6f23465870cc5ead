"""Which column of a table is what."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from trueup._data import listed
from trueup.errors import ColumnError, ParameterError

__all__ = ["StreamRoles"]


@dataclass(frozen=True)
class StreamRoles:
    """The columns of a table that a fit uses."""

    label: str
    score: str | None
    weight: str | None
    group: str | None  # whose rows are never split apart
    features: tuple[str, ...]
    categorical: tuple[str, ...] = ()  # the features that were named as categorical

    def __post_init__(self) -> None:
        named = [name for name in (self.label, self.score, self.weight) if name is not None]
        if len(set(named)) < len(named):
            raise ParameterError(f"label, score and weight name {listed(named)}. They must differ.")

    @classmethod
    def among(
        cls,
        columns: Sequence[str],
        where: str,
        *,
        label: str,
        score: str | None,
        weight: str | None,
        group: str | None,
        features: Sequence[str] | None,
        categorical: Iterable[str | int] | str,
    ) -> StreamRoles:
        """The roles of the columns of a table; all that have no other role are features, unless some are named."""
        named = cls(label, score, weight, None, ()).columns
        if features is not None and isinstance(features, str):
            raise ParameterError(f"features must be a list of names, got the string {features!r}. Use [{features!r}].")
        if features is not None and len(set(features)) < len(features):
            raise ParameterError("features names a column twice.")
        of_categories = [] if isinstance(categorical, str) and categorical == "from_dtype" else list(categorical)
        if isinstance(categorical, str) and categorical != "from_dtype":
            raise ParameterError(f'categorical_features must be "from_dtype" or a list of names, got {categorical!r}.')
        places = [name for name in of_categories if not isinstance(name, str)]
        if places:
            raise ParameterError(
                f"categorical_features: name columns, not positions such as {places[0]!r}, where files may differ."
            )
        wanted = [*named, *([] if group is None else [group]), *(features or ()), *map(str, of_categories)]
        absent = [name for name in wanted if name not in columns]
        if absent:
            raise ColumnError(f"{where} has no column {listed(absent)}. Its columns are {listed(columns, 12)}.")
        doubled = [name for name in features or () if name in named]
        if doubled:
            raise ParameterError(f"features names {listed(doubled)}, which has another role. Leave it out.")
        if features is None:
            features = [name for name in columns if name not in named and name != group]
        strange = [name for name in of_categories if name not in features]
        if strange:
            raise ParameterError(f"categorical_features names {listed(strange)}, which is not one of the features.")
        if not features and score is None:
            raise ParameterError(f"{where} has no columns left to be features, and no score: nothing to learn from.")
        return cls(label, score, weight, group, tuple(features), tuple(map(str, of_categories)))

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns that are read."""
        others = [name for name in (self.label, self.score, self.weight, self.group) if name is not None]
        return tuple(dict.fromkeys([*self.features, *others]))
