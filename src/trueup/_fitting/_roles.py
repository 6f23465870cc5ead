"""The roles of a table's columns, and the weights and scores of its batches. Errors name the columns."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from trueup._data import listed, read_scores, read_weights
from trueup._fitting._options import FitOptions
from trueup.errors import ColumnError, LabelError, ParameterError, WeightError

if TYPE_CHECKING:
    import pyarrow as pa

Floats: TypeAlias = npt.NDArray[np.float64]


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
        options: FitOptions,
        *,
        label: str,
        score: str | None = None,
        weight: str | None = None,
        group: str | None = None,
    ) -> StreamRoles:
        """The roles of a table's columns. If no features are named, all columns without another role are features."""
        score, features, categorical = score_of(options, score), options.features, options.categorical_features
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


def score_of(options: FitOptions, score: str | None) -> str | None:
    """The column of scores, which `score` or the option `score_column` may name."""
    if score is not None and options.score_column not in (None, score):
        raise ParameterError(f"score names {score!r}, and score_column {options.score_column!r}. Name one column.")
    return options.score_column if score is None else score


@contextlib.contextmanager
def naming_roles(roles: StreamRoles) -> Iterator[None]:
    """Name the column in errors about labels and weights."""
    try:
        yield
    except LabelError as error:
        raise LabelError(f"The labels, column {roles.label!r}: {error}") from error
    except WeightError as error:
        raise WeightError(f"The weights, column {roles.weight!r}: {error}") from error


def batch_weights(batch: pa.Table, roles: StreamRoles) -> Floats | None:
    """The weights of a batch, which may all be zero."""
    if roles.weight is None:
        return None
    with naming_roles(roles):
        return read_weights(batch.column(roles.weight), batch.num_rows, zeros_allowed=True)


def batch_scores(batch: pa.Table, roles: StreamRoles) -> Floats | None:
    """The base scores of a batch."""
    if roles.score is None:
        return None
    return read_scores(batch.column(roles.score), batch.num_rows, name=f"Column {roles.score!r}")
