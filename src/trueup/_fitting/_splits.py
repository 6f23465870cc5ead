"""Which rows train and which validate; the same rows in memory, in batches and in partitions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from trueup._data import Hashes, mix_hashes
from trueup._fitting._data import Rows
from trueup._fitting._packing import row_hashes
from trueup.errors import ParameterError

Floats = npt.NDArray[np.float64]
Folds = npt.NDArray[np.int8]
Split = tuple[Rows, Rows]

AUTO_FOLDS = 5
AUTO_FOLDS_MAX_ROWS = 1_000_000
AUTO_HOLDOUT = 0.2
# Up to this many rows, folds are stratified, which needs all labels in one place. Among more rows, chance keeps the
# classes in proportion well enough, and a hash of a row's place gives its fold without a look at other rows.
STRATIFIED_MAX_ROWS = 1_000_000
FEW_GROUPS = 100  # with more groups, hashes give every fold about as many
_MANY = 1_000_000  # one column of numbers for so many rows takes little memory


@dataclass(frozen=True)
class Dealing:
    """How rows are dealt to folds."""

    n_folds: int  # 1 is a hold-out, 0 no validation
    fraction: float  # the share of rows in a hold-out
    seed: int

    @property
    def folds(self) -> range:
        """The folds that validate in turn."""
        return range(self.n_folds)

    def by_group(self, groups: Hashes, few: Hashes | None) -> Folds:
        """The fold of each row, from the hash of its group. If groups are few, `few` has all hashes.

        Few groups are dealt in turn, because hashes alone might leave a fold empty.
        """
        if few is None:
            return self.by_hash(groups)
        turns = np.argsort(np.argsort(mix_hashes(few, self.seed)))
        held_out = max(1, round(self.fraction * len(few)))
        folds = np.asarray(turns % self.n_folds if self.n_folds > 1 else turns >= held_out, dtype=np.int8)
        return folds[np.searchsorted(few, groups)]

    def by_hash(self, hashes: Hashes) -> Folds:
        """The fold of each row, from its hash. In a hold-out, fold 0 validates."""
        folds = np.empty(len(hashes), np.int8)
        for first in range(0, len(hashes), _MANY):  # some rows at a time: floats take eight times the memory of folds
            mixed = mix_hashes(hashes[first : first + _MANY], self.seed)
            even = (mixed >> np.uint64(11)).astype(np.float64) * 2.0**-53
            folds[first : first + _MANY] = np.floor(even * self.n_folds) if self.n_folds > 1 else even >= self.fraction
        return folds

    def by_place(self, first_row: int, n_rows: int) -> Folds:
        """The fold of each of some consecutive rows, from their places in the table."""
        folds = [
            self.by_hash(row_hashes(first, min(_MANY, first_row + n_rows - first)))
            for first in range(first_row, first_row + n_rows, _MANY)
        ]
        return np.concatenate([np.empty(0, np.int8), *folds])

    def by_label(self, labels: Floats, soft: bool) -> Folds | str:
        """The fold of each row, stratified by the labels of all rows; or why there are too few rows."""
        if len(labels) > STRATIFIED_MAX_ROWS:
            return self.by_place(0, len(labels))
        made = _folds(self, labels, soft) if self.n_folds > 1 else _hold_out(self, labels, soft)
        if isinstance(made, str):
            return made
        folds = np.full(len(labels), self.n_folds, np.int8)
        try:
            for fold, (_, valid) in enumerate(made.split(_any_table(len(labels)), labels)):
                folds[valid] = fold
        except ValueError as error:
            raise ParameterError(f"validation can't split {len(labels):,} rows: {error}") from error
        return folds

    def splits(self, labels: Floats, *, soft: bool, groups: Hashes | None = None) -> list[Split] | str:
        """The training and validation rows of each fold, or why there are too few. `groups` are hashes."""
        if not self.n_folds:
            return []
        folds = self.by_label(labels, soft) if groups is None else self.by_group(groups, few_groups([groups]))
        if isinstance(folds, str):
            return folds
        splits = []
        for fold in self.folds:
            train, valid = _places(folds != fold), _places(folds == fold)
            if len(train) == 0 or len(valid) == 0:
                return EMPTY_FOLD
            if not soft and _are_of_one_class(labels, train):
                return ONE_CLASS
            splits.append((train, valid))
        return splits


EMPTY_FOLD = "there are too few groups to split: a fold would be empty"
ONE_CLASS = "the training rows of a fold have one class only"


def few_groups(hashes: Iterable[Hashes]) -> Hashes | None:
    """All distinct hashes, ascending; None if there are more than `FEW_GROUPS`."""
    found = np.empty(0, np.uint64)
    for some in hashes:
        for first in range(0, len(some), _MANY):
            found = np.union1d(found, some[first : first + _MANY])
            if len(found) > FEW_GROUPS:
                return None
    return found


def dealing_for(validation: Any, n_rows: int, seed: int) -> Dealing:
    """How to deal this many rows for a user's `validation`: "auto", a number of folds, a fraction or None.

    Examples
    --------
    >>> dealing_for("auto", 10_000_000, seed=0)
    Dealing(n_folds=1, fraction=0.2, seed=0)
    """
    if validation is None:
        return Dealing(0, 0.0, seed)
    if isinstance(validation, str) and validation == "auto":
        validation = AUTO_FOLDS if n_rows <= AUTO_FOLDS_MAX_ROWS else AUTO_HOLDOUT
    if isinstance(validation, (int, np.integer)) and not isinstance(validation, bool):
        if not 2 <= validation <= 100:
            raise ParameterError(f"validation={validation}: there must be from 2 to 100 folds. A fraction holds out.")
        return Dealing(int(validation), 0.0, seed)
    if isinstance(validation, (float, np.floating)):
        if not 0 < validation < 1:
            raise ParameterError(f"validation={validation}: the fraction to hold out must be between 0 and 1.")
        return Dealing(1, float(validation), seed)
    raise ParameterError(
        f'validation must be "auto", a fraction, a number of folds or None, got {validation!r}. A splitter works with '
        "fit alone, which has all rows in memory; elsewhere, keep rows of a group together with group=."
    )


def make_splits(
    validation: Any,
    labels: Floats,
    *,
    soft: bool,
    seed: int,
    groups: Hashes | None = None,  # a hash of the group of each row
    counts: npt.NDArray[np.bool_] | None = None,
) -> list[Split] | str:
    """The training and validation rows of a table in memory, or why there are too few rows.

    They are numbered among the rows that have a weight, which `counts` tells. A user's splitter gets all rows.
    """
    if isinstance(validation, (str, int, float, np.number)) and not isinstance(validation, bool):
        if counts is not None:
            labels, groups = labels[counts], None if groups is None else groups[counts]
        return dealing_for(validation, len(labels), seed).splits(labels, soft=soft, groups=groups)
    splits = _splits_of_user(validation, labels, groups)
    for train, valid in splits:
        if len(train) == 0 or len(valid) == 0:
            return "a split of validation= has no training or no validation rows"
        if not soft and _are_of_one_class(labels, train):
            return ONE_CLASS
    if counts is None:
        return splits
    place = np.cumsum(counts, dtype=np.int32) - 1
    splits = [(place[train[counts[train]]], place[valid[counts[valid]]]) for train, valid in splits]
    if any(len(rows) == 0 for split in splits for rows in split):
        return "a split of validation= has no training or no validation rows with a weight"
    return splits


def _splits_of_user(validation: Any, labels: Floats, groups: Hashes | None) -> list[Split]:
    from sklearn.model_selection import check_cv

    try:
        splitter = check_cv(validation)
    except (ValueError, TypeError) as error:
        raise ParameterError(
            f'validation must be "auto", a fraction, a number of folds, a splitter or None, got {validation!r}.'
        ) from error
    try:
        made = splitter.split(_any_table(len(labels)), labels, groups)
        return [(_sorted(train), _sorted(valid)) for train, valid in made]
    except (ValueError, TypeError) as error:
        raise ParameterError(f"validation={validation!r} can't split these rows: {error}") from error


def _any_table(n_rows: int) -> npt.NDArray[np.uint8]:
    """A stand-in for the rows: splitters only look at how many there are."""
    return np.zeros((n_rows, 1), dtype=np.uint8)


def _sorted(rows: npt.NDArray[Any]) -> Rows:
    narrow = np.asarray(rows).astype(np.int32)
    narrow.sort()
    return narrow


def _folds(dealing: Dealing, labels: Floats, soft: bool) -> Any:
    from sklearn.model_selection import KFold, StratifiedKFold

    n = dealing.n_folds
    if soft and len(labels) < n:
        return f"{n} folds need {n} rows, and there are {len(labels)}"
    if not soft and _rarest(labels) < n:
        return f"{n} folds need {n} rows of each class, and one class has {_rarest(labels)}"
    kind = KFold if soft else StratifiedKFold
    return kind(n, shuffle=True, random_state=dealing.seed)


def _hold_out(dealing: Dealing, labels: Floats, soft: bool) -> Any:
    from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit

    held = round(len(labels) * dealing.fraction)
    if min(held, len(labels) - held) < 2 or (not soft and _rarest(labels) < 2):
        which = "" if soft else " of each class"
        return f"a hold-out needs 2 rows{which} that train and 2 that validate, and there are {len(labels)} rows"
    kind = ShuffleSplit if soft else StratifiedShuffleSplit
    return kind(1, test_size=dealing.fraction, random_state=dealing.seed)


def _rarest(labels: Floats) -> int:
    """The number of rows of the rarer class."""
    positive = int((labels == 1).sum())
    return min(positive, len(labels) - positive)


def _places(rows: npt.NDArray[np.bool_]) -> Rows:
    found = [
        (np.flatnonzero(rows[first : first + _MANY]) + first).astype(np.int32) for first in range(0, len(rows), _MANY)
    ]
    return np.concatenate([np.empty(0, np.int32), *found])


def _are_of_one_class(labels: Floats, rows: Rows) -> bool:
    first = labels[rows[0]]
    return all((labels[rows[start : start + _MANY]] == first).all() for start in range(0, len(rows), _MANY))
