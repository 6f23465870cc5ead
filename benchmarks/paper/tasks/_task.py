"""What a task of the paper's benchmark is made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from paper.tasks._columns import BoolArray, holds_text

__all__ = ["BaseModel", "Origin", "Prepared", "Task", "split_rows"]

Origin: TypeAlias = Literal["same data", "subset", "substitute", "simulated"]
IntArray: TypeAlias = NDArray[np.int64]

_HELD_SHARE = 0.2  # of all rows, for the test and again for the validation
_TEST_SEED, _VALIDATION_SEED = 42, 15


@dataclass(frozen=True)
class BaseModel:
    """Settings of a task's logistic regression.

    Attributes
    ----------
    C : float
        The inverse strength of its penalty.
    drop_first : bool
        Whether the first category of each categorical column has no column of its own.
    max_iter : int
        The most iterations.

    Examples
    --------
    >>> from paper.tasks import BaseModel
    >>> BaseModel(C=0.4)
    BaseModel(C=0.4, drop_first=False, max_iter=5000)
    """

    C: float
    drop_first: bool = False
    max_iter: int = 5000


@dataclass(frozen=True, eq=False)
class Prepared:
    """The rows of a task before they are split."""

    X: pa.Table
    y: IntArray
    groups: Mapping[str, BoolArray]
    base_columns: pa.Table


@dataclass(frozen=True, eq=False, repr=False)
class Task:
    """Rows of one of the paper's tasks: features, labels, groups and splits.

    Attributes
    ----------
    name : str
        The task's name in the paper.
    origin : {"same data", "subset", "substitute", "simulated"}
        What the rows are to the paper's own.
    source : str
        Where the rows come from, in words.
    X : pyarrow.Table
        The features that calibration sees, categorical ones first, in the paper's order.
    y : numpy.ndarray of int64
        Labels 0 and 1.
    groups : mapping of str to numpy.ndarray of bool
        The paper's prespecified groups, without those below 0.5 % of the rows.
    train : numpy.ndarray of int64
        Rows for fitting, 60 %.
    validation : numpy.ndarray of int64
        Rows for choosing, 20 %.
    test : numpy.ndarray of int64
        Rows for measuring, 20 %.
    base_columns : pyarrow.Table
        What the base model sees: numbers, and texts that become 0/1 columns.
    base_model : BaseModel
        The base model's settings.

    Examples
    --------
    >>> from paper.tasks import load_task
    >>> load_task("Simulated", max_rows=2_000)
    Task('Simulated', simulated: 2,000 rows, 11 features, 7 groups)
    """

    name: str
    origin: Origin
    source: str
    X: pa.Table
    y: IntArray
    groups: Mapping[str, BoolArray]
    train: IntArray
    validation: IntArray
    test: IntArray
    base_columns: pa.Table
    base_model: BaseModel

    def __repr__(self) -> str:
        shape = f"{len(self.y):,} rows, {self.X.num_columns} features, {len(self.groups)} groups"
        return f"Task({self.name!r}, {self.origin}: {shape})"

    @property
    def categorical(self) -> list[str]:
        """The names of the categorical features."""
        return [name for name in self.X.column_names if holds_text(self.X.column(name))]

    @property
    def numerical(self) -> list[str]:
        """The names of the numerical features."""
        return [name for name in self.X.column_names if not holds_text(self.X.column(name))]


def split_rows(n_rows: int) -> tuple[IntArray, IntArray, IntArray]:
    """The paper's training, validation and test rows, each in order."""
    held = int(_HELD_SHARE * n_rows)
    test = np.random.RandomState(_TEST_SEED).choice(n_rows, held, replace=False)
    rest = np.setdiff1d(np.arange(n_rows), test)
    validation = np.random.RandomState(_VALIDATION_SEED).choice(rest, held, replace=False)
    train = np.setdiff1d(rest, validation)
    return train.astype(np.int64), np.sort(validation).astype(np.int64), np.sort(test).astype(np.int64)
