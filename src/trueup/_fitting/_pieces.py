"""Weights and scores of a piece of a table, with errors that name the columns."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import numpy.typing as npt

from trueup._data import read_scores, read_weights
from trueup._fitting._roles import StreamRoles
from trueup.errors import LabelError, WeightError

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["naming_roles", "piece_scores", "piece_weights"]

Floats: TypeAlias = npt.NDArray[np.float64]


@contextlib.contextmanager
def naming_roles(roles: StreamRoles) -> Iterator[None]:
    """Say in errors about labels and weights which column holds them."""
    try:
        yield
    except LabelError as error:
        raise LabelError(f"The labels, column {roles.label!r}: {error}") from error
    except WeightError as error:
        raise WeightError(f"The weights, column {roles.weight!r}: {error}") from error


def piece_weights(piece: pa.Table, roles: StreamRoles) -> Floats | None:
    """The weights of a piece, all of which may be zero."""
    if roles.weight is None:
        return None
    with naming_roles(roles):
        return read_weights(piece.column(roles.weight), piece.num_rows, zeros_allowed=True)


def piece_scores(piece: pa.Table, roles: StreamRoles) -> Floats | None:
    """The base scores of a piece."""
    if roles.score is None:
        return None
    return read_scores(piece.column(roles.score), piece.num_rows, name=f"Column {roles.score!r}")
